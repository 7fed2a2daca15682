// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// reportOverload prints both contenders beside each other, and the bars.
func reportOverload(w io.Writer, contenders []*contender, o *options) error {
	_, _ = fmt.Fprintf(w, "\noverload, %v: chat at 1.5 times the account from %d processes, a %d-token call every %d s\n",
		o.overload, chatProcesses, bulkTokens, 60/bulkPerMinute)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "client\t429s per success\tchat failed\tchat wait p50 / p99\tbulk answered\tallowance used")
	for _, c := range contenders {
		chat := c.chatDone
		_, _ = fmt.Fprintf(tw, "%s\t%.2f\t%.0f %% (%s)\t%.1f s / %.1f s\t%d of %d\t%.1f %%\n", c.name, c.throttledPerSuccess(),
			100*float64(chat.FailedCalls())/float64(max(1, chat.Calls)), failures(chat),
			load.Percentile(chat.WaitsMillis, 0.5)/1e3, load.Percentile(chat.WaitsMillis, 0.99)/1e3,
			c.bulkDone.OK, c.bulkDone.Calls, 100*c.account.UtilisationShare)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w)
	missed, err := printBars(w, contenders[len(contenders)-1].bars(o.overload))
	if err == nil && missed > 0 && o.strict {
		err = fmt.Errorf("%d bars missed under overload", missed)
	}
	return err
}

func (c *contender) throttledPerSuccess() float64 {
	return float64(c.stats.Throttled) / float64(max(1, c.stats.Admitted))
}

// bars are what the gateway is held to under overload.
func (c *contender) bars(length time.Duration) []bar {
	refill := tokensPerMinute * length.Minutes()
	// What chat is owed is its lane of the refill; what it fails within that is a fault.
	chatOwed := (1 - bulkShare) * refill
	bulkOwed := float64(int(bulkShare * refill / bulkTokens))
	declined := c.chatDone.DeclinedMillis
	return []bar{
		{name: "allowance used (spent / start + refill - left)", value: 100 * c.account.UtilisationShare, must: 97, aim: 99, atLeast: true, unit: " %"},
		{name: "429s per success", value: c.throttledPerSuccess(), must: 0.02, aim: 0},
		{
			name: "chat answered, to its lane's share", value: float64(c.chatDone.TokensOK) / chatOwed,
			must: 1, aim: 1, atLeast: true, unit: "×",
		},
		{
			name: "declined in, p99", value: load.Percentile(declined, 0.99), must: 50, aim: 20, unit: " ms",
			missing: len(declined) == 0,
		},
		{name: "bulk calls answered", value: float64(c.bulkDone.OK), must: bulkOwed, aim: bulkOwed, atLeast: true},
	}
}
