# shellcheck shell=bash
# The node's address lives on a bridge of its own and is made before anything dials it: an address that
# is not local would be routed away.
network_up() {
  ip link show "$HG_NODE_BRIDGE" >/dev/null 2>&1 || ip link add "$HG_NODE_BRIDGE" type bridge
  ip addr replace "$HG_NODE_IP/24" dev "$HG_NODE_BRIDGE"
  ip link set "$HG_NODE_BRIDGE" up
  # What no rule translates stays on the bridge, whatever this machine's default route is.
  ip route replace "$HG_SERVICE_CIDR" dev "$HG_NODE_BRIDGE"
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
  [ -f "$HG_STATE/ip_forward" ] && cat "$HG_STATE/ip_forward" >/proc/sys/net/ipv4/ip_forward
  return 0
}
