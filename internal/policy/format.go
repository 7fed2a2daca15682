// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantityText writes an amount as authors do: 400k.
func quantityText(n int64) string {
	return resource.NewQuantity(n, resource.DecimalSI).String()
}

// millis writes a time as authors do: 1m, not 1m0s.
func millis(n int64) string {
	text := (time.Duration(n) * time.Millisecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
