// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"net/http"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// Dialect reads and writes what one provider's API sends. Implementations are stateless and safe for
// concurrent use; they never fail: what they cannot read is "unknown".
type Dialect interface {
	// Facts are what the controller knows of it too.
	Facts() dialect.Facts
	// Operation says what a request is, from its method and its path below the route ("/v1/messages").
	Operation(method, path string) Operation
	// Path turns the path an app used ("//chat/completions", "/v1/chat/completions", "/chat/completions")
	// into the one the provider knows, to be joined to the base URL.
	Path(path string) string
	// ReadRequest reads what is metered, without decoding the body into structs.
	ReadRequest(op Operation, contentType string, body []byte) Request
	// InjectUsage makes a streamed request report its usage; ok is false where nothing need be changed.
	// The meter then strips what the client did not ask for.
	InjectUsage(op Operation, body []byte) (s Splice, ok bool)
	// ReadHeaders reads guidance and budgets from a response of any status.
	ReadHeaders(status int, h http.Header, received time.Time) Reading
	// ReadFailure classifies a response that is not a success, and adds what its body says to r.
	ReadFailure(status int, h http.Header, body []byte, r *Reading) Failure
	// NewMeter returns a meter for one successful response.
	NewMeter(op Operation, h http.Header, opts MeterOptions) Meter
	// Refusal is the gateway's own answer in the provider's error shape.
	Refusal(r Refusal) (status int, h http.Header, body []byte)
	// StreamError is a failure as an event of a stream that has begun, in the shape of the operation's format.
	StreamError(op Operation, f StreamFailure) []byte
	// SetCredential puts key where the provider expects it and removes every other credential, also from the
	// raw query, which it returns.
	SetCredential(h http.Header, query, key string) string
	// Fingerprint tells apart the accounts behind the app's own credentials, in headers or raw query; 0 where
	// there are none. It is a keyed hash: the key cannot be found from it.
	Fingerprint(h http.Header, query string) uint64
}

// Operation is what a request asks for.
type Operation struct {
	// Name is short and of a closed set: chat, messages, responses, embeddings, completions, generate, converse,
	// invoke, other.
	Name string
	// Format is the shape of its request, its answer and its events; "" where nothing is metered.
	Format Format
	// Model is what the path names, for APIs that have it there; it is still escaped by nothing, and "" where
	// the body names it.
	Model string
	// Stream: the path asks for a stream, whatever the body says.
	Stream bool
	// Metered operations are charged to token budgets; others to Requests and InFlight alone.
	Metered bool
	// Free operations (listing models, counting tokens) are charged to nothing.
	Free bool
}

// Format is the shape of an operation's request, answer and events. Several dialects share one.
type Format string

// The formats.
const (
	// FormatChat is OpenAI's chat completions, and the older completions and embeddings, which report alike.
	FormatChat Format = "chat"
	// FormatResponses is OpenAI's responses.
	FormatResponses Format = "responses"
	// FormatMessages is Anthropic's messages.
	FormatMessages Format = "messages"
	// FormatGenerate is Google's generateContent; a stream is SSE or an array of documents.
	FormatGenerate Format = "generate"
	// FormatConverse is Bedrock's Converse; a stream is an AWS event stream.
	FormatConverse Format = "converse"
	// FormatInvoke is Bedrock's InvokeModel: any model's own body, usage in headers or the last event.
	FormatInvoke Format = "invoke"
	// FormatCohere is Cohere's own chat (v2) and its relatives.
	FormatCohere Format = "cohere"
	// FormatOllama is Ollama's own API; a stream is NDJSON.
	FormatOllama Format = "ollama"
	// FormatTGI is Text Generation Inference's own API.
	FormatTGI Format = "tgi"
)

// Request is what a call may cost. Zero values mean "not stated".
type Request struct {
	Model  string
	Stream bool
	// Others are what the body names beside the model, of which a provider may take one: of a name that is said twice it
	// may take the first, of names in small and capital letters either, and some take a list. Many says that there are more,
	// or that the body could not be read: it may be of any model.
	Others [MaxOthers]string
	Many   bool
	// TextBytes are the bytes of text parts; MediaTokens the fixed cost of images, audio and documents.
	TextBytes   int64
	MediaTokens int64
	// TokensPerByte is what a byte of the text is expected to take, by its characters; 0 is unknown.
	TokensPerByte float64
	// MarksCache: parts of the prompt are marked for the provider's cache.
	MarksCache bool
	// Continues: the prompt goes on from what the provider has stored, which costs input and is not in the body.
	Continues bool
	// MaxOutputTokens is the largest of the max-token fields; Choices multiplies it (n, best_of); 0 is 1.
	MaxOutputTokens int64
	Choices         int64
	// WantsUsage: the client itself asked a stream to report usage.
	WantsUsage bool
	// IdempotencyKeySent is left to the proxy, which reads it from the headers.
}

// MaxOthers are kept of the other models that a body names; a list of models to fall back to has fewer.
const MaxOthers = 4

// Name notes a model that the body names. The last one is the model, as most providers have it.
func (r *Request) Name(model string) {
	if model != r.Model {
		r.MayName(r.Model)
	}
	r.Model = model
}

// MayName notes a model that a provider may take in the place of the one that is named.
func (r *Request) MayName(model string) {
	if model == "" || slices.Contains(r.Others[:], model) {
		return
	}
	if free := slices.Index(r.Others[:], ""); free >= 0 {
		r.Others[free] = model
		return
	}
	r.Many = true
}

