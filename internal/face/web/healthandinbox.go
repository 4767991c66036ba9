package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// answerRequestBody is the body of POST /api/v1/answer.
type answerRequestBody struct {
	Run    nexus.RunID `json:"run"`
	ID     string      `json:"id"`
	Answer string      `json:"answer"`
}

// parseAnswer decodes an answer, and rejects unknown fields.
func parseAnswer(body io.Reader) (answerRequestBody, error) {
	var a answerRequestBody
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return answerRequestBody{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("there is more than one object")
		}
		return answerRequestBody{}, err
	}
	if a.Run == "" || a.ID == "" || a.Answer == "" {
		return answerRequestBody{}, errors.New("run, id and answer are required")
	}
	return a, nil
}

// serveHealth reports the health of the runs, to monitors without a token.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	told, status := s.Health(r.Context())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(told) // a client that is gone reads nothing
}

// serveMetrics serves the metrics of the runs.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	text, kind, err := s.Metrics(r.Context())
	if err != nil {
		access.RefuseRequest(w, r, http.StatusServiceUnavailable, access.ProblemError{
			Code: "unreadable", Message: "the journal cannot be read now", Hint: "Try again; nexus journal verify says what is wrong.",
		})
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write([]byte(text)) // a client that is gone reads nothing
}

// submitAnswer submits an answer on behalf of the caller. An answer about a parked task retries or
// skips it, which needs the role Steer.
func (s *Server) submitAnswer(r *http.Request, a answerRequestBody) (string, error) {
	by := access.PersonFrom(r.Context())
	if !by.HasRole(access.Steer) {
		item, err := s.inbox.Find(a.Run, a.ID)
		if err != nil {
			return "", err
		}
		if item.WaitingTask() != "" {
			const what = "to retry or skip a task needs the role %s, and %s has the role %s"
			return "", &nexus.Error{
				Code: access.CodeRole, Message: fmt.Sprintf(what, access.Steer, by.Name, by.Role),
				Hint: "Ask the person who runs the server for another token (nexus serve token add).",
			}
		}
	}
	return s.inbox.Answer(r.Context(), a.Run, a.ID, a.Answer, by.Actor())
}

// serveInbox serves the waiting items.
func (s *Server) serveInbox(w http.ResponseWriter, _ *http.Request) {
	items := s.inbox.Items()
	if items == nil {
		items = []humaninput.WaitingItem{}
	}
	access.WriteJSON(w, http.StatusOK, map[string]any{"version": 1, "pending": items})
}

// receiveAnswer receives an answer from a program.
func (s *Server) receiveAnswer(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		access.RefuseRequest(w, r, http.StatusUnsupportedMediaType, access.ProblemError{Code: access.CodeMedia, Message: "the body must be application/json"})
		return
	}
	a, err := parseAnswer(r.Body)
	if err != nil {
		refuseBody(w, r, err)
		return
	}
	said, err := s.submitAnswer(r, a)
	if err != nil {
		access.RefuseError(w, r, err)
		return
	}
	access.WriteJSON(w, http.StatusOK, map[string]any{"version": 1, "result": said})
}
