// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"net"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// SecretName is the Secret of the manager's namespace that holds the authority.
const SecretName = "headgate-ca"

// The names under which the manager's Services are dialled, without their namespace.
const (
	WebhookService     = "headgate-webhook"
	CoordinatorService = "headgate-coordinator"
)

// The webhook configurations that get the bundle.
const (
	MutatingConfiguration   = "headgate-pod-injection"
	ValidatingConfiguration = "headgate-policy-validation"
)

// Options of a Source. The zero value of a duration means its default.
type Options struct {
	// Namespace is the manager's own.
	Namespace string
	// DNSNames are the leaf's; absent means ServiceNames(Namespace).
	DNSNames []string
	// IPAddresses are the leaf's, where callers dial an address.
	IPAddresses []net.IP
	// Mutating and Validating are names of webhook configurations.
	Mutating, Validating []string
	// CALifetime defaults to 365 days; the next authority is made after two thirds of it.
	CALifetime time.Duration
	// Overlap is how long the next authority is published before it signs; 24 h by default. Gateways
	// learn of it by their plan within minutes.
	Overlap time.Duration
	// LeafLifetime defaults to 7 days; a leaf is replaced after two thirds of it.
	LeafLifetime time.Duration
	// Poll is how often stored state is looked at; 10 s by default, and ten times as often until there
	// is a leaf.
	Poll time.Duration
	// Now is the clock; time.Now by default.
	Now func() time.Time
}

// ServiceNames are the names under which the manager's Services are dialled.
func ServiceNames(namespace string) []string {
	var names []string
	for _, service := range []string{WebhookService, CoordinatorService} {
		name := service + "." + namespace + ".svc"
		names = append(names, name, name+".cluster.local")
	}
	return names
}

func (o Options) withDefaults() Options {
	o.CALifetime = orDefault(o.CALifetime, 365*24*time.Hour)
	o.Overlap = orDefault(o.Overlap, 24*time.Hour)
	o.LeafLifetime = orDefault(o.LeafLifetime, 7*24*time.Hour)
	o.Poll = orDefault(o.Poll, 10*time.Second)
	if o.DNSNames == nil {
		o.DNSNames = ServiceNames(o.Namespace)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

func (o Options) secretKey() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: SecretName}
}
