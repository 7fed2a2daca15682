// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/headgate-dev/headgate/internal/certs"
	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/storeurl"
)

// Environment that the Deployment sets by downward API.
const (
	envNamespace = "POD_NAMESPACE"
	envAddress   = "POD_IP"
	envPodUID    = "POD_UID"
)

// Options are the manager's settings.
type Options struct {
	// Namespace is the manager's own.
	Namespace string
	// PodUID is the pod's in which the manager runs; empty outside one.
	PodUID string
	// GatewayImage and GatewayPullPolicy are what injection puts into pods.
	GatewayImage      string
	GatewayPullPolicy string
	// GatewayDeferredStore is the URL of the store that gateways keep deferred calls in; empty is the pod's own volume.
	GatewayDeferredStore string
	// CoordinatorURL is what gateways dial first; empty until Complete means the Service.
	CoordinatorURL string
	// CoordinatorAddress is what the coordinator listens on, and AdvertiseAddress the host under which other
	// replicas' gateways reach this one's.
	CoordinatorAddress string
	AdvertiseAddress   string
	WebhookPort        int
	// MetricsAddress and HealthAddress: 0, or nothing, turns them off.
	MetricsAddress string
	HealthAddress  string
	// ProviderCAFile holds PEM certificates for TLS to providers, beside the system's.
	ProviderCAFile string
	// OpenShift is auto, true or false.
	OpenShift string
	LogLevel  string
	// BudgetStore is where this installation shares limits with others.
	BudgetStore BudgetStoreOptions

	// providerCA is the content of ProviderCAFile.
	providerCA string
}

// AddFlags declares the flags, each with its default.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	fs.StringVar(&o.Namespace, "namespace", "", "the manager's own namespace; default $"+envNamespace)
	fs.StringVar(&o.GatewayImage, "gateway-image", "", "the image of the gateway that pods get; required")
	fs.StringVar(&o.GatewayPullPolicy, "gateway-image-pull-policy", string(corev1.PullIfNotPresent), "its pull policy")
	fs.StringVar(&o.GatewayDeferredStore, "gateway-deferred-store", "", "redis://[USER@]HOST[:PORT][/DATABASE] or rediss:// URL of the store that gateways keep deferred calls in, instead of their pod's volume; its password is "+sidecar.DeferredPasswordKey+" in each namespace's Secret "+sidecar.CredentialsSecret)
	fs.StringVar(&o.CoordinatorURL, "coordinator-url", "", "https address that gateways dial; default the Service "+certs.CoordinatorService)
	fs.StringVar(&o.CoordinatorAddress, "coordinator-bind-address", ":9443", "what the coordinator listens on")
	fs.StringVar(&o.AdvertiseAddress, "advertise-address", "", "the IP address under which this replica is reached; default $"+envAddress)
	fs.IntVar(&o.WebhookPort, "webhook-port", 10250, "what the webhooks listen on; 10250 passes the firewalls of private clusters")
	fs.StringVar(&o.MetricsAddress, "metrics-bind-address", ":8080", "HOST:PORT or :PORT that serves metrics; 0 or nothing for none")
	fs.StringVar(&o.HealthAddress, "health-probe-bind-address", ":8081", "HOST:PORT or :PORT that serves /healthz and /readyz; 0 or nothing for none")
	fs.StringVar(&o.ProviderCAFile, "provider-ca-file", "", "PEM certificates that gateways trust for TLS to providers, beside the system's")
	fs.StringVar(&o.OpenShift, "openshift", "auto", "leave the gateway's user to the namespace's range: auto, true or false")
	o.BudgetStore.AddFlags(fs)
	fs.StringVar(&o.LogLevel, "log-level", "info", "debug, info, warn or error")
}

