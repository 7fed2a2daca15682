// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"encoding/json"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/aliases"
)

// documents takes a list, which kubectl get prints for several objects, apart; other content is as it was.
func documents(content []byte) []byte {
	var list struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	if len(content) > MaxInput || aliases.Check(content, MaxInput) != nil || yaml.Unmarshal(content, &list) != nil || !slices.Contains([]string{"List", "RateLimitPolicyList", "ProviderAccountList"}, list.Kind) {
		return content
	}
	var out bytes.Buffer
	for _, item := range list.Items {
		out.WriteString("---\n")
		out.Write(item)
		out.WriteByte('\n')
	}
	return out.Bytes()
}
