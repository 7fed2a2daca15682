// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// Bounds of a file of policies: an object in Kubernetes is smaller, and a plan holds no more of them.
const (
	maxFileBytes = 1 << 20
	maxDocuments = 1000
)

// Decode reads RateLimitPolicy objects from YAML, one document each. It is strict, as the API server is: an
// unknown or repeated field, a wrong type and an empty string are errors with their path. It does not
// validate.
func Decode(data []byte) ([]v1alpha1.RateLimitPolicy, error) {
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("the file has %d bytes, more than %d", len(data), maxFileBytes)
	}
	var policies []v1alpha1.RateLimitPolicy
	// The reader loses an unterminated last line whose length is a multiple of its buffer.
	terminated := io.MultiReader(bytes.NewReader(data), strings.NewReader("\n"))
	reader := utilyaml.NewYAMLReader(bufio.NewReader(terminated))
	for document := 1; ; document++ {
		content, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", document, err)
		}
		policy, err := decodeDocument(content)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", document, err)
		}
		if policy == nil {
			continue
		}
		if len(policies) == maxDocuments {
			return nil, fmt.Errorf("more than %d policies", maxDocuments)
		}
		policies = append(policies, *policy)
	}
	if len(policies) == 0 {
		return nil, errors.New("no RateLimitPolicy in it")
	}
	return policies, uniqueNames(policies)
}

// decodeDocument returns nil for a document of comments and space.
func decodeDocument(content []byte) (*v1alpha1.RateLimitPolicy, error) {
	asJSON, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(asJSON), []byte("null")) {
		return nil, nil
	}
	if err := checkKind(asJSON); err != nil {
		return nil, err
	}
	if err := checkRaw(asJSON); err != nil {
		return nil, err
	}
	var policy v1alpha1.RateLimitPolicy
	strict, err := json.UnmarshalStrict(asJSON, &policy)
	if err := errors.Join(append(strict, err)...); err != nil {
		return nil, err
	}
	return &policy, checkName(&policy)
}

func checkKind(asJSON []byte) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(asJSON, &head); err != nil {
		return err
	}
	if head.APIVersion != v1alpha1.GroupVersion.String() || head.Kind != "RateLimitPolicy" {
		return fmt.Errorf("apiVersion %q, kind %q: only %s, RateLimitPolicy is read",
			head.APIVersion, head.Kind, v1alpha1.GroupVersion)
	}
	return nil
}

func checkName(p *v1alpha1.RateLimitPolicy) error {
	if p.Name == "" {
		return errors.New("metadata.name: give the policy a name")
	}
	if problems := validation.IsDNS1123Subdomain(p.Name); len(problems) > 0 {
		return fmt.Errorf("metadata.name: %s", problems[0])
	}
	return nil
}

func uniqueNames(policies []v1alpha1.RateLimitPolicy) error {
	seen := map[string]bool{}
	for i := range policies {
		name := policies[i].Namespace + "/" + policies[i].Name
		if seen[name] {
			return fmt.Errorf("policy %s appears twice", policies[i].Name)
		}
		seen[name] = true
	}
	return nil
}
