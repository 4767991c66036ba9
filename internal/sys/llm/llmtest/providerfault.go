package llmtest

import (
	"fmt"
	"net/http"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// ProviderFault is a kind of failure of a turn.
type ProviderFault string

// The faults, which [ProviderFault.Description] describes. With those from Split on, the answer remains
// complete.
const (
	RateLimit   ProviderFault = "rate-limit"
	Throttled   ProviderFault = "rate-limit-bare"
	NoQuota     ProviderFault = "no-quota"
	Broken      ProviderFault = "broken"
	Gateway     ProviderFault = "gateway"
	Unavailable ProviderFault = "unavailable"
	Overloaded  ProviderFault = "overloaded"
	BadKey      ProviderFault = "bad-key"
	Expired     ProviderFault = "expired-key"
	Forbidden   ProviderFault = "forbidden"
	TooLong     ProviderFault = "too-long"
	Wrong       ProviderFault = "invalid"
	Policy      ProviderFault = "policy"
	NoModel     ProviderFault = "no-model"
	WrongPath   ProviderFault = "wrong-path"
	Page        ProviderFault = "page"
	Silent      ProviderFault = "silent"
	Hangup      ProviderFault = "hangup"
	Cut         ProviderFault = "cut"
	Short       ProviderFault = "short"
	ErrorEvent  ProviderFault = "error-event"
	Stall       ProviderFault = "stall"
	Pings       ProviderFault = "pings"
	Comments    ProviderFault = "comments"
	Hollow      ProviderFault = "hollow"
	Endless     ProviderFault = "endless"

	BadJSON  ProviderFault = "bad-json"
	HalfJSON ProviderFault = "half-json"
	NoObject ProviderFault = "no-object"
	NoID     ProviderFault = "no-id"
	SameID   ProviderFault = "same-id"
	NoName   ProviderFault = "no-name"
	OddName  ProviderFault = "odd-name"
	Length   ProviderFault = "length"
	Empty    ProviderFault = "empty"
	Refuse   ProviderFault = "refuse"

	Split ProviderFault = "split"
	CRLF  ProviderFault = "crlf"
	Noise ProviderFault = "noise"
	Slow  ProviderFault = "slow"
	Huge  ProviderFault = "huge"
	Stays ProviderFault = "stays"

	Floats ProviderFault = "float-counts"
)

// AllFaults returns all faults.
func AllFaults() []ProviderFault {
	return []ProviderFault{
		RateLimit, Throttled, NoQuota, Broken, Gateway, Unavailable, Overloaded, BadKey, Expired, Forbidden, TooLong, Wrong, Policy,
		NoModel, WrongPath, Page, Silent, Hangup, Cut, Short, ErrorEvent, Stall, Pings, Comments, Hollow, Endless,
		BadJSON, HalfJSON, NoObject, NoID, SameID, NoName, OddName, Length, Empty, Refuse, Split, CRLF, Noise, Slow, Huge, Stays, Floats,
	}
}

// Description describes the fault.
func (f ProviderFault) Description() string {
	return map[ProviderFault]string{
		RateLimit:   "429 that says when to try again",
		Throttled:   "429 without a time",
		NoQuota:     "429 or 403 until the account is paid",
		Broken:      "500",
		Gateway:     "502 with a page of a proxy",
		Unavailable: "503",
		Overloaded:  "529",
		BadKey:      "401 or 400, with the key in the text",
		Expired:     "401 or 400 for an expired key",
		Forbidden:   "403",
		TooLong:     "400: the context is full",
		Wrong:       "400: the request is wrong",
		Policy:      "400: the request breaks the provider's rules",
		NoModel:     "404: there is no such model",
		WrongPath:   "404 with a page: nothing at this address",
		Page:        "200 with a page: another site at this address",
		Silent:      "no response until the client leaves",
		Hangup:      "the connection ends before the response",
		Cut:         "the connection ends in the middle of the stream",
		Short:       "the stream ends in the middle without an error",
		ErrorEvent:  "an error in the middle of the stream",
		Stall:       "silence in the middle of the stream until the client leaves",
		Pings:       "only pings after the middle of the stream",
		Comments:    "only comments after the middle of the stream",
		Hollow:      "only empty pieces after the middle of the stream",
		Endless:     "the answer never ends",
		BadJSON:     "text follows the input of the last call",
		HalfJSON:    "the input of the last call ends in the middle, and nothing says so",
		NoObject:    "the input of the last call is a list",
		NoID:        "the last call has no id",
		SameID:      "all calls have the same id",
		NoName:      "the last call names no tool",
		OddName:     "the last call names a tool that cannot be sent back",
		Length:      "the answer is cut at its limit, within the last call",
		Empty:       "an answer without content",
		Refuse:      "the model refuses to answer",
		Split:       "pieces of three bytes, which split characters and lines",
		CRLF:        "lines end as in HTTP",
		Noise:       "pings, comments and unknown events in between",
		Slow:        "a pause before each event",
		Huge:        "the input of the last call has five megabytes more",
		Floats:      "token counts are written as 7.0",
		Stays:       "the answer is complete, but the connection stays open until the client leaves",
	}[f]
}

// callsNeeded returns the number of calls that a turn needs for the fault.
func (f ProviderFault) callsNeeded() int {
	switch f {
	case BadJSON, HalfJSON, NoObject, NoID, NoName, OddName, Length, Huge:
		return 1
	case SameID:
		return 2
	default:
		return 0
	}
}

// isWholeAnswer reports whether a turn with the fault still has a complete answer, which the provider
// would charge for.
func (f ProviderFault) isWholeAnswer() bool {
	switch f {
	case "", BadJSON, HalfJSON, NoObject, NoID, SameID, NoName, OddName, Length, Empty, Refuse, Split, CRLF, Noise, Slow, Huge, Stays, Floats:
		return true
	default:
		return false
	}
}

// httpStatus returns the HTTP status of the response to a, 0 for no response. Without a stream, faults
// in the middle of a stream change the status.
func (f ProviderFault) httpStatus(a wireformat.ReceivedModelRequest) int {
	if _, ok := f.htmlPage(); ok {
		return map[ProviderFault]int{Gateway: http.StatusBadGateway, WrongPath: http.StatusNotFound, Page: http.StatusOK}[f]
	}
	t, ok := f.errorReply(a.Wire, "")
	switch {
	case ok && f != ErrorEvent:
		return t.Status
	case f == Hangup, f == Silent, !a.Stream && !f.isWholeAnswer():
		return 0
	default:
		return http.StatusOK
	}
}

// htmlPage returns the HTML page that replaces the answer.
func (f ProviderFault) htmlPage() (string, bool) {
	switch f {
	case Gateway, WrongPath, Page:
		return fmt.Sprintf("<!doctype html>\n<html><body><h1>%s</h1></body></html>\n", f), true
	default:
		return "", false
	}
}

// errorReply returns the error that replaces the answer or interrupts it, and false if there is none.
func (f ProviderFault) errorReply(w wireformat.WireFormat, key string) (wireformat.WireError, bool) {
	const openai, google = "invalid_request_error", "INVALID_ARGUMENT"
	const bad = http.StatusBadRequest
	type row struct {
		status                                             int
		anthropic, kind, code, google, reason, text, delay string
	}
	k, ok := map[ProviderFault]row{
		RateLimit:   {http.StatusTooManyRequests, "rate_limit_error", "requests", "rate_limit_exceeded", "", "", "too many requests", "1s"},
		Throttled:   {http.StatusTooManyRequests, "rate_limit_error", "tokens", "rate_limit_exceeded", "", "", "too many tokens", ""},
		NoQuota:     {http.StatusTooManyRequests, "billing_error", "insufficient_quota", "insufficient_quota", "PERMISSION_DENIED", "BILLING_DISABLED", "you exceeded your current quota", ""},
		Broken:      {http.StatusInternalServerError, "api_error", "server_error", "", "", "", "something broke", ""},
		Unavailable: {http.StatusServiceUnavailable, "api_error", "server_error", "", "", "", "try again", ""},
		Overloaded:  {529, "overloaded_error", "server_error", "overloaded", "", "", "overloaded", ""},
		BadKey:      {http.StatusUnauthorized, "authentication_error", openai, "invalid_api_key", google, "API_KEY_INVALID", "incorrect key provided: " + key, ""},
		Expired:     {http.StatusUnauthorized, "authentication_error", openai, "expired_api_key", google, "API_KEY_INVALID", "key expired, please renew it", ""},
		Forbidden:   {http.StatusForbidden, "permission_error", openai, "permission_denied", "", "", "this key may not use the model", ""},
		TooLong:     {bad, openai, openai, "context_length_exceeded", "", "", "prompt is too long: 1200000 tokens > 1000000 maximum", ""},
		Wrong:       {bad, openai, openai, "unknown_parameter", "", "", "there is no such parameter", ""},
		Policy:      {bad, openai, openai, "content_policy_violation", "", "", "output blocked by content filtering policy", ""},
		NoModel:     {http.StatusNotFound, "not_found_error", openai, "model_not_found", "", "", "there is no such model", ""},
		ErrorEvent:  {http.StatusServiceUnavailable, "overloaded_error", "server_error", "overloaded", "", "", "overloaded in the middle", ""},
	}[f]
	t := wireformat.WireError{
		Status: k.status, Anthropic: k.anthropic, Kind: k.kind, Code: k.code, Google: k.google, Reason: k.reason, Text: k.text, Delay: k.delay,
	}
	if w == wireformat.Gemini {
		if f == BadKey || f == Expired {
			t.Status = bad
		}
		if f == NoQuota {
			t.Status = http.StatusForbidden
		}
	}
	return t, ok
}
