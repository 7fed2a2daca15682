// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/internal/wire"
)

// From these on, calls that are an SDK's own retries are worth a warning.
const (
	stackedCount = 5
	stackedShare = 0.05
)

// stacks: a part of the calls that is worth a word are an SDK's retries of calls that were already answered.
func (v providerView) stacks() bool {
	stacked := float64(v.seen.StackedRetries)
	return stacked >= stackedCount && stacked >= stackedShare*v.offeredCalls()
}

// stackedSDK is who repeats, as people say it.
func (v providerView) stackedSDK() string {
	if sdk := v.seen.StackedMostlyBy; sdk != "" && sdk != wire.SDKOther {
		return sdk
	}
	return "an SDK"
}

// stackedSetting turns the retries of the SDK off that repeats most.
func (v providerView) stackedSetting() string {
	switch sdk := v.seen.StackedMostlyBy; {
	case sdk == "aws":
		return "set AWS_MAX_ATTEMPTS=1"
	case strings.HasSuffix(sdk, "-go"):
		return "set option.WithMaxRetries(0)"
	case strings.HasSuffix(sdk, "-node"):
		return "set maxRetries: 0"
	case strings.HasSuffix(sdk, "-python"):
		return "set max_retries=0"
	}
	return "turn its retries off"
}

// stackedWords hold no figures: they stay while the finding does.
func (v providerView) stackedWords() string {
	if !v.stacks() {
		return ""
	}
	return fmt.Sprintf("Calls are retried by %s as well as by the gateway: %s.", v.stackedSDK(), v.stackedSetting())
}

// stackedAdvice is the first provider's whose calls are repeated by two.
func stackedAdvice(views []providerView) string {
	for _, v := range views {
		if words := v.stackedWords(); words != "" {
			return v.name + ": " + strings.ToLower(words[:1]) + words[1:]
		}
	}
	return ""
}

// stackedNote is the Event's: how many, what load that is, and the setting.
func (v providerView) stackedNote() string {
	calls := v.offeredCalls()
	return fmt.Sprintf("%d of %d calls to %s are retries of calls that were already answered, by %s, %s of the load. %s; the gateway retries for it.",
		v.seen.StackedRetries, int64(calls), v.name, v.stackedSDK(), percent(float64(v.seen.StackedRetries), calls), capital(v.stackedSetting()))
}
