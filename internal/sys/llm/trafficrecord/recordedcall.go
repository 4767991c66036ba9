package trafficrecord

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// version is the version of the file format.
const version = 1

// recordedProviderCall is one call of a provider. Its JSON is a file of the recording.
type recordedProviderCall struct {
	Version      int              `json:"version"`
	Provider     string           `json:"provider"`
	Conversation string           `json:"conversation,omitzero"` // for people
	Step         int              `json:"step"`                  // number of the model's answers in the request; for people
	Try          int              `json:"try"`                   // attempt of the same request, from 1
	Request      recordedRequest  `json:"request"`
	Response     recordedResponse `json:"response"`
}

// recordedRequest is the sent request without its headers, which contain keys, and without the URL of the
// server.
type recordedRequest struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`           // only its last part
	Body   json.RawMessage `json:"body,omitempty"` // if it is JSON
	Text   string          `json:"text,omitzero"`  // if it is not JSON
}

// recordedResponse is the received response.
type recordedResponse struct {
	Status int               `json:"status"` // 0 if there was none
	Header map[string]string `json:"header,omitempty"`
	Body   []string          `json:"body,omitempty"`  // its lines
	Bytes  []byte            `json:"bytes,omitempty"` // if it is not UTF-8
	Failed string            `json:"failed,omitzero"` // error of the connection after the bytes in Body
}

// newRecordedCall returns a call without an answer.
func newRecordedCall(provider string, q *http.Request, body []byte) recordedProviderCall {
	c := recordedProviderCall{Version: version, Provider: provider, Request: recordedRequest{Method: q.Method, Path: path.Base(q.URL.Path)}}
	switch {
	case len(body) == 0:
	case json.Valid(body):
		c.Request.Body = body
	default:
		c.Request.Text = string(body)
	}
	c.Conversation, c.Step = conversationAndStep(body)
	return c
}

// conversationAndStep returns the conversation of a request and the number of the model's answers in
// it.
func conversationAndStep(body []byte) (conversation string, step int) {
	if m := regexp.MustCompile(`Conversation: ([^\\"\n]{1,120})`).FindSubmatch(body); m != nil {
		conversation = strings.TrimSpace(string(m[1]))
	}
	return conversation, len(regexp.MustCompile(`"role":\s*"(?:assistant|model)"`).FindAll(body, -1))
}

// setBody stores a body.
func (r *recordedResponse) setBody(body []byte) {
	switch {
	case len(body) == 0:
	case utf8.Valid(body):
		r.Body = strings.Split(string(body), "\n")
	default:
		r.Bytes = body
	}
}

// bodyBytes returns the body.
func (r recordedResponse) bodyBytes() []byte {
	if r.Bytes != nil {
		return r.Bytes
	}
	return []byte(strings.Join(r.Body, "\n"))
}

// callKey identifies the request: equal keys get the same answer.
func (c recordedProviderCall) callKey() string {
	h := sha256.New()
	for _, s := range []string{c.Provider, c.Request.Method, c.Request.Path, normalizeText(c.Request.Text)} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(s), s) // never fails
	}
	_, _ = h.Write(canonicalJSON(c.Request.Body))
	return hex.EncodeToString(h.Sum(nil))
}

// fileName returns the name of the call's file.
func (c recordedProviderCall) fileName() string {
	plain := func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}
	slug := strings.TrimLeft(strings.Map(plain, c.Conversation), ".-_")
	if slug == "" {
		slug = "call"
	}
	return fmt.Sprintf("%s-%02d-%s-%d.json", slug[:min(len(slug), 60)], c.Step, c.callKey()[:12], c.Try)
}

func (c recordedProviderCall) encodeFile() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(c)
	return b.Bytes(), err
}

// parseCall reads a file of a recording. Unknown fields are errors.
func parseCall(data []byte) (recordedProviderCall, error) {
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return recordedProviderCall{}, fmt.Errorf("it is not a recording: %w", err)
	}
	if v.Version != version {
		return recordedProviderCall{}, fmt.Errorf("its version is %d, and this Nexus reads version %d", v.Version, version)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var c recordedProviderCall
	if err := d.Decode(&c); err != nil {
		return recordedProviderCall{}, fmt.Errorf("it is not a recording: %w", err)
	}
	switch _, err := d.Token(); {
	case !errors.Is(err, io.EOF):
		return recordedProviderCall{}, errors.New("something follows the recording")
	case c.Provider == "" || c.Request.Method == "":
		return recordedProviderCall{}, errors.New("it names no provider or no method")
	case c.Try < 1:
		return recordedProviderCall{}, errors.New("its try is below 1")
	case c.Response.Status == 0 && c.Response.Failed == "":
		return recordedProviderCall{}, errors.New("it has no response")
	case c.Response.Status != 0 && (c.Response.Status < 100 || c.Response.Status > 999):
		return recordedProviderCall{}, fmt.Errorf("%d is not a status", c.Response.Status)
	}
	return c, nil
}
