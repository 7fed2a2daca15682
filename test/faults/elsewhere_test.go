// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

// elsewhere is what cannot be tested where the tests run: what, why, and what was done instead.
var elsewhere = []struct{ what, why, instead string }{
	{
		"D3: a service mesh in the same pod", "no mesh is installed in the cluster of the tests",
		"`TestD3EitherOrderOfWebhooksGivesAPodThatStarts` puts a native sidecar like Istio's first, before and after ours; " +
			"`TestD3AndD15StartAndProbeNeedNoProvider` starts and probes the gateway's binary while nothing can be reached.",
	},
	{
		"D2: Argo Workflows and other operators of pods that end", "they are not installed",
		"`TestD2JobsComplete` runs Jobs, runs of CronJobs and bare pods that end well and badly, which is what those make; " +
			"`TestD2StepsOfWorkflowsEnd` runs pods as Argo's executor makes them, with a container that waits for the app's.",
	},
	{
		"D2, E6: clusters older than the one of the tests", "one release of Kubernetes is built",
		"`TestD2HasNativeSidecars` and `TestD2WithoutNativeSidecarsNothingIsInjected` tell such a cluster by its version; " +
			"`TestE6RulesAreThoseOfTheOldestServer` holds the CRDs to functions it knows.",
	},
	{
		"D6: OpenShift", "it does not run here",
		"`TestD6UserIsOursUnlessTheClusterChoosesIt` injects as on OpenShift, where the namespace's range chooses the user.",
	},
	{
		"D7: autoscalers at work", "neither metrics server nor vertical autoscaler is installed",
		"`TestD7AutoscalersGetANumberAndTheShiftIsSmall` computes what a horizontal one shows; " +
			"`TestD7QuotaAndLimitRangeAdmitInjectedPods` shows that Guaranteed pods stay so.",
	},
	{
		"D15: pods with IPv6 only", "the node's network is IPv4",
		"`TestD15BothLoopbackAddressesServeCalls` serves ::1 and 127.0.0.1, which every pod has.",
	},
	{
		"D17: a private cluster whose control plane does not reach the webhook's port", "control plane and node are one machine",
		"`TestD1OutageAdmitsPodsUninjected` refuses the API server's connections and leaves them without an answer; " +
			"`TestD17MissedPodsAreCountedAndNamed` and `TestD17AWebhookThatIsNeverCalledIsSaid` show what is said of such pods.",
	},
	{
		"D17: a registry that nodes may not read", "images are loaded into the node",
		"`TestD17AnImageThatIsNotPulledIsFoundAndForgotten` writes what a kubelet does then; `TestD17AGatewayWithoutItsImageIsNamed` shows what is said.",
	},
	{
		"E13: gateways of earlier releases", "nothing was released yet",
		"`TestE13GatewaysOfOtherReleasesAreSpokenWith` sends what gateways of two earlier states of the protocol sent, and what one to come may.",
	},
	{
		"E7: a second version of the API", "there is one version",
		"`TestE7EachFieldThatIsDroppedIsFound` and `TestE7ARealServerDropsTheFieldAndIsFoundOut` find every field that an older CRD drops; " +
			"`TestQuantitiesSurviveEncoding` and `TestAbsentFieldsStayAbsent` hold the types to what is stored.",
	},
}
