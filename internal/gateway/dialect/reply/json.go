// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package reply

import (
	"bytes"
	"encoding/json"
)

// JSON encodes a body of the gateway's own; letters such as < stay readable. The values are structs of
// strings, which always encode; of anything that does not there is no body.
func JSON(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}
