package mcpserver

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// maxOpen limits the questions that wait for a person. The oldest is dropped, and asked again if
// it is answered.
const maxOpen = 64

// consentID is the ID of the question in the protocol, and agreeKey that of its answer.
const (
	consentID = "consent"
	agreeKey  = "agree"
)

// askedCallStore stores the calls about which a person was asked. An answer counts once, and only for
// that call: a client cannot use it for another tool or other arguments.
type askedCallStore struct {
	mu    sync.Mutex
	open  map[string][sha256.Size]byte // hash of the call for each open question
	order []string
}

// checkConsent returns nil if a person has agreed to a call. Otherwise it returns the response: the
// question, the reason why it cannot be asked, or the refusal.
func (c *askedCallStore) checkConsent(tool, question string, otherwise Result, r *sdk.CallToolRequest) *sdk.CallToolResult {
	about := sha256.Sum256([]byte(tool + "\x00" + question + "\x00" + string(r.Params.Arguments)))
	if r.Params.RequestState != "" || len(r.Params.InputResponses) > 0 {
		answer, ok := r.Params.InputResponses[consentID].(*sdk.ElicitResult)
		switch asked := c.takeQuestion(r.Params.RequestState); {
		case asked != about:
			return failedResult("this answer belongs to another call, or was used already; call again")
		case !ok || answer.Action != "accept" || answer.Content[agreeKey] != true:
			return failedResult("the person did not agree to " + tool + "; nothing was done")
		}
		return nil
	}
	if !canElicit(r.Session) {
		otherwise.Failed = true
		return toSDKResult(otherwise)
	}
	seen := sanitize.RevealHidden(question)
	return &sdk.CallToolResult{
		RequestState: c.openQuestion(about),
		InputRequests: sdk.InputRequestMap{consentID: &sdk.ElicitParams{Mode: "form", Message: seen, RequestedSchema: &jsonschema.Schema{
			Type:       "object",
			Properties: map[string]*jsonschema.Schema{agreeKey: {Type: "boolean", Title: "Agree", Description: "Let it be done."}},
			Required:   []string{agreeKey},
		}}},
	}
}

// canElicit reports whether the client can show a person a form.
func canElicit(s *sdk.ServerSession) bool {
	p := s.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil // clients of older revisions have neither field, and show forms
}

// openQuestion stores the call of a question, and returns the question's name.
func (c *askedCallStore) openQuestion(about [sha256.Size]byte) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[string][sha256.Size]byte{}
	}
	if len(c.order) == maxOpen {
		delete(c.open, c.order[0])
		c.order = c.order[1:]
	}
	name := rand.Text()
	c.open[name], c.order = about, append(c.order, name)
	return name
}

// takeQuestion removes an open question, and returns its call.
func (c *askedCallStore) takeQuestion(name string) (about [sha256.Size]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	about = c.open[name]
	delete(c.open, name)
	c.order = slices.DeleteFunc(c.order, func(n string) bool { return n == name })
	return about
}
