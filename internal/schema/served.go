// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/openapi"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// The server is asked again soon while something is missing, and now and then when all was well: a CRD may also be put back.
const (
	askEvery  = 5 * time.Second
	lookEvery = time.Hour
)

// kinds are the objects whose spec the manager reads. What is dropped of a status is only not shown.
var kinds = map[string]reflect.Type{
	"RateLimitPolicy": reflect.TypeFor[v1alpha1.RateLimitPolicy](),
	"ProviderAccount": reflect.TypeFor[v1alpha1.ProviderAccount](),
}

// Served is what the API server serves of Headgate's types.
type Served struct {
	client openapi.Client
	now    func() time.Time

	mu      sync.Mutex
	asked   time.Time
	missing []string
}

// New asks the client when it is asked.
func New(client openapi.Client, now func() time.Time) *Served {
	return &Served{client: client, now: now}
}

// Missing are the fields, each after its kind, that this version reads and the API server drops; none if the CRDs are of
// this version or a newer one.
func (s *Served) Missing() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, interval := s.now(), lookEvery
	if len(s.missing) > 0 {
		interval = askEvery
	}
	known := !s.asked.IsZero()
	if known && now.Sub(s.asked) < interval {
		return s.missing, nil
	}
	found, err := s.ask()
	switch {
	case err != nil && !known:
		return nil, fmt.Errorf("read the schema that is served: %w", err)
	case err == nil:
		s.missing = found
	}
	s.asked = now // a server that does not answer changes nothing in what is known
	return s.missing, nil
}

func (s *Served) ask() ([]string, error) {
	paths, err := s.client.Paths()
	if err != nil {
		return nil, err
	}
	version, ok := paths["apis/"+v1alpha1.GroupVersion.String()]
	if !ok {
		return nil, errors.New("nothing is served of " + v1alpha1.GroupVersion.String())
	}
	document, err := version.Schema("application/json")
	if err != nil {
		return nil, err
	}
	return compare(document)
}

// compare looks for each kind in an OpenAPI document.
func compare(document []byte) (all []string, err error) {
	var parsed struct {
		Components struct {
			Schemas map[string]*node `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		var served *node
		for _, n := range parsed.Components.Schemas {
			if slices.Contains(n.Kinds, kind{v1alpha1.GroupVersion.Group, v1alpha1.GroupVersion.Version, name}) {
				served = n
			}
		}
		if served == nil {
			all = append(all, name)
			continue
		}
		spec, _ := kinds[name].FieldByName("Spec")
		all = missing(all, spec.Type, served.Properties["spec"], name+" spec")
	}
	return all, nil
}
