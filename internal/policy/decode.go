// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/aliases"
)

// Bounds of a file of policies: an object in Kubernetes is smaller, and a plan holds no more of them.
const (
	maxFileBytes = 1 << 20
	maxDocuments = 1000
)

// Objects are what a file holds.
type Objects struct {
	Policies []v1alpha1.RateLimitPolicy
	Accounts []v1alpha1.ProviderAccount
}

// Decode reads RateLimitPolicy objects from YAML, as Read does, and passes over ProviderAccounts.
func Decode(data []byte) ([]v1alpha1.RateLimitPolicy, error) {
	objects, err := Read(data)
	if err != nil {
		return nil, err
	}
	if len(objects.Policies) == 0 {
		return nil, errors.New("no RateLimitPolicy in it")
	}
	return objects.Policies, nil
}

// Read reads RateLimitPolicy and ProviderAccount objects from YAML, one document each. It is strict, as the API server
// is: an unknown or repeated field, a wrong type and an empty string are errors with their path. It does not validate.
func Read(data []byte) (Objects, error) {
	var out Objects
	if len(data) > maxFileBytes {
		return out, fmt.Errorf("the file has %d bytes, more than %d", len(data), maxFileBytes)
	}
	// The reader loses an unterminated last line whose length is a multiple of its buffer.
	terminated := io.MultiReader(bytes.NewReader(data), strings.NewReader("\n"))
	reader := utilyaml.NewYAMLReader(bufio.NewReader(terminated))
	for document := 1; ; document++ {
		content, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = briefly(out.add(content))
		}
		if err != nil {
			return Objects{}, fmt.Errorf("document %d: %w", document, err)
		}
		if len(out.Policies)+len(out.Accounts) > maxDocuments {
			return Objects{}, fmt.Errorf("more than %d policies and accounts", maxDocuments)
		}
	}
	if len(out.Policies)+len(out.Accounts) == 0 {
		return Objects{}, errors.New("no RateLimitPolicy in it")
	}
	if err := out.uniqueNames(); err != nil {
		return Objects{}, err
	}
	return out, nil
}

// add reads one document; one of comments and space is nothing.
func (o *Objects) add(content []byte) error {
	if err := aliases.Check(content, maxFileBytes); err != nil {
		return err
	}
	asJSON, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return err
	}
	if bytes.Equal(bytes.TrimSpace(asJSON), []byte("null")) {
		return nil
	}
	kind, err := checkKind(asJSON)
	if err != nil {
		return err
	}
	if kind == accountKind {
		var account v1alpha1.ProviderAccount
		err := decodeObject(asJSON, accountSpecType, &account)
		o.Accounts = append(o.Accounts, account)
		return errors.Join(err, checkName("the account", account.Name))
	}
	var policy v1alpha1.RateLimitPolicy
	if err := decodeObject(asJSON, specType, &policy); err != nil {
		return err
	}
	o.Policies = append(o.Policies, policy)
	return checkName("the policy", policy.Name)
}

func decodeObject(asJSON []byte, spec reflect.Type, into any) error {
	if err := checkRaw(asJSON, spec); err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(asJSON, into)
	return errors.Join(append(strict, err)...)
}

// The kinds that are read.
const (
	policyKind  = "RateLimitPolicy"
	accountKind = "ProviderAccount"
)

func checkKind(asJSON []byte) (string, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(asJSON, &head); err != nil {
		return "", err
	}
	if head.APIVersion != v1alpha1.GroupVersion.String() || head.Kind != policyKind && head.Kind != accountKind {
		return "", fmt.Errorf("apiVersion %q, kind %q: only %s, %s and %s are read",
			head.APIVersion, head.Kind, v1alpha1.GroupVersion, policyKind, accountKind)
	}
	return head.Kind, nil
}

func checkName(of, name string) error {
	if name == "" {
		return fmt.Errorf("metadata.name: give %s a name", of)
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return fmt.Errorf("metadata.name: %s", problems[0])
	}
	return nil
}

func (o *Objects) uniqueNames() error {
	seen := map[string]bool{}
	for i := range o.Policies {
		name := o.Policies[i].Namespace + "/" + o.Policies[i].Name
		if seen[name] {
			return fmt.Errorf("policy %s appears twice", o.Policies[i].Name)
		}
		seen[name] = true
	}
	for i := range o.Accounts {
		name := o.Accounts[i].Name // of no namespace, so that no policy's is equal
		if seen[name] {
			return fmt.Errorf("account %s appears twice", name)
		}
		seen[name] = true
	}
	return nil
}

// AccountsOf are the accounts of a file, by name. Who writes the file may use what is in it: a namespace's labels are not
// known, so allowedNamespaces say nothing here. What is wrong with an account is an error with its path.
func (o *Objects) AccountsOf(namespace string) (map[string]Account, error) {
	out := make(map[string]Account, len(o.Accounts))
	var errs []error
	for i := range o.Accounts {
		a := &o.Accounts[i]
		for _, err := range ValidateAccount(a) {
			errs = append(errs, fmt.Errorf("account %s: %w", a.Name, err))
		}
		account := AccountFor(a, namespace, nil)
		account.Allowed = true
		out[a.Name] = account
	}
	return out, errors.Join(errs...)
}
