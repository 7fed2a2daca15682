// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

func lanesSchema(path *field.Path, lanes []v1alpha1.Lane) field.ErrorList {
	errs := joinErrs(
		tooMany(path, len(lanes), maxDeclaredLanes),
		duplicates(lanes, func(l v1alpha1.Lane) string { return l.Name }, path.Index),
	)
	sum := int64(0)
	for i := range lanes {
		errs = append(errs, laneSchema(path.Index(i), &lanes[i])...)
		sum += int64(orDefault(lanes[i].ReservedPercent, 0))
	}
	if sum > wholePercent {
		errs = append(errs, field.Invalid(path, sum, "the lanes' reservedPercent add up to more than 100"))
	}
	return errs
}

func laneSchema(path *field.Path, l *v1alpha1.Lane) field.ErrorList {
	queue := orDefault(l.Queue, v1alpha1.LaneQueue{})
	return joinErrs(
		shortName(path.Child("name"), l.Name, namePattern),
		matchSchema(path.Child("match"), l.Match),
		quantity(path.Child("largestCall"), l.LargestCall, 1),
		between(path.Child("reservedPercent"), l.ReservedPercent, 0, wholePercent),
		between(path.Child("priority"), l.Priority, -maxPriority, maxPriority),
		between(path.Child("weight"), l.Weight, 1, maxWeight),
		durationText(path.Child("hold"), l.Hold),
		between(path.Child("queue", "maxDepth"), queue.MaxDepth, 0, maxQueueDepth),
		quantity(path.Child("queue", "maxBytes"), queue.MaxBytes, 1),
		durationText(path.Child("queue", "maxWait"), queue.MaxWait),
		enum(path.Child("queue", "keepAlive"), queue.KeepAlive, keepAlives),
		keyName(path.Child("credentialKey"), l.CredentialKey),
	)
}

func matchSchema(path *field.Path, m *v1alpha1.LaneMatch) field.ErrorList {
	if m == nil {
		return nil
	}
	errs := joinErrs(
		quantity(path.Child("minInputTokens"), m.MinInputTokens, 0),
		textSet(path.Child("models"), m.Models, maxModelLength, nil),
		textSet(path.Child("paths"), m.Paths, maxPathLength, pathPattern),
	)
	if m.Header == nil {
		return errs
	}
	name := path.Child("header", "name")
	if m.Header.Name == "" {
		return append(errs, field.Required(name, "name a request header"))
	}
	return append(errs, joinErrs(
		text(name, m.Header.Name, 1, maxHeaderNameLength, headerNamePattern),
		text(path.Child("header", "value"), m.Header.Value, 1, maxHeaderValueLength, headerValuePattern),
	)...)
}
