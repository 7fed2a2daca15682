// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	// MaxMessage is the largest message whose payload is kept. Those that carry text are below 1 KiB.
	MaxMessage = 256 << 10
	// maxLength is what no message may exceed: the protocol's own bound of the payload, and of the headers.
	maxLength  = 24<<20 + maxHeaders + overhead
	maxHeaders = 128 << 10
	// prelude is the two lengths and their checksum; trailer the checksum of the message.
	prelude  = 12
	trailer  = 4
	overhead = prelude + trailer
	// keepBuffer is the largest buffer that outlives its message.
	keepBuffer = 4 << 10
)

// Handler is told of messages.
type Handler interface {
	Message(m Message)
}

// Decoder is ready to use when zero.
type Decoder struct {
	// head holds what is kept of the message that passes: the prelude, the headers and, unless it is
	// large, the payload. It is to become keep bytes long.
	head []byte
	keep int
	// total and headers are the lengths the prelude gives; total is 0 before it is known. seen bytes have passed.
	total, headers int
	seen           int
	sum            uint32
	tail           [trailer]byte
	broken         bool
}

// Broken reports that something was no message, so that nothing is read any more.
func (d *Decoder) Broken() bool { return d.broken }

// Unfinished reports that a message has begun and not ended.
func (d *Decoder) Unfinished() bool { return len(d.head) > 0 }

// Write decodes p.
func (d *Decoder) Write(p []byte, h Handler) {
	for len(p) > 0 && !d.broken {
		switch {
		case d.total > 0:
			p = d.pass(p, h)
		case len(d.head) == 0 && len(p) >= prelude:
			p = d.whole(p, h)
		default:
			n := min(len(p), prelude-len(d.head))
			d.head, p = append(d.head, p[:n]...), p[n:]
			if len(d.head) == prelude {
				d.begin(d.head)
			}
		}
	}
}

// whole takes the message that p begins with, without copying it if all of it is there.
func (d *Decoder) whole(p []byte, h Handler) (rest []byte) {
	total, headers, ok := lengths(p)
	if !ok {
		d.broken = true
		return nil
	}
	if total > len(p) || total > MaxMessage {
		d.head = append(d.head, p[:prelude]...)
		d.begin(d.head)
		return p[prelude:]
	}
	body := p[:total-trailer]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(p[total-trailer:]) {
		d.broken = true
		return nil
	}
	h.Message(Message{Headers: body[prelude : prelude+headers], Payload: body[prelude+headers:]})
	return p[total:]
}

// lengths reads a prelude and checks it.
func lengths(p []byte) (total, headers int, ok bool) {
	t, n := binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:])
	if crc32.ChecksumIEEE(p[:8]) != binary.BigEndian.Uint32(p[8:]) {
		return 0, 0, false
	}
	if t < overhead || t > maxLength || n > maxHeaders || n > t-overhead {
		return 0, 0, false
	}
	return int(t), int(n), true
}

// begin starts a message that comes in pieces.
func (d *Decoder) begin(p []byte) {
	total, headers, ok := lengths(p)
	if !ok {
		d.broken = true
		return
	}
	d.total, d.headers, d.seen = total, headers, prelude
	d.sum = crc32.ChecksumIEEE(p[:prelude])
	if d.keep = total - trailer; total > MaxMessage {
		d.keep = prelude + headers
	}
}

// pass takes what p holds of the message.
func (d *Decoder) pass(p []byte, h Handler) (rest []byte) {
	n := min(len(p), d.total-d.seen)
	piece := p[:n]
	if missing := d.keep - len(d.head); missing > 0 {
		d.head = append(d.head, piece[:min(n, missing)]...)
	}
	body := min(n, max(d.total-trailer-d.seen, 0))
	d.sum = crc32.Update(d.sum, crc32.IEEETable, piece[:body])
	if body < n {
		copy(d.tail[d.seen+body-(d.total-trailer):], piece[body:])
	}
	if d.seen += n; d.seen == d.total {
		d.finish(h)
	}
	return p[n:]
}

func (d *Decoder) finish(h Handler) {
	if d.sum != binary.BigEndian.Uint32(d.tail[:]) {
		d.broken, d.head = true, nil
		return
	}
	m := Message{Headers: d.head[prelude : prelude+d.headers], Large: d.total > MaxMessage}
	if !m.Large {
		m.Payload = d.head[prelude+d.headers:]
	}
	h.Message(m)
	if d.total = 0; cap(d.head) > keepBuffer {
		d.head = nil
	}
	d.head = d.head[:0]
}
