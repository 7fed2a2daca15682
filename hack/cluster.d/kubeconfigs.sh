# shellcheck shell=bash
# One kubeconfig for each identity.
kubeconfigs() {
  local name
  for name in kube-controller-manager kube-scheduler kube-proxy kubelet coredns; do kubeconfig "$name" "$HG_STATE/$name.kubeconfig"; done
  kubeconfig admin "$HG_KUBECONFIG"
}

kubeconfig() { # identity file
  [ -f "$2" ] && return 0
  (umask 077; cat >"$2" <<YAML
apiVersion: v1
kind: Config
current-context: headgate
clusters: [{name: headgate, cluster: {server: "https://$HG_NODE_IP:6443", certificate-authority-data: $(base64 -w0 "$HG_STATE/pki/ca.crt")}}]
contexts: [{name: headgate, context: {cluster: headgate, user: $1}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$HG_STATE/pki/$1.crt"), client-key-data: $(base64 -w0 "$HG_STATE/pki/$1.key")}}]
YAML
  )
}
