// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// A leader that dies and is started again in its pod leads again at once, with a higher epoch: nobody waits for the end of the
// minute for which it had the lease.
func TestE10ALeaderThatCrashesLeadsAgainAtOnce(t *testing.T) {
	env := controlPlane(t)
	env.RunKubectl(t, "apply", "--server-side", "--force-conflicts", "-k", env.Root+"/config/default")
	env.RunKubectl(t, "delete", "validatingwebhookconfiguration,mutatingwebhookconfiguration", "--all")
	// What a replica of another test held nobody gave back.
	held := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: LeaseName}}
	if err := env.Client.Delete(t.Context(), held); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	binary, kubeconfig := buildManager(t, env), serviceAccountFile(t, env)

	dies := startReplica(t, binary, kubeconfig, envPodUID+"=0e1b2c3d")
	awaitLeader(t, env, dies)
	if err := dies.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-dies.done
	dead := getLease(t, env)

	again := startReplica(t, binary, kubeconfig, envPodUID+"=0e1b2c3d")
	awaitLeader(t, env, again)
	leads := getLease(t, env)
	if leads.Annotations[AnnotationEpoch] <= dead.Annotations[AnnotationEpoch] {
		t.Errorf("epoch %s after %s", leads.Annotations[AnnotationEpoch], dead.Annotations[AnnotationEpoch])
	}
	if transitions := ptr.Deref(leads.Spec.LeaseTransitions, 0); transitions != ptr.Deref(dead.Spec.LeaseTransitions, 0)+1 {
		t.Errorf("%d changes of leader, and %d before", transitions, ptr.Deref(dead.Spec.LeaseTransitions, 0))
	}
	if waited := leads.Spec.AcquireTime.Sub(dead.Spec.RenewTime.Time); waited >= leaseDuration {
		t.Errorf("it led again %s after the last word of the one before", waited.Round(time.Millisecond))
	}
}

// awaitLeader waits until a replica has announced itself as the leader.
func awaitLeader(t *testing.T, env *controlplane.Env, r *replica) {
	t.Helper()
	eventually(t, func() string {
		if address := getLease(t, env).Annotations[AnnotationAddress]; address != r.coordinator {
			return fmt.Sprintf("%q leads, not %s", address, r.coordinator)
		}
		return ""
	})
}
