// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bedrock

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
)

var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

func read(status int, h http.Header, body string) (dialect.Failure, dialect.Reading) {
	d := Dialect{}
	r := d.ReadHeaders(status, h, noon)
	return d.ReadFailure(status, h, []byte(body), &r), r
}

// TestNamesOfExceptions: wherever a name stands, without what is around it.
func TestNamesOfExceptions(t *testing.T) {
	cases := map[string]struct{ header, body, want string }{
		"header":                {"ThrottlingException", `{}`, "ThrottlingException"},
		"header, with a URI":    {"ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/", `{}`, "ThrottlingException"},
		"header, namespace":     {"com.amazon.bedrock#ThrottlingException", `{}`, "ThrottlingException"},
		"type":                  {"", `{"__type":"com.amazon.bedrock#ThrottlingException"}`, "ThrottlingException"},
		"type, both":            {"", `{"__type":"aws.protocoltests#FooError:http://internal/x#y"}`, "FooError"},
		"code":                  {"", `{"code":"ThrottlingException"}`, "ThrottlingException"},
		"the header goes first": {"ValidationException", `{"__type":"a#ThrottlingException"}`, "ValidationException"},
		"an empty header":       {" ", `{"__type":"a#ThrottlingException"}`, "ThrottlingException"},
		"no name":               {"429", `{"code":"not_found"}`, ""},
		"no document":           {"", `<html>`, ""},
	}
	for name, tc := range cases {
		f, _ := read(http.StatusTeapot, http.Header{headerErrorType: {tc.header}}, tc.body)
		got := errorName(http.Header{headerErrorType: {tc.header}}, failure.Read(nil, []byte(tc.body)))
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if tc.want == "ThrottlingException" && (f.Class != dialect.ClassThrottle || f.Code != tc.want) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestA7ClassesOfExceptions: by name, whatever the status; by status where there is no name.
func TestA7ClassesOfExceptions(t *testing.T) {
	cases := []struct {
		status        int
		name, message string
		want          dialect.Class
	}{
		{429, "ThrottlingException", "Too many requests, please wait before trying again.", dialect.ClassThrottle},
		{429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", dialect.ClassQuota},
		{400, "ThrottlingException", "Your request rate is too high.", dialect.ClassThrottle},
		{400, "ServiceQuotaExceededException", "Your request exceeds the service quota for your account.", dialect.ClassQuota},
		{429, "ModelNotReadyException", "Model is not ready for inference.", dialect.ClassTransient},
		{408, "ModelTimeoutException", "m", dialect.ClassTransient},
		{424, "ModelErrorException", "m", dialect.ClassTransient},
		{500, "InternalServerException", "m", dialect.ClassTransient},
		{503, "ServiceUnavailableException", "m", dialect.ClassOverload},
		{400, "ValidationException", "Input is too long for requested model: too many tokens per day", dialect.ClassPermanent},
		{403, "AccessDeniedException", "m", dialect.ClassPermanent},
		{403, "ExpiredTokenException", "The security token included in the request is expired", dialect.ClassPermanent},
		{403, "InvalidSignatureException", "m", dialect.ClassPermanent},
		{404, "ResourceNotFoundException", "m", dialect.ClassPermanent},
		{429, "", "m", dialect.ClassThrottle},
		{503, "", "m", dialect.ClassOverload},
		{429, "SomethingNewException", "m", dialect.ClassThrottle},
		{500, "SomethingNewException", "m", dialect.ClassTransient},
	}
	for _, tc := range cases {
		if f, _ := read(tc.status, http.Header{headerErrorType: {tc.name}}, `{"message":"`+tc.message+`"}`); f.Class != tc.want {
			t.Errorf("%d %s %s: %s, want %s", tc.status, tc.name, tc.message, f.Class, tc.want)
		}
	}
	for body, want := range map[string]dialect.Class{
		`{"error":{"code":"insufficient_quota","message":"m"}}`:                       dialect.ClassQuota,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: dialect.ClassOverload,
	} {
		if f, _ := read(429, http.Header{}, body); f.Class != want {
			t.Errorf("%s: %s, want %s", body, f.Class, want)
		}
	}
}

// TestA11ExceptionsInStreams: in every form in which a reader of streams may hand them on.
func TestA11ExceptionsInStreams(t *testing.T) {
	for document, want := range map[string]dialect.Class{
		`{"__type":"throttlingException","message":"Too many tokens"}`:           dialect.ClassThrottle,
		`{"throttlingException":{"message":"Too many tokens per day"}}`:          dialect.ClassQuota,
		`{"__type":"serviceUnavailableException","message":"m"}`:                 dialect.ClassOverload,
		`{"modelStreamErrorException":{"message":"m","originalStatusCode":500}}`: dialect.ClassTransient,
		`{"__type":"validationException","message":"m"}`:                         dialect.ClassPermanent,
		`{"type":"internalServerException","message":"m"}`:                       dialect.ClassTransient,
		`{"message":"m"}`: dialect.ClassTransient,
		``:                dialect.ClassTransient,
	} {
		if f := classifyEvent([]byte(document)); f.Class != want || strings.Contains(document, "message") && f.Message == "" {
			t.Errorf("%s: %+v, want %s", document, f, want)
		}
	}
}

// TestOperations: the model is in the path, whatever it is escaped like.
func TestOperations(t *testing.T) {
	const arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	converse := dialect.Operation{Name: "converse", Format: dialect.FormatConverse, Metered: true}
	invoke := dialect.Operation{Name: "invoke", Format: dialect.FormatInvoke, Metered: true}
	of := func(op dialect.Operation, model string, stream bool) dialect.Operation {
		op.Model, op.Stream = model, stream
		return op
	}
	cases := []struct {
		method, path string
		want         dialect.Operation
	}{
		{"POST", "/model/amazon.nova-pro-v1:0/converse", of(converse, "amazon.nova-pro-v1:0", false)},
		{"POST", "/model/amazon.nova-pro-v1%3A0/converse-stream", of(converse, "amazon.nova-pro-v1:0", true)},
		{"POST", "/model/meta.llama3-70b-instruct-v1%3A0/invoke", of(invoke, "meta.llama3-70b-instruct-v1:0", false)},
		{"POST", "/model/m/invoke-with-response-stream", of(invoke, "m", true)},
		{"POST", "/model/" + strings.NewReplacer(":", "%3A", "/", "%2F").Replace(arn) + "/converse", of(converse, arn, false)},
		{"POST", "/model/" + arn + "/converse/", of(converse, arn, false)},
		{"POST", "/model/" + strings.Repeat("m", 5000) + "/converse", of(converse, strings.Repeat("m", maxModel), false)},
		{"POST", "/model/m/count-tokens", dialect.Operation{Name: "other", Model: "m", Free: true}},
		{"POST", "/model/m/invoke-with-bidirectional-stream", dialect.Operation{Name: "other", Model: "m"}},
		{"GET", "/model/m/converse", dialect.Operation{Name: "other"}},
		{"POST", "/model/converse", dialect.Operation{Name: "other"}},
		{"POST", "/guardrail/g/version/1/apply", dialect.Operation{Name: "other"}},
		{"POST", "/openai/v1/chat/completions", dialect.Operation{Name: "chat", Format: dialect.FormatChat, Metered: true}},
		{"POST", "/chat/completions", dialect.Operation{Name: "chat", Format: dialect.FormatChat, Metered: true}},
		{"POST", "/v1/responses", dialect.Operation{Name: "responses", Format: dialect.FormatResponses, Metered: true}},
		{"GET", "/openai/v1/models", dialect.Operation{Name: "other", Free: true}},
		{"POST", "/anthropic/v1/messages", dialect.Operation{Name: "messages", Format: dialect.FormatMessages, Metered: true}},
	}
	for _, tc := range cases {
		if got := (Dialect{}).Operation(tc.method, tc.path); got != tc.want {
			t.Errorf("%s %.80s: %+v, want %+v", tc.method, tc.path, got, tc.want)
		}
	}
}

// TestSignedPathsStay: what an SDK signs is a path that goes on as it came.
func TestSignedPathsStay(t *testing.T) {
	for _, path := range []string{
		"/model/amazon.nova-pro-v1%3A0/converse", "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aprompt-router%2Fx/converse-stream",
		"/model/amazon.nova-pro-v1:0/invoke", "/openai/v1/chat/completions",
	} {
		if got := (Dialect{}).Path(path); got != path {
			t.Errorf("%s became %s", path, got)
		}
	}
}

// TestA17RefusalsAreExceptions, and end what SDKs call their wait.
func TestA17RefusalsAreExceptions(t *testing.T) {
	for status, name := range map[int]string{429: "ThrottlingException", 503: "ServiceUnavailableException"} {
		got, h, body := Dialect{}.Refusal(dialect.Refusal{Status: status, Message: "headgate: m", RetryAfter: 26001 * time.Millisecond})
		if got != status || h.Get("x-amzn-errortype") != name || h.Get("x-amz-retry-after") != "27000" || string(body) != `{"message":"headgate: m"}` {
			t.Errorf("%d %v %s", got, h, body)
		}
		if f, r := read(status, h, string(body)); f.Code != name || r.RetryAfter != 27*time.Second {
			t.Errorf("read again: %+v %+v", f, r)
		}
	}
}

// TestStreamErrorsAreFrames that another implementation of the format reads.
func TestStreamErrorsAreFrames(t *testing.T) {
	m, err := eventstream.NewDecoder().Decode(bytes.NewReader(Dialect{}.StreamError(dialect.Operation{}, dialect.StreamFailure{Message: "headgate: \"m\""})), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		":message-type": "exception", ":exception-type": "serviceUnavailableException", ":content-type": "application/json",
	} {
		if v := m.Headers.Get(name); v == nil || v.String() != want {
			t.Errorf("%s is %v, want %s", name, v, want)
		}
	}
	if string(m.Payload) != `{"message":"headgate: \"m\""}` {
		t.Errorf("%s", m.Payload)
	}
}

// TestCredentials: a key takes the place of the whole signature, and accounts are told apart by access keys.
func TestCredentials(t *testing.T) {
	sign := func(key, signature string) http.Header {
		return http.Header{
			"Authorization": {"AWS4-HMAC-SHA256 Credential=" + key + "/20260615/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + signature},
			"X-Amz-Date":    {"20260615T120000Z"}, "X-Amz-Security-Token": {"t" + signature}, "X-Amz-Content-Sha256": {signature},
			"Content-Type": {"application/json"},
		}
	}
	h := sign("AKIDEXAMPLE", "aa")
	if query := (Dialect{}).SetCredential(h, "X-Amz-Signature=aa&X-Amz-Date=d&a=1", " key\n"); query != "a=1" {
		t.Errorf("query %q", query)
	}
	if len(h) != 2 || h.Get("Authorization") != "Bearer key" {
		t.Errorf("%v", h)
	}
	d := Dialect{}
	first := d.Fingerprint(sign("AKIDEXAMPLE", "aa"), "")
	if first == 0 || d.Fingerprint(sign("AKIDEXAMPLE", "bb"), "") != first || d.Fingerprint(sign("AKIDOTHER", "aa"), "") == first {
		t.Error("accounts are told apart by more or by less than their access keys")
	}
	a, b := http.Header{"Authorization": {"Bearer a"}}, http.Header{"Authorization": {"Bearer b"}}
	if d.Fingerprint(a, "") == d.Fingerprint(b, "") || d.Fingerprint(http.Header{}, "") != 0 {
		t.Error("keys are not told apart")
	}
}

// TestASignaturesPartsAreNotRepeated: AWS answers a wrong signature with all that it signed, tokens among it.
func TestASignaturesPartsAreNotRepeated(t *testing.T) {
	const token, key = "IQoJb3JpZ2luX2VjEJr//////////wEaCXVzLWVhc3QtMSJHMEUCIQ", "AKIAIOSFODNN7EXAMPLE"
	body := `{"message":"The request signature we calculated does not match the signature you provided. The Canonical String for this request should have been\n'POST\n/model/m/converse\n\nx-amz-date:20260615T120000Z\nx-amz-security-token:` +
		token + `\n' Credential=` + key + `/20260615"}`
	f, _ := read(http.StatusForbidden, http.Header{headerErrorType: {"InvalidSignatureException"}}, body)
	short, _ := read(http.StatusForbidden, http.Header{}, `{"message":"x-amz-security-token:`+token+` Credential=`+key+`/20260615 is wrong"}`)
	for _, message := range []string{f.Message, short.Message} {
		for i := 0; i+8 <= len(token); i += 4 {
			if strings.Contains(message, token[i:i+8]) || strings.Contains(message, key[:12]) {
				t.Fatalf("%q", message)
			}
		}
	}
	if f.Class != dialect.ClassPermanent || !strings.HasPrefix(f.Message, "The request signature") {
		t.Errorf("%+v", f)
	}
}

// FuzzErrorType: no header and no body makes a name of anything but letters, nor a class of nothing.
func FuzzErrorType(f *testing.F) {
	f.Add("ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/", `{"message":"Too many tokens per day"}`)
	f.Add("", `{"__type":"com.amazon.bedrock#ServiceUnavailableException"}`)
	f.Add("##::", `{"throttlingException":{"message":{}}}`)
	f.Add("a#b:c#d", `[{"error":{"code":"x"}}]`)
	f.Fuzz(func(t *testing.T, kind, body string) {
		h := http.Header{headerErrorType: {kind}}
		got, r := read(http.StatusTooManyRequests, h, body)
		if got.Class == "" || got.Class == dialect.ClassSuccess || len(got.Code) > 64 || r.RetryAfter < 0 {
			t.Errorf("%+v %+v", got, r)
		}
		name := errorName(h, failure.Read(nil, []byte(body)))
		if strings.ContainsFunc(name, func(r rune) bool { return !letter(r) }) {
			t.Errorf("name %q", name)
		}
		classifyEvent([]byte(body))
	})
}

// FuzzPath: no path makes a model's name longer than the bound, nor an operation that is metered and free.
func FuzzPath(f *testing.F) {
	f.Add("POST", "/model/a%2Fb%3A0/converse")
	f.Add("POST", "/model//%zz/invoke")
	f.Add("GET", "/openai/v1/models")
	f.Fuzz(func(t *testing.T, method, path string) {
		op := Dialect{}.Operation(method, path)
		if len(op.Model) > maxModel || op.Metered && (op.Free || op.Format == "") || op.Name == "" {
			t.Errorf("%+v", op)
		}
	})
}
