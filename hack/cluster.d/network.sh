# shellcheck shell=bash
# The node's address lives on a bridge of its own and is made before anything dials it: an address that
# is not local would be routed away.
network_up() {
  ip link show "$HG_NODE_BRIDGE" >/dev/null 2>&1 || ip link add "$HG_NODE_BRIDGE" type bridge
  ip addr replace "$HG_NODE_IP/24" dev "$HG_NODE_BRIDGE"
  ip link set "$HG_NODE_BRIDGE" up
  # What no rule translates stays on the bridge, whatever this machine's default route is.
  ip route replace "$HG_SERVICE_CIDR" dev "$HG_NODE_BRIDGE"
  [ -f "$HG_STATE/kube-chains" ] || kube_chains >"$HG_STATE/kube-chains"
  [ -f "$HG_STATE/ip_forward" ] || cat /proc/sys/net/ipv4/ip_forward >"$HG_STATE/ip_forward"
  echo 1 >/proc/sys/net/ipv4/ip_forward
}

network_down() {
  local table
  ip link del "$HG_NODE_BRIDGE" 2>/dev/null || true
  ip link del "$HG_POD_BRIDGE" 2>/dev/null || true
  for table in "ip kube-proxy" "ip6 kube-proxy"; do
    # shellcheck disable=SC2086
    nft delete table $table 2>/dev/null || true
  done
  kubelet_chains_down
  [ -f "$HG_STATE/ip_forward" ] && cat "$HG_STATE/ip_forward" >/proc/sys/net/ipv4/ip_forward
  return 0
}

# kube_chains counts the chains that kubelets make.
kube_chains() { { iptables-save; ip6tables-save; } 2>/dev/null | grep -c '^:KUBE-' || true; }

# kubelet_chains_down removes the kubelet's, unless there were some before this cluster.
kubelet_chains_down() {
  local tool table chain
  [ "$(cat "$HG_STATE/kube-chains" 2>/dev/null)" = 0 ] || return 0
  for tool in iptables ip6tables; do
    "$tool" -D INPUT -j KUBE-FIREWALL 2>/dev/null || true
    "$tool" -D OUTPUT -j KUBE-FIREWALL 2>/dev/null || true
    for table in filter nat mangle; do
      for chain in KUBE-FIREWALL KUBE-IPTABLES-HINT KUBE-KUBELET-CANARY; do
        "$tool" -t "$table" -F "$chain" 2>/dev/null || continue
        "$tool" -t "$table" -X "$chain" 2>/dev/null || true
      done
    done
  done
}
