package llmtest

import (
	"net/http"
)

// Fault is a way in which a turn goes wrong.
type Fault string

// The faults. Those from Split to Slow leave the answer whole.
const (
	RateLimit   Fault = "rate-limit"  // 429 with Retry-After
	NoQuota     Fault = "no-quota"    // 429 that only a payment ends
	Broken      Fault = "broken"      // 500
	Unavailable Fault = "unavailable" // 503
	Overloaded  Fault = "overloaded"  // 529
	BadKey      Fault = "bad-key"     // 401, and the key in the text
	TooLong     Fault = "too-long"    // 400: the context is full
	Hangup      Fault = "hangup"      // the connection ends before the response
	Cut         Fault = "cut"         // the connection ends in the middle of the stream
	Short       Fault = "short"       // the stream ends in the middle as if it were whole
	ErrorEvent  Fault = "error-event" // an error in the middle of the stream
	Stall       Fault = "stall"       // silence in the middle of the stream until the client goes away

	BadJSON Fault = "bad-json" // the input of the last call is not JSON
	NoID    Fault = "no-id"    // the last call has no id
	SameID  Fault = "same-id"  // all calls have the same id
	Length  Fault = "length"   // the answer is cut at its limit, within the last call
	Empty   Fault = "empty"    // an answer without content
	Refuse  Fault = "refuse"   // the model will not answer

	Split Fault = "split" // pieces of three bytes, so that runes and lines are torn
	CRLF  Fault = "crlf"  // lines end as in HTTP
	Noise Fault = "noise" // pings, comments and unknown events in between
	Slow  Fault = "slow"  // a pause before each event
)

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{
		RateLimit, NoQuota, Broken, Unavailable, Overloaded, BadKey, TooLong, Hangup, Cut, Short, ErrorEvent, Stall,
		BadJSON, NoID, SameID, Length, Empty, Refuse, Split, CRLF, Noise, Slow,
	}
}

// calls returns how many calls a turn needs for the fault to make sense.
func (f Fault) calls() int {
	switch f {
	case BadJSON, NoID, Length:
		return 1
	case SameID:
		return 2
	default:
		return 0
	}
}

// whole reports whether a turn with the fault still is a whole answer that
// the provider would charge for.
func (f Fault) whole() bool {
	switch f {
	case "", BadJSON, NoID, SameID, Length, Empty, Refuse, Split, CRLF, Noise, Slow:
		return true
	default:
		return false
	}
}

// status returns the status of the response to a, 0 for none at all. Without
// a stream there is no middle in which to fail.
func (f Fault) status(a asked) int {
	if f == Hangup || !a.stream && !f.whole() && !f.refuses() {
		return 0
	}
	if status, _, ok := f.refusal(a.wire, ""); ok {
		return status
	}
	return http.StatusOK
}

// refuses reports whether the fault is a response instead of an answer.
func (f Fault) refuses() bool {
	status, _, ok := f.refusal("", "")
	return ok && status != http.StatusOK
}

// refusal returns the response that the fault gives instead of an answer, and
// false if it gives none.
func (f Fault) refusal(wire wire, key string) (status int, body any, ok bool) {
	kinds := map[Fault]struct {
		status              int
		anthropic, kind, id string
		text                string
	}{
		RateLimit:   {http.StatusTooManyRequests, "rate_limit_error", "requests", "rate_limit_exceeded", "too many requests"},
		NoQuota:     {http.StatusTooManyRequests, "billing_error", "insufficient_quota", "insufficient_quota", "you exceeded your current quota"},
		Broken:      {http.StatusInternalServerError, "api_error", "server_error", "", "something broke"},
		Unavailable: {http.StatusServiceUnavailable, "api_error", "server_error", "", "try again"},
		Overloaded:  {529, "overloaded_error", "server_error", "overloaded", "overloaded"},
		BadKey: {
			http.StatusUnauthorized, "authentication_error", "invalid_request_error", "invalid_api_key",
			"incorrect key provided: " + key,
		},
		TooLong: {
			http.StatusBadRequest, "invalid_request_error", "invalid_request_error", "context_length_exceeded",
			"prompt is too long: 1200000 tokens > 1000000 maximum",
		},
		ErrorEvent: {http.StatusOK, "overloaded_error", "server_error", "overloaded", "overloaded in the middle"},
	}
	k, ok := kinds[f]
	if wire == anthropicWire {
		return k.status, failure(wire, k.anthropic, "", k.text), ok
	}
	return k.status, failure(wire, k.kind, k.id, k.text), ok
}

// failure returns the body of an error.
func failure(wire wire, kind, code, text string) any {
	type said struct {
		Type    string  `json:"type"`
		Message string  `json:"message"`
		Code    *string `json:"code,omitempty"`
	}
	if wire == anthropicWire {
		return struct {
			Type  string `json:"type"`
			Error said   `json:"error"`
			ID    string `json:"request_id"`
		}{"error", said{Type: kind, Message: text}, "req_scripted"}
	}
	return struct {
		Error said `json:"error"`
	}{said{Type: kind, Message: text, Code: &code}}
}
