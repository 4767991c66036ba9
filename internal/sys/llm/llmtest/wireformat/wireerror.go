package wireformat

import (
	"cmp"
	"net/http"
)

// WireError is an error with the names of each API.
type WireError struct {
	Status    int    // HTTP status
	Anthropic string // error.type
	Kind      string // OpenAI's error.type
	Code      string // OpenAI's error.code
	Google    string // error.status; empty: derived from Status
	Reason    string // of Google's ErrorInfo
	Text      string
	Delay     string // Google's RetryInfo, as "7s"
}

// ErrorBody returns the body of an error.
func ErrorBody(w WireFormat, t WireError) any {
	switch w {
	case Anthropic:
		return jsonObject{"type": "error", "request_id": "req_scripted", "error": jsonObject{"type": t.Anthropic, "message": t.Text}}
	case Gemini:
		e := jsonObject{"code": t.Status, "message": t.Text, "status": cmp.Or(t.Google, googleStatus(t.Status))}
		var details []jsonObject
		if t.Reason != "" {
			details = append(details, jsonObject{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": t.Reason, "domain": "googleapis.com"})
		}
		if t.Delay != "" {
			details = append(details, jsonObject{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": t.Delay})
		}
		if details != nil {
			e["details"] = details
		}
		return jsonObject{"error": e}
	default:
		return jsonObject{"error": jsonObject{"type": t.Kind, "message": t.Text, "code": t.Code}}
	}
}

// FailureEvent returns the event that ends a stream with an error.
func FailureEvent(w WireFormat, t WireError) []byte {
	if w == Responses {
		return EncodeEvent(w, "error", jsonObject{"type": "error", "sequence_number": 9, "code": t.Code, "message": t.Text, "param": nil})
	}
	return EncodeEvent(w, "error", ErrorBody(w, t))
}

func googleStatus(status int) string {
	return map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
		http.StatusNotFound: "NOT_FOUND", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL",
		http.StatusServiceUnavailable: "UNAVAILABLE", 529: "UNAVAILABLE",
	}[status]
}
