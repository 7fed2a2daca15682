# shellcheck shell=bash
# etcd, API server, controller manager, scheduler.
control_plane_up() {
  say "starting the control plane"
  start_part etcd
  start_part kube-apiserver
  api_answers
  start_part kube-controller-manager
  start_part kube-scheduler
}

# start_part starts one part with its arguments, unless it runs.
start_part() {
  case $1 in
    etcd) start_etcd ;;
    kube-apiserver) start_apiserver ;;
    kube-controller-manager)
      start "$1" "$HG_BIN/$1" --kubeconfig "$HG_STATE/$1.kubeconfig" \
        --bind-address 127.0.0.1 --use-service-account-credentials --root-ca-file "$HG_STATE/pki/ca.crt" --leader-elect=false \
        --service-account-private-key-file "$HG_STATE/pki/sa.key" --service-cluster-ip-range "$HG_SERVICE_CIDR" ;;
    kube-scheduler)
      start "$1" "$HG_BIN/$1" --kubeconfig "$HG_STATE/$1.kubeconfig" --bind-address 127.0.0.1 --leader-elect=false ;;
    *) start_node_part "$1" ;;
  esac
}

start_etcd() {
  start etcd "$HG_BIN/etcd" --data-dir "$HG_STATE/etcd" --unsafe-no-fsync \
    --listen-client-urls http://127.0.0.1:12379 --advertise-client-urls http://127.0.0.1:12379 \
    --listen-peer-urls http://127.0.0.1:12380 --log-level warn
}

start_apiserver() {
  start kube-apiserver "$HG_BIN/kube-apiserver" --etcd-servers http://127.0.0.1:12379 \
    --bind-address "$HG_NODE_IP" --advertise-address "$HG_NODE_IP" --service-cluster-ip-range "$HG_SERVICE_CIDR" \
    --tls-cert-file "$HG_STATE/pki/kube-apiserver.crt" --tls-private-key-file "$HG_STATE/pki/kube-apiserver.key" \
    --client-ca-file "$HG_STATE/pki/ca.crt" --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$HG_STATE/pki/sa.key" \
    --service-account-signing-key-file "$HG_STATE/pki/sa.key" --kubelet-preferred-address-types InternalIP \
    --kubelet-client-certificate "$HG_STATE/pki/kubelet-client.crt" --kubelet-client-key "$HG_STATE/pki/kubelet-client.key"
}

api_answers() {
  wait_for kube-apiserver kube-apiserver 120 "$HG_BIN/kubectl" --kubeconfig "$HG_KUBECONFIG" get --raw /readyz
}

control_plane_down() {
  local name
  for name in kube-scheduler kube-controller-manager kube-apiserver etcd; do stop "$name"; done
}
