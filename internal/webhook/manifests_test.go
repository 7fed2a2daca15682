// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

func installFile(ctx context.Context, path string) error {
	objects, err := readManifests(path)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.GetKind() == "Kustomization" {
			continue
		}
		if err := redirect(o); err != nil {
			return err
		}
		if err := env.Client.Create(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func readManifests(path string) ([]*unstructured.Unstructured, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &o.Object); err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
}

// waits is how long the suite's API server waits for a webhook, in seconds: a machine may be many times too slow for what is
// shipped, and then pods are admitted as they are.
const waits = 30

// redirect points a webhook configuration at the suite's address instead of the Service, and gives it more time.
func redirect(o *unstructured.Unstructured) error {
	webhooks, found, err := unstructured.NestedSlice(o.Object, "webhooks")
	if err != nil || !found {
		return err
	}
	for _, w := range webhooks {
		entry := w.(map[string]any)
		path, _, err := unstructured.NestedString(entry, "clientConfig", "service", "path")
		if err != nil {
			return err
		}
		entry["clientConfig"] = map[string]any{"url": "https://" + front.address() + path}
		entry["timeoutSeconds"] = int64(waits)
	}
	return unstructured.SetNestedSlice(o.Object, webhooks, "webhooks")
}
