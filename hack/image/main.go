// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command image packs static binaries into a one-layer image tarball, for nodes without a registry.
// The first binary is the entrypoint; the user is 65532, as in the Dockerfile.
package main

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	image := flag.String("name", "", "image name and tag")
	output := flag.String("output", "", "tarball to write")
	flag.Parse()
	if *image == "" || *output == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: image --name NAME:TAG --output FILE.tar BINARY…")
		os.Exit(2)
	}
	if err := pack(*image, *output, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func pack(image, output string, binaries []string) error {
	tag, err := name.NewTag(image)
	if err != nil {
		return err
	}
	content, err := layer(binaries)
	if err != nil {
		return err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, l)
	if err != nil {
		return err
	}
	img, err = configured(img, filepath.Base(binaries[0]))
	if err != nil {
		return err
	}
	return tarball.WriteToFile(output, tag, img)
}

func configured(img v1.Image, entrypoint string) (v1.Image, error) {
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", "amd64"
	file.Config.User = "65532:65532"
	file.Config.Entrypoint = []string{"/" + entrypoint}
	return mutate.ConfigFile(img, file)
}

func layer(binaries []string) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, path := range binaries {
		data, err := os.ReadFile(path) //nolint:gosec // the caller names its own files
		if err != nil {
			return nil, err
		}
		header := &tar.Header{Name: filepath.Base(path), Mode: 0o755, Size: int64(len(data)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buf.Bytes(), err
}
