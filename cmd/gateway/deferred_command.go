// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/console"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

const deferredUsage = `usage: gateway deferred [flags] list [-o json] | replay ID | drop ID

Shows and changes the deferred calls of the gateway that runs on the state directory, or of its store where none runs.
`

// book is the deferred calls, of a gateway that runs or of a store.
type book interface {
	List(ctx context.Context) ([]deferred.Listed, error)
	Replay(ctx context.Context, id string) error
	Drop(ctx context.Context, id string) error
}

var _ book = (*console.Client)(nil)

// deferredCommand is "gateway deferred".
func deferredCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	fs := flag.NewFlagSet("gateway deferred", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() { _, _ = fmt.Fprint(stderr, deferredUsage); fs.PrintDefaults() }
	o.addDeferredFlags(fs)
	output := fs.String("o", "text", "text or json")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	words := fs.Args()
	if len(words) > 0 {
		// Flags may stand behind the command too.
		if err := fs.Parse(words[1:]); err != nil {
			return 2
		}
		words = append(words[:1:1], fs.Args()...)
	}
	if !validWords(words) || *output != "text" && *output != "json" {
		fs.Usage()
		return 2
	}
	o.complete()
	return exitCode(withBook(ctx, &o, stderr, func(b book) error { return run1(ctx, b, words, *output, stdout) }), stderr)
}

func validWords(words []string) bool {
	switch {
	case len(words) == 1 && words[0] == "list":
		return true
	case len(words) == 2 && (words[0] == "replay" || words[0] == "drop"):
		return ticket.ValidID(words[1])
	}
	return false
}

func run1(ctx context.Context, b book, words []string, output string, stdout io.Writer) error {
	switch words[0] {
	case "replay":
		return b.Replay(ctx, words[1])
	case "drop":
		return b.Drop(ctx, words[1])
	}
	list, err := b.List(ctx)
	if err != nil {
		return err
	}
	if output == "json" {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(list)
	}
	return table(stdout, list)
}

func table(w io.Writer, list []deferred.Listed) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "ID\tROUTE\tLANE\tSTATE\tREASON\tLAST ERROR\tATTEMPTS\tBYTES\tAGE\tCALLBACK")
	for i := range list {
		l := &list[i]
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", l.ID, l.Route, l.Lane, l.State, dash(l.Reason), dash(l.Last),
			l.Attempts, l.Bytes, time.Since(l.Created).Round(time.Second), dash(l.Callback))
	}
	return t.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// withBook does something with the deferred calls: through the gateway where one runs, which alone knows what it is
// doing with them, else in the store itself.
func withBook(ctx context.Context, o *options, stderr io.Writer, do func(book) error) error {
	if o.state != "" {
		c, err := console.Dial(ctx, o.state)
		if err == nil {
			return do(c)
		}
		if !errors.Is(err, console.ErrNotRunning) {
			return err
		}
	}
	log := newLog(stderr, "warn")
	ca, err := readCA(o.caFile)
	if err != nil {
		return err
	}
	s, shared, err := openStore(ctx, o, ca, log)
	if err != nil {
		return err
	}
	q, err := deferred.New(ctx, deferred.Options{Store: s, Shared: shared, Log: log})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if shared {
		// What nobody looks after is taken over, shown, and left to the next gateway again.
		q.TakeOver(ctx)
	}
	return errors.Join(do(atRest{q}), s.Close())
}

// atRest is a queue that nobody runs.
type atRest struct{ *deferred.Queue }

// List implements book.
func (q atRest) List(context.Context) ([]deferred.Listed, error) { return q.Queue.List(), nil }
