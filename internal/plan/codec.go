// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxBytes bounds an encoded plan. An object in Kubernetes holds 1 MiB at most, and its metadata and the
// history of its owners need some of it.
const MaxBytes = 900 << 10

// ErrTooBig says that a plan exceeds MaxBytes.
var ErrTooBig = errors.New("plan exceeds 900 KiB")

// Encode returns the plan's bytes: the same for the same plan, always.
func Encode(p Plan) ([]byte, error) {
	out, err := marshal(p)
	if err != nil {
		return nil, err
	}
	if len(out) > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrTooBig, len(out))
	}
	return out, nil
}

// Parse returns the plan that data holds. Anything but one whole, valid plan of a known version is an
// error; the reader then keeps the plan it has.
func Parse(data []byte) (*Plan, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrTooBig, len(data))
	}
	if err := checkVersion(data); err != nil {
		return nil, err
	}
	var p Plan
	if err := unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &p, nil
}

// checkVersion comes before the rest is read, because the rest of another version may have other types.
func checkVersion(data []byte) error {
	var head struct {
		Version int `json:"version"`
	}
	if err := unmarshal(data, &head); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	return knownVersion(head.Version)
}

func unmarshal(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the plan")
	}
	return nil
}

func marshal(p Plan) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	// URLs stay readable for whoever looks at the object.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		return nil, fmt.Errorf("write the plan: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
