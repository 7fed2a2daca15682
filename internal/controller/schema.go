// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"

	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/schema"
	"github.com/headgate-dev/headgate/internal/status"
)

// readSchema has the reconciler ask the manager's API server, unless it was given somebody else to ask.
func (r *Reconciler) readSchema(mgr ctrl.Manager) error {
	if r.Schema != nil {
		return nil
	}
	d, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client for the schema: %w", err)
	}
	r.Schema = schema.New(d.OpenAPIV3(), r.Now)
	return nil
}

// withoutSpecs are the policies as if all of each had been dropped. What is stored may lack a limit that was written
// down, and what is absent limits nothing: so no edit is put in force, and of each policy the last good generation stays.
func withoutSpecs(policies []v1alpha1.RateLimitPolicy) []v1alpha1.RateLimitPolicy {
	out := make([]v1alpha1.RateLimitPolicy, len(policies))
	for i := range policies {
		out[i].TypeMeta, out[i].ObjectMeta = policies[i].TypeMeta, policies[i].ObjectMeta
	}
	return out
}

// maxDropped are named; one CRD upgrades them all.
const maxDropped = 3

// heldBack tells why no edit is put in force, and what to do.
func heldBack(dropped []string) status.Outcome {
	named := strings.Join(dropped[:min(len(dropped), maxDropped)], ", ")
	if more := len(dropped) - maxDropped; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return status.Outcome{Reason: v1alpha1.ReasonSchemaOutdated, Message: fmt.Sprintf(
		"The installed CRD is older than this version of Headgate: the API server drops %s. Apply the CRD of this version, "+
			"then the policy again; until then no edit is put in force.", named)}
}
