// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Keys of the Secret.
const (
	keyCurrentCert  = "ca.crt"
	keyCurrentKey   = "ca.key"
	keyNextCert     = "next.crt"
	keyNextKey      = "next.key"
	keyPreviousCert = "previous.crt"
)

var errNoAuthority = errors.New("the Secret holds no usable authority")

// decode reads a Secret. Parts that cannot be read are left out, and reported: the leader replaces them.
func decode(secret *corev1.Secret) (rotation, error) {
	var (
		r    rotation
		errs []error
	)
	read := func(cert, key string, needsKey bool) *authority {
		if len(secret.Data[cert]) == 0 {
			return nil
		}
		a, err := parseAuthority(secret.Data[cert], secret.Data[key])
		if err == nil && needsKey && a.key == nil {
			err = errKeyMismatch
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", cert, err))
			return nil
		}
		return a
	}
	r.current = read(keyCurrentCert, keyCurrentKey, true)
	r.next = read(keyNextCert, keyNextKey, true)
	r.previous = read(keyPreviousCert, "", false)
	return r, errors.Join(errs...)
}

// encode writes the whole of a rotation, so that the previous key is gone.
func encode(r rotation, secret *corev1.Secret) error {
	secret.Data = map[string][]byte{keyCurrentCert: r.current.certPEM()}
	key, err := r.current.keyPEM()
	if err != nil {
		return err
	}
	secret.Data[keyCurrentKey] = key
	if r.next != nil {
		if key, err = r.next.keyPEM(); err != nil {
			return err
		}
		secret.Data[keyNextCert], secret.Data[keyNextKey] = r.next.certPEM(), key
	}
	if r.previous != nil {
		secret.Data[keyPreviousCert] = r.previous.certPEM()
	}
	return nil
}

func (s *Source) readSecret(ctx context.Context) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	return secret, s.client.Get(ctx, s.opts.secretKey(), secret)
}

func (s *Source) emptySecret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.opts.Namespace, Name: SecretName,
			Labels: map[string]string{"app.kubernetes.io/name": "headgate", "app.kubernetes.io/component": "certificates"},
		},
		Type: corev1.SecretTypeOpaque,
	}
}
