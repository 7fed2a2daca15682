# shellcheck shell=bash disable=SC2034
# Names, versions and addresses. The addresses are private to bridges that the cluster makes itself.
HG_KUBE_VERSION=v1.37.2
HG_CACHE=${HEADGATE_CACHE:-/var/cache/headgate}
HG_BIN=${HEADGATE_KUBE_DIR:-$HG_CACHE/kube-$HG_KUBE_VERSION}
HG_STATE=${HEADGATE_CLUSTER_STATE:-/var/lib/headgate-cluster}
HG_KUBECONFIG=$HG_STATE/admin.kubeconfig
HG_NODE=headgate-node
HG_NODE_BRIDGE=hgnode0
HG_POD_BRIDGE=hgpods0
HG_NODE_IP=10.251.0.1
HG_POD_CIDR=10.252.0.0/24
HG_SERVICE_CIDR=10.253.0.0/24
HG_KUBERNETES_IP=10.253.0.1
HG_CONTAINERD=$HG_STATE/run/containerd.sock
HG_PAUSE_IMAGE=headgate/pause:1

say() { printf '==> %s\n' "$*" >&2; }
die() { printf 'hack/cluster: %s\n' "$*" >&2; exit 1; }
need_root() { [ "$(id -u)" = 0 ] || die "needs root: it makes bridges, cgroups and mounts"; }
