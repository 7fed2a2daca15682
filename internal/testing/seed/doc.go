// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package seed decides where random tests begin. Without being told otherwise every run of the tests tries the same systems and
// histories, on every machine: a change that is refused is refused for what it does. Looking further is `make explore`'s, which
// has each number anew and more of everything.
//
// Importing the package, by name or blank, sets rapid's seed in the test binary; a test of package imports fails where that
// is forgotten. Flags of the command line and rapid's own variables come first. It links rapid, and only tests import it.
package seed
