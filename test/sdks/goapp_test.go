// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// goSDK is what an app does with a Go SDK. It reads the environment as the SDK does by itself.
type goSDK interface {
	call(ctx context.Context, s scenario) (piece, error)
	// stream calls each with every piece, until the end or an error.
	stream(ctx context.Context, s scenario, each func(piece)) error
	// wait reads how long to wait off the SDK's own error for rate limits; false if err is another.
	wait(err error) (typeName string, status int, seconds *float64)
}

// piece is a part of an answer, or all of it.
type piece struct {
	text string
	// outputTokens is 0 where the piece does not say.
	outputTokens int64
}

var goSDKs = map[string]goSDK{
	"openai-go": openaiGo{}, "anthropic-sdk-go": anthropicGo{}, "genai": genaiGo{}, "bedrockruntime": bedrockGo{},
}

// serveGoApp plays scenarios as npm/runner.mjs does.
func serveGoApp(name string) {
	sdk, out := goSDKs[name], json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, maxOutcome)
	for lines.Scan() {
		var s scenario
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			panic(err)
		}
		for name, value := range s.Env {
			if err := os.Setenv(name, value); err != nil {
				panic(err)
			}
		}
		began := time.Now()
		o := playGo(sdk, s)
		o.TookMillis = millis(time.Since(began))
		if err := out.Encode(o); err != nil {
			panic(err)
		}
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func playGo(sdk goSDK, s scenario) outcome {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if s.GiveUpMillis > 0 {
		time.AfterFunc(time.Duration(s.GiveUpMillis)*time.Millisecond, cancel)
	}
	var o outcome
	var err error
	if s.Stream {
		err = sdk.stream(ctx, s, func(p piece) { o.take(p, s, cancel) })
	} else {
		var p piece
		p, err = sdk.call(ctx, s)
		o.Text, o.OutputTokens = p.text, int(p.outputTokens)
	}
	if err != nil && o.AbortedUnixMillis == 0 {
		o.Error = describe(sdk, err)
	}
	return o
}

func (o *outcome) take(p piece, s scenario, leave func()) {
	o.Pieces++
	o.Text += p.text
	if p.outputTokens > 0 {
		o.OutputTokens = int(p.outputTokens)
	}
	if s.Abort && o.Text != "" && o.AbortedUnixMillis == 0 {
		o.AbortedUnixMillis = float64(time.Now().UnixNano()) / 1e6
		leave()
	}
}

func describe(sdk goSDK, err error) *failure {
	name, status, seconds := sdk.wait(err)
	if name == "" {
		name = fmt.Sprintf("%T", err)
	}
	return &failure{
		Type: name, Status: status, Message: err.Error(), WaitSeconds: seconds, Abandoned: errors.Is(err, context.Canceled),
	}
}
