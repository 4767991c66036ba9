package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ClassifyFailure returns the failure for a provider's status, headers and body. It knows the error
// bodies of Anthropic, OpenAI, Google and the usual compatible servers. A status of 200 or 0 means
// that the body came in the middle of a stream.
func ClassifyFailure(status int, h http.Header, body []byte) *ModelCallError {
	s := parseErrorBody(body)
	if n, err := strconv.Atoi(s.Code); err == nil && n >= 400 && n < 600 && status < 400 {
		status = n
	}
	class, reset, empty := s.failureClass(status), "", false
	if class == Quota {
		reset, empty = exhaustedWindow(ParseLimitWindows(h))
		empty = empty && cmp.Or(retryAfterHeader(h), s.Delay, reset) != "" || s.Used && s.Delay != ""
	}
	return &ModelCallError{
		Class:  class,
		Status: status,
		Code:   cmp.Or(s.Code, s.Kind),
		After:  cmp.Or(retryAfterHeader(h), s.Delay, reset),
		Empty:  empty,
		Cause:  errors.New(cmp.Or(oneLine(s.Text), strings.ToLower(http.StatusText(status)), "no reason given")),
	}
}

// providerErrorBody is the content of an error body in any of its forms.
type providerErrorBody struct {
	Kind, Code, Text, Delay string
	Reason                  string // Google's, more specific than its code
	Used                    bool   // a daily quota is used up
}

// parseErrorBody parses {"error": {...}}, {"error": "..."}, {"detail": "..."}, a bare error
// object, or plain text.
func parseErrorBody(body []byte) providerErrorBody {
	body = []byte(strings.TrimSpace(string(body)))
	if len(body) > 0 && body[0] == '[' { // Google wraps a stream's error in an array
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var o struct {
		Error, Detail json.RawMessage
	}
	if json.Unmarshal(body, &o) != nil {
		if len(body) > 0 && body[0] == '<' { // the page of a proxy
			return providerErrorBody{}
		}
		return providerErrorBody{Text: string(body)}
	}
	inner := body
	if len(o.Error) > 0 && string(o.Error) != "null" {
		inner = o.Error
	} else if len(o.Detail) > 0 {
		inner = o.Detail
	}
	var text string
	if json.Unmarshal(inner, &text) == nil {
		return providerErrorBody{Text: text}
	}
	var e struct {
		Type, Message, Status string
		Code                  any
		Details               []struct {
			RetryDelay, Reason string
			Violations         []struct{ QuotaID string }
		}
	}
	if json.Unmarshal(inner, &e) != nil && e.Message == "" {
		return providerErrorBody{Text: string(inner)}
	}
	s := providerErrorBody{Kind: cmp.Or(e.Type, e.Status), Text: e.Message}
	switch c := e.Code.(type) {
	case string:
		s.Code = c
	case float64:
		s.Code = strconv.Itoa(int(c))
	}
	for _, d := range e.Details {
		s.Delay, s.Reason = cmp.Or(s.Delay, d.RetryDelay), cmp.Or(s.Reason, d.Reason)
		for _, v := range d.Violations {
			s.Used = s.Used || strings.Contains(strings.ToLower(v.QuotaID), "perday")
		}
	}
	return s
}

// failureClass returns the class of the failure. The body counts before the status, which is less
// specific and, in the middle of a stream, missing.
func (s providerErrorBody) failureClass(status int) CallFailureClass {
	code := strings.ToLower(s.Code + " " + s.Kind + " " + s.Reason)
	text := strings.ToLower(s.Text)
	has := func(in string, words ...string) bool {
		for _, w := range words {
			if strings.Contains(in, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusPaymentRequired, has(code, "insufficient_quota", "billing", "insufficient_credits", "payment_required"),
		has(text, "prepayment credits are depleted"),
		has(text, "credit balance is too low", "insufficient credits", "insufficient balance"):
		return Billing
	case status == http.StatusRequestEntityTooLarge, has(code, "context_length", "context_window", "request_too_large", "exceed_context_size"),
		has(text, "prompt is too long", "maximum context length", "exceed context limit", "context window", "exceeds the available context",
			"input is too long", "context length", "input token count"):
		return Context
	case has(code, "content_filter", "content_policy", "safety", "prohibited_content", "invalid_prompt"),
		has(text, "content filtering policy", "usage policy"):
		return Safety
	case status == 529, has(code, "overloaded", "slow_down"), has(code, "unavailable") && status != http.StatusServiceUnavailable,
		has(text, "overloaded", "at capacity"):
		return Overload
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		has(code, "authentication_error", "permission_error", "api_key", "permission_denied", "unauthenticated"):
		return Auth
	case status == http.StatusTooManyRequests, has(code, "rate_limit", "resource_exhausted"):
		return Quota
	}
	return classOfStatus(status, has(code, "invalid_request", "not_found", "invalid_argument"))
}

// statusClientClosed is the status with which a proxy reports that the connection was closed before the
// response, and Google that a call was cancelled.
const statusClientClosed = 499

func classOfStatus(status int, wrong bool) CallFailureClass {
	switch {
	case status == http.StatusServiceUnavailable:
		return Overload
	case status >= 500, status == statusClientClosed, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		return Transient
	case status >= 300, wrong:
		return Invalid
	default: // in the middle of a stream, for an unknown reason
		return Transient
	}
}

// retryAfterHeader returns the wait in the headers, in seconds or as a date. Other values are ignored,
// as the HTTP standard requires. A date is relative to the provider's own clock, if the headers
// have it.
func retryAfterHeader(h http.Header) string {
	if ms, ok := parseSeconds(h.Get("Retry-After-Ms")); ok {
		return strconv.FormatFloat(ms/1000, 'f', -1, 64)
	}
	asked := strings.TrimSpace(h.Get("Retry-After"))
	if _, ok := parseSeconds(asked); ok {
		return asked
	}
	at, err := http.ParseTime(asked)
	if err != nil {
		return ""
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		return strconv.FormatFloat(max(at.Sub(sent).Seconds(), 0), 'f', -1, 64)
	}
	return asked
}

// parseSeconds parses a number in HTTP's form: digits, here also with a fraction, which some providers
// send, but no sign or exponent.
func parseSeconds(text string) (float64, bool) {
	for _, c := range text {
		if c != '.' && (c < '0' || c > '9') {
			return 0, false
		}
	}
	s, err := strconv.ParseFloat(text, 64)
	return min(s, maxWaitSeconds), (err == nil || errors.Is(err, strconv.ErrRange)) && strings.Trim(text, ".") == text
}

// maxWaitSeconds limits a wait, in seconds: longer than anybody waits, and short enough for a Duration.
const maxWaitSeconds = 1e9

// RetryWait returns the wait that e asks for, or false if there is none. It parses seconds, a duration
// such as "34s", and an HTTP date relative to now.
func (e *ModelCallError) RetryWait(now time.Time) (time.Duration, bool) {
	return parseWait(e.After, now)
}

// oneLine makes a provider's message fit for one line of a log.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if r := []rune(s); len(r) > 400 {
		return string(r[:400]) + "..."
	}
	return s
}
