// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/internal/policy"
)

// Where a policy is read from a file no API server looks at it, so that internal/policy must say the same.
func TestValidateAndTheCRDAgree(t *testing.T) {
	groups := map[string]map[string]schemaCase{
		"spec": specCases, "selector": selectorCases, "provider": providerCases, "duration": durationCases,
		"limit": limitCases, "lane": laneCases, "order": orderCases, "instead": insteadCases, "account": accountRefCases,
	}
	for group, cases := range groups {
		for name, tc := range cases {
			t.Run(group+"/"+name, func(t *testing.T) {
				document := tc.document()
				checkServer(t, applyDry(t, document), tc)
				checkOurs(t, verdict(document), tc)
			})
		}
	}
}

func checkServer(t *testing.T, err error, tc schemaCase) {
	t.Helper()
	if tc.path == "" {
		if err != nil {
			t.Errorf("the API server refuses it: %v", err)
		}
		return
	}
	if err == nil {
		t.Errorf("the API server accepts it, want an error at %s", tc.path)
		return
	}
	// Strict decoding answers in one message, validation with a cause for each field.
	if strings.Contains(err.Error(), `"`+tc.path+`"`) && strings.Contains(err.Error(), tc.message) {
		return
	}
	for _, cause := range causes(err) {
		if cause.Field == tc.path && strings.Contains(cause.Message, tc.message) {
			return
		}
	}
	t.Errorf("the API server says %v, want %q at %s", err, tc.message, tc.path)
}

func causes(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}

// verdict is what the gateway says when it reads a policy from a file.
func verdict(document string) []string {
	policies, err := policy.Decode([]byte(document))
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range policy.Validate(&policies[0]) {
		out = append(out, e.Error())
	}
	return out
}

func checkOurs(t *testing.T, said []string, tc schemaCase) {
	t.Helper()
	if tc.path == "" {
		if len(said) > 0 {
			t.Errorf("Validate refuses it: %q", said)
		}
		return
	}
	withoutIndices := regexp.MustCompile(`\[[0-9]+\]`).ReplaceAllString(tc.path, "")
	for _, line := range said {
		// The JSON decoder names no index where a type is wrong.
		if strings.Contains(line, "cannot unmarshal") && strings.Contains(line, withoutIndices+" of type") {
			return
		}
		if strings.Contains(line, tc.path+":") || strings.Contains(line, `"`+tc.path+`"`) {
			return
		}
	}
	t.Errorf("Validate says %q, want an error at %s", said, tc.path)
}

// Every rule of meaning speaks of an object that the schema accepts.
func TestMeaningIsBeyondTheSchema(t *testing.T) {
	for name, tc := range meaningCases {
		t.Run(name, func(t *testing.T) {
			document := tc.document()
			if err := applyDry(t, document); err != nil {
				t.Errorf("the schema refuses it: %v", err)
			}
			policies, err := policy.Decode([]byte(document))
			if err != nil {
				t.Fatal(err)
			}
			errs := policy.Validate(&policies[0])
			if !hasError(errs, tc.path, tc.message) {
				t.Errorf("Validate says %v, want %q at %s", errs, tc.message, tc.path)
			}
		})
	}
}

func hasError(errs field.ErrorList, path, message string) bool {
	for _, e := range errs {
		if e.Field == path && strings.Contains(e.Error(), message) {
			return true
		}
	}
	return false
}

var meaningCases = map[string]schemaCase{
	"metadata host":      {provider("baseURL: \"http://169.254.169.254\""), p0 + ".baseURL", "link-local or metadata"},
	"no URL":             {"providers: [{name: other}]", p0 + ".baseURL", "state where calls go"},
	"ambiguous":          {"providers: [{name: a, dialect: OpenAI, baseURL: https://a.example.com}, {name: b, dialect: OpenAI}]", "spec.providers[1].name", "name one of them openai"},
	"burst never fits":   {limit("budget: Tokens, amount: 1, per: Minute"), l0 + ".burst", "no call ever fits"},
	"lanes do not fit":   {provider("limits: [{name: t, budget: Tokens, amount: 50k, per: Minute}], lanes: [{name: a, largestCall: 60k}]"), p0 + ".lanes", "raise its burst"},
	"key over http":      {provider("baseURL: \"http://x.example.com\", credentialKey: a"), p0 + ".baseURL", "https only"},
	"no time at all":     {provider("deadline: {default: 0s}"), p0 + ".deadline.default", "no time"},
	"above default cap":  {provider("unguided: {base: 31s}"), p0 + ".unguided", "state both"},
	"failover, nowhere":  {provider("throttle: {onCeilingExceeded: Failover, failoverTo: b}"), p0 + ".throttle.failoverTo", "no provider of that name"},
	"a key as a match":   {match("header: {name: x-api-key}"), matchAt + ".header.name", "carries a key"},
	"a label never used": {selector("matchLabels: {a: \"b c\"}"), labels + "[a]", "no pod matches"},
}
