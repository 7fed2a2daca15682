// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"time"
)

// View is how a page is looked at.
type View struct {
	Width, Height int
	// Dark prefers a dark scheme; Print renders as a printer does.
	Dark, Print bool
	// Mobile is a phone's: the page's own viewport counts.
	Mobile bool
}

// Page is an open page.
type Page struct {
	b       *Browser
	session string
	loaded  chan struct{}

	mu       sync.Mutex
	problems []string
	requests []string
}

type object = map[string]any

// Open loads url and waits until it is loaded.
func (b *Browser) Open(url string, v View) *Page {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", object{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &Page{b: b, session: attached.SessionID, loaded: make(chan struct{}, 1)}
	b.conn.listen(p.session, p.event)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.call(domain+".enable", object{}, nil)
	}
	p.View(v)
	var loading struct{ ErrorText string }
	p.call("Page.navigate", object{"url": url}, &loading)
	if loading.ErrorText != "" {
		b.t.Fatalf("open %s: %s", url, loading.ErrorText)
	}
	select {
	case <-p.loaded:
	case <-time.After(within):
		b.t.Fatalf("%s did not load", url)
	}
	return p
}

func (p *Page) call(method string, params, out any) {
	p.b.t.Helper()
	p.b.call(p.session, method, params, out)
}

// View changes how the page is looked at.
func (p *Page) View(v View) {
	p.b.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride",
		object{"width": v.Width, "height": v.Height, "deviceScaleFactor": 1, "mobile": v.Mobile}, nil)
	media, scheme := "", "light"
	if v.Print {
		media = "print"
	}
	if v.Dark {
		scheme = "dark"
	}
	p.call("Emulation.setEmulatedMedia",
		object{"media": media, "features": []object{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// event keeps what a test asks for later.
func (p *Page) event(method string, params json.RawMessage) {
	var e struct {
		Type             string
		Args             json.RawMessage
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Entry     struct{ Level, Text, URL string }
		Request   struct{ URL string }
		ErrorText string
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch method {
	case "Page.loadEventFired":
		select {
		case p.loaded <- struct{}{}:
		default:
		}
	case "Runtime.consoleAPICalled":
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			p.problems = append(p.problems, "console "+e.Type+": "+string(e.Args))
		}
	case "Runtime.exceptionThrown":
		p.problems = append(p.problems, "exception: "+e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case "Log.entryAdded":
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.problems = append(p.problems, "log "+e.Entry.Level+": "+e.Entry.Text+" "+e.Entry.URL)
		}
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, e.Request.URL)
	case "Network.loadingFailed":
		p.problems = append(p.problems, "load: "+e.ErrorText)
	}
}

// Problems are the errors and warnings of the page so far.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// Requests are the addresses that the page asked for, its own among them.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Eval evaluates a JavaScript expression in the page and decodes its value into out.
func (p *Page) Eval(expression string, out any) {
	p.b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	p.call("Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if e := answer.ExceptionDetails; e != nil {
		p.b.t.Fatalf("%s: %s", e.Text, e.Exception.Description)
	}
	if err := json.Unmarshal(answer.Result.Value, out); err != nil {
		p.b.t.Fatalf("the value of the expression: %v", err)
	}
}

// Screenshot writes the whole page as a PNG file.
func (p *Page) Screenshot(path string) {
	p.b.t.Helper()
	p.write(path, "Page.captureScreenshot", object{"format": "png", "captureBeyondViewport": true})
}

// PDF writes what a printer would get.
func (p *Page) PDF(path string) {
	p.b.t.Helper()
	p.write(path, "Page.printToPDF", object{"printBackground": false, "preferCSSPageSize": true})
}

func (p *Page) write(path, method string, params any) {
	p.b.t.Helper()
	var answer struct{ Data string }
	p.call(method, params, &answer)
	data, err := base64.StdEncoding.DecodeString(answer.Data)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		p.b.t.Fatal(err)
	}
}
