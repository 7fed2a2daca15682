# shellcheck shell=bash disable=SC2154
# The simulated provider.

# certificate makes its CA and certificate.
certificate() {
  [ -f "$work/provider.crt" ] && return 0
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=demo provider CA" \
    -keyout "$work/provider-ca.key" -out "$work/provider-ca.crt" 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=provider" -keyout "$work/provider.key" -out "$work/provider.csr" 2>/dev/null
  openssl x509 -req -in "$work/provider.csr" -CA "$work/provider-ca.crt" -CAkey "$work/provider-ca.key" -CAcreateserial -days 30 \
    -extfile <(echo "subjectAltName=DNS:provider.llm-provider.svc,DNS:provider.without-headgate.svc") -out "$work/provider.crt" 2>/dev/null
}

# provider starts one in each of the namespaces given.
provider() { # namespace…
  local ns
  for ns in "$@"; do
    "$kubectl" get namespace "$ns" >/dev/null 2>&1 || "$kubectl" create namespace "$ns" >/dev/null
    apply_from -n "$ns" create secret tls provider-tls --cert="$work/provider.crt" --key="$work/provider.key"
    apply_from -n "$ns" create configmap provider-ca --from-file=ca.crt="$work/provider-ca.crt"
    "$kubectl" -n "$ns" apply -f test/demo/manifests/provider.yaml >/dev/null
    restart_if_new "$ns" deployment/provider bin/static/fakeprovider "$work/provider.crt"
  done
  for ns in "$@"; do "$kubectl" -n "$ns" rollout status deployment/provider --timeout=60s; done
}
