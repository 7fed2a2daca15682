// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// FuzzToken: whatever a caller shows as its token, what is sent on is bounded and just what stood behind the scheme; when it ends
// is read of its claims alone, and no error repeats it. Whatever the API server says of one, only a pod's passes.
func FuzzToken(f *testing.F) {
	f.Add("Bearer a.b.c", []byte(`{"exp":1800000000}`), "system:serviceaccount:ns:default", "pod", "uid")
	f.Add("bearer x", []byte(`{"exp":-5}`), "system:serviceaccount::", "", "")
	f.Add("Bearer "+strings.Repeat("x", maxToken+1), []byte(`{"exp":1e400}`), "system:serviceaccount:a:b:c", "p", "u")
	f.Add("Basic a", []byte("null"), "system:node:a", "p", "u")
	f.Fuzz(func(t *testing.T, header string, claims []byte, user, pod, uid string) {
		token, ok := bearer(http.Header{"Authorization": {header}})
		if ok && (token == "" || len(token) > maxToken || header != "Bearer "+token) {
			t.Errorf("%q is the token of %q", token, header)
		}
		_ = expiry(header)
		var said struct {
			Expires int64 `json:"exp"`
		}
		ends := expiry("h." + base64.RawURLEncoding.EncodeToString(claims) + ".s")
		readable := json.Unmarshal(claims, &said) == nil && said.Expires > 0
		if readable != !ends.IsZero() || readable && ends.Unix() != said.Expires {
			t.Errorf("%q ends at %v", claims, ends)
		}
		id, err := identify(authenticationv1.TokenReviewStatus{
			Authenticated: true, Audiences: []string{sidecar.TokenAudience},
			User: authenticationv1.UserInfo{Username: user, Extra: map[string]authenticationv1.ExtraValue{extraPodName: {pod}, extraPodUID: {uid}}},
		})
		if err != nil {
			if !errors.Is(err, ErrNotVerified) || id != (Identity{}) {
				t.Errorf("%v, %+v", err, id)
			}
			return
		}
		if id.Pod.Namespace == "" || id.Pod.Name != pod || id.Pod.UID != uid || pod == "" || uid == "" ||
			!strings.HasPrefix(user, "system:serviceaccount:"+id.Pod.Namespace+":") {
			t.Errorf("%q is %+v", user, id)
		}
	})
}
