package plugin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// ProtocolVersion is the version of the protocol. It grows when a field or a message changes its meaning
// or is removed, but not with additions.
const ProtocolVersion = 1

const (
	maxLine = 1 << 20 // bytes of a line from a plugin
	maxName = 100     // bytes of its name, and of its version
	maxWhy  = 1_000   // bytes of its reason for a failure
	maxList = 50      // entries of a list in its greeting
)

// The types of messages.
const (
	typeHello  = "hello"
	typeAsk    = "ask"
	typeAnswer = "answer"
	typeError  = "error"
)

// pluginGreetingLine is the first line for a plugin.
type pluginGreetingLine struct {
	Type     string `json:"type"`
	Protocol int    `json:"protocol"`
	Plugin   string `json:"plugin"` // name in the configuration
	Dir      string `json:"dir"`    // its writable directory
}

// PluginHello is the first line from a plugin.
type PluginHello struct {
	Protocol     int                `json:"protocol"`
	Name         string             `json:"name"`
	Version      string             `json:"version"`
	Kinds        []nexus.PluginKind `json:"kinds"`
	Capabilities PluginCapabilities `json:"capabilities"`
}

// PluginCapabilities restrict the questions to a plugin. The zero Capabilities do not.
type PluginCapabilities struct {
	Events []nexus.HookPoint `json:"events,omitempty"` // events for a reporter; none: all
	Roles  []nexus.Role      `json:"roles,omitempty"`  // roles with prompts for a context plugin; none: coder and tester
}

// pluginQuestionLine is a line with a question.
type pluginQuestionLine struct {
	Type  string           `json:"type"`
	ID    int              `json:"id"` // counted from 1
	Kind  nexus.PluginKind `json:"kind"`
	Run   nexus.RunID      `json:"run,omitzero"`
	Input any              `json:"input"`
}

// pluginMessage is a line from a plugin. Its type determines its fields; fields of another type and
// unknown ones are errors.
type pluginMessage struct {
	Type string `json:"type"`

	Protocol     *int                `json:"protocol"`
	Name         string              `json:"name"`
	Version      string              `json:"version"`
	Kinds        []nexus.PluginKind  `json:"kinds"`
	Capabilities *PluginCapabilities `json:"capabilities"`

	ID      *int            `json:"id"`
	Output  json.RawMessage `json:"output"`
	Message string          `json:"message"`
}

// parseMessage parses a line from a plugin.
func parseMessage(line []byte) (pluginMessage, error) {
	var m pluginMessage
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return m, errors.New("it wrote an empty line")
	case !utf8.Valid(line):
		return m, errors.New("it wrote bytes that are not UTF-8")
	case line[0] != '{':
		return m, fmt.Errorf("it wrote a line that is not a JSON object: %s", showLine(line))
	}
	if err := decodeStrict(line, &m); err != nil {
		return m, fmt.Errorf("it wrote a line that is not a message (%s): %s", decodeReason(err), showLine(line))
	}
	greets, answers, fails := m.Type == typeHello, m.Type == typeAnswer, m.Type == typeError
	switch {
	case !greets && !answers && !fails:
		return m, fmt.Errorf("it wrote a message of the type %q, which is not one of hello, answer, error", sanitize.TruncateText(m.Type, maxName))
	case !greets && (m.Protocol != nil || m.Name != "" || m.Version != "" || m.Kinds != nil || m.Capabilities != nil):
		return m, fmt.Errorf("its message of the type %s has a field of a greeting", m.Type)
	case greets && (m.ID != nil || m.Output != nil || m.Message != ""):
		return m, errors.New("its greeting has a field of an answer")
	case !greets && m.ID == nil:
		return m, fmt.Errorf("its message of the type %s has no id", m.Type)
	case answers && (m.Message != "" || len(m.Output) == 0 || m.Output[0] != '{'):
		return m, errors.New("its answer has no output that is an object, or has a message")
	case fails && (m.Output != nil || strings.TrimSpace(m.Message) == ""):
		return m, errors.New("its error has no message, or has an output")
	}
	return m, nil
}

