# shellcheck shell=bash
# What a cluster must not leave behind.

# leftovers prints what is still there of this cluster, and fails if anything is.
leftovers() {
  local found
  found=$(
    left_processes
    left_files
    awk -v s="$HG_STATE/" 'index($2, s) == 1 {print "mount " $2}' /proc/mounts
    ip -o link show 2>/dev/null | awk -F': ' -v a="$HG_NODE_BRIDGE" -v b="$HG_POD_BRIDGE" '{sub("@.*", "", $2)} $2 == a || $2 == b {print "link " $2}'
    ip -o route show "$HG_SERVICE_CIDR" 2>/dev/null | sed 's/^/route /'
    nft list tables 2>/dev/null | grep -E ' kube-proxy$'
    left_chains
    find /sys/fs/cgroup -maxdepth 2 -type d -name kubepods 2>/dev/null | sed 's/^/cgroup /'
  ) || true
  [ -z "$found" ] && return 0
  printf '%s\n' "$found" >&2
  return 1
}

# left_processes looks for the state folder in command lines: everything the cluster starts has it there.
left_processes() {
  local proc line
  for proc in /proc/[0-9]*; do
    line=$(tr '\0' ' ' 2>/dev/null <"$proc/cmdline") || continue
    case "$line" in
      *"$HG_STATE/"*) echo "process ${proc#/proc/}: ${line:0:120}" ;;
    esac
  done
}

left_files() {
  local path
  for path in "$HG_STATE" /var/lib/cni/results/headgate-*; do
    [ -e "$path" ] && echo "path $path"
  done
  log_links | sed 's/^/path /'
}

left_chains() { { iptables-save; ip6tables-save; } 2>/dev/null | grep '^:KUBE-' | sed 's/^/chain /'; }
