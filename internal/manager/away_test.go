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
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/plan"
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
	c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
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

// cutOff are managers whose way to the API server can be cut, with a policy in force.
type cutOff struct {
	t          *testing.T
	env        *controlplane.Env
	road       *road
	binary     string
	kubeconfig string
	ns         string
	ca         []byte
	replicas   []*replica
	plan       *plan.Plan
	lease      *coordinationv1.Lease
}

func newCutOff(t *testing.T, replicas int) *cutOff {
	t.Helper()
	env := controlPlane(t)
	env.RunKubectl(t, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(env.Root, "config", "default"))
	env.RunKubectl(t, "delete", "validatingwebhookconfiguration,mutatingwebhookconfiguration", "--all")
	user := env.User(t, account, "system:serviceaccounts", "system:serviceaccounts:"+system, "system:authenticated")
	there, err := url.Parse(user.Host)
	if err != nil {
		t.Fatal(err)
	}
	c := &cutOff{t: t, env: env, road: newRoad(t, there.Host), binary: buildManager(t, env), ns: env.Namespace(t, nil)}
	user.Host = "https://" + c.road.listener.Addr().String()
	c.kubeconfig = kubeconfigFile(t, user)
	for range replicas {
		c.add()
	}
	applyYAML(t, env, fmt.Sprintf(policyYAML, c.ns, "400k"))
	eventually(t, func() string {
		if p := planOf(t, env, c.ns); len(p.Policies) != 1 || p.CoordinatorCA == "" || c.leads() == nil {
			return fmt.Sprintf("plan %+v", p)
		}
		return ""
	})
	var secret corev1.Secret
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "headgate-ca"}, &secret); err != nil {
		t.Fatal(err)
	}
	c.ca, c.plan, c.lease = secret.Data["ca.crt"], planOf(t, env, c.ns), getLease(t, env)
	return c
}

// add starts one more replica, as the kubelet does.
func (c *cutOff) add() {
	c.t.Helper()
	r := startReplica(c.t, c.binary, c.kubeconfig)
	eventually(c.t, r.ready)
	c.replicas = append(c.replicas, r)
}

// leads is the replica that has announced itself.
func (c *cutOff) leads() *replica {
	address := getLease(c.t, c.env).Annotations[AnnotationAddress]
	for _, r := range c.replicas {
		if r.coordinator == address {
			return r
		}
	}
	return nil
}

// serves asks a replica's webhook for so long, and fails the test if it does not answer or ends.
func (c *cutOff) serves(r *replica, during time.Duration) {
	c.t.Helper()
	for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		if said := review(r.webhook, c.ca); said != "" {
			c.t.Fatalf("the webhook while the API server is away: %s", said)
		}
		select {
		case err := <-r.done:
			c.t.Fatalf("the manager ended: %v", err)
		default:
		}
	}
}

// goesOn looks whether edits go on from the plan that was.
func (c *cutOff) goesOn() {
	c.t.Helper()
	applyYAML(c.t, c.env, fmt.Sprintf(policyYAML, c.ns, "300k"))
	eventually(c.t, func() string {
		p := planOf(c.t, c.env, c.ns)
		if p.Revision <= c.plan.Revision || p.Policies[0].Routes[0].Limits[0].Amount != 300_000 {
			return fmt.Sprintf("plan %+v", p)
		}
		return ""
	})
}

// TestE10AnAPIServerThatIsAwayEndsNobody: for 8 s and for 20 s, twice as long as client-go's usual lease lets a leader live.
// The webhook answers meanwhile, the leader leads on afterwards, and edits go on from the plan that was.
func TestE10AnAPIServerThatIsAwayEndsNobody(t *testing.T) {
	t.Parallel()
	c := newCutOff(t, 1)
	for _, away := range []time.Duration{8 * time.Second, 20 * time.Second} {
		c.road.set(true)
		c.serves(c.replicas[0], away)
		c.road.set(false)
		eventually(t, func() string {
			if renewed := getLease(t, c.env).Spec.RenewTime; !renewed.After(c.lease.Spec.RenewTime.Add(away)) {
				return fmt.Sprintf("the lease was renewed at %v last", renewed)
			}
			return ""
		})
		c.lease.Spec.RenewTime = getLease(t, c.env).Spec.RenewTime
	}
	c.goesOn()
	if now := getLease(t, c.env); now.Annotations[AnnotationEpoch] != c.lease.Annotations[AnnotationEpoch] || *now.Spec.HolderIdentity != *c.lease.Spec.HolderIdentity {
		t.Errorf("the lease changed from %+v to %+v", c.lease, now)
	}
	c.replicas[0].stop(t)
}

// TestE10AMinuteWithoutTheAPIServer: longer than any leader may lead without it. The other replica's webhook answers all
// the while from its cache; afterwards one leads, under a later epoch if it is another, the other sends gateways to it, and
// nothing of the plan has begun anew.
func TestE10AMinuteWithoutTheAPIServer(t *testing.T) {
	t.Parallel()
	c := newCutOff(t, 2)
	leads, follows := c.leads(), c.replicas[0]
	if leads == follows {
		follows = c.replicas[1]
	}
	c.road.set(true)
	c.serves(leads, 20*time.Second) // no restart by then
	c.serves(follows, 42*time.Second)
	c.road.set(false)
	eventually(t, func() string {
		select {
		case <-leads.done: // it could not renew its lease any more
			c.replicas = []*replica{follows}
			c.add()
		default:
		}
		leads := c.leads()
		for _, r := range c.replicas {
			if leads == nil || r == leads {
				continue
			}
			if sent, err := askLeader(t, c.env, r.coordinator); err != nil || sent != leads.coordinator {
				return fmt.Sprintf("a follower sends gateways to %q (%v)", sent, err)
			}
			return ""
		}
		return "nobody leads"
	})
	before, after := c.lease, getLease(t, c.env)
	if *after.Spec.HolderIdentity != *before.Spec.HolderIdentity && after.Annotations[AnnotationEpoch] <= before.Annotations[AnnotationEpoch] {
		t.Errorf("another leads under epoch %s, after %s", after.Annotations[AnnotationEpoch], before.Annotations[AnnotationEpoch])
	}
	if got := planOf(t, c.env, c.ns); got.Revision != c.plan.Revision {
		t.Errorf("the outage made revision %d of %d", got.Revision, c.plan.Revision)
	}
	c.goesOn()
}