// toHello reads a plugin's introduction, and compares it with the configuration.
func (m pluginMessage) toHello(p DeclaredPlugin) (PluginHello, error) {
	var h PluginHello
	if m.Type != typeHello {
		return h, fmt.Errorf("it wrote a message of the type %s before it said hello", m.Type)
	}
	if m.Protocol == nil || *m.Protocol != ProtocolVersion {
		said := "none"
		if m.Protocol != nil {
			said = fmt.Sprint(*m.Protocol)
		}
		return h, fmt.Errorf("it speaks the protocol %s, this program speaks %d", said, ProtocolVersion)
	}
	h = PluginHello{Protocol: *m.Protocol, Name: m.Name, Version: m.Version, Kinds: m.Kinds}
	if m.Capabilities != nil {
		h.Capabilities = *m.Capabilities
	}
	for _, text := range []string{h.Name, h.Version} {
		if strings.TrimSpace(text) == "" || len(text) > maxName || sanitize.RevealHidden(text) != text || strings.ContainsAny(text, "\n\t") {
			return h, fmt.Errorf("its name and version are not both a line of at most %d bytes", maxName)
		}
	}
	if len(h.Kinds) > maxList || len(h.Capabilities.Events) > maxList || len(h.Capabilities.Roles) > maxList {
		return h, fmt.Errorf("a list in its greeting has more than %d entries", maxList)
	}
	return h, errors.Join(h.checkDeclared(p), h.Capabilities.check())
}

// checkDeclared returns an error if a plugin does not match its configuration.
func (h PluginHello) checkDeclared(p DeclaredPlugin) error {
	for _, k := range h.Kinds {
		if !slices.Contains(nexus.PluginKinds(), k) {
			return fmt.Errorf("it says that it is a %q, which is no kind of plugin", sanitize.TruncateText(string(k), maxName))
		}
	}
	for _, k := range p.Kinds {
		if !slices.Contains(h.Kinds, nexus.PluginKind(k)) {
			return fmt.Errorf("it is declared as %s, and says that it is not one", k)
		}
	}
	return nil
}

// check returns an error for an unknown capability.
func (c PluginCapabilities) check() error {
	for _, e := range c.Events {
		if !slices.Contains(nexus.HookPoints(), e) || e.CanRefuse() {
			return fmt.Errorf("%q is not a point of a run that is reported", sanitize.TruncateText(string(e), maxName))
		}
	}
	for _, r := range c.Roles {
		if r != nexus.Coder && r != nexus.Tester {
			return fmt.Errorf("%q is not a role whose prompts have texts of plugins", sanitize.TruncateText(string(r), maxName))
		}
	}
	return nil
}

// toAnswer reads the answer to the question with an ID; refused is the reason of a plugin that
// cannot answer.
func (m pluginMessage) toAnswer(id int) (output json.RawMessage, refused string, err error) {
	switch {
	case m.Type == typeHello:
		return nil, "", errors.New("it said hello again in place of an answer")
	case *m.ID != id:
		return nil, "", fmt.Errorf("it answered question %d when it was asked question %d", *m.ID, id)
	case m.Type == typeError:
		return nil, sanitize.TruncateText(sanitize.RevealHidden(strings.TrimSpace(m.Message)), maxWhy), nil
	default:
		return m.Output, "", nil
	}
}

// decodeStrict decodes JSON without unknown fields or trailing data.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its end")
	}
	return nil
}

// decodeReason returns a decoder's error in words for people.
func decodeReason(err error) string {
	return sanitize.TruncateText(sanitize.RevealHidden(strings.TrimPrefix(err.Error(), "json: ")), maxName)
}

// showLine returns the beginning of a text, as one line.
func showLine(line []byte) string {
	return sanitize.TruncateText(strings.Join(strings.Fields(sanitize.RevealHidden(string(line))), " "), maxName)
}

// errLong is returned for a line over the size limit.
var errLong = fmt.Errorf("it wrote a line of more than %d bytes", maxLine)

// readLine reads a line, without its line feed.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, errLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return nil, errors.New("it ended within a line")
		default:
			return nil, err
		}
	}
}
