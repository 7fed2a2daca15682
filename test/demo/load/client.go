// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	requestTimeout = 10 * time.Second
	maxAnswer      = 64 << 20
)

var client = &http.Client{Timeout: requestTimeout}

// Get reads a JSON document.
func Get(ctx context.Context, url string, into any) error {
	return exchange(ctx, http.MethodGet, url, nil, into)
}

// Post sends one; the answer is read if into is not nil.
func Post(ctx context.Context, url string, body, into any) error {
	return exchange(ctx, http.MethodPost, url, body, into)
}

func exchange(ctx context.Context, method, url string, body, into any) error {
	raw := []byte{}
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s: %.200s", url, res.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}
