# shellcheck shell=bash
# The images, built from this tree and loaded into the node.
images() {
  say "building images"
  hack/images
  hack/cluster load bin/images/*.tar
}
