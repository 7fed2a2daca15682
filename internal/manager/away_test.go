// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// road is the network to the API server, which can be cut.
type road struct {
	listener net.Listener
	to       string

	mu   sync.Mutex
	cut  bool
	cars []net.Conn
}

func newRoad(t *testing.T, to string) *road {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &road{listener: l, to: to}
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			go r.drive(here)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); r.set(true) })
	return r
}

func (r *road) drive(here net.Conn) {
	defer here.Close()
	there, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer there.Close()
	r.mu.Lock()
	if r.cut {
		r.mu.Unlock()
		return
	}
	r.cars = append(r.cars, here, there)
	r.mu.Unlock()
	go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
	_, _ = io.Copy(here, there)
}

// set cuts the road, with all that is on it, or opens it.
func (r *road) set(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
	for _, c := range r.cars {
		_ = c.Close()
	}
	r.cars = nil
}

// review asks a replica's webhook about a pod, as the API server does, and says what is wrong with the answer.
func review(webhook string, ca []byte) string {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "headgate-webhook." + system + ".svc"},
	}}
	asked := admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Namespace: "team-a",
		Object: runtime.RawExtension{Raw: []byte(`{"metadata":{"generateName":"api-"},"spec":{"containers":[{"name":"app","image":"x"}]}}`)},
	}}
	asked.APIVersion, asked.Kind = "admission.k8s.io/v1", "AdmissionReview"
	body, err := json.Marshal(asked)
	if err != nil {
		return err.Error()
	}
	resp, err := c.Post("https://"+webhook+"/mutate-pods", "application/json", bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	var got admissionv1.AdmissionReview
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return err.Error()
	}
	if got.Response == nil || !got.Response.Allowed || len(got.Response.Patch) == 0 {
		return fmt.Sprintf("%+v", got.Response)
	}
	return ""
}

// TestE10AnAPIServerThatIsAwayEndsNobody: for longer than the usual lease allows. The webhook answers meanwhile, the leader
// leads on afterwards, and edits go on from the plan that was.
func TestE10AnAPIServerThatIsAwayEndsNobody(t *testing.T) {
	t.Parallel()
	const away = 13 * time.Second // client-go's usual lease ends a leader after 10 s
	env := controlplane.Start(t, controlplane.Options{})
	env.RunKubectl(t, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(env.Root, "config", "default"))
	env.RunKubectl(t, "delete", "validatingwebhookconfiguration,mutatingwebhookconfiguration", "--all")
	user := env.User(t, account, "system:serviceaccounts", "system:serviceaccounts:"+system, "system:authenticated")
	there, err := url.Parse(user.Host)
	if err != nil {
		t.Fatal(err)
	}
	r := newRoad(t, there.Host)
	user.Host = "https://" + r.listener.Addr().String()
	manager := startReplica(t, buildManager(t, env), kubeconfigFile(t, user))
	eventually(t, manager.ready)
	ns := env.Namespace(t, nil)
	applyYAML(t, env, fmt.Sprintf(policyYAML, ns, "400k"))
	eventually(t, func() string {
		if p := planOf(t, env, ns); len(p.Policies) != 1 || p.CoordinatorCA == "" || getLease(t, env).Annotations[AnnotationAddress] == "" {
			return fmt.Sprintf("plan %+v", p)
		}
		return ""
	})
	var secret corev1.Secret
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "headgate-ca"}, &secret); err != nil {
		t.Fatal(err)
	}
	before, lease := planOf(t, env, ns), getLease(t, env)

	r.set(true)
	for end := time.Now().Add(away); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		if said := review(manager.webhook, secret.Data["ca.crt"]); said != "" {
			t.Fatalf("the webhook while the API server is away: %s", said)
		}
		select {
		case err := <-manager.done:
			t.Fatalf("the manager ended: %v", err)
		default:
		}
	}
	r.set(false)

	applyYAML(t, env, fmt.Sprintf(policyYAML, ns, "300k"))
	eventually(t, func() string {
		p := planOf(t, env, ns)
		if p.Revision <= before.Revision || p.Policies[0].Routes[0].Limits[0].Amount != 300_000 {
			return fmt.Sprintf("plan %+v", p)
		}
		return ""
	})
	if now := getLease(t, env); now.Annotations[AnnotationEpoch] != lease.Annotations[AnnotationEpoch] || *now.Spec.HolderIdentity != *lease.Spec.HolderIdentity {
		t.Errorf("the lease changed from %+v to %+v", lease, now)
	}
	manager.stop(t)
}
