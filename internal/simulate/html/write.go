// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// MaxBytes is the most that a page takes.
const MaxBytes = 1 << 20

//go:embed page.css
var style string

//go:embed page.html.tmpl
var text string

var tmpl = template.Must(template.New("page").Parse(text))

// Write writes r as a page.
func Write(w io.Writer, r *result.Result) error {
	var b bytes.Buffer
	if err := tmpl.Execute(&b, newPage(r)); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
}
