// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxMessage is in characters.
	maxMessage = 256
	// maxRead bounds what is looked at, in bytes; long keys shrink, so it is more than maxMessage.
	maxRead = 2048
	mask    = "***"
)

// Message makes a provider's words fit for logs and status: printable, on one line, short, and without
// anything that looks like a key. Where in doubt it masks.
func Message(text string) string {
	if len(text) > maxRead {
		text = text[:maxRead]
		// A word that was cut may be the harmless-looking start of a key.
		text = text[:strings.LastIndexByte(text, ' ')+1]
	}
	var out strings.Builder
	secret, before := false, ""
	for _, word := range strings.FieldsFunc(text, gap) {
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		masked := maskWord(word, secret)
		out.WriteString(masked)
		secret, before = announces(before, word), word
	}
	return shorten(out.String())
}

func gap(r rune) bool { return r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r) }

func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxMessage {
		return text
	}
	runes := []rune(text)
	return string(runes[:maxMessage-1]) + "…"
}

// announces reports whether a key follows the word: "Bearer x", "api key: x", "key provided: x", "token=".
func announces(before, word string) bool {
	word = bareWord(word)
	if word == "bearer" || word == "basic" {
		return true
	}
	bare := strings.TrimRight(word, ":=\"'")
	return bare != word && (namesSecret(bare) || namesSecret(bareWord(before)))
}

func bareWord(word string) string { return strings.ToLower(strings.Trim(word, "\"'`([{<,")) }

func namesSecret(name string) bool {
	for _, s := range [...]string{"key", "token", "secret", "password", "authorization", "credential", "signature"} {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

// maskWord masks the parts of a word that look like keys. Quotes and punctuation part a word, so that
// {"api_key":"x"} is seen too.
func maskWord(word string, secret bool) string {
	var out strings.Builder
	for word != "" {
		n := strings.IndexFunc(word, func(r rune) bool { return !keyRune(r) })
		if n < 0 {
			n = len(word)
		}
		piece := word[:n]
		switch {
		case piece != "" && (secret || looksSecret(piece)):
			out.WriteString(mask)
		default:
			out.WriteString(piece)
		}
		rest := word[n:]
		if rest == "" {
			break
		}
		_, size := utf8.DecodeRuneInString(rest)
		separator := rest[:size]
		out.WriteString(separator)
		if piece != "" {
			secret = (separator == "=" || separator == ":") && namesSecret(strings.ToLower(piece))
		} else {
			// Quotes and separators after the name carry on: "api_key":"x".
			secret = secret && carriesOn(separator)
		}
		if piece != "" && separator == "\"" && namesSecret(strings.ToLower(piece)) && strings.HasPrefix(rest[size:], ":") {
			secret = true
		}
		word = rest[size:]
	}
	return out.String()
}

// carriesOn are what stands between a name and its value.
func carriesOn(separator string) bool {
	const between = "\"'`:= "
	return strings.Contains(between, separator)
}

// keyRune is what keys consist of: base64 in both alphabets, hex, dots of JWTs, and the stars of keys that
// the provider has already masked in part.
func keyRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/_-.*~", r)
}

var prefixes = [...]string{
	"sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ak-", "ak_", "key-", "AIza", "AKIA", "ASIA", "ghp_", "gho_", "ghs_",
	"github_pat_", "xox", "eyJ", "gsk_", "hf_", "xai-", "pplx-", "r8_", "nvapi-", "csk-", "fw_", "tgp_", "ya29.", "AQ.",
}

const (
	// minPrefixed is the shortest piece that a prefix makes a key: "sk-" in prose is none.
	minPrefixed = 8
	// minRun is the shortest unbroken mixture of letters and digits taken for a key. The parts of model
	// names and of UUIDs are shorter.
	minRun = 16
	// minWhole is the same for pieces with separators in them, which base64url keys have.
	minWhole = 32
)

func looksSecret(piece string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(piece, p) && len(piece) >= minPrefixed {
			return true
		}
	}
	if len(piece) >= minWhole && mixed(piece, true) {
		return true
	}
	for _, run := range strings.FieldsFunc(piece, func(r rune) bool { return strings.ContainsRune("-_./+~", r) }) {
		if len(run) >= minRun && mixed(run, false) {
			return true
		}
	}
	return false
}

// mixed reports whether text holds letters and digits; with strict, letters of both cases.
func mixed(text string, strict bool) bool {
	var lower, upper, digit bool
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= '0' && c <= '9':
			digit = true
		}
	}
	if strict {
		return lower && upper && digit
	}
	return digit && (lower || upper)
}
