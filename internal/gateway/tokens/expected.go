// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

// The weights of the features, in tokens: a fit to texts of nine kinds that starts from what each would cost alone;
// those of scripts that are not among them are set by texts in these.
// Long words are cut in pieces; a run of marks is mostly one token.
const (
	perWord     = 1.0
	perGlued    = 1.55
	perLong     = 0.15
	perNumber   = 1.3
	perMark     = 0.47
	perMoreMark = 0.45
	perSpaces   = 0.84
	perLine     = 0.66
	perAccent   = 0.6
	perSlavic   = 0.31
	perPair     = 0.42
	perSyllable = 0.4
	perTriple   = 0.85
	perQuad     = 1.9
)

// Expected is how many tokens text is expected to have.
func Expected(text []byte) float64 {
	f := read(text)
	latin := perWord*float64(f.words) + perGlued*float64(f.glued) + perLong*float64(f.long) + perAccent*float64(f.accents)
	others := perSlavic*float64(f.slavic) + perPair*float64(f.pairs) + perSyllable*float64(f.syllables) +
		perTriple*float64(f.triples) + perQuad*float64(f.quads)
	between := perNumber*float64(f.numbers) + perMark*float64(f.marks) + perMoreMark*float64(f.moreMarks) +
		perSpaces*float64(f.spaces) + perLine*float64(f.lines)
	return latin + others + between
}
