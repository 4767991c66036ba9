package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// Script defines the answers of the server.
type Script struct {
	Conversations []ScriptConversation `yaml:"conversations"`
	Default       *ScriptTurn          `yaml:"default"` // if no conversation or turn matches; nil: an error with their names
	Account       *AccountLimits       `yaml:"account"` // limits of the account; nil: none

	// Steered is the answer in a conversation without further turns, because a person added a
	// message. With it, finish declines a person's comments on a change, with the same text. Nil: a
	// request for more turns is an error.
	Steered *ScriptTurn `yaml:"steered"`
}

// ScriptConversation defines the answers in the conversations whose name matches Match. The first match
// counts.
type ScriptConversation struct {
	Match string       `yaml:"match"` // as in [path.Match]: "T3.1/coder.1", "T3.*/coder.*"
	Turns []ScriptTurn `yaml:"turns"`

	Holds []string `yaml:"holds"` // texts that must all be in the system prompt or the first message, for a model that acts on this information

	Summary *ScriptTurn `yaml:"summary"` // answer to a request for a summary; nil: the number of the step
}

// ScriptTurn is one answer of the model.
type ScriptTurn struct {
	Think   string         `yaml:"think"` // thinking, with a signature if the API has one
	Say     string         `yaml:"say"`
	Calls   []ScriptCall   `yaml:"calls"`
	Stop    llm.StopReason `yaml:"stop"`    // empty: tools with calls, else done
	Usage   *ScriptUsage   `yaml:"usage"`   // nil: counted from the request and the answer
	Service string         `yaml:"service"` // service tier in the answer
	Fault   ProviderFault  `yaml:"fault"`   // the failure
	Times   int            `yaml:"times"`   // number of failures before success; 0 is one, below 0 is always
	After   string         `yaml:"after"`   // Retry-After of a fault
	Window  bool           `yaml:"window"`  // a rate limit reports a used-up window
	Delay   time.Duration  `yaml:"delay"`   // before each event
	Expect  []string       `yaml:"expect"`  // texts that must be in the messages since the last answer; if not, HTTP 400 reports that
}

// ScriptCall is a tool call. Its ID is generated from the conversation and the step.
type ScriptCall struct {
	Tool  string         `yaml:"tool"`
	Input map[string]any `yaml:"input"`
}

// ScriptUsage is the usage that a turn reports.
type ScriptUsage struct {
	Input      int64 `yaml:"input"`
	Output     int64 `yaml:"output"`
	CacheRead  int64 `yaml:"cache_read"`
	CacheWrite int64 `yaml:"cache_write"`
	CacheHour  int64 `yaml:"cache_hour"` // part of CacheWrite
}

// maxScript limits the size of a script, in bytes.
const maxScript = 8 << 20

// ParseScript parses a script in YAML. Unknown keys are errors.
func ParseScript(data []byte) (Script, error) {
	if len(data) > maxScript {
		return Script{}, fmt.Errorf("script of %d bytes is too long", len(data))
	}
	var s Script
	l, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithKnownFields())
	if err == nil {
		err = l.Load(&s)
	}
	if errors.Is(err, io.EOF) {
		return Script{}, errors.New("script is empty")
	}
	if err != nil {
		return Script{}, fmt.Errorf("script: %w", err)
	}
	return s, s.check()
}

