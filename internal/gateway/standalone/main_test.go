// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }
