# shellcheck shell=bash disable=SC2154
# The binaries, built once from the Go module proxy and kept in $HG_BIN, keyed by version.
kube_ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$HG_KUBE_VERSION -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37"

assets() { # tests: what integration tests start; node: the whole cluster too
  build_asset etcd "$here/kube" -o "$HG_BIN/etcd" go.etcd.io/etcd/server/v3
  build_asset kube-apiserver "$here/kube" -ldflags "$kube_ldflags" -o "$HG_BIN/" k8s.io/kubernetes/cmd/kube-apiserver
  build_asset kubectl "$here/kube" -ldflags "$kube_ldflags" -o "$HG_BIN/" k8s.io/kubernetes/cmd/kubectl
  [ "$1" = tests ] && return 0
  local name
  for name in kubelet kube-controller-manager kube-scheduler kube-proxy; do
    build_asset "$name" "$here/kube" -ldflags "$kube_ldflags" -o "$HG_BIN/" "k8s.io/kubernetes/cmd/$name"
  done
  build_asset coredns "$here/coredns" -ldflags "-s -w" -o "$HG_BIN/coredns" .
  build_asset pause "$here/pause" -ldflags "-s -w" -o "$HG_BIN/pause" .
}

# build_asset compiles one binary unless it is there; a broken-off build leaves nothing behind.
build_asset() { # name module-folder go-build-arguments…
  local name=$1 folder=$2 started; shift 2
  [ -x "$HG_BIN/$name" ] && return 0
  mkdir -p "$HG_BIN"
  say "building $name (once; the first build takes minutes on few cores)"
  started=$SECONDS
  (cd "$folder" && CGO_ENABLED=0 GOWORK=off heartbeat "$name" go build -trimpath "$@")
  say "built $name in $((SECONDS - started))s"
}

# heartbeat shows that a long step is alive.
heartbeat() { # name command…
  local name=$1 started=$SECONDS beat; shift
  (while sleep 30; do say "  still building $name, $((SECONDS - started))s"; done) &
  beat=$!
  "$@" || { kill $beat; return 1; }
  kill $beat; wait $beat 2>/dev/null || true
}
