package webhook

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// callbackRefusalError is the reason why a call is refused, with its HTTP status.
type callbackRefusalError struct {
	status int
	why    string
}

// Error returns the reason.
func (r *callbackRefusalError) Error() string { return r.why }

// newHandler returns the HTTP handler that receives answers.
func (h *webhookChannel) newHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /answer", func(w http.ResponseWriter, r *http.Request) {
		said, err := h.receiveAnswer(w, r)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		v := map[string]any{"version": 1, "result": said}
		if err != nil {
			v = map[string]any{"version": 1, "error": err.Error()}
			w.WriteHeader(statusOf(err))
		}
		_ = json.NewEncoder(w).Encode(v) // a client that is gone reads nothing
	})
	return mux
}

// receiveAnswer handles one call. Its cost is limited until the sender has proved that it has the
// secret.
func (h *webhookChannel) receiveAnswer(w http.ResponseWriter, r *http.Request) (string, error) {
	now := h.Now()
	if !h.calls.AllowN(now, 1) {
		w.Header().Set("Retry-After", "1")
		return "", &callbackRefusalError{http.StatusTooManyRequests, "too many calls"}
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return "", &callbackRefusalError{http.StatusUnsupportedMediaType, "the body must be application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return "", &callbackRefusalError{http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB"}
	}
	if err != nil {
		return "", &callbackRefusalError{http.StatusBadRequest, "the body cannot be read"}
	}
	if err := webhookpost.VerifySignature(h.Secret, webhookpost.DirectionAnswer, r.Header, body, now); err != nil {
		if !h.wrong.AllowN(now, 1) {
			w.Header().Set("Retry-After", "1")
			return "", &callbackRefusalError{http.StatusTooManyRequests, "too many calls with a wrong signature"}
		}
		return "", &callbackRefusalError{http.StatusUnauthorized, err.Error()}
	}
	if !h.isNewSignature(strings.ToLower(r.Header.Get(webhookpost.SignatureHeader))) {
		return "", &callbackRefusalError{http.StatusConflict, "this call was made before"}
	}
	a, err := parseAnswer(body)
	if err != nil {
		return "", &callbackRefusalError{http.StatusBadRequest, "the body cannot be read: " + err.Error()}
	}
	return h.submitAnswer(r, a)
}

// isNewSignature remembers a signature, and reports whether it is new.
func (h *webhookChannel) isNewSignature(signature string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now()
	for s, at := range h.seen {
		if now.Sub(at) > 2*webhookpost.SignatureWindow {
			delete(h.seen, s)
		}
	}
	if _, again := h.seen[signature]; again {
		return false
	}
	h.seen[signature] = now
	return true
}

// submitAnswer submits an answer for the item that was asked under its token.
func (h *webhookChannel) submitAnswer(r *http.Request, a callbackAnswer) (string, error) {
	item, err := h.inbox.Find(a.Run, a.ID)
	if err != nil {
		return "", err
	}
	h.mu.Lock()
	was, _ := h.book.Lookup(item.UniqueKey())
	h.mu.Unlock()
	token := strings.TrimSuffix(was, sentSuffix)
	if token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(a.Token)) != 1 {
		return "", &callbackRefusalError{http.StatusForbidden, "the token is not the one that came with the question"}
	}
	by := "webhook"
	if a.By != "" {
		by += ":" + a.By
	}
	return h.inbox.Answer(r.Context(), a.Run, a.ID, a.Answer, by)
}

func statusOf(err error) int {
	refused, ours := errors.AsType[*callbackRefusalError](err)
	switch {
	case ours:
		return refused.status
	case humaninput.IsLate(err):
		return http.StatusConflict
	case errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}):
		return http.StatusNotFound
	case errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}):
		return http.StatusUnprocessableEntity
	default:
		return http.StatusInternalServerError
	}
}
