package access

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html"
	"net/http"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ProblemResponse is the body of a refusal.
type ProblemResponse struct {
	Version int          `json:"version"`
	Error   ProblemError `json:"error"`
}

// ProblemError is the reason of a refusal.
type ProblemError struct {
	Code    string `json:"code"`           // the same code for the same cause, such as not_found
	Message string `json:"message"`        // for people
	Hint    string `json:"hint,omitempty"` // next step
}

// The codes of the server's own refusals.
const (
	CodeUnauthorized = "unauthorized" // the token is missing or wrong
	CodeRole         = "role"         // the person's role does not allow it
	CodeOrigin       = "origin"       // another site sent it
	CodeHost         = "host"         // the host name is not the server's
	CodeCSRF         = "csrf"         // the form is not from this server
	CodeRate         = "rate"         // too many calls
	CodeTooLarge     = "too_large"    // the body is too large
	CodeMethod       = "method"       // the address does not support this method
	CodeMedia        = "media_type"   // the body has the wrong type
	CodeTooLate      = "too_late"     // another answer came first
)

// The small page of a refusal. Its reader can load nothing else.
const (
	style = "body{font:1rem/1.5 system-ui,sans-serif;margin:0;padding:1rem;overflow-wrap:anywhere}" +
		"main{max-width:40rem;margin:10vh auto}h1{font-size:1.4rem}input,button{font:inherit;padding:.4rem .6rem}"
	// knock is the help for a person without access. A browser that comes from another site sends
	// no cookie; from this page it does.
	knock = `<p>nexus serve prints an address with the token in it, which ends with /?token=TOKEN. Open that address, or enter the token here.</p>` +
		`<form><label>Token <input name=token type=password required autocomplete=off></label> <button>Enter</button></form>` +
		`<p>If you have no token, ask the person who runs the server for one: nexus serve token add.</p>` +
		`<p>If this browser was let in before, <a href="">open this page again</a>.</p>`
)

// RefuseRequest sends a refusal: to programs in JSON, to browsers as a small page.
func RefuseRequest(w http.ResponseWriter, r *http.Request, status int, t ProblemError) {
	t.Message, t.Hint = view.EscapeLinesForTerminal(t.Message), view.EscapeLinesForTerminal(t.Hint)
	if strings.HasPrefix(r.URL.Path, "/api/") {
		WriteJSON(w, status, ProblemResponse{1, t})
		return
	}
	sum, h := sha256.Sum256([]byte(style)), w.Header()
	allowed := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "style-src 'self'", allowed, 1))
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	again := ""
	if r.Method == http.MethodGet && status == http.StatusUnauthorized {
		again = knock
	}
	const head = "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">" +
		"<meta name=color-scheme content=\"light dark\"><title>"
	text := head + http.StatusText(status) + "</title><style>" + style + "</style><main><h1>" +
		html.EscapeString(t.Message) + "</h1><p>" + html.EscapeString(t.Hint) + "</p>" + again + "</main></html>\n"
	_, _ = w.Write([]byte(text)) // a client that is gone reads nothing
}

// RefuseError sends a refusal with the status that fits an error.
func RefuseError(w http.ResponseWriter, r *http.Request, err error) {
	t := ProblemError{Code: string(nexus.CodeInternal), Message: err.Error()}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		t.Code, t.Hint = string(e.Code), e.Hint
	}
	if humaninput.IsLate(err) {
		t.Code = CodeTooLate
	}
	RefuseRequest(w, r, StatusOf(t.Code), t)
}

// StatusOf returns the status of a code.
func StatusOf(code string) int {
	switch nexus.ErrorCode(code) {
	case nexus.CodeNotFound:
		return http.StatusNotFound
	case CodeTooLate, CodeConfirm, nexus.CodeRunHeld,
		nexus.CodeTransition, nexus.CodeTargetMoved, nexus.CodeNeedsPerson, nexus.CodeNotReady:
		return http.StatusConflict
	case nexus.CodeInvalidInput, nexus.CodeInvalidPlan, nexus.CodeCycle, nexus.CodeOversize,
		nexus.CodeForbidden, nexus.CodeLimit, nexus.CodeBudget:
		return http.StatusUnprocessableEntity
	case nexus.CodeJournalNewer, nexus.CodeDiskFull, nexus.CodeReadOnly, nexus.CodeStorage, nexus.CodeHalted:
		return http.StatusServiceUnavailable
	case CodeRole, CodeOrigin, CodeCSRF:
		return http.StatusForbidden
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeMedia:
		return http.StatusUnsupportedMediaType
	default:
		return http.StatusInternalServerError
	}
}

// WriteJSON sends a JSON response.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	data, err := EncodeSafeJSON(v)
	if err != nil {
		http.Error(w, "the answer cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // a client that is gone reads nothing
}
