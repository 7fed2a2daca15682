// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/auth/bearer"

	"github.com/headgate-dev/headgate/internal/testing/awssdk"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

const (
	sonnet    = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
	appsID    = "AKIAOFTHEAPP"
	appsKey   = "secret-of-the-app"
	ourAPIKey = "c4n4ryKey-bedrock-api-key-of-the-gateway"
)

// bedrock is a gateway in front of a provider that verifies what is signed.
func bedrock(t *testing.T, more string) *row {
	t.Helper()
	s := sdk{dialect: fakeprovider.Bedrock, model: sonnet, unguided: true}
	return &row{sdk: s, t: t, Gateway: dataplane.Start(t, binary, dataplane.Options{
		Provider: fakeprovider.Options{AWSSecrets: map[string]string{appsID: appsKey}},
		Policy:   func(url string) string { return policyYAML(s.route())(url) + more },
		Keys:     map[string]string{"bedrock": ourAPIKey},
	})}
}

// signing is the SDK with an access key, at an endpoint.
func signing(endpoint string, more ...func(*bedrockruntime.Options)) *bedrockruntime.Client {
	return bedrockruntime.New(bedrockruntime.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(endpoint),
		Credentials: credentials.NewStaticCredentialsProvider(appsID, appsKey, "session"),
	}, append(more, awssdk.Steady)...)
}

// TestBedrockSignedForTheGatewayIsRefusedByTheProvider: what is signed is the gateway's address, which is not where
// the request arrives. That cannot work, and the app is told so in the provider's own words, once.
func TestBedrockSignedForTheGatewayIsRefusedByTheProvider(t *testing.T) {
	t.Parallel()
	r := bedrock(t, "")
	_, err := converse(t.Context(), signing(r.URL+"/bedrock"), sonnet, fewTokens)
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != "InvalidSignatureException" {
		t.Fatalf("error %v", err)
	}
	seen := r.Provider.Arrivals()
	if len(seen) != 1 || seen[0].Status != http.StatusForbidden || seen[0].KeyHash != fakeprovider.KeyHash(appsID) {
		t.Errorf("the provider saw %+v", seen)
	}
	if direct := r.directly(t); direct != e.ErrorMessage() {
		t.Errorf("the message is %q, and %q without a gateway", e.ErrorMessage(), direct)
	}
}

// directly is what the provider itself says to a wrong signature.
func (r *row) directly(t *testing.T) string {
	t.Helper()
	wrong := credentials.NewStaticCredentialsProvider(appsID, "another", "session")
	_, err := converse(t.Context(), signing(r.Server.URL+"/_p/bedrock", func(o *bedrockruntime.Options) {
		o.HTTPClient, o.Credentials = r.Server.Client(), wrong
	}), sonnet, fewTokens)
	var e smithy.APIError
	if !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	return e.ErrorMessage()
}

// byWay signs for one address and sends to another, as an app does whose SDK is told to use a proxy only after it
// has signed.
type byWay struct{ signed, sent string }

// Do implements the SDK's HTTP client.
func (b byWay) Do(r *http.Request) (*http.Response, error) {
	path, ok := strings.CutPrefix(r.URL.String(), b.signed)
	if !ok {
		return nil, errors.New("signed for elsewhere: " + r.URL.Host)
	}
	to, err := url.Parse(b.sent + path)
	if err != nil {
		return nil, err
	}
	r.URL, r.Host = to, to.Host
	return http.DefaultClient.Do(r)
}

// TestBedrockSignedForTheProviderPassesUntouchedAndIsMetered: the provider verifies host, path, headers and body, so
// it would refuse what the gateway had changed. Waiting and sending again need no new signature.
func TestBedrockSignedForTheProviderPassesUntouchedAndIsMetered(t *testing.T) {
	t.Parallel()
	r := bedrock(t, "")
	signed := r.Server.URL + "/_p/bedrock"
	client := signing(signed, func(o *bedrockruntime.Options) { o.HTTPClient = byWay{signed, r.URL + "/bedrock"} })
	r.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultThrottle})
	answer, err := converse(t.Context(), client, sonnet, fewTokens)
	if err != nil || answer.outputTokens != fewTokens {
		t.Fatalf("answer %+v, error %v", answer, err)
	}
	seen := r.Provider.Arrivals()
	if len(seen) != 2 || seen[1].Status != http.StatusOK || seen[0].BodySHA256 != seen[1].BodySHA256 || seen[1].KeyHash != fakeprovider.KeyHash(appsID) {
		t.Errorf("the provider saw %+v", seen)
	}
	r.once(t, seen)
	r.metered(t)
}

// TestBedrockSignatureIsReplacedByTheRoutesKey: the simplest way for an app that signs is a policy with an API key.
func TestBedrockSignatureIsReplacedByTheRoutesKey(t *testing.T) {
	t.Parallel()
	r := bedrock(t, "    credentialKey: bedrock\n")
	answer, err := converse(t.Context(), signing(r.URL+"/bedrock"), sonnet, fewTokens)
	if err != nil || answer.outputTokens != fewTokens {
		t.Fatalf("answer %+v, error %v", answer, err)
	}
	if seen := r.Provider.Arrivals(); len(seen) != 1 || seen[0].KeyHash != fakeprovider.KeyHash(ourAPIKey) {
		t.Errorf("the provider saw %+v", seen)
	}
	r.metered(t)
}

// TestBedrockGoSDKSendsNoAPIKeyOverHTTP is why the app in the matrix sets the header itself, and why injection sets
// no variable for Bedrock, not even beside AWS_BEARER_TOKEN_BEDROCK.
func TestBedrockGoSDKSendsNoAPIKeyOverHTTP(t *testing.T) {
	t.Parallel()
	r := bedrock(t, "")
	client := bedrockruntime.New(bedrockruntime.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(r.URL + "/bedrock"), AuthSchemePreference: []string{"httpBearerAuth"},
		BearerAuthTokenProvider: bearer.StaticTokenProvider{Token: bearer.Token{Value: ourAPIKey}},
	})
	_, err := converse(t.Context(), client, sonnet, fewTokens)
	if err == nil || !strings.Contains(err.Error(), "requires HTTPS") || len(r.Provider.Arrivals()) != 0 {
		t.Errorf("error %v, and the provider saw %+v", err, r.Provider.Arrivals())
	}
}

// TestBedrockAttemptsFromTheEnvironment is the other setting that leaves retries to the gateway. It holds for every
// AWS client of the app, so it is the app's to make.
func TestBedrockAttemptsFromTheEnvironment(t *testing.T) {
	r := bedrock(t, "    credentialKey: bedrock\n")
	r.Inject(r.throttle(0, -1, ourAPIKey))
	for variable, want := range map[string]float64{"1": 1, "2": 2} {
		t.Setenv("AWS_MAX_ATTEMPTS", variable)
		cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("eu-central-1"))
		if err != nil {
			t.Fatal(err)
		}
		asked := r.asked(t)
		client := bedrockruntime.NewFromConfig(cfg, func(o *bedrockruntime.Options) {
			o.BaseEndpoint = aws.String(r.URL + "/bedrock")
			o.Credentials = credentials.NewStaticCredentialsProvider(appsID, appsKey, "session")
		}, awssdk.Steady)
		_, err = converse(t.Context(), client, sonnet, fewTokens)
		if name, _, _ := (bedrockGo{}).wait(err); name == "" {
			t.Errorf("error %v", err)
		}
		if n := r.asked(t) - asked; n != want {
			t.Errorf("with AWS_MAX_ATTEMPTS=%s the SDK has asked %v times", variable, n)
		}
	}
}
