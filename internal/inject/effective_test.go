// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// kubelet resolves a container's variables as the kubelet does: sources in order, then env, the later
// winning, with expansions of what came before.
func kubelet(c corev1.Container, secrets map[string]map[string]string) map[string]string {
	out := map[string]string{}
	for _, s := range c.EnvFrom {
		data := map[string]string{}
		switch {
		case s.ConfigMapRef != nil && s.ConfigMapRef.Name == sidecar.EnvConfigMap:
			data = EnvData()
		case s.SecretRef != nil:
			data = secrets[s.SecretRef.Name]
		}
		for k, v := range data {
			out[s.Prefix+k] = v
		}
	}
	for _, e := range c.Env {
		switch {
		case e.ValueFrom == nil:
			out[e.Name] = expanded(e.Value, out)
		case e.ValueFrom.SecretKeyRef != nil:
			if value, ok := secrets[e.ValueFrom.SecretKeyRef.Name][e.ValueFrom.SecretKeyRef.Key]; ok {
				out[e.Name] = value
			}
		}
	}
	return out
}

// expanded leaves what is not defined as it stands, as Kubernetes does.
func expanded(value string, known map[string]string) string {
	return reference.ReplaceAllStringFunc(value, func(r string) string {
		if v, ok := known[r[2:len(r)-1]]; ok {
			return v
		}
		return r
	})
}

// TestD16AppsOwnVariablesWin compares what an app sees before and after: a base URL it has is never
// changed, one it lacks leads to the gateway, no other variable changes, and what injection says about
// it is true or "unknown".
//
// Fault D16: An injected base URL or proxy variable overrode the user's own, or fitted one SDK and not the next.
// Headgate: A variable that the app has is never changed and is reported, NO_PROXY gains loopback where a proxy is set,
// paths are tolerated in every spelling, and each SDK of the matrix works with what is injected.
func TestD16AppsOwnVariablesWin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := map[string]map[string]string{"s": drawSecret(t)}
		pod := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{drawContainer(t, "app")}}}
		for i := range pod.Spec.Containers[0].Env {
			if from := pod.Spec.Containers[0].Env[i].ValueFrom; from != nil {
				from.SecretKeyRef.Name = "s"
			}
		}
		after, outcome := Inject(pod, testParams())
		was, is := kubelet(pod.Spec.Containers[0], secrets), kubelet(after.Spec.Containers[0], secrets)
		for name, value := range was {
			switch {
			case slices.Contains(noProxyVariables, name):
				if !strings.HasPrefix(is[name], strings.TrimRight(value, ", ")) {
					t.Fatalf("%s was %q and is %q", name, value, is[name])
				}
			case is[name] != value:
				t.Fatalf("%s was %q and is %q", name, value, is[name])
			}
		}
		for _, v := range baseURLs {
			checkRouting(t, v, was, is, outcome)
		}
		checkProxy(t, was, is, kubelet(after.Spec.InitContainers[0], secrets), outcome)
		for name := range is {
			_, had := was[name]
			known := slices.Contains(noProxyVariables, name) || slices.ContainsFunc(baseURLs, func(v baseURL) bool { return v.Name == name })
			if !had && !known {
				t.Fatalf("%s came from nowhere", name)
			}
		}
	})
}

// checkProxy: the gateway leaves by the proxy that the app has, by whichever way it came to it, reaches the coordinator and
// what the app reaches without one, and the app reaches the gateway.
func checkProxy(t *rapid.T, was, is, gateway map[string]string, o Outcome) {
	proxied := false
	for _, name := range proxyVariables {
		proxied = proxied || was[name] != ""
		if gateway[name] != was[name] {
			t.Fatalf("the app's %s is %q and the gateway's %q", name, was[name], gateway[name])
		}
	}
	if !proxied {
		return
	}
	own := hosts(gateway["NO_PROXY"])
	for _, name := range noProxyVariables {
		for _, host := range hosts(is[name]) {
			if was[name] != "" && !strings.Contains(host, "$(") && !slices.Contains(own, host) && !slices.Contains(own, "*") {
				t.Fatalf("the app reaches %q without the proxy, the gateway not: %q", host, own)
			}
		}
		entries := hosts(is[name])
		if !slices.Contains(entries, "127.0.0.1") && !slices.Contains(entries, "*") && !slices.Contains(o.Unknown, Variable{"app", name}) {
			t.Fatalf("the app would call the gateway through its proxy: %s=%q", name, is[name])
		}
	}
	if !slices.Contains(own, "headgate-coordinator.headgate-system.svc") && !slices.Contains(own, "*") {
		t.Fatalf("the gateway would call the coordinator through the proxy: %q", own)
	}
}

