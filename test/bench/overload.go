// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
)

func measureOverload(ctx context.Context, o *options) error { return nil }

func overloadClient(ctx context.Context, args []string) error { return nil }
