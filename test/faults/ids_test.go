// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

// section is a group of the faults.
type section struct {
	title, about string
	ids          []string
}

// sections are all faults. Numbers that are missing were never given to a fault of this field.
var sections = []section{
	{"A. Waits and retries", "What a provider's 429 or 529 says, and who comes back when.", []string{
		"A1", "A2", "A3", "A4", "A5", "A6", "A7", "A9", "A10", "A11", "A14", "A17",
	}},
	{"B. Streams and bodies", "What passes through, in which bytes, how soon, and what is left when it breaks off.", []string{
		"B1", "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B10", "B12", "B14",
	}},
	{"C. Counting and limiting", "What is charged, what is given back, and who goes next.", []string{
		"C1", "C3", "C4", "C5", "C6", "C9", "C10", "C11", "C12", "C14",
	}},
	{"D. Injection and webhooks", "What happens to pods.", []string{
		"D1", "D2", "D3", "D5", "D6", "D7", "D8", "D10", "D11", "D13", "D15", "D16", "D17",
	}},
	{"E. Controllers", "What happens to the API server, and in upgrades.", []string{
		"E1", "E2", "E4", "E6", "E7", "E8", "E10", "E12", "E13",
	}},
}
