// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// Identity is whom a token speaks for.
type Identity struct {
	Pod figures.Pod
	// Expires is zero when the token does not say.
	Expires time.Time
}

// Reviewer verifies tokens.
type Reviewer interface {
	// Review returns the identity; an error that is ErrNotVerified when the token is not good, any other when
	// it could not be verified.
	Review(ctx context.Context, token string) (Identity, error)
}

// ErrNotVerified says that a token is not one of a pod for the coordinator.
var ErrNotVerified = errors.New("the token is not a pod's for headgate")

// TokenReviews creates TokenReviews: the API server's client.
type TokenReviews interface {
	Create(ctx context.Context, review *authenticationv1.TokenReview) error
}

// TokenReviewsFunc makes a function a TokenReviews.
type TokenReviewsFunc func(ctx context.Context, review *authenticationv1.TokenReview) error

// Create implements TokenReviews.
func (f TokenReviewsFunc) Create(ctx context.Context, review *authenticationv1.TokenReview) error {
	return f(ctx, review)
}

// TokenReviewer asks the API server.
type TokenReviewer struct{ Reviews TokenReviews }

// The extra fields in which the API server says which pod a token is bound to.
const (
	extraPodName = "authentication.kubernetes.io/pod-name"
	extraPodUID  = "authentication.kubernetes.io/pod-uid"
)

// Review implements Reviewer.
func (t TokenReviewer) Review(ctx context.Context, token string) (Identity, error) {
	review := &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{sidecar.TokenAudience}},
	}
	if err := t.Reviews.Create(ctx, review); err != nil {
		return Identity{}, fmt.Errorf("review a gateway's token: %w", err)
	}
	id, err := identify(review.Status)
	if err != nil {
		return Identity{}, err
	}
	id.Expires = expiry(token)
	return id, nil
}

// identify reads the pod from a review; everything must be there.
func identify(status authenticationv1.TokenReviewStatus) (Identity, error) {
	if !status.Authenticated || !slices.Contains(status.Audiences, sidecar.TokenAudience) {
		return Identity{}, ErrNotVerified
	}
	account, isAccount := strings.CutPrefix(status.User.Username, "system:serviceaccount:")
	namespace, _, hasName := strings.Cut(account, ":")
	name, hasPod := only(status.User.Extra[extraPodName])
	uid, hasUID := only(status.User.Extra[extraPodUID])
	if !isAccount || !hasName || namespace == "" || !hasPod || !hasUID {
		return Identity{}, fmt.Errorf("%w: it is not bound to one", ErrNotVerified)
	}
	return Identity{Pod: figures.Pod{Namespace: namespace, Name: name, UID: uid}}, nil
}

func only(values []string) (string, bool) {
	if len(values) != 1 || values[0] == "" {
		return "", false
	}
	return values[0], true
}

// expiry reads when a token that was verified expires.
func expiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 {
		return time.Time{}
	}
	return time.Unix(claims.Expires, 0)
}

// maxToken bounds what is sent to the API server.
const maxToken = 16 << 10

func bearer(header http.Header) (string, bool) {
	token, ok := strings.CutPrefix(header.Get("Authorization"), "Bearer ")
	return token, ok && token != "" && len(token) <= maxToken
}

// authenticate verifies the caller once, with a bounded number of reviews at a time.
func (s *Server) authenticate(ctx context.Context, header http.Header, from string) (Identity, error) {
	token, ok := bearer(header)
	if !ok {
		return Identity{}, connect.NewError(connect.CodeUnauthenticated, errors.New("a bearer token is needed"))
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	if err := s.reviews.take(ctx, host(from)); err != nil {
		return Identity{}, connect.NewError(connect.CodeUnavailable, err)
	}
	defer s.reviews.give()
	id, err := s.opts.Reviewer.Review(ctx, token)
	switch {
	case errors.Is(err, ErrNotVerified):
		return Identity{}, connect.NewError(connect.CodeUnauthenticated, err)
	case err != nil:
		s.opts.Log.Warn("cannot verify a gateway", "error", err)
		return Identity{}, connect.NewError(connect.CodeUnavailable, errors.New("the token cannot be verified now"))
	}
	return id, nil
}
