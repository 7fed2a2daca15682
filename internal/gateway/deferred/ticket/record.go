// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ticket

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A record is a version, the checksum of what follows, and the ticket as JSON.
const (
	recordVersion = 1
	recordHead    = 1 + crc32.Size
	// MaxRecord bounds a record.
	MaxRecord = 1 << 20
)

// ErrRecord says that a record cannot be read: it was damaged, or a newer version wrote it.
var ErrRecord = errors.New("the record of a deferred call cannot be read")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Encode returns the ticket's record.
func (t *Ticket) Encode() ([]byte, error) {
	doc, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("write a deferred call: %w", err)
	}
	if recordHead+len(doc) > MaxRecord {
		return nil, fmt.Errorf("a record of %d bytes exceeds %d", len(doc), MaxRecord)
	}
	out := make([]byte, recordHead, recordHead+len(doc))
	out[0] = recordVersion
	binary.BigEndian.PutUint32(out[1:], checksum(doc))
	return append(out, doc...), nil
}

// Decode reads a record.
func Decode(record []byte) (*Ticket, error) {
	switch {
	case len(record) < recordHead || len(record) > MaxRecord:
		return nil, fmt.Errorf("%w: it has %d bytes", ErrRecord, len(record))
	case record[0] != recordVersion:
		return nil, fmt.Errorf("%w: version %d", ErrRecord, record[0])
	case checksum(record[recordHead:]) != binary.BigEndian.Uint32(record[1:]):
		return nil, fmt.Errorf("%w: its checksum is another", ErrRecord)
	}
	var t Ticket
	decoder := json.NewDecoder(bytes.NewReader(record[recordHead:]))
	if err := decoder.Decode(&t); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: something follows it", ErrRecord)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return &t, nil
}

// check refuses what no gateway writes.
func (t *Ticket) check() error {
	switch t.State {
	case Waiting, Done, Dead:
	default:
		return errors.New("its state is none")
	}
	switch t.Delivery {
	case Undelivered, Due, Delivered, GivenUp:
	default:
		return errors.New("its delivery is none")
	}
	switch {
	case !ValidID(t.ID):
		return errors.New("its ID is none")
	case t.Route == "" || len(t.Path) == 0 || t.Path[0] != '/':
		return errors.New("it leads nowhere")
	case t.Attempts < 0 || t.Deliveries < 0 || t.MaxAge < 0 || t.Request.Bytes < 0 || t.Answer.Bytes < 0:
		return errors.New("a count is negative")
	case t.State == Done && (t.Status < 200 || t.Status > 999):
		return errors.New("its answer has no status")
	}
	return nil
}
