// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"strings"
)

// maxErrorText bounds what is said of one document. A file may hold as many mistakes as there is room for, or one that
// repeats all of it, and errors are logged and shown.
const maxErrorText = 4 << 10

// briefly bounds an error's text; whole lines are kept where there are some.
func briefly(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if len(text) <= maxErrorText {
		return err
	}
	kept := text[:maxErrorText]
	if i := strings.LastIndexByte(kept, '\n'); i > 0 {
		kept = kept[:i]
	}
	more := ""
	if n := strings.Count(text[len(kept):], "\n"); n > 0 {
		more = fmt.Sprintf("\nand %d more lines", n)
	}
	return errors.New(strings.ToValidUTF8(kept, "?") + "…" + more)
}
