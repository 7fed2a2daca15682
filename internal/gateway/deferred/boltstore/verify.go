// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The layout of a bbolt file: pages, of which the first two are copies of the root, each with a header; a page holds
// elements that point to keys and values or to further pages, or is the list of free pages.
const (
	pageHead    = 16
	elementSize = 16
	metaSize    = 64
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	noFreelist  = 1<<64 - 1

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10
	flagBucket   = 0x01
	// manyFree as the count says that the first entry is the count.
	manyFree = 0xFFFF
)

var order = binary.NativeEndian

// verify reads the whole file before bbolt does. bbolt trusts what it finds: where pages lead in a circle it does not
// end, and where a size is wrong it reads beyond the file, in goroutines of its own too.
func verify(path string) error {
	f, err := os.Open(path) //nolint:gosec // G304: in the operator's directory
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err // bbolt makes a new one of an empty file
	}
	v := &verifier{file: f, size: info.Size()}
	if err := v.run(); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

type verifier struct {
	file     io.ReaderAt
	size     int64
	pageSize int64
	// pages is how many are in use or free; seen are those in use.
	pages uint64
	seen  map[uint64]bool
}

type meta struct {
	pageSize                    uint32
	root, freelist, pages, txid uint64
}

func (v *verifier) run() error {
	m, err := v.latest()
	if err != nil {
		return err
	}
	v.pageSize, v.pages, v.seen = int64(m.pageSize), m.pages, map[uint64]bool{0: true, 1: true}
	if m.pages > uint64(v.size/v.pageSize) {
		return fmt.Errorf("%d pages of %d bytes are more than its %d bytes", m.pages, v.pageSize, v.size)
	}
	if err := v.tree(m.root); err != nil {
		return err
	}
	if m.freelist == noFreelist {
		return nil
	}
	return v.free(m.freelist)
}

// latest is the copy of the root that bbolt will use: the newest that is whole.
func (v *verifier) latest() (*meta, error) {
	first := v.meta(0)
	second := int64(os.Getpagesize())
	if first != nil {
		second = int64(first.pageSize)
	}
	m := v.meta(second)
	switch {
	case first == nil && m == nil:
		return nil, errors.New("neither copy of its root is whole")
	case m == nil || first != nil && first.txid > m.txid:
		return first, nil
	}
	return m, nil
}

// meta reads the copy of the root in the page at an offset, nil if it is not whole.
func (v *verifier) meta(at int64) *meta {
	b := make([]byte, metaSize)
	if _, err := v.file.ReadAt(b, at+pageHead); err != nil {
		return nil
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:56])
	if order.Uint32(b) != metaMagic || order.Uint32(b[4:]) != metaVersion || order.Uint64(b[56:]) != sum.Sum64() {
		return nil
	}
	m := &meta{
		pageSize: order.Uint32(b[8:]), root: order.Uint64(b[16:]), freelist: order.Uint64(b[32:]),
		pages: order.Uint64(b[40:]), txid: order.Uint64(b[48:]),
	}
	if m.pageSize < 1024 || m.pageSize > 64<<10 || m.pageSize&(m.pageSize-1) != 0 {
		return nil
	}
	return m
}

// page reads a page that nothing else leads to, with those that continue it.
func (v *verifier) page(id uint64) ([]byte, error) {
	head := make([]byte, pageHead)
	if id < 2 || id >= v.pages {
		return nil, fmt.Errorf("page %d does not exist", id)
	}
	if _, err := v.file.ReadAt(head, int64(id)*v.pageSize); err != nil {
		return nil, err
	}
	more := uint64(order.Uint32(head[12:]))
	if order.Uint64(head) != id || more >= v.pages-id {
		return nil, fmt.Errorf("page %d has a wrong head", id)
	}
	for i := id; i <= id+more; i++ {
		if v.seen[i] {
			return nil, fmt.Errorf("two ways lead to page %d", i)
		}
		v.seen[i] = true
	}
	p := make([]byte, int64(more+1)*v.pageSize)
	_, err := v.file.ReadAt(p, int64(id)*v.pageSize)
	return p, err
}

// tree looks at a page and at all below it.
func (v *verifier) tree(id uint64) error {
	p, err := v.page(id)
	if err != nil {
		return err
	}
	if err := v.elements(p); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

func (v *verifier) elements(p []byte) error {
	flags, count := order.Uint16(p[8:]), int(order.Uint16(p[10:]))
	if flags != flagBranch && flags != flagLeaf || flags == flagBranch && count == 0 {
		return errors.New("it is of no kind that belongs here")
	}
	if pageHead+count*elementSize > len(p) {
		return errors.New("its elements do not fit in")
	}
	var last []byte
	for i := range count {
		key, err := v.element(p, pageHead+i*elementSize, flags)
		if err != nil {
			return err
		}
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return errors.New("its keys are in no order")
		}
		last = key
	}
	return nil
}

// element looks at one element and at what it leads to, and returns its key.
func (v *verifier) element(p []byte, at int, flags uint16) ([]byte, error) {
	e := p[at : at+elementSize]
	if flags == flagBranch {
		key, _, err := pointed(p, at, order.Uint32(e), order.Uint32(e[4:]), 0)
		if err != nil {
			return nil, err
		}
		return key, v.tree(order.Uint64(e[8:]))
	}
	key, value, err := pointed(p, at, order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:]))
	if err != nil || order.Uint32(e)&flagBucket == 0 {
		return key, err
	}
	return key, v.bucket(value)
}

// pointed are the key and the value that an element at an offset points to.
func pointed(p []byte, at int, offset, keySize, valueSize uint32) (key, value []byte, err error) {
	start := int64(at) + int64(offset)
	end := start + int64(keySize) + int64(valueSize)
	if end > int64(len(p)) || int64(offset) < elementSize {
		return nil, nil, errors.New("an element leads out of it")
	}
	return p[start : start+int64(keySize)], p[start+int64(keySize) : end], nil
}

// bucket looks at a bucket, which leads to a page or has one in it.
func (v *verifier) bucket(value []byte) error {
	if len(value) < pageHead {
		return errors.New("a bucket is too short")
	}
	if root := order.Uint64(value); root != 0 {
		return v.tree(root)
	}
	inline := value[pageHead:]
	if len(inline) < pageHead || order.Uint16(inline[8:]) != flagLeaf {
		return errors.New("a bucket has no page in it")
	}
	return v.elements(inline)
}

// free looks at the list of free pages: one that is in use would be written over.
func (v *verifier) free(id uint64) error {
	p, err := v.page(id)
	if err != nil {
		return err
	}
	if order.Uint16(p[8:]) != flagFreelist {
		return errors.New("the list of free pages is none")
	}
	count, at := uint64(order.Uint16(p[10:])), uint64(pageHead)
	if count == manyFree {
		count, at = order.Uint64(p[pageHead:]), at+8
	}
	if count > v.pages || at+count*8 > uint64(len(p)) {
		return errors.New("the list of free pages is longer than its page")
	}
	for i := range count {
		page := order.Uint64(p[at+i*8:])
		if page >= v.pages || v.seen[page] {
			return fmt.Errorf("page %d is both free and in use, or does not exist", page)
		}
		v.seen[page] = true
	}
	return nil
}