// Complete fills in what the environment says.
func (o *Options) Complete(getenv func(string) string) error {
	if o.Namespace == "" {
		o.Namespace = getenv(envNamespace)
	}
	if o.AdvertiseAddress == "" {
		o.AdvertiseAddress = getenv(envAddress)
	}
	o.PodUID = getenv(envPodUID)
	if o.CoordinatorURL == "" && o.Namespace != "" {
		o.CoordinatorURL = fmt.Sprintf("https://%s.%s.svc:9443", certs.CoordinatorService, o.Namespace)
	}
	if o.ProviderCAFile != "" {
		pem, err := os.ReadFile(o.ProviderCAFile)
		if err != nil {
			return fmt.Errorf("--provider-ca-file: %w", err)
		}
		o.providerCA = string(pem)
	}
	return nil
}

// Validate says everything that is wrong.
func (o *Options) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(len(validation.IsDNS1123Label(o.Namespace)) == 0, "--namespace: %q is not a namespace's name", o.Namespace)
	check(o.GatewayImage != "", "--gateway-image is required")
	check(isPullPolicy(o.GatewayPullPolicy), "--gateway-image-pull-policy: %q is not Always, IfNotPresent or Never", o.GatewayPullPolicy)
	if o.GatewayDeferredStore != "" {
		// Not quoted: it may hold a password, which is what is wrong with it.
		check(isStore(o.GatewayDeferredStore), "--gateway-deferred-store is not redis://[USER@]HOST[:PORT][/DATABASE] or rediss://…, of one server, without a password and parameters")
	}
	// Not quoted: it may hold a password, and would stand in every pod.
	check(isHTTPS(o.CoordinatorURL), "--coordinator-url is not https://HOST[:PORT], without a user and parameters")
	check(isReachable(o.AdvertiseAddress), "--advertise-address: %q is not an IP address that others reach", o.AdvertiseAddress)
	check(isPort(o.coordinatorPort()), "--coordinator-bind-address: %q has no port", o.CoordinatorAddress)
	check(o.WebhookPort > 0 && o.WebhookPort < 1<<16, "--webhook-port: %d is no port", o.WebhookPort)
	check(o.OpenShift == "auto" || o.OpenShift == "true" || o.OpenShift == "false", "--openshift: %q is not auto, true or false", o.OpenShift)
	if o.ProviderCAFile != "" {
		check(x509.NewCertPool().AppendCertsFromPEM([]byte(o.providerCA)), "--provider-ca-file: %s holds no certificate", o.ProviderCAFile)
		check(len(o.providerCA) <= plan.MaxCABytes, "--provider-ca-file: %s exceeds %d KiB", o.ProviderCAFile, plan.MaxCABytes>>10)
	}
	if _, err := logs.Level(o.LogLevel); err != nil {
		errs = append(errs, fmt.Errorf("--log-level: %q %w", o.LogLevel, err))
	}
	return errors.Join(append(errs, o.BudgetStore.Validate())...)
}

func isPullPolicy(p string) bool {
	switch corev1.PullPolicy(p) {
	case corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
		return true
	}
	return false
}

// isHTTPS says whether gateways take the URL: they refuse a user in it, and no call has anything behind the path.
func isHTTPS(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil &&
		u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

func isReachable(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && !ip.IsUnspecified() && !ip.IsMulticast()
}

// isStore says whether gateways take the URL as their store. A password in it would stand in every pod's arguments.
func isStore(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" {
		return false
	}
	_, password := u.User.Password()
	return !password && storeurl.IsServer(u.Hostname(), u.Port()) && !strings.Contains(u.Host, ",") && u.RawQuery == "" && !u.ForceQuery && u.Fragment == "" && u.Opaque == ""
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

func (o *Options) coordinatorPort() string {
	_, port, err := net.SplitHostPort(o.CoordinatorAddress)
	if err != nil {
		return ""
	}
	return port
}

// advertised is where gateways reach this replica's coordinator.
func (o *Options) advertised() string {
	return net.JoinHostPort(o.AdvertiseAddress, o.coordinatorPort())
}
