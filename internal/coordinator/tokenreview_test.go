// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// account is a namespace with a ServiceAccount and a pod, in a real API server.
type account struct {
	env *controlplane.Env
	sa  *corev1.ServiceAccount
	pod *corev1.Pod
}

func newAccount(t *testing.T, env *controlplane.Env, namespace string) account {
	t.Helper()
	a := account{env: env}
	must(t, env.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	a.sa = &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "app"}}
	must(t, env.Client.Create(t.Context(), a.sa))
	automount := false
	a.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "support-0"},
		Spec: corev1.PodSpec{
			ServiceAccountName: "app", AutomountServiceAccountToken: &automount,
			Containers: []corev1.Container{{Name: "app", Image: "app"}},
		},
	}
	must(t, env.Client.Create(t.Context(), a.pod))
	return a
}

func (a account) identity() figures.Pod {
	return figures.Pod{Namespace: a.pod.Namespace, Name: a.pod.Name, UID: string(a.pod.UID)}
}

// token asks for one as the kubelet does; not bound to the pod if bound is false.
func (a account) token(t *testing.T, audience string, bound bool) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}
	if bound {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{
			Kind: "Pod", APIVersion: "v1", Name: a.pod.Name, UID: a.pod.UID,
		}
	}
	must(t, a.env.Client.SubResource("token").Create(t.Context(), a.sa, request))
	return request.Status.Token
}

func reviewer(env *controlplane.Env) coordinator.TokenReviewer {
	return coordinator.TokenReviewer{Reviews: coordinator.TokenReviewsFunc(
		func(ctx context.Context, review *authenticationv1.TokenReview) error {
			return env.Client.Create(ctx, review)
		},
	)}
}

// E12: against the real API server, a gateway is the pod its token is bound to, and nothing else is one.
func TestE12RealTokensSpeakForTheirPodOnly(t *testing.T) {
	env := controlplane.Start(t, controlplane.Options{WithoutCRDs: true})
	a := newAccount(t, env, "team-support")
	review := reviewer(env)

	bound := a.token(t, sidecar.TokenAudience, true)
	id, err := review.Review(t.Context(), bound)
	must(t, err)
	if id.Pod != a.identity() {
		t.Errorf("identity %+v, want %+v", id.Pod, a.identity())
	}
	if left := time.Until(id.Expires); left < 5*time.Minute || left > 2*time.Hour {
		t.Errorf("the token expires in %v", left)
	}
	t.Run("stream", func(t *testing.T) { testRealStream(t, a, review, bound) })

	for name, token := range map[string]string{
		"for the API server": a.token(t, "https://kubernetes.default.svc", true),
		"for somebody else":  a.token(t, "vault", true),
		"not bound to a pod": a.token(t, sidecar.TokenAudience, false),
		"rubbish":            "e30.e30.e30",
		"changed":            bound[:len(bound)-4] + "AAAA",
		"expired":            resigned(t, bound, env.AccountKey(t), -2*time.Hour),
		"of another signer":  resigned(t, bound, otherKey(t), time.Hour),
		"of nobody":          unsigned(t, bound),
	} {
		if id, err := review.Review(t.Context(), token); !errors.Is(err, coordinator.ErrNotVerified) {
			t.Errorf("%s: identity %+v, error %v", name, id, err)
		}
	}

	// What is refused above is refused for its time alone.
	if _, err := review.Review(t.Context(), resigned(t, bound, env.AccountKey(t), time.Hour)); err != nil {
		t.Errorf("a token that was signed again: %v", err)
	}

	must(t, env.Client.Delete(t.Context(), a.pod, client.GracePeriodSeconds(0)))
	eventually(t, patience, "a deleted pod's token to be refused", func() bool {
		_, err := review.Review(t.Context(), bound)
		return errors.Is(err, coordinator.ErrNotVerified)
	})
}

// testRealStream runs the real client against the real server over a socket, TLS and TokenReview.
func testRealStream(t *testing.T, a account, review coordinator.Reviewer, bound string) {
	t.Helper()
	w := newWorld(t)
	w.reviewer = review
	w.lead("a")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := w.start("a", coordinator.Bounds{}, listener)
	defer r.kill()
	p := testPlan(a.pod.Namespace, 1)
	r.setPlan(p)
	w.pods[a.identity()] = a.pod.Labels
	local := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, listener.Addr().String())
	}
	g := w.join(a.identity(), func(g *gateway) { g.token, g.dial = bound, local })
	defer g.leave()
	acknowledged := func(revision int64) func() bool {
		return func() bool { return r.Acknowledged(a.pod.Namespace)[a.identity()].Revision == revision }
	}
	eventually(t, patience, "the first plan", acknowledged(1))

	p.Revision = 2
	pushed := time.Now()
	r.setPlan(p)
	eventually(t, patience, "the edit", acknowledged(2))
	g.mu.Lock()
	defer g.mu.Unlock()
	t.Logf("an edit was in force after %v and acknowledged after %v", g.planned.Sub(pushed), time.Since(pushed))

	forger := figures.Pod{Namespace: a.pod.Namespace, Name: "another", UID: "another"}
	forged := w.join(forger, func(g *gateway) { g.token, g.dial = bound, local })
	defer forged.leave()
	time.Sleep(3 * time.Second)
	if forged.Connected() {
		t.Error("a gateway is connected under another pod's name")
	}
}
