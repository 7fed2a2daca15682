# shellcheck shell=bash
# One CA, and a leaf for each identity. Keys stay in $HG_STATE, which only root reads.
certificates() {
  chmod 700 "$HG_STATE/pki"
  [ -f "$HG_STATE/pki/ca.crt" ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
    -subj "/CN=headgate-cluster" -keyout "$HG_STATE/pki/ca.key" -out "$HG_STATE/pki/ca.crt" 2>/dev/null
  [ -f "$HG_STATE/pki/sa.key" ] || openssl genrsa -out "$HG_STATE/pki/sa.key" 2048 2>/dev/null
  leaf kube-apiserver "/CN=kube-apiserver" \
    "subjectAltName=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:localhost,IP:127.0.0.1,IP:$HG_NODE_IP,IP:$HG_KUBERNETES_IP"
  leaf kubelet-client "/O=system:masters/CN=kube-apiserver-kubelet-client"
  leaf admin "/O=system:masters/CN=admin"
  leaf kube-controller-manager "/CN=system:kube-controller-manager"
  leaf kube-scheduler "/CN=system:kube-scheduler"
  leaf kube-proxy "/CN=system:kube-proxy"
  leaf kubelet "/O=system:nodes/CN=system:node:$HG_NODE"
  leaf coredns "/CN=system:coredns"
}

leaf() { # name subject [extension]
  local base=$HG_STATE/pki/$1
  [ -f "$base.crt" ] && return 0
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$2" -keyout "$base.key" -out "$base.csr" 2>/dev/null
  openssl x509 -req -in "$base.csr" -CA "$HG_STATE/pki/ca.crt" -CAkey "$HG_STATE/pki/ca.key" -CAcreateserial -days 30 \
    -extfile <(printf 'extendedKeyUsage=serverAuth,clientAuth\n%s\n' "${3:-}") -out "$base.crt" 2>/dev/null
  rm -f "$base.csr"
}
