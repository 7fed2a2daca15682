// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// Bounds on what is read.
const (
	maxKeys     = 256
	maxKeyBytes = 16 << 10
)

// The ways a key may be withheld. None of them says anything of the key itself.
var (
	ErrUnknown  = errors.New("the Secret headgate-credentials has no such key")
	ErrNotHTTPS = errors.New("a key is sent over https only")
	ErrHost     = errors.New("the key's .hosts entry does not list this host")
)

// errContent says that a file will not do as it is.
var errContent = errors.New("unusable content")

var validName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// entry is one key and where it may go.
type entry struct {
	key   string
	hosts []string
}

// content is one reading of the directory; immutable.
type content struct {
	entries map[string]entry
	stamp   string
}

// Store serves the keys of one directory.
type Store struct {
	dir     string
	current atomic.Pointer[content]
}

// New returns the store of dir; an empty dir or one that does not exist holds no keys.
func New(dir string) *Store {
	s := &Store{dir: dir}
	s.current.Store(&content{})
	return s
}

// Key returns the key called name if it may be sent to u.
func (s *Store) Key(name string, u *url.URL) (string, error) {
	e, ok := s.current.Load().entries[name]
	switch {
	case !ok:
		return "", fmt.Errorf("credential %q: %w", name, ErrUnknown)
	case u.Scheme != "https":
		return "", fmt.Errorf("credential %q: %w", name, ErrNotHTTPS)
	case !allows(e.hosts, u):
		return "", fmt.Errorf("credential %q, host %q: %w", name, u.Host, ErrHost)
	}
	return e.key, nil
}

// Reload reads the directory again where it has changed, and names the keys that are others than before or may go elsewhere,
// in order. A file that was written anew as it was changes none, and an error of one key is no word on the others.
func (s *Store) Reload() (changed []string, err error) {
	if s.dir == "" {
		return nil, nil
	}
	names, stamp, err := s.list()
	if err != nil {
		return nil, err
	}
	last := s.current.Load()
	if stamp == last.stamp {
		return nil, nil
	}
	entries, again, err := s.readAll(names)
	if again {
		stamp = "" // looked at again, whether it changes or not
	}
	s.current.Store(&content{entries: entries, stamp: stamp})
	return differing(last.entries, entries), err
}

// differing are the names whose entries are not the same in both, in order.
func differing(a, b map[string]entry) []string {
	var names []string
	for name, e := range a {
		if other, ok := b[name]; !ok || e.key != other.key || !slices.Equal(e.hosts, other.hosts) {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// readAll reads the keys. One that is unusable keeps its last good value, and does not keep others from
// being renewed; again says that a later look may find it readable as it is.
func (s *Store) readAll(names []string) (entries map[string]entry, again bool, err error) {
	last := s.current.Load().entries
	entries = make(map[string]entry, len(names))
	var errs []error
	for _, name := range names {
		e, err := s.read(name)
		if err != nil {
			again = again || !errors.Is(err, errContent)
			errs = append(errs, err)
			e = last[name]
		}
		if e.key != "" {
			entries[name] = e
		}
	}
	return entries, again, errors.Join(errs...)
}

// list names the keys and stamps the directory's state.
func (s *Store) list() ([]string, string, error) {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, "absent", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading credentials: %w", err)
	}
	var names []string
	var stamp strings.Builder
	for _, f := range files {
		if len(names) >= maxKeys || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		// Stat follows the links a mounted Secret is made of.
		info, err := os.Stat(filepath.Join(s.dir, f.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		fmt.Fprintf(&stamp, "%s %d %d\n", f.Name(), info.Size(), info.ModTime().UnixNano())
		if validName.MatchString(f.Name()) {
			names = append(names, f.Name())
		}
	}
	return names, stamp.String(), nil
}

func (s *Store) read(name string) (entry, error) {
	key, err := readBounded(filepath.Join(s.dir, name))
	if err != nil {
		return entry{}, fmt.Errorf("reading credential %q: %w", name, err)
	}
	hosts, err := readBounded(filepath.Join(s.dir, name+sidecar.HostsSuffix))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return entry{}, fmt.Errorf("reading the hosts of credential %q: %w", name, err)
	}
	text := strings.TrimSpace(string(key))
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return entry{}, fmt.Errorf("credential %q: %w: control characters", name, errContent)
	}
	return entry{key: text, hosts: parseHosts(string(hosts))}, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // below the operator's directory
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(f, maxKeyBytes+1))
	if err == nil && n > maxKeyBytes {
		err = fmt.Errorf("%w: more than %d bytes", errContent, maxKeyBytes)
	}
	return b.Bytes(), err
}
