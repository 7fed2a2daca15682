// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// KubeVersion is the version of Kubernetes that tests run against.
const KubeVersion = "v1.37.2"

const modulePath = "github.com/headgate-dev/headgate"

// errNoAssets says what to run when the binaries are nowhere.
var errNoAssets = errors.New("kube-apiserver and etcd not found")

// AssetsDir returns the folder that holds kube-apiserver and etcd. KUBEBUILDER_ASSETS and HEADGATE_KUBE_DIR
// are instructions: when one is set nothing else is tried, so that a typing error does not run another
// version. Otherwise the machine's cache is tried, then bin/kube of the repository.
func AssetsDir() (string, error) {
	for _, variable := range []string{"KUBEBUILDER_ASSETS", "HEADGATE_KUBE_DIR"} {
		if dir := os.Getenv(variable); dir != "" {
			return firstWithAssets([]string{dir})
		}
	}
	candidates := []string{filepath.Join("/var/cache/headgate", "kube-"+KubeVersion)}
	root, err := RepoRoot()
	if err != nil {
		return "", err
	}
	return firstWithAssets(append(candidates, filepath.Join(root, "bin", "kube")))
}

func firstWithAssets(dirs []string) (string, error) {
	for _, dir := range dirs {
		if isProgram(filepath.Join(dir, "kube-apiserver")) && isProgram(filepath.Join(dir, "etcd")) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%w in %s: run make kube-assets", errNoAssets, strings.Join(dirs, ", "))
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// kubectlPath prefers the kubectl beside the other binaries, since it has their version; it is empty
// when there is none at all.
func kubectlPath(assets string) string {
	if beside := filepath.Join(assets, "kubectl"); isProgram(beside) {
		return beside
	}
	found, err := exec.LookPath("kubectl")
	if err != nil {
		return ""
	}
	return found
}

// RepoRoot returns the folder of this module's go.mod. It starts at the working folder, which go test sets
// to the package's, because paths in the binary are trimmed in reproducible builds.
func RepoRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module "+modulePath+"\n") {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod of %s above the working folder", modulePath)
		}
		dir = parent
	}
}
