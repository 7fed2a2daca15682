// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command driver runs one phase of the demo on all its apps at once and prints what came of it:
//
//	driver run --name "with Headgate" --provider http://10.0.0.9:8080 --seconds 120 \
//	  --app support,calls=90,tokens=2000=http://10.0.1.5:8090 \
//	  --app ingest,calls=4,tokens=60000=http://10.0.1.7:8090 --out with.json
//	driver table with.json without.json
//
// run sets the account's level (so that every phase starts alike), starts all apps at the same moment,
// shows progress, collects their results and the provider's own figures, and writes them to a file; table
// compares such files. It reaches apps and provider over HTTP only; it knows nothing of Kubernetes.
package main
