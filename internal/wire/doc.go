// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package wire holds the messages between gateway and coordinator, generated from report.proto, and the
// bounds both sides keep. It holds no logic and imports protobuf and Connect only.
package wire
