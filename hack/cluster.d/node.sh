# shellcheck shell=bash disable=SC2154
# containerd, kubelet, kube-proxy and DNS: pods that really run.
node_up() {
  say "starting the node"
  [ -f "$HG_STATE/netns-before" ] || ls -d /run/netns/cni-* >"$HG_STATE/netns-before" 2>/dev/null || true
  node_configs
  start_part containerd
  wait_for containerd containerd 60 ctr -a "$HG_CONTAINERD" version
  pause_image
  start_part kubelet
  start_part kube-proxy
  dns_up
  wait_for "the node" kubelet 120 node_ready
}

start_node_part() {
  case $1 in
    containerd) start containerd containerd --config "$HG_STATE/containerd.toml" ;;
    kubelet)
      start kubelet "$HG_BIN/kubelet" --config "$HG_STATE/kubelet.yaml" --kubeconfig "$HG_STATE/kubelet.kubeconfig" \
        --root-dir "$HG_STATE/kubelet" --cert-dir "$HG_STATE/kubelet/pki" --node-ip "$HG_NODE_IP" --hostname-override "$HG_NODE" ;;
    kube-proxy) start kube-proxy "$HG_BIN/kube-proxy" --config "$HG_STATE/kube-proxy.yaml" ;;
    coredns) start coredns "$HG_BIN/coredns" -conf "$HG_STATE/Corefile" ;;
    *) die "$1 is no part of the cluster: $parts" ;;
  esac
}

node_ready() {
  "$HG_BIN/kubectl" --kubeconfig "$HG_KUBECONFIG" wait --for=condition=Ready "node/$HG_NODE" --timeout=1s
}

# put writes a file unless it holds the same already: kube-proxy ends when its configuration is written anew.
put() { # file; the content is the standard input
  cat >"$1.new"
  if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

node_configs() {
  mkdir -p "$HG_STATE/cni/conf"
  put "$HG_STATE/cni/conf/10-headgate.conflist" <<JSON
{"cniVersion": "0.4.0", "name": "headgate", "plugins": [
  {"type": "bridge", "bridge": "$HG_POD_BRIDGE", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$HG_STATE/cni/ipam", "ranges": [[{"subnet": "$HG_POD_CIDR"}]], "routes": [{"dst": "$HG_NODE_IP/32"}, {"dst": "$HG_SERVICE_CIDR"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
  put "$HG_STATE/containerd.toml" <<TOML
version = 2
root = "$HG_STATE/containerd"
state = "$HG_STATE/run/containerd"
[grpc]
  address = "$HG_CONTAINERD"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$HG_PAUSE_IMAGE"
  # Lowering a process's oom_score_adj is not permitted everywhere this runs.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$HG_STATE/cni/conf"
TOML
  put "$HG_STATE/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$HG_CONTAINERD
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $HG_STATE/pki/ca.crt}}
authorization: {mode: Webhook}
address: $HG_NODE_IP
healthzBindAddress: 127.0.0.1
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
cgroupRoot: /
enforceNodeAllocatable: []
evictionHard: {memory.available: 50Mi, nodefs.available: "1%"}
imageGCHighThresholdPercent: 100
clusterDNS: [$HG_NODE_IP]
clusterDomain: cluster.local
resolvConf: ""
maxPods: 60
podLogsDir: $HG_STATE/podlogs
YAML
  put "$HG_STATE/kube-proxy.yaml" <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
bindAddress: $HG_NODE_IP
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
hostnameOverride: $HG_NODE
clusterCIDR: $HG_POD_CIDR
clientConnection: {kubeconfig: $HG_STATE/kube-proxy.kubeconfig}
# Pods of one bridge answer each other directly, so what went out through a Service address must come
# back through it.
nftables: {masqueradeAll: true}
conntrack: {maxPerCore: 0, min: 0}
YAML
}

pause_image() {
  ctr -a "$HG_CONTAINERD" -n k8s.io images ls -q | grep -qF "$HG_PAUSE_IMAGE" && return 0
  image_of "$HG_PAUSE_IMAGE" "$HG_STATE/pause.tar" "$HG_BIN/pause"
  load_images "$HG_STATE/pause.tar"
}

# image_of packs static binaries into a one-layer image; the first is the entrypoint.
image_of() { # image tar binary…
  (cd "$here/image" && GOWORK=off go run . --name "$1" --output "$2" "${@:3}")
}

load_images() {
  local tar
  for tar in "$@"; do ctr -a "$HG_CONTAINERD" -n k8s.io images import --no-unpack=false "$tar" >/dev/null || die "cannot import $tar"; done
}

dns_up() {
  put "$HG_STATE/Corefile" <<COREFILE
.:53 {
  bind $HG_NODE_IP
  errors
  health 127.0.0.1:18053
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $HG_STATE/coredns.kubeconfig
    ttl 5
  }
}
COREFILE
  "$HG_BIN/kubectl" --kubeconfig "$HG_KUBECONFIG" apply -f - >/dev/null <<'YAML'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: cluster-dns}
rules:
- {apiGroups: [""], resources: [endpoints, services, pods, namespaces], verbs: [list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: cluster-dns}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-dns}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "system:coredns"}]
YAML
  start_part coredns
}

