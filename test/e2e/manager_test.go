// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scaleManager sets how many replicas of the manager there are, and waits until so many, and no more, run.
func scaleManager(t *testing.T, replicas int32) {
	t.Helper()
	key := types.NamespacedName{Namespace: systemNamespace, Name: managerDeployment}
	within(t, 2*time.Minute, fmt.Sprintf("%d managers", replicas), func(ctx context.Context) error {
		var d appsv1.Deployment
		if err := api.Get(ctx, key, &d); err != nil {
			return err
		}
		if *d.Spec.Replicas != replicas {
			before := client.MergeFrom(d.DeepCopy())
			d.Spec.Replicas = ptr.To(replicas)
			return errors.Join(api.Patch(ctx, &d, before), errors.New("scaled just now"))
		}
		running, err := managers(ctx)
		if err != nil || len(running) != int(replicas) || d.Status.ReadyReplicas != replicas {
			return fmt.Errorf("%d run, %d ready: %w", len(running), d.Status.ReadyReplicas, err)
		}
		return nil
	})
}

func managerObject() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: managerDeployment}}
}

// managers lists the manager's pods, those that are ending too.
func managers(ctx context.Context) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := api.List(ctx, &list, client.InNamespace(systemNamespace), client.MatchingLabels{"app.kubernetes.io/component": "manager"})
	return list.Items, err
}

// counted holds when the leader's metric of the tenant has this value.
func (n tenant) counted(metric string, want float64) func(context.Context) error {
	row := regexp.MustCompile(`(?m)^` + metric + `\{[^}]*namespace="` + n.name + `"[^}]*\} (\S+)$`)
	return func(ctx context.Context) error {
		leader, err := leaderPod(ctx)
		if err != nil {
			return err
		}
		var pod corev1.Pod
		if err := api.Get(ctx, types.NamespacedName{Namespace: systemNamespace, Name: leader}, &pod); err != nil {
			return err
		}
		text, err := fetch(ctx, http.MethodGet, "http://"+pod.Status.PodIP+":8080/metrics", nil)
		if err != nil {
			return err
		}
		found := row.FindSubmatch(text)
		if found == nil {
			return fmt.Errorf("%s has no row of %s", metric, n.name)
		}
		if got, err := strconv.ParseFloat(string(found[1]), 64); err != nil || got != want {
			return fmt.Errorf("%s is %s, want %v", metric, found[1], want)
		}
		return nil
	}
}

// leaderPod is the manager's pod that leads, empty if none does.
func leaderPod(ctx context.Context) (string, error) {
	var lease coordinationv1.Lease
	if err := api.Get(ctx, types.NamespacedName{Namespace: systemNamespace, Name: managerDeployment}, &lease); err != nil {
		return "", err
	}
	pods, err := managers(ctx)
	if err != nil {
		return "", err
	}
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	for i := range pods {
		if name := pods[i].Name; len(holder) >= len(name) && holder[:len(name)] == name {
			return name, nil
		}
	}
	return "", nil
}
