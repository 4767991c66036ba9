// Package api serves programs: the content of the pages as JSON, with the names of the
// projection, and a stream of events.
//
// An endpoint names the Go type of its answer, and the OpenAPI description is generated from
// these types, so that the two cannot differ.
package api

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/gatererun"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// API serves programs. The zero Beat and Patience mean the defaults.
type API struct {
	access.WebBackend

	Feed     *EventFeed
	Gates    *gatererun.GateReruns
	Beat     time.Duration // interval of the heartbeat to a client without events
	Patience time.Duration // how long a client may accept no data before it is dropped
}

func (a *API) heartbeatInterval() time.Duration { return cmp.Or(a.Beat, heartbeat) }

// queryParameter is a query parameter.
type queryParameter struct{ name, about string }

// apiEndpoint is an address of the API.
type apiEndpoint struct {
	method, path, about string
	role                access.Role
	query               []queryParameter
	body, answer        reflect.Type // nil: none, or a stream of events
	limit               int64        // of the body; 0: the default
	serve               func(a *API, w http.ResponseWriter, r *http.Request)
}

// apiCall is a request to an endpoint.
type apiCall struct {
	*http.Request

	now time.Time
}

func (c apiCall) runID() nexus.RunID         { return nexus.RunID(c.PathValue("run")) }
func (c apiCall) queryValue(n string) string { return c.URL.Query().Get(n) }
func (c apiCall) caller() access.TokenOwner  { return access.PersonFrom(c.Context()) }

// getEndpoint returns an endpoint that only reads.
func getEndpoint[T any](path, about string, query []queryParameter, f func(*API, apiCall) (T, error)) apiEndpoint {
	e := apiEndpoint{method: http.MethodGet, path: path, about: about, role: access.Read, query: query, answer: reflect.TypeFor[T]()}
	e.serve = func(a *API, w http.ResponseWriter, r *http.Request) {
		if err := checkParameters(r, query); err != nil {
			access.RefuseError(w, r, err)
			return
		}
		v, err := f(a, apiCall{r, a.Now()})
		if err != nil {
			access.RefuseError(w, r, err)
			return
		}
		writeJSON(w, r, v)
	}
	return e
}

// postEndpoint returns an endpoint that changes something, on behalf of the caller.
func postEndpoint[B, T any](path, about string, role access.Role, f func(*API, apiCall, B) (T, int, error)) apiEndpoint {
	e := apiEndpoint{method: http.MethodPost, path: path, about: about, role: role, body: reflect.TypeFor[B](), answer: reflect.TypeFor[T]()}
	e.serve = func(a *API, w http.ResponseWriter, r *http.Request) {
		var body B
		if !decodeBody(w, r, &body) {
			return
		}
		v, status, err := f(a, apiCall{r, a.Now()}, body)
		if err != nil {
			access.RefuseError(w, r, err)
			return
		}
		access.WriteJSON(w, status, v)
	}
	return e
}

// decodeBody decodes the body of a call, or refuses an invalid one.
func decodeBody(w http.ResponseWriter, r *http.Request, body any) bool {
	if err := checkParameters(r, nil); err != nil {
		access.RefuseError(w, r, err)
		return false
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		access.RefuseRequest(w, r, http.StatusUnsupportedMediaType, access.ProblemError{
			Code: access.CodeMedia, Message: "the body must be application/json", Hint: "Send Content-Type: application/json.",
		})
		return false
	}
	if err := decodeStrictly(r.Body, body); err != nil {
		status, code := http.StatusBadRequest, string(nexus.CodeInvalidInput)
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			status, code = http.StatusRequestEntityTooLarge, access.CodeTooLarge
		}
		access.RefuseRequest(w, r, status, access.ProblemError{
			Code: code, Message: "the body cannot be read: " + err.Error(), Hint: "See /api/v1/openapi.json.",
		})
		return false
	}
	return true
}

// decodeStrictly decodes exactly one object strictly: no unknown or duplicate keys, and no text after it.
func decodeStrictly(body io.Reader, into any) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if err := checkUniqueKeys(data); err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the object")
	}
	return nil
}

