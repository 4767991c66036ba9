package dialect

import (
	"cmp"
	"net/http"
)

// Trouble is an error with the names of each API.
type Trouble struct {
	Status    int    // HTTP status
	Anthropic string // error.type
	Kind      string // OpenAI's error.type
	Code      string // OpenAI's error.code
	Google    string // error.status; empty: derived from Status
	Reason    string // of Google's ErrorInfo
	Text      string
	Delay     string // Google's RetryInfo, as "7s"
}

// Failure returns the body of an error.
func Failure(w Wire, t Trouble) any {
	switch w {
	case Anthropic:
		return object{"type": "error", "request_id": "req_scripted", "error": object{"type": t.Anthropic, "message": t.Text}}
	case Gemini:
		e := object{"code": t.Status, "message": t.Text, "status": cmp.Or(t.Google, google(t.Status))}
		var details []object
		if t.Reason != "" {
			details = append(details, object{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": t.Reason, "domain": "googleapis.com"})
		}
		if t.Delay != "" {
			details = append(details, object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": t.Delay})
		}
		if details != nil {
			e["details"] = details
		}
		return object{"error": e}
	default:
		return object{"error": object{"type": t.Kind, "message": t.Text, "code": t.Code}}
	}
}

// FailureEvent returns the event that ends a stream with an error.
func FailureEvent(w Wire, t Trouble) []byte {
	if w == Responses {
		return Event(w, "error", object{"type": "error", "sequence_number": 9, "code": t.Code, "message": t.Text, "param": nil})
	}
	return Event(w, "error", Failure(w, t))
}

func google(status int) string {
	return map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
		http.StatusNotFound: "NOT_FOUND", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL",
		http.StatusServiceUnavailable: "UNAVAILABLE", 529: "UNAVAILABLE",
	}[status]
}
