// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// TestACacheThatFillsIsNoReasonToRefuse: the API server is asked instead; what neither can tell is an error, and what either
// allows is allowed.
func TestACacheThatFillsIsNoReasonToRefuse(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	holding := func(objects ...client.Object) client.Reader {
		return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	}
	fills := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			<-ctx.Done()
			return ctx.Err()
		},
	}).Build()
	allowing, other := holding(newAccount("shared", "team")), holding(newAccount("shared", "another"))
	for name, tc := range map[string]struct {
		cache, live     client.Reader
		refused, failed bool
	}{
		"the cache fills, and it is allowed":     {cache: fills, live: allowing},
		"the cache fills, and it is not allowed": {cache: fills, live: other, refused: true},
		"the cache is late":                      {cache: other, live: allowing},
		"both say no":                            {cache: other, live: other, refused: true},
		"nobody tells":                           {cache: fills, live: fills, failed: true},
		"the cache says no, and nobody else":     {cache: other, live: fills, refused: true, failed: true},
		"there is the cache alone":               {cache: fills, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &PolicyValidator{Reader: tc.cache, Live: tc.live}
			errs, err := v.accounts(t.Context(), ofAccount("team", "p", "shared"))
			if (len(errs) > 0) != tc.refused || (err != nil) != tc.failed {
				t.Errorf("%v, %v", errs, err)
			}
		})
	}
}
