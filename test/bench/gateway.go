// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/freeport"
)

// benchPolicy has everything on: three limits that are far away, two lanes, usage read from answers. Its chat lane holds all
// streams of the memory part: a gateway that was idle has little in hand, and these wait a moment for their grant.
const benchPolicy = `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: bench, namespace: default}
spec:
  providers:
  - name: openai
    baseURL: %s
    limits:
    - {name: requests, budget: Requests, amount: 100M, per: Minute}
    - {name: tokens, budget: Tokens, amount: 100G, per: Minute}
    - {name: model, budget: Tokens, amount: 100G, per: Minute, models: ["gpt-*"]}
    lanes:
    - {name: bulk, match: {minInputTokens: 20k}, largestCall: 10M, reservedPercent: 40}
    - {name: chat, queue: {maxDepth: 2000}}
`

// startGateway starts the gateway as it is injected: with a plan from the controller's compiler, and a coordinator from which
// it draws what it spends. The coordinator is on the load's core.
func (o *options) startGateway(dir string, at provider) (*process, error) {
	dir, err := os.MkdirTemp(dir, "pod-")
	if err != nil {
		return nil, err
	}
	beside, err := o.startCoordinator(dir, fmt.Sprintf(benchPolicy, at.url()))
	if err != nil {
		return nil, err
	}
	p, err := o.injected(dir, beside.address, at.ca)
	if err != nil {
		beside.stop()
		return nil, err
	}
	p.beside = beside
	return p, nil
}

// startCoordinator starts the coordinator of one gateway and waits for what it writes for that.
func (o *options) startCoordinator(dir, policy string) (*process, error) {
	file := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		return nil, err
	}
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	p, err := startIn("coordinator", address, nil, o.coordinator, "--policy", file, "--listen", address, "--dir", dir)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		_, err = os.Stat(filepath.Join(dir, "ca.pem"))
		if err == nil {
			return p, nil
		}
		if time.Now().After(deadline) {
			p.stop()
			return nil, fmt.Errorf("coordinator: %w: %s", err, p.stderr.String())
		}
	}
}

// injected starts the gateway's binary with what an injected pod gives it.
func (o *options) injected(dir, coordinator, providerCA string) (*process, error) {
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		return nil, err
	}
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	admin, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	env := []string{sidecar.EnvPodName + "=bench", sidecar.EnvPodUID + "=bench", sidecar.EnvCoordinatorCA + "=" + string(ca)}
	binary, args := alone(o.gateway, "--plan", at("plan"), "--labels", at("labels"), "--token", at("token"), "--state", at("state"),
		"--coordinator", "https://"+coordinator, "--namespace", "default",
		"--listen", address, "--admin", admin, "--log-level", "warn", "--drain", "1s")
	if providerCA != "" {
		args = append(args, "--ca-file", providerCA)
	}
	p, err := startIn("gateway", address, env, binary, args...)
	if p != nil {
		p.path = "/openai"
	}
	return p, err
}

// gatewayWith starts a gateway that serves a policy by itself.
func (o *options) gatewayWith(dir, policy string) (*process, error) {
	file := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		return nil, err
	}
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	admin, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	return start("gateway", address, "/openai", o.gateway,
		"--policy", file, "--namespace", "default", "--listen", address, "--admin", admin, "--log-level", "warn", "--drain", "1s")
}
