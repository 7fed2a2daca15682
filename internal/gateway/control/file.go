// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// File watches one file by looking at it.
type File struct {
	path string
	max  int64
	last []byte
	seen os.FileInfo
}

// NewFile returns a watch on path, whose content is bounded.
func NewFile(path string, maxBytes int64) *File { return &File{path: path, max: maxBytes} }

// Changed returns the content if it has changed since the last look. A file that is not there, now or
// no more, is no change: a volume is replaced in steps.
func (f *File) Changed() (content []byte, changed bool, err error) {
	info, err := os.Stat(f.path)
	if err == nil && f.seen != nil && os.SameFile(info, f.seen) && info.ModTime().Equal(f.seen.ModTime()) && info.Size() == f.seen.Size() {
		return nil, false, nil
	}
	r, err := os.Open(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = r.Close() }()
	content, err = io.ReadAll(io.LimitReader(r, f.max+1))
	if err != nil {
		return nil, false, err
	}
	if int64(len(content)) > f.max {
		return nil, false, fmt.Errorf("%s is larger than %d bytes", f.path, f.max)
	}
	same := f.seen != nil && bytes.Equal(content, f.last)
	f.last, f.seen = content, info
	return content, !same, nil
}
