package web

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/people"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// answer is the body of POST /api/v1/answer.
type answer struct {
	Run    nexus.RunID `json:"run"`
	ID     string      `json:"id"`
	Answer string      `json:"answer"`
}

// parse reads an answer strictly.
func parse(body io.Reader) (answer, error) {
	var a answer
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return answer{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("there is more than one object")
		}
		return answer{}, err
	}
	if a.Run == "" || a.ID == "" || a.Answer == "" {
		return answer{}, errors.New("run, id and answer are required")
	}
	return a, nil
}

// bearer reports whether a program may call, and says no if not. A cookie
// does not count: browsers send those by themselves.
func (s *Server) bearer(w http.ResponseWriter, r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if ok && equal(token, s.Token) {
		return true
	}
	s.stranger(w, r)
	return false
}

// health tells whether all is well, to monitors that hold no token.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	told, status := s.Health(r.Context())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(told) // who is gone reads nothing
}

// list tells what waits.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if !s.bearer(w, r) {
		return
	}
	items := s.inbox.Items()
	if items == nil {
		items = []people.Item{}
	}
	reply(w, http.StatusOK, map[string]any{"version": 1, "pending": items})
}

// take takes an answer of a program.
func (s *Server) take(w http.ResponseWriter, r *http.Request) {
	if !s.bearer(w, r) {
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		fail(w, r, http.StatusUnsupportedMediaType, "the body must be application/json")
		return
	}
	a, err := parse(r.Body)
	if err != nil {
		fail(w, r, tooLarge(err), "the body cannot be read: "+err.Error())
		return
	}
	said, err := s.inbox.Answer(r.Context(), a.Run, a.ID, a.Answer, "web")
	if err != nil {
		fail(w, r, statusOf(err), err.Error())
		return
	}
	reply(w, http.StatusOK, map[string]any{"version": 1, "result": said})
}

// tooLarge returns the status of a body that cannot be read.
func tooLarge(err error) int {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// statusOf returns the status of an answer that does not count.
func statusOf(err error) int {
	switch {
	case errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}):
		return http.StatusNotFound
	case people.IsLate(err):
		return http.StatusConflict
	case errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}):
		return http.StatusUnprocessableEntity
	default:
		return http.StatusInternalServerError
	}
}

// fail says no, to programs in JSON.
func fail(w http.ResponseWriter, r *http.Request, code int, why string) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		reply(w, code, map[string]any{"version": 1, "error": why})
		return
	}
	http.Error(w, why, code)
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // who is gone reads nothing
}