func hosts(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func checkRouting(t *rapid.T, v baseURL, was, is map[string]string, o Outcome) {
	if _, had := was[v.Name]; !had {
		misleads := slices.ContainsFunc(v.Unless, func(name string) bool { _, has := was[name]; return has })
		switch {
		case v.ReadOnly && is[v.Name] != "":
			t.Fatalf("%s=%q is set", v.Name, is[v.Name])
		case v.ReadOnly:
			return
		case misleads && is[v.Name] == "":
			return
		case !misleads && is[v.Name] != v.value && !withheld(was):
			t.Fatalf("%s is missing: %q", v.Name, is[v.Name])
		}
	}
	said := Variable{"app", v.Name}
	unknown, unrouted := slices.Contains(o.Unknown, said), slices.Contains(o.Unrouted, said)
	if routed := leadsToGateway(is[v.Name]); !unknown && routed == unrouted && !isSecret(is[v.Name]) {
		t.Fatalf("%s=%q leads to the gateway: %t, reported unrouted: %t", v.Name, is[v.Name], routed, unrouted)
	}
}

// withheld: what the container has forbids one of the variables, and with envFrom it gets none then.
func withheld(was map[string]string) bool {
	return slices.ContainsFunc(baseURLs, func(v baseURL) bool {
		return slices.ContainsFunc(v.Unless, func(name string) bool { _, has := was[name]; return has })
	})
}

// isSecret tells a value that injection could not read, and must count as the app's own.
func isSecret(value string) bool { return strings.HasPrefix(value, "secret:") || value == "" }

func drawSecret(t *rapid.T) map[string]string {
	out := map[string]string{"k": "secret:http://127.0.0.1:15080/openai/v1"}
	for _, name := range []string{"OPENAI_BASE_URL", "BASE_URL", "NO_PROXY", "no_proxy", "HTTP_PROXY", "https_proxy", "X"} {
		if rapid.Bool().Draw(t, name) {
			out[name] = "theirs-" + name
		}
	}
	return out
}

// TestD16ProxiedAppReachesTheGateway holds in whichever case of NO_PROXY a client looks first.
func TestD16ProxiedAppReachesTheGateway(t *testing.T) {
	tests := map[string]struct{ env []corev1.EnvVar }{
		"none":       {[]corev1.EnvVar{{Name: "HTTPS_PROXY", Value: "p"}}},
		"upper":      {[]corev1.EnvVar{{Name: "http_proxy", Value: "p"}, {Name: "NO_PROXY", Value: "corp.example"}}},
		"lower":      {[]corev1.EnvVar{{Name: "ALL_PROXY", Value: "p"}, {Name: "no_proxy", Value: "corp.example,127.0.0.1"}}},
		"both":       {[]corev1.EnvVar{{Name: "HTTP_PROXY", Value: "p"}, {Name: "NO_PROXY", Value: "a.example"}, {Name: "no_proxy", Value: "b.example"}}},
		"trailing ,": {[]corev1.EnvVar{{Name: "HTTP_PROXY", Value: "p"}, {Name: "NO_PROXY", Value: "corp.example, "}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Env: tc.env}}}}
			after, _ := Inject(pod, testParams())
			is := kubelet(after.Spec.Containers[0], nil)
			for _, variable := range noProxyVariables {
				entries := strings.Split(is[variable], ",")
				for _, host := range loopback {
					if !slices.Contains(entries, host) {
						t.Errorf("%s=%q lacks %s", variable, is[variable], host)
					}
				}
				if slices.Contains(entries, "") {
					t.Errorf("%s=%q has an empty entry", variable, is[variable])
				}
			}
			was := kubelet(pod.Spec.Containers[0], nil)
			if was["NO_PROXY"] != "" && was["no_proxy"] == "" && !strings.HasPrefix(is["no_proxy"], "corp.example,") {
				t.Errorf("no_proxy=%q hides what NO_PROXY says", is["no_proxy"])
			}
			gateway := kubelet(corev1.Container{Env: literals(after.Spec.InitContainers[0].Env)}, nil)
			if !strings.Contains(gateway["NO_PROXY"]+gateway["no_proxy"], "headgate-coordinator") {
				t.Errorf("the gateway would call the coordinator through the proxy: %v", gateway)
			}
			if gateway["HTTPS_PROXY"]+gateway["HTTP_PROXY"]+gateway["http_proxy"]+gateway["ALL_PROXY"] != "p" {
				t.Errorf("the gateway does not use the proxy: %v", gateway)
			}
		})
	}
}

func literals(env []corev1.EnvVar) []corev1.EnvVar {
	return slices.DeleteFunc(slices.Clone(env), func(e corev1.EnvVar) bool { return e.ValueFrom != nil })
}

// TestD16VariablesNeverMislead: beside the variables of a client for Azure none is set that the client would take for
// its own; one that is only read is never set; and old pods, whose containers read the ConfigMap of their own
// contract at each start, get nothing new.
func TestD16VariablesNeverMislead(t *testing.T) {
	azure := []corev1.EnvVar{{Name: "AZURE_OPENAI_API_KEY", Value: "k"}}
	sources := []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}}
	for name, c := range map[string]corev1.Container{
		"azure": {Name: "app", Env: azure}, "azure and sources": {Name: "app", Env: azure, EnvFrom: sources},
	} {
		t.Run(name, func(t *testing.T) {
			after, _ := Inject(corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}, testParams())
			if is := kubelet(after.Spec.Containers[0], nil); is["OPENAI_BASE_URL"] != "" {
				t.Errorf("OPENAI_BASE_URL=%q beside a client for Azure", is["OPENAI_BASE_URL"])
			}
		})
	}
	for _, v := range baseURLs {
		if _, set := EnvData()[v.Name]; set == v.ReadOnly {
			t.Errorf("%s is only read: %t, and in the ConfigMap: %t", v.Name, v.ReadOnly, set)
		}
	}
	if sidecar.EnvConfigMap == "headgate-env" || !strings.HasSuffix(sidecar.EnvConfigMap, "-"+sidecar.ContractVersion) {
		t.Errorf("the ConfigMap %s would change under pods of an older contract", sidecar.EnvConfigMap)
	}
}
