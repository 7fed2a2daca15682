#!/usr/bin/env bash
# Copyright The Headgate Authors.
# SPDX-License-Identifier: Apache-2.0

# Generates internal/wire from report.proto with the Go plugins pinned in hack/tools and the protoc of the
# path (protobuf-compiler). Running it twice changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v protoc >/dev/null || {
  echo "protoc is missing: install the package protobuf-compiler" >&2
  exit 1
}

plugins=bin/protoc
mkdir -p "$plugins"
for tool in protoc-gen-go protoc-gen-connect-go; do
  case $tool in
  protoc-gen-go) package=google.golang.org/protobuf/cmd/protoc-gen-go ;;
  protoc-gen-connect-go) package=connectrpc.com/connect/cmd/protoc-gen-connect-go ;;
  esac
  go build -modfile="hack/tools/$tool/go.mod" -o "$plugins/$tool" "$package"
done

# An empty package suffix puts the Connect code beside the messages: one small package for both halves.
protoc --proto_path=. \
  --plugin="$plugins/protoc-gen-go" --go_out=. --go_opt=paths=source_relative \
  --plugin="$plugins/protoc-gen-connect-go" --connect-go_out=. \
  --connect-go_opt=paths=source_relative,package_suffix= \
  internal/wire/report.proto
