// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// bytesPerToken is the estimate for text whose tokens are not reported, as in admission.
const bytesPerToken = 3

// tally is what a meter has seen.
type tally struct {
	usage    dialect.Usage
	content  bool
	complete bool
	failed   bool
	failure  dialect.Failure
	deltas   int64
	text     int64
	// noOutput: the answer holds vectors, not text.
	noOutput bool
	classify Classifier
	// early: the output that was reported is of the beginning, before any was produced.
	early bool
	// several are the choices of a stream that was asked for more than one, else nil.
	several *choices
	// chunk is what was unwrapped last.
	chunk []byte
	// finish, use and words are where the members of the last events were.
	finish, use, words finder
}

func newTally(classify Classifier) tally {
	return tally{
		usage: dialect.Unknown(), classify: classify, finish: finder{name: nameFinish, fromEnd: true},
		use: finder{name: nameUsage, fromEnd: true}, words: finder{name: nameContent},
	}
}

// Classifier reads an error document, as a dialect does.
type Classifier func(document []byte) dialect.Failure

// Usage is what was reported. Vectors are no output, which few providers say.
func (t *tally) Usage() dialect.Usage {
	u := t.usage
	if t.noOutput && u.Input >= 0 && u.Output < 0 {
		u.Output = 0
	}
	if t.early && t.complete && t.deltas > 0 && u.Output >= 0 {
		u.Output = t.OutputSoFar()
	}
	return u
}

func (t *tally) ContentSeen() bool { return t.content }

func (t *tally) Complete() bool { return t.complete }

func (t *tally) StreamFailure() (dialect.Failure, bool) { return t.failure, t.failed }

// OutputSoFar is the reported output of a response that has ended; before that the largest of what was
// reported, the number of deltas (most hold a token) and the length of their text.
func (t *tally) OutputSoFar() int64 {
	if t.noOutput {
		return max(t.usage.Output, 0)
	}
	if t.complete && t.usage.Output >= 0 && !t.early {
		return t.usage.Output
	}
	return max(t.usage.Output, t.deltas, t.text/bytesPerToken)
}

// delta counts one piece of content with so many bytes of text.
func (t *tally) delta(text int) {
	t.content = true
	t.deltas++
	t.text += int64(text)
}

// fail notes an error event; the first one counts.
func (t *tally) fail(document []byte) {
	if !t.failed {
		t.failed, t.failure = true, t.classify(document)
	}
}
