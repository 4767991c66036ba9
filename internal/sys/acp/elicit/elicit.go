// Package elicit turns a question of an ACP agent for a person into text, and the person's answer
// in words into the content that the agent asked for.
//
//	request -> Read -> Text -> person -> Reply, checked against the fields
//
// The agent chose every word of a request. Anything that must not be recorded, such as a password,
// is not asked for, and no web page is opened.
package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Actions of a person on a request.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

const (
	maxFields  = 20
	maxMessage = 4000 // bytes shown of the agent's message
	maxLabel   = 300  // bytes shown of a field's label
	maxLine    = 1000 // bytes shown of a field
	maxURL     = 2000 // bytes of a URL
	maxShown   = 30   // shown values of a field
	maxValues  = 1000 // possible values of a field
)

// Request is a question of an agent to a person, or a page that the person is to open.
type Request struct {
	message string
	url     string // page that the person is to open; empty: the request has fields
	fields  []formField
}

// ReadRequest reads the parameters of elicitation/create. Its error is a reason, for the agent, why no
// person is asked.
func ReadRequest(params []byte) (Request, error) {
	var in struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		URL     string          `json:"url"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}
	if err := json.Unmarshal(params, &in); err != nil {
		return Request{}, errors.New("the question cannot be read")
	}
	r := Request{message: sanitize.TruncateText(strings.TrimSpace(in.Message), maxMessage)}
	if r.message == "" {
		return r, errors.New("the question has no text")
	}
	var err error
	switch in.Mode {
	case "", "form":
		r.fields, err = readFields(in.Schema)
	case "url":
		r.url, err = checkPageURL(in.URL)
	default:
		err = fmt.Errorf("the mode %q is unknown", sanitize.TruncateText(in.Mode, 40))
	}
	return r, err
}

// checkPageURL checks a URL that a person is to open.
func checkPageURL(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxURL || sanitize.RevealHidden(address) != address || strings.ContainsAny(address, " \n\t"):
		return "", errors.New("the address of the page cannot be read")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return "", errors.New("the address of the page is not a web address")
	case u.User != nil:
		return "", errors.New("the address of the page names a user, which hides where it leads")
	}
	return address, nil
}

// NeedsPerson reports whether only a person can answer, because no model opens a page.
func (r Request) NeedsPerson() bool { return r.url != "" }

// QuestionText returns the question in words, with the possible answers.
func (r Request) QuestionText() string {
	var b strings.Builder
	b.WriteString(r.message + "\n")
	switch {
	case r.url != "":
		u, _ := url.Parse(r.url)
		fmt.Fprintf(&b, "It asks you to open this page of %s, which Nexus does not open: %s\n", u.Host, r.url)
		b.WriteString("Answer done when you have done what the page asks, or decline, or cancel.")
	case len(r.fields) == 0:
		b.WriteString("Answer yes, or decline, or cancel.")
	case len(r.fields) == 1:
		if about := r.fields[0].fieldDescription(); about != "" {
			b.WriteString(about + "\n")
		}
		fmt.Fprintf(&b, "Answer with %s, or decline, or cancel.", r.fields[0].describeAllowed())
	default:
		for _, f := range r.fields {
			line := fmt.Sprintf("- %s: %s", f.name, f.describeAllowed())
			if about := f.fieldDescription(); about != "" {
				line += ". " + about
			}
			b.WriteString(sanitize.TruncateText(line, maxLine) + "\n")
		}
		fmt.Fprintf(&b, "Answer with NAME=VALUE for each, with a semicolon between them, or with a JSON object, or decline, or cancel.")
	}
	if len(r.fields) > 0 && r.hasOnlyOptionalFields() {
		b.WriteString(" Answer defaults to take all defaults.")
	}
	return b.String()
}

// hasOnlyOptionalFields reports whether every field is optional.
func (r Request) hasOnlyOptionalFields() bool {
	some := false
	for _, f := range r.fields {
		if f.fallback == nil && f.required {
			return false
		}
		some = some || f.fallback != nil
	}
	return some
}

// AgentReply is a person's answer to an agent's request, in the form that the protocol sends to the
// agent.
type AgentReply struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}

// ParseAnswer reads an answer. Its error tells the person what does not fit.
func (r Request) ParseAnswer(answer string) (AgentReply, error) {
	answer = strings.TrimSpace(answer)
	word := strings.ToLower(strings.TrimRight(answer, ".!"))
	switch {
	case word == Decline || word == Cancel:
		return AgentReply{Action: word}, nil
	case word == "":
		return AgentReply{}, errors.New("the answer is empty")
	case r.url != "" || len(r.fields) == 0:
		return parseAgreement(word)
	case word == "defaults" && r.hasOnlyOptionalFields():
		return r.buildReplyContent(nil)
	case strings.HasPrefix(answer, "{"):
		var given map[string]any
		d := json.NewDecoder(strings.NewReader(answer))
		d.UseNumber()
		if err := d.Decode(&given); err != nil || d.More() {
			return AgentReply{}, errors.New("that is not one JSON object")
		}
		return r.buildReplyContent(given)
	case len(r.fields) == 1:
		f := r.fields[0]
		if name, value, ok := strings.Cut(answer, "="); ok && strings.TrimSpace(name) == f.name {
			answer = strings.TrimSpace(value)
		}
		return r.buildReplyContent(map[string]any{f.name: typedValueText(answer)})
	}
	given := map[string]any{}
	for one := range strings.FieldsFuncSeq(answer, func(c rune) bool { return c == ';' || c == '\n' }) {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		name, value, ok := strings.Cut(one, "=")
		if name = strings.TrimSpace(name); !ok {
			return AgentReply{}, fmt.Errorf("%q is not NAME=VALUE", sanitize.TruncateText(one, 40))
		}
		if _, twice := given[name]; twice {
			return AgentReply{}, fmt.Errorf("%s is there twice", sanitize.TruncateText(name, 40))
		}
		given[name] = typedValueText(strings.TrimSpace(value))
	}
	return r.buildReplyContent(given)
}

// parseAgreement reads the answer to a request without fields.
func parseAgreement(word string) (AgentReply, error) {
	switch word {
	case "yes", "done", "ok", Accept:
		return AgentReply{Action: Accept}, nil
	case "no":
		return AgentReply{Action: Decline}, nil
	}
	return AgentReply{}, errors.New("only yes, done, decline and cancel can be answered here")
}

// typedValueText is a value in words, as opposed to a JSON value.
type typedValueText string

// buildReplyContent builds the content from the given values and the defaults of the others.
func (r Request) buildReplyContent(given map[string]any) (AgentReply, error) {
	content := map[string]any{}
	known := 0
	for _, f := range r.fields {
		value, ok := given[f.name]
		if ok {
			known++
		}
		if text, isText := value.(typedValueText); value == nil || isText && text == "" && f.kind != "string" {
			ok = false
		}
		switch {
		case ok:
			v, err := f.parseValue(value)
			if err != nil {
				return AgentReply{}, fmt.Errorf("%s %w", f.name, err)
			}
			content[f.name] = v
		case f.fallback != nil:
			content[f.name] = f.fallback
		case f.required:
			return AgentReply{}, fmt.Errorf("%s is missing: it is %s", f.name, f.describeAllowed())
		}
	}
	if known < len(given) {
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if !r.hasField(name) {
				return AgentReply{}, fmt.Errorf("there is no field %q", sanitize.TruncateText(name, 40))
			}
		}
	}
	return AgentReply{Action: Accept, Content: content}, nil
}

func (r Request) hasField(name string) bool {
	return slices.ContainsFunc(r.fields, func(f formField) bool { return f.name == name })
}