# node_down ends what was started by id, then the shims of this containerd's own containers and their
# mounts: a kubelet or containerd that ends leaves its containers running.
node_down() {
  local name pid
  for name in coredns kube-proxy kubelet; do stop "$name"; done
  if running containerd; then
    ctr -a "$HG_CONTAINERD" -n k8s.io tasks ls -q 2>/dev/null | while read -r id; do
      ctr -a "$HG_CONTAINERD" -n k8s.io tasks kill -s KILL "$id" >/dev/null 2>&1 || true
    done
  fi
  remove_sockets
  for pid in $(shims); do kill -9 "$pid" 2>/dev/null || true; done
  stop containerd
  awk -v s="$HG_STATE/" 'index($2, s) == 1 {print $2}' /proc/mounts | sort -r | while read -r m; do umount -l "$m" 2>/dev/null || true; done
  remove_cgroups
  remove_netns
  remove_cni_results
  log_links | xargs -r rm -f
}

# remove_sockets removes the shims' sockets, which are outside $HG_STATE.
remove_sockets() {
  local address
  for address in "$HG_STATE"/run/containerd/io.containerd.runtime.v2.task/k8s.io/*/address; do
    [ -f "$address" ] && rm -f "$(sed 's|^unix://||' "$address")"
  done
  return 0
}

# remove_cni_results removes what CNI remembers of this cluster's pods.
remove_cni_results() {
  local result id
  for result in /var/lib/cni/results/headgate-*-eth0; do
    [ -e "$result" ] || continue
    id=${result#/var/lib/cni/results/headgate-}
    rm -f "$result" "/var/lib/cni/results/cni-loopback-${id%-eth0}-lo"
  done
}

# log_links lists the links that the kubelet makes to its pods' logs.
log_links() { find /var/log/containers -lname "$HG_STATE/*" 2>/dev/null || true; }

# remove_netns removes the pods' network namespaces: those that were not there before this cluster.
remove_netns() {
  local ns
  [ -f "$HG_STATE/netns-before" ] || return 0
  for ns in /run/netns/cni-*; do
    [ -e "$ns" ] || continue
    grep -qxF "$ns" "$HG_STATE/netns-before" && continue
    umount -l "$ns" 2>/dev/null || true
    rm -f "$ns"
  done
}

shims() {
  local proc
  for proc in /proc/[0-9]*; do
    tr '\0' ' ' 2>/dev/null <"$proc/cmdline" | grep -q "containerd-shim.*$HG_CONTAINERD" && echo "${proc#/proc/}"
  done
  return 0
}

remove_cgroups() {
  local root
  for root in /sys/fs/cgroup/*/kubepods /sys/fs/cgroup/kubepods; do
    [ -d "$root" ] || continue
    find "$root" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
}
