// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

var env *controlplane.Env

func TestMain(m *testing.M) {
	os.Exit(controlplane.Run(m, controlplane.Options{}, func(e *controlplane.Env) { env = e }))
}

const head = "apiVersion: headgate.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: test, namespace: default}\n"

// applyDry asks the API server for its verdict on YAML, with unknown fields refused as kubectl does.
func applyDry(t *testing.T, document string) error {
	t.Helper()
	var object unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
		t.Fatalf("the case is no YAML: %v\n%s", err, document)
	}
	return env.Client.Create(t.Context(), &object, client.DryRunAll, client.FieldValidation("Strict"))
}
