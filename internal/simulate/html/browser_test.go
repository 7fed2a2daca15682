// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate/html"
	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/testing/browser"
)

// pageOf writes a result to a file and returns its address.
func pageOf(t *testing.T, r *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "simulation.html")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// layout is how a browser laid a page out: faults are named in place.
type layout struct {
	Width, Plots, Figures int
	Faults                []string
}

// measure looks for plots without size, for a page that is wider than the window, for text that leaves its drawing
// or lies on other text, and for curves that nobody can see.
const measure = `(() => {
	const faults = [], gap = 0.5
	const box = e => e.getBoundingClientRect()
	const say = (e, what) => faults.push(what + ": " + (e.textContent || e.className.baseVal || e.className || e.tagName).trim().slice(0, 60))
	for (const s of document.querySelectorAll("svg.plot")) {
		const b = box(s)
		if (b.width < 250 || b.height < 120) say(s, "small plot")
		const texts = [...s.querySelectorAll("text")]
		for (const t of texts) {
			const r = box(t)
			if (r.left < b.left - gap || r.right > b.right + gap || r.top < b.top - gap || r.bottom > b.bottom + gap) say(t, "label outside its plot")
			for (const o of texts) {
				const q = box(o)
				if (o !== t && r.left < q.right && q.left < r.right && r.top + 2 < q.bottom && q.top + 2 < r.bottom) say(t, "label on " + o.textContent)
			}
		}
		for (const c of s.querySelectorAll(".curve")) {
			const r = box(c)
			if (r.width < 1 && r.height < 1) say(c, "curve without size")
			if (r.left < b.left - gap || r.right > b.right + gap || r.top < b.top - gap || r.bottom > b.bottom + gap) say(c, "curve outside its plot")
			if (getComputedStyle(c).stroke === "none") say(c, "curve without colour")
		}
	}
	const wide = document.documentElement.scrollWidth
	if (wide > innerWidth) faults.push("the page is " + wide + " wide in a window of " + innerWidth)
	for (const e of document.querySelectorAll("h1,h2,h3,p,li,dd,dt,summary,figure")) {
		const r = box(e)
		if (r.right > innerWidth + gap && !e.closest(".wide")) say(e, "leaves the window")
	}
	for (const e of document.querySelectorAll("td,tbody th")) if (e.scrollWidth > e.clientWidth + 1) say(e, "cell overflows")
	return {Width: innerWidth, Plots: document.querySelectorAll("svg.plot").length, Figures: document.querySelectorAll("figure").length, Faults: faults}
})()`

func TestPageInABrowser(t *testing.T) {
	b := browser.Start(t)
	// HEADGATE_SCREENSHOTS keeps the pictures, for a person to look at.
	dir := os.Getenv("HEADGATE_SCREENSHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	address := pageOf(t, sample())
	p := b.Open(address, browser.View{Width: 1280, Height: 800})
	for _, v := range []browser.View{
		{Width: 1280, Height: 800},
		{Width: 1280, Height: 800, Dark: true},
		{Width: 390, Height: 844, Mobile: true},
		{Width: 390, Height: 844, Mobile: true, Dark: true},
		{Width: 800, Height: 600},
		{Width: 760, Height: 1000, Print: true},
	} {
		p.View(v)
		var l layout
		p.Eval(measure, &l)
		if l.Width != v.Width || l.Plots != l.Figures || l.Plots < 8 {
			t.Errorf("%+v: laid out as %+v", v, l)
		}
		for _, f := range l.Faults {
			t.Errorf("%+v: %s", v, f)
		}
		picture := filepath.Join(dir, fmt.Sprintf("page-%d-dark=%v-print=%v.png", v.Width, v.Dark, v.Print))
		p.Screenshot(picture)
		if info, err := os.Stat(picture); err != nil || info.Size() < 20_000 {
			t.Errorf("%+v: the picture is empty: %v", v, err)
		}
	}
	for _, problem := range p.Problems() {
		t.Errorf("the page has a problem: %s", problem)
	}
	for _, request := range p.Requests() {
		if request != address && !strings.HasPrefix(request, "data:") {
			t.Errorf("the page asks for %s", request)
		}
	}
	p.PDF(filepath.Join(dir, "page.pdf"))
}
