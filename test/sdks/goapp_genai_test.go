// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genai"
)

// genaiGo is Google's own SDK with all its defaults.
type genaiGo struct{}

func (genaiGo) config(s scenario) *genai.GenerateContentConfig {
	return &genai.GenerateContentConfig{MaxOutputTokens: int32(s.MaxTokens)}
}

func (genaiGo) piece(r *genai.GenerateContentResponse) piece {
	p := piece{text: r.Text()}
	if r.UsageMetadata != nil {
		p.outputTokens = int64(r.UsageMetadata.CandidatesTokenCount)
	}
	return p
}

func (g genaiGo) call(ctx context.Context, s scenario) (piece, error) {
	client, err := genai.NewClient(ctx, nil)
	if err != nil {
		return piece{}, err
	}
	answer, err := client.Models.GenerateContent(ctx, s.Model, genai.Text("a few c4n4ryPrompt words"), g.config(s))
	if err != nil {
		return piece{}, err
	}
	return g.piece(answer), nil
}

func (g genaiGo) stream(ctx context.Context, s scenario, each func(piece)) error {
	client, err := genai.NewClient(ctx, nil)
	if err != nil {
		return err
	}
	for answer, err := range client.Models.GenerateContentStream(ctx, s.Model, genai.Text("a few c4n4ryPrompt words"), g.config(s)) {
		if err != nil {
			return err
		}
		each(g.piece(answer))
	}
	return nil
}

// wait reads the details of the error: it has no headers.
func (genaiGo) wait(err error) (string, int, *float64) {
	var e genai.APIError
	if !errors.As(err, &e) {
		return "", 0, nil
	}
	for _, detail := range e.Details {
		kind, _ := detail["@type"].(string)
		delay, _ := detail["retryDelay"].(string)
		if d, err := time.ParseDuration(delay); err == nil && strings.HasSuffix(kind, "google.rpc.RetryInfo") && e.Code == http.StatusTooManyRequests {
			seconds := d.Seconds()
			return "genai.APIError", e.Code, &seconds
		}
	}
	return "genai.APIError", e.Code, nil
}