// check returns an error for a script that cannot be played.
func (s Script) check() error {
	var errs []error
	for i, c := range s.Conversations {
		if _, err := path.Match(c.Match, ""); err != nil || c.Match == "" {
			errs = append(errs, fmt.Errorf("conversation %d: %q is not a pattern", i+1, c.Match))
		}
		if c.Summary != nil {
			if err := c.Summary.check(); err != nil {
				errs = append(errs, fmt.Errorf("conversation %s: summary: %w", c.Match, err))
			}
		}
		for n, t := range c.Turns {
			if err := t.check(); err != nil {
				errs = append(errs, fmt.Errorf("conversation %s: turn %d: %w", c.Match, n+1, err))
			}
		}
	}
	if s.Account != nil {
		errs = append(errs, s.Account.check())
	}
	for name, t := range map[string]*ScriptTurn{"default": s.Default, "steered": s.Steered} {
		if t == nil {
			continue
		}
		if err := t.check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (t ScriptTurn) check() error {
	if !slices.Contains([]llm.StopReason{"", llm.StopDone, llm.StopTools, llm.StopLength, llm.StopRefuse}, t.Stop) {
		return fmt.Errorf("stop %q is not one of done, tools, length, refuse", t.Stop)
	}
	if t.Delay < 0 {
		return errors.New("delay is below zero")
	}
	for _, c := range t.Calls {
		if c.Tool == "" {
			return errors.New("a call names no tool")
		}
		if _, err := json.Marshal(c.Input); err != nil {
			return fmt.Errorf("input of %s: %w", c.Tool, err)
		}
	}
	switch need := t.Fault.callsNeeded(); {
	case t.Fault != "" && !slices.Contains(AllFaults(), t.Fault):
		return fmt.Errorf("fault %q is unknown; there are %s", t.Fault, joinFaults(AllFaults()))
	case len(t.Calls) < need:
		return fmt.Errorf("fault %s needs %d calls", t.Fault, need)
	}
	return nil
}

// findTurn returns the turn at the step of the conversation.
func (s Script) findTurn(a wireformat.ReceivedModelRequest) (ScriptTurn, error) {
	conversation, step := a.Conversation, a.Step
	why := fmt.Errorf("no conversation of the script fits %q (step %d)", conversation, step)
	for _, c := range s.Conversations {
		if ok, _ := path.Match(c.Match, conversation); ok && c.matchesPrompt(a.Prompt) { // patterns were checked
			if a.Summary && c.Summary != nil {
				return *c.Summary, nil
			}
			if a.Summary {
				return ScriptTurn{Say: fmt.Sprintf("%d answers were given so far.", step)}, nil
			}
			if step < len(c.Turns) {
				return c.Turns[step], nil
			}
			if s.Steered != nil && len(c.Turns) > 0 {
				return *s.Steered, nil
			}
			why = fmt.Errorf("conversation %q has %d turns in the script and asks for step %d", conversation, len(c.Turns), step)
			break
		}
	}
	if s.Default != nil {
		return *s.Default, nil
	}
	return ScriptTurn{}, why
}

// withDeclines returns the turn with an answer to each comment, if it submits.
func (t ScriptTurn) withDeclines(comments []string, why string) ScriptTurn {
	if len(comments) == 0 {
		return t
	}
	t.Calls = slices.Clone(t.Calls)
	for i, c := range t.Calls {
		if c.Tool != "finish" {
			continue
		}
		answers := make([]map[string]any, len(comments))
		for n, id := range comments {
			answers[n] = map[string]any{"comment": id, "status": nexus.CommentDeclined, "why": why}
		}
		input := maps.Clone(c.Input)
		input["answers"] = answers
		t.Calls[i].Input = input
	}
	return t
}

// matchesPrompt reports whether the beginning of a conversation contains all required texts.
func (c ScriptConversation) matchesPrompt(prompt []string) bool {
	const first = 3 // tools, system, and the first message
	begins := strings.Join(prompt[:min(len(prompt), first)], "\n")
	return !slices.ContainsFunc(c.Holds, func(text string) bool { return !strings.Contains(begins, text) })
}

// stopReason returns the stop reason of the turn.
func (t ScriptTurn) stopReason() llm.StopReason {
	switch {
	case t.Stop != "":
		return t.Stop
	case len(t.Calls) > 0:
		return llm.StopTools
	default:
		return llm.StopDone
	}
}

func joinFaults(f []ProviderFault) string {
	names := make([]string, len(f))
	for i := range f {
		names[i] = string(f[i])
	}
	return strings.Join(names, ", ")
}
