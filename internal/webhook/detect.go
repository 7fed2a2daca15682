// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/client-go/discovery"
)

// nativeSidecarsMinor is the first minor version of Kubernetes 1 that runs them by default.
const nativeSidecarsMinor = 29

// Cluster is what injection must know of the cluster.
type Cluster struct {
	NativeSidecars bool
	OpenShift      bool
}

// Detect asks the API server, once at start.
func Detect(d discovery.DiscoveryInterface) (Cluster, error) {
	version, err := d.ServerVersion()
	if err != nil {
		return Cluster{}, fmt.Errorf("read the cluster's version: %w", err)
	}
	groups, err := d.ServerGroups()
	if err != nil {
		return Cluster{}, fmt.Errorf("read the cluster's API groups: %w", err)
	}
	c := Cluster{NativeSidecars: hasNativeSidecars(version.Major, version.Minor)}
	for _, g := range groups.Groups {
		c.OpenShift = c.OpenShift || g.Name == "security.openshift.io"
	}
	return c, nil
}

// hasNativeSidecars reads versions such as 1 and 31+.
func hasNativeSidecars(major, minor string) bool {
	digits := strings.TrimRightFunc(minor, func(r rune) bool { return r < '0' || r > '9' })
	m, err := strconv.Atoi(digits)
	if err != nil {
		return false
	}
	return major == "1" && m >= nativeSidecarsMinor || len(major) > 0 && major > "1"
}
