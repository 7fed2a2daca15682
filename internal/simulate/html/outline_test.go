// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	page "github.com/headgate-dev/headgate/internal/simulate/html"
	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// written is the page of a result, parsed as a browser does.
func written(tb testing.TB, r *result.Result) ([]byte, *html.Node) {
	tb.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, r); err != nil {
		tb.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		tb.Fatal(err)
	}
	return b.Bytes(), root
}

// elements calls f for each element in order.
func elements(n *html.Node, f func(*html.Node)) {
	for e := range n.Descendants() {
		if e.Type == html.ElementNode {
			f(e)
		}
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for e := range n.Descendants() {
		if e.Type == html.TextNode {
			b.WriteString(e.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// spoken are the elements whose text an outline holds; inner are drawn or repeated too often to be in it.
var (
	spoken = []string{"title", "h1", "h2", "h3", "caption", "th", "desc", "dt", "dd", "summary", "p", "li"}
	inner  = []string{"path", "rect", "text", "td", "style", "tbody"}
)

// outline is the tree of a page without its figures: what a change of the template changes on purpose.
func outline(root *html.Node) string {
	var b strings.Builder
	elements(root, func(e *html.Node) {
		if slices.Contains(inner, e.Data) || under(e, "tbody") && e.Data != "th" {
			return
		}
		fmt.Fprintf(&b, "%s%s", strings.Repeat(" ", depth(e)), e.Data)
		for _, key := range []string{"id", "class", "role", "aria-label", "aria-labelledby", "scope", "content", "viewbox"} {
			if v := attribute(e, key); v != "" {
				fmt.Fprintf(&b, " %s=%q", key, v)
			}
		}
		if slices.Contains(spoken, e.Data) {
			fmt.Fprintf(&b, ": %s", textOf(e))
		}
		b.WriteByte('\n')
	})
	return b.String()
}

func depth(n *html.Node) int {
	d := 0
	for p := n.Parent; p != nil && p.Type == html.ElementNode; p = p.Parent {
		d++
	}
	return d
}

func under(n *html.Node, tag string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Type == html.ElementNode && p.Data == tag {
			return true
		}
	}
	return false
}
