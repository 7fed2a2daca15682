# shellcheck shell=bash disable=SC2154
# Headgate itself, as config/default installs it, trusting the simulated provider's CA.
install() {
  say "installing Headgate: kubectl apply -k config/default"
  certificate
  "$kubectl" kustomize test/demo/install | "$kubectl" apply --server-side --force-conflicts -f - >/dev/null
  apply_from -n headgate-system create configmap provider-ca --from-file=ca.crt="$work/provider-ca.crt"
  restart_if_new headgate-system deployment/headgate-manager bin/static/manager "$work/provider-ca.crt"
  "$kubectl" -n headgate-system rollout status deployment/headgate-manager --timeout=180s
}