// Splice puts Text in place of the bytes From to To of a body. It is no second copy of a body, which may be
// large.
type Splice struct {
	From, To int
	Text     string
}

// Apply returns the changed body.
func (s Splice) Apply(body []byte) []byte {
	out := make([]byte, 0, len(body)-(s.To-s.From)+len(s.Text))
	out = append(append(out, body[:s.From]...), s.Text...)
	return append(out, body[s.To:]...)
}

// Source says where a wait came from.
type Source string

// The sources, in order of precedence.
const (
	SourceRetryAfterMillis  Source = "retry-after-ms"
	SourceRetryAfterSeconds Source = "retry-after-seconds"
	SourceRetryAfterDate    Source = "retry-after-date"
	SourceResetHeader       Source = "reset-header"
	SourceBody              Source = "body"
	SourceNone              Source = "none"
)

// Reading is what a response says about budgets, raw.
type Reading struct {
	// RetryAfter is addressed to this call; valid if Source is not none and not reset-header. 0 is a value.
	RetryAfter time.Duration
	Source     Source
	// Malformed names the header or field that could not be read, for the metric of missing guidance.
	Malformed string
	Budgets   []BudgetReading
	// Reference is the time absolute values were measured against: the response's Date, else its receipt.
	Reference time.Time
	// Inside: the wait came with an error inside a success. It was said after the headers, and outranks their resets.
	Inside bool
	// ShouldRetry is the provider's own x-should-retry: "", "true" or "false".
	ShouldRetry string
}

// BudgetReading is one budget's limit, remaining and reset headers. -1 means "not stated".
type BudgetReading struct {
	// Budget is Requests, Tokens, InputTokens or OutputTokens (internal/plan), or "" for a bucket of the
	// vendor's own that is none of them.
	Budget string
	// Bucket tells apart further buckets of one budget (project, priority, 5h); "" is the account's own.
	Bucket    string
	Limit     float64
	Remaining float64
	// RoundedTo is the step remaining is rounded to, 1 if exact.
	RoundedTo float64
	// Reset is the time from the response's own Date; valid if HasReset.
	Reset    time.Duration
	HasReset bool
	// Window is the limit's window where the dialect knows it, else 0.
	Window time.Duration
}

// Class is what kind of failure a response is.
type Class string

// The classes.
const (
	ClassSuccess   Class = "success"
	ClassThrottle  Class = "throttle"
	ClassOverload  Class = "overload"
	ClassQuota     Class = "quota_exhausted"
	ClassTransient Class = "transient"
	ClassPermanent Class = "permanent"
)

// Failure is what a response that is not a success says.
type Failure struct {
	Class Class
	// Code is the provider's own code, of at most 64 printable characters.
	Code string
	// Message is the provider's words, of at most 256 characters, without anything that looks like a key.
	Message string
	// Budget is the budget it names, or "".
	Budget string
	// RejectsUsage: the request failed because of the injected stream_options.
	RejectsUsage bool
	// Wait is what an error inside a stream asks for itself; valid if Waits. Of a response that failed the Reading
	// has the wait.
	Wait  time.Duration
	Waits bool
}

// Usage is what a response was billed. -1 means "unknown".
type Usage struct {
	Input      int64
	Output     int64
	CachedRead int64
	CacheWrite int64
	Reasoning  int64
	// CacheOutside: the cached tokens are not contained in Input.
	CacheOutside bool
}

// MeterOptions say how to meter.
type MeterOptions struct {
	Stream bool
	// StripUsage removes the usage chunk that InjectUsage asked for.
	StripUsage bool
	// Choices is how many the request asks for; 0 is 1.
	Choices int64
}

// Meter reads a response as it passes. Write returns what to send on: p itself, unless an injected chunk
// is stripped; it never holds back a byte that is not part of a possibly injected event, and never fails.
// Bytes returned are valid until the next call.
type Meter interface {
	Write(p []byte) []byte
	// Close returns what was still held.
	Close() []byte
	// Usage is the last value seen; cumulative values replace.
	Usage() Usage
	// ContentSeen: a content event (or any byte of a plain body) has passed.
	ContentSeen() bool
	// Complete: the response's own end was seen (finish reason, [DONE], message_stop, response.completed,
	// the end of a JSON document).
	Complete() bool
	// StreamFailure is an error event inside a 200 stream, if one passed.
	StreamFailure() (Failure, bool)
	// OutputSoFar estimates the output tokens seen up to now, for a stream that may break.
	OutputSoFar() int64
}

// StreamFailure is what goes into a stream whose status was sent before anything was known to fail.
type StreamFailure struct {
	// Status is the one that the answer would have had.
	Status int
	// Document is its body, without content codings; it goes into the event as it is where it has the format's shape.
	Document []byte
	// Message is what is said where it has not.
	Message string
}

// Refusal is what the gateway says itself.
type Refusal struct {
	// Status is 429 or 503.
	Status int
	// Message begins with "headgate: ".
	Message string
	// Reason is of a closed set: Deadline, QueueFull, TooLarge, …
	Reason string
	// Limit is the limit that refused, PROVIDER/LIMIT, or "".
	Limit string
	// RetryAfter is rounded up to whole seconds, at least 1.
	RetryAfter time.Duration
}