// checkUniqueKeys refuses an object with a key that occurs twice or in another case: decoders do not agree
// which one counts.
func checkUniqueKeys(data []byte) error {
	d := json.NewDecoder(strings.NewReader(string(data)))
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return errors.New("it is not an object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		switch {
		case key != strings.ToLower(key):
			return errors.New("unknown key " + view.QuoteForTerminal(key))
		case seen[key]:
			return errors.New("a key occurs twice: " + view.QuoteForTerminal(key))
		}
		seen[key] = true
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return err
		}
	}
	return nil
}

// checkParameters refuses unknown parameters.
func checkParameters(r *http.Request, query []queryParameter) error {
	for name := range r.URL.Query() {
		if !slices.ContainsFunc(query, func(p queryParameter) bool { return p.name == name }) {
			return invalidInput("unknown parameter "+view.QuoteForTerminal(name), "See /api/v1/openapi.json.")
		}
	}
	return nil
}

// writeJSON sends a JSON response, or reports that the client's version is current.
func writeJSON(w http.ResponseWriter, r *http.Request, v any) {
	data, err := access.EncodeSafeJSON(v)
	if err != nil {
		access.RefuseError(w, r, err)
		return
	}
	sum := sha256.Sum256(data)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	w.Header().Set("Etag", tag)
	if slices.Contains(strings.Split(strings.ReplaceAll(r.Header.Get("If-None-Match"), " ", ""), ","), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(data, '\n')) // a client that is gone reads nothing
}

// ListPage is a part of a list.
type ListPage[T any] struct {
	Version int    `json:"version"`
	Total   int    `json:"total"`
	Items   []T    `json:"items"`
	Next    string `json:"next,omitempty"` // cursor of the next part; absent: this is the last
}

const (
	usualPage = 100
	mostPage  = 1000
)

// paging are the parameters of every list.
var paging = []queryParameter{ //nolint:gochecknoglobals // never written
	{"limit", "most items, 1 to 1000; 100 if not given"},
	{"cursor", "where to continue: next of the answer before"},
}

// pageOfList returns the requested part of a list.
func pageOfList[T any](c apiCall, all []T) (ListPage[T], error) {
	limit, err := parseIntInRange(c.queryValue("limit"), usualPage, 1, mostPage, "limit")
	if err != nil {
		return ListPage[T]{}, err
	}
	from, err := parseIntInRange(c.queryValue("cursor"), 0, 0, 1<<31, "cursor")
	if err != nil {
		return ListPage[T]{}, err
	}
	p := ListPage[T]{Version: 1, Total: len(all), Items: []T{}}
	if from < len(all) {
		p.Items = append(p.Items, all[from:min(from+limit, len(all))]...)
	}
	if from+limit < len(all) {
		p.Next = strconv.Itoa(from + limit)
	}
	return p, nil
}

func parseIntInRange(text string, usual, least, most int, name string) (int, error) {
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, invalidInput(name+" is a number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most), "See /api/v1/openapi.json.")
	}
	return n, nil
}

// Routes returns the API as routes of the server.
func (a *API) Routes() []access.ServerRoute {
	routes := []access.ServerRoute{
		{Method: http.MethodGet, Pattern: "/api/v1/openapi.json", Role: access.Read, Handler: http.HandlerFunc(a.serveOpenAPI)},
		{Method: http.MethodGet, Pattern: access.Events, Role: access.Read, Stream: true, Handler: http.HandlerFunc(a.streamEvents)},
	}
	for _, e := range readEndpoints() {
		routes = append(routes, access.ServerRoute{
			Method: e.method, Pattern: e.path, Role: e.role, Changes: e.method != http.MethodGet, Body: e.limit,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.serve(a, w, r) }),
		})
	}
	return routes
}

func (a *API) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	doc, err := OpenAPI()
	if err != nil {
		access.RefuseError(w, r, err)
		return
	}
	writeJSON(w, r, json.RawMessage(doc))
}
