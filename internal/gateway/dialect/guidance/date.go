// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"net/http"
	"strings"
	"time"
)

// rfc850 is written out because time.RFC850 takes any zone's name for UTC.
const rfc850 = "Monday, 02-Jan-06 15:04:05 GMT"

// httpDate reads the three forms of RFC 9110 §5.6.7. A two-digit year is the one nearest to now, for the
// standard library takes 70 for 1970.
func httpDate(text string, now time.Time) (time.Time, bool) {
	if text == "" {
		return time.Time{}, false
	}
	text, leap := leapSecond(text)
	for _, layout := range [...]string{http.TimeFormat, time.ANSIC} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Add(leap), true
		}
	}
	at, err := time.Parse(rfc850, text)
	if err != nil {
		return time.Time{}, false
	}
	century := now.UTC().Year() / 100 * 100
	year := century + at.Year()%100
	switch {
	case year > now.UTC().Year()+50:
		year -= 100
	case year <= now.UTC().Year()-50:
		year += 100
	}
	return time.Date(year, at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC).Add(leap), true
}

// leapSecond is a time's text without its 61st second, and that second: the standard library knows none, and RFC 9110 and
// RFC 3339 allow it.
func leapSecond(text string) (plain string, leap time.Duration) {
	i := strings.LastIndex(text, ":60")
	if i > 2 && text[i-3] == ':' && (i+3 == len(text) || text[i+3] != ':' && !digits(text[i+3:i+4])) {
		return text[:i] + ":59" + text[i+3:], time.Second
	}
	return text, 0
}

// Reference is the time absolute values are measured against: the response's own Date where it is valid,
// so that neither clock's error counts, else the time we received it.
func Reference(h http.Header, received time.Time) time.Time {
	if at, ok := httpDate(trim(h.Get("Date")), received); ok {
		return at
	}
	return received
}

// until is the wait from reference to at; what is past is 0.
func until(at, reference time.Time) time.Duration {
	return min(max(at.Sub(reference), 0), Longest)
}

// moment reads RFC 3339, in either case of its letters.
func moment(text string) (time.Time, bool) {
	if len(text) < len("2006-") || text[4] != '-' { // what a failed parse has to say costs more than all else here
		return time.Time{}, false
	}
	text, leap := leapSecond(strings.ToUpper(text))
	at, err := time.Parse(time.RFC3339Nano, text)
	return at.Add(leap), err == nil
}
