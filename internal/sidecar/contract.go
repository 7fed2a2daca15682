// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sidecar

// ContractVersion is the version of everything in this package.
//
// 2: more base-URL variables, for which a gateway of contract 1 may have no route.
const ContractVersion = "2"

// The container and its volumes.
const (
	ContainerName     = "headgate-gateway"
	Binary            = "/gateway" // in the image; the startup probe execs it
	AdminPortName     = "headgate-admin"
	VolumePlan        = "headgate-plan"
	VolumeCredentials = "headgate-credentials"
	VolumeToken       = "headgate-token"
	VolumePodInfo     = "headgate-podinfo"
	VolumeState       = "headgate-state"
)

// Names of objects in a tenant's namespace.
const (
	// PlanConfigMap is the ConfigMap that carries the plan, under PlanKey.
	PlanConfigMap = "headgate-plan"
	PlanKey       = "plan.json"
	// EnvConfigMap carries base-URL variables for containers that use envFrom. A container reads it at each of its
	// starts, also in a pod that was made long ago, so another set of variables has another name.
	EnvConfigMap = "headgate-env-" + ContractVersion
	// CredentialsSecret holds provider keys, each with its <key>.hosts entry.
	CredentialsSecret = "headgate-credentials"
	HostsSuffix       = ".hosts"
	// DeferredPasswordKey of CredentialsSecret holds the password of the installation's store of deferred calls. It
	// has no .hosts entry, so that it is sent to no provider.
	DeferredPasswordKey = "deferred-store-password"
)

// Mount paths in the gateway's container.
const (
	DirPlan        = "/etc/headgate/plan"
	DirCredentials = "/etc/headgate/credentials"
	// FileDeferredPassword is DeferredPasswordKey as it is mounted.
	FileDeferredPassword = DirCredentials + "/" + DeferredPasswordKey
	DirToken             = "/var/run/secrets/headgate"
	FileToken            = DirToken + "/token"
	DirPodInfo           = "/etc/headgate/podinfo"
	FileLabels           = DirPodInfo + "/labels"
	DirState             = "/var/lib/headgate"
)

// Where the gateway listens: calls on the loopback address, metrics and health on the pod's.
const (
	DataPort      = 15080
	AdminPort     = 15081
	DataAddress   = "127.0.0.1:15080"
	AdminAddress  = ":15081"
	HealthPath    = "/healthz"
	ReadyPath     = "/readyz"
	MetricsPath   = "/metrics"
	TokenAudience = "headgate"
)

// Flags of cmd/gateway in the sidecar.
const (
	FlagPlan        = "plan"        // DirPlan
	FlagCredentials = "credentials" // DirCredentials
	FlagState       = "state"       // DirState
	FlagLabels      = "labels"      // FileLabels
	FlagToken       = "token"       // FileToken
	FlagCoordinator = "coordinator" // https://host:port of the Service
	FlagListen      = "listen"      // DataAddress
	FlagAdmin       = "admin"       // AdminAddress
	FlagNamespace   = "namespace"
	FlagPolicy      = "policy" // stand-alone: a RateLimitPolicy YAML
	FlagCAFile      = "ca-file"
	// FlagDeferredStore and FlagDeferredPassword name a store of deferred calls that outlives the pod. Injection leaves
	// both out unless the installation has one, so they are no part of the contract's version: no gateway of this
	// contract is told what it does not know but by who set it.
	FlagDeferredStore    = "deferred-store"
	FlagDeferredPassword = "deferred-store-password-file"
	SubcommandDeferred   = "deferred" // list, replay and drop deferred calls
	SubcommandProbe      = "probe"    // exec startup probe: exit 0 once the data port answers
)

// Environment of the gateway's container.
const (
	// EnvCoordinatorCA holds PEM certificates that signed or will sign the coordinator's.
	EnvCoordinatorCA = "HEADGATE_COORDINATOR_CA"
	EnvPodName       = "HEADGATE_POD_NAME"
	EnvPodUID        = "HEADGATE_POD_UID"
	EnvNamespace     = "HEADGATE_NAMESPACE"
)

// Annotations on pods.
const (
	// AnnotationContract is the ContractVersion a pod was injected with.
	AnnotationContract = "headgate.dev/injection-contract"
	// AnnotationOutcome is the outcome's reason (Injected, SkippedHostNetwork, …) and a short message.
	AnnotationOutcome = "headgate.dev/injection"
	// AnnotationUnrouted lists containers whose own variables bypass the gateway, as container=VARIABLE
	// pairs joined by commas.
	AnnotationUnrouted = "headgate.dev/unrouted"
	// AnnotationRoutingUnknown lists, in the same form, what injection cannot know: variables that an
	// envFrom source or an expansion may set.
	AnnotationRoutingUnknown = "headgate.dev/routing-unknown"
	// AnnotationBaseURLs set to BaseURLsByApp leaves base-URL variables to the app, which leads its calls to the
	// gateway itself, or for a reason of its own does not.
	AnnotationBaseURLs = "headgate.dev/base-urls"
	BaseURLsByApp      = "by-app"
	// AnnotationAllowHostNetwork set to "true" injects a hostNetwork pod in spite of the port conflicts.
	AnnotationAllowHostNetwork = "headgate.dev/allow-host-network"
)
