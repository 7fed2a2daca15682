# shellcheck shell=bash disable=SC2154
# Small steps with kubectl.

# apply_from makes an object, or changes it to what is asked for.
apply_from() { "$kubectl" "$@" --dry-run=client -o yaml | "$kubectl" apply -f - >/dev/null; }

# restart_if_new replaces pods whose image was rebuilt under the same tag, or whose certificate is another.
restart_if_new() { # namespace workload file…
  local mark sum
  mark=$work/$(echo "$1-$2" | tr / -).sum
  sum=$(sha256sum "${@:3}")
  [ "$(cat "$mark" 2>/dev/null)" = "$sum" ] || { [ -f "$mark" ] && "$kubectl" -n "$1" rollout restart "$2" >/dev/null; }
  echo "$sum" >"$mark"
}
