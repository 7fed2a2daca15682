# shellcheck shell=bash
# Processes by id: each has a pid file and a log, is started once and ended by its own id.
start() { # name command…
  local name=$1; shift
  running "$name" && return 0
  setsid "$@" >>"$HG_STATE/log/$name.log" 2>&1 </dev/null &
  echo $! >"$HG_STATE/run/$name.pid"
}

# running holds only while the recorded process is the one that was started, not a later one of its id.
running() {
  local pid
  pid=$(cat "$HG_STATE/run/$1.pid" 2>/dev/null) || return 1
  [ -n "$pid" ] && tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -- "$HG_STATE"
}

stop() {
  local pid
  running "$1" || { rm -f "$HG_STATE/run/$1.pid"; return 0; }
  pid=$(cat "$HG_STATE/run/$1.pid")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$HG_STATE/run/$1.pid"
}

# kill_part ends a part as a crash would: at once, by the id it was started with.
kill_part() {
  local pid
  running "$1" || die "$1 is not running"
  pid=$(cat "$HG_STATE/run/$1.pid")
  kill -9 "$pid"
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  rm -f "$HG_STATE/run/$1.pid"
}

# wait_for retries a command until it succeeds, and shows the log's end when it never does.
wait_for() { # what log seconds command…
  local what=$1 log=$2 limit=$3; shift 3
  for _ in $(seq $((limit * 5))); do "$@" >/dev/null 2>&1 && return 0; sleep 0.2; done
  tail -n 15 "$HG_STATE/log/$log.log" >&2 || true
  die "$what did not come up within ${limit}s; its log is $HG_STATE/log/$log.log"
}

listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1"); }

parts="etcd kube-apiserver kube-controller-manager kube-scheduler containerd kubelet kube-proxy coredns"

# all_running fails when a part has ended since it was started.
all_running() {
  local name
  for name in $parts; do running "$name" || die "$name has ended; its log is $HG_STATE/log/$name.log"; done
}

status() {
  local name
  for name in $parts; do
    if running "$name"; then echo "$name running"; else echo "$name not running"; fi
  done
}
