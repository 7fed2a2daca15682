// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	_ "embed" // for the prose
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Kind is a kind of text.
type Kind struct {
	Name string
	make func(r *rand.Rand) string
}

// Kinds are all of them.
var Kinds = []Kind{
	{"English", lines(english)},
	{"Chinese", lines(chinese)},
	{"Russian", lines(russian)},
	{"code", blocks(goCode, python, typescript)},
	{"JSON", record},
	{"logs", logLine},
	{"digits", digits},
	{"base64", blob},
	{"emoji", faces},
}

// Text makes a text of about that many bytes.
func (k Kind) Text(r *rand.Rand, bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(k.make(r))
	}
	return strings.ToValidUTF8(b.String()[:bytes], "")
}

// Mixed makes a text of several kinds, as a prompt with attachments has.
func Mixed(r *rand.Rand, bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		k := Kinds[r.IntN(len(Kinds))]
		b.WriteString(Kinds[0].Text(r, 100+r.IntN(200)) + "\n\n" + k.Text(r, 200+r.IntN(1000)) + "\n")
	}
	return strings.ToValidUTF8(b.String()[:bytes], "")
}

//go:embed testdata/english.txt
var english string

//go:embed testdata/chinese.txt
var chinese string

//go:embed testdata/russian.txt
var russian string

//go:embed testdata/go.txt
var goCode string

//go:embed testdata/python.txt
var python string

//go:embed testdata/typescript.txt
var typescript string

// lines makes prose of the lines of a text, a few to a paragraph.
func lines(text string) func(r *rand.Rand) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return func(r *rand.Rand) string {
		end := " "
		if r.IntN(4) == 0 {
			end = "\n\n"
		}
		return all[r.IntN(len(all))] + end
	}
}

// blocks cuts pieces of some ten lines.
func blocks(texts ...string) func(r *rand.Rand) string {
	return func(r *rand.Rand) string {
		all := strings.SplitAfter(texts[r.IntN(len(texts))], "\n")
		const length = 12
		from := r.IntN(len(all) - length)
		return strings.Join(all[from:from+length], "")
	}
}

func word(r *rand.Rand) string {
	words := strings.Fields(english)
	return strings.ToLower(strings.Trim(words[r.IntN(len(words))], ".,;?"))
}

func record(r *rand.Rand) string {
	text, err := json.MarshalIndent(map[string]any{
		"id": fmt.Sprintf("%08x-%04x", r.Uint32(), r.Uint32()>>16), "name": word(r) + " " + word(r), "price": float64(r.IntN(1e6)) / 100,
		"tags": []string{word(r), word(r)}, "createdAt": day(r).Format(time.RFC3339), "active": r.IntN(2) == 0, "parent": nil,
		"address": map[string]any{"street": word(r), "zip": r.IntN(1e5), "location": []float64{r.Float64() * 90, r.Float64() * 180}},
	}, "", strings.Repeat(" ", r.IntN(2)*2))
	if err != nil {
		panic(err)
	}
	return string(text) + ",\n"
}

func day(r *rand.Rand) time.Time { return time.Unix(1.7e9+r.Int64N(1e8), 0).UTC() }

func logLine(r *rand.Rand) string {
	return fmt.Sprintf("%s %s [worker-%d] %s.%s: %s=%d took %dms trace=%016x addr=10.%d.%d.%d:%d\n",
		day(r).Format("2006-01-02T15:04:05.000Z"), []string{"INFO", "WARN", "ERROR", "DEBUG"}[r.IntN(4)], r.IntN(64), word(r), word(r), word(r),
		r.IntN(1e4), r.IntN(2000), r.Uint64(), r.IntN(256), r.IntN(256), r.IntN(256), 1024+r.IntN(6e4))
}

func digits(r *rand.Rand) string {
	return fmt.Sprintf("%d,%.4f;%d ", r.IntN(1e9), r.Float64()*1e3, r.IntN(1e5))
}

func blob(r *rand.Rand) string {
	raw := make([]byte, 300)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func faces(r *rand.Rand) string {
	all := []string{"😀", "🎉", "❤️", "👍🏽", "🚀", "😭", "🤷‍♀️", "🇩🇪", "✅", "🔥", "🙏", "🥳", "👩‍💻", "☕", "🌧️", "🐈"}
	return all[r.IntN(len(all))] + []string{"", "", " ", " ok "}[r.IntN(4)]
}
