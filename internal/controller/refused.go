// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// errTheirs is an object that cannot be changed, and must not be deleted.
var errTheirs = errors.New("it is immutable and holds what is not Headgate's; delete it, or keep its contents under another name")

// locked reports whether an object can never be applied to.
func locked(cm *corev1.ConfigMap) bool { return cm != nil && ptr.Deref(cm.Immutable, false) }

// isRefused says whether trying again is of no use until somebody changes something: a quota, the size of what others have put
// into the object, a policy of admission, a right that was taken away.
func isRefused(err error) bool {
	return errors.Is(err, errTheirs) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// noteRefused keeps what was refused for the statuses, in which it is told, and returns the other errors.
func (s *namespace) noteRefused(ctx context.Context, errs ...error) error {
	refused, rest := "", []error{}
	for _, err := range errs {
		switch {
		case !isRefused(err):
			rest = append(rest, err)
		case refused == "":
			refused = err.Error()
		}
	}
	if refused != "" && s.refused == "" {
		logf.FromContext(ctx).Info("a ConfigMap is refused", "namespace", s.name, "why", refused)
	}
	s.refused = refused
	return errors.Join(rest...)
}
