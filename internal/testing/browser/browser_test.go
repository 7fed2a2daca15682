// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/browser"
)

const quiet = `<!doctype html><title>quiet</title><style>p{color:red} @media (prefers-color-scheme: dark){p{color:blue}}
@media print{p{color:black}}</style><p style="height:2000px">text</p>`

const noisy = `<!doctype html><title>noisy</title><img src="http://elsewhere.invalid/x.png">
<script>console.error("spoken"); setTimeout(() => { throw new Error("thrown") }, 1)</script>`

func page(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

func TestPageIsEvaluatedResizedAndPictured(t *testing.T) {
	p := browser.Start(t).Open(page(t, quiet), browser.View{Width: 640, Height: 480})
	const look = `[document.title, String(innerWidth), getComputedStyle(document.querySelector("p")).color]`
	for want, v := range map[string]browser.View{
		"quiet 640 rgb(255, 0, 0)": {Width: 640, Height: 480},
		"quiet 390 rgb(0, 0, 255)": {Width: 390, Height: 480, Dark: true},
		"quiet 500 rgb(0, 0, 0)":   {Width: 500, Height: 480, Print: true},
	} {
		var got []string
		p.View(v)
		p.Eval(look, &got)
		if strings.Join(got, " ") != want {
			t.Errorf("looked at as %+v: %v, want %s", v, got, want)
		}
	}
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("problems %v", problems)
	}
	path := filepath.Join(t.TempDir(), "page.png")
	p.Screenshot(path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if picture, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || picture.Height < 2000 {
		t.Errorf("the picture is %+v: %v", picture, err)
	}
	p.PDF(path)
	if data, err = os.ReadFile(path); err != nil || !bytes.HasPrefix(data, []byte("%PDF")) {
		t.Errorf("no PDF: %v", err)
	}
}

func TestErrorsAndRequestsAreSeen(t *testing.T) {
	p := browser.Start(t).Open(page(t, noisy), browser.View{Width: 640, Height: 480})
	if !slices.Contains(p.Requests(), "http://elsewhere.invalid/x.png") {
		t.Errorf("requests %v", p.Requests())
	}
	for _, want := range []string{"spoken", "thrown", "load: "} {
		seen := func() bool {
			return slices.ContainsFunc(p.Problems(), func(s string) bool { return strings.Contains(s, want) })
		}
		for deadline := time.Now().Add(3 * time.Minute); !seen() && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		if !seen() {
			t.Errorf("problems %v lack %q", p.Problems(), want)
		}
	}
}
