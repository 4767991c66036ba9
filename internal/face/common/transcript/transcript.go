// Package transcript draws the messages of a session, each with its cost, and the requests to the
// model.
package transcript

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ConversationTranscript is the transcript of a session and the JSON output of `nexus status SESSION`.
type ConversationTranscript struct {
	Session  nexus.SessionID       `json:"session"`
	Role     nexus.Role            `json:"role"`
	Model    string                `json:"model"`
	About    string                `json:"about,omitzero"` // its question, if another session started it
	After    nexus.SessionID       `json:"after,omitzero"` // session whose conversation it continues, for another task
	Outcome  nexus.Outcome         `json:"outcome,omitzero"`
	Why      string                `json:"why,omitzero"`
	Spent    nexus.Money           `json:"spent"`
	Usage    nexus.Usage           `json:"usage"`
	System   string                `json:"system"`
	Tools    []llm.ToolDescription `json:"tools"`
	Messages []Message             `json:"messages"`
	Requests []Request             `json:"-"`
}

// Message is a message of a session.
type Message struct {
	Turn    int         `json:"turn,omitzero"` // of the model, from 1; 0: a message by Nexus
	Why     string      `json:"why,omitzero"`  // of Nexus's messages: brief, repair, guidance, results, compacted
	At      time.Time   `json:"at"`
	Seconds float64     `json:"seconds,omitzero"` // duration of the model call
	Spent   nexus.Money `json:"spent,omitzero"`
	Usage   nexus.Usage `json:"usage,omitzero"`
	llm.Message
}

// Request is a request to a model.
type Request struct {
	Turn     int                   `json:"turn"`
	Model    string                `json:"model"`
	System   string                `json:"system"`
	Tools    []llm.ToolDescription `json:"tools"`
	Messages []llm.Message         `json:"messages"`
}

// transcriptBuilder builds a session from the events of its run.
type transcriptBuilder struct {
	ConversationTranscript
	get     func(hash string) ([]byte, error)
	present []llm.Message                // messages of the next request
	others  map[nexus.SessionID][]string // blobs of other sessions' messages, for a continued conversation
	open    map[string]nexus.BudgetReserved
	asked   time.Time // time of the last call
	cost    Message   // of the calls since the last answer
}

// ReadConversation returns the transcript of a session from the events of its run; get returns a blob. It
// returns false if there is no such session.
func ReadConversation(id nexus.SessionID, events iter.Seq2[nexus.Event, error], get func(hash string) ([]byte, error)) (ConversationTranscript, bool, error) {
	t := transcriptBuilder{get: get, open: map[string]nexus.BudgetReserved{}, others: map[nexus.SessionID][]string{}}
	for e, err := range events {
		if err == nil {
			err = t.applyEvent(id, e)
		}
		if err != nil {
			return t.ConversationTranscript, false, err
		}
	}
	return t.ConversationTranscript, t.Session != "", nil
}

func (t *transcriptBuilder) applyEvent(id nexus.SessionID, e nexus.Event) error {
	t.trackSession(e.Fact)
	switch f := e.Fact.(type) {
	case nexus.SessionStarted:
		if f.Session != id {
			return nil
		}
		t.Session, t.Role, t.Model, t.About, t.After = f.Session, f.Role, f.Model, f.About, f.After
		if err := t.loadMessages(t.others[f.After]); err != nil {
			return err
		}
		return t.readBlob(f.Prompt, &struct {
			System *string                `json:"system"`
			Tools  *[]llm.ToolDescription `json:"tools"`
		}{&t.System, &t.Tools})
	case nexus.SessionModelSwitched:
		if f.Session == id {
			t.Model = f.To
		}
	case nexus.SessionEnded:
		if f.Session == id {
			t.Outcome, t.Why = f.Outcome, f.Why
		}
	case nexus.BudgetReserved, nexus.BudgetSettled:
		t.addCost(id, f, e.At)
	case nexus.PromptSent:
		if f.Session == id {
			return t.addMessage(f.Message, Message{Why: f.Why, At: e.At})
		}
	case nexus.ToolResultsSent:
		if f.Session == id {
			return t.addMessage(f.Message, Message{Why: "results", At: e.At})
		}
	case nexus.ModelTurnRecorded:
		if f.Session == id {
			return t.addTurn(f, e.At)
		}
	case nexus.SessionCompacted:
		if f.Session == id {
			return t.applyCompaction(f, e.At)
		}
	default:
	}
	return nil
}

// addCost adds the calls of the session to its next answer.
func (t *transcriptBuilder) addCost(id nexus.SessionID, f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.BudgetReserved:
		if f.Session == id {
			t.open[f.ID], t.asked = f, at
		}
	case nexus.BudgetSettled:
		if _, ok := t.open[f.ID]; !ok {
			return
		}
		delete(t.open, f.ID)
		t.cost.Spent, t.cost.Usage = t.cost.Spent+f.Money, t.cost.Usage.Add(f.Usage)
		t.Spent, t.Usage = t.Spent+f.Money, t.Usage.Add(f.Usage)
	default:
	}
}

func (t *transcriptBuilder) addTurn(f nexus.ModelTurnRecorded, at time.Time) error {
	t.Requests = append(t.Requests, Request{f.Turn, t.Model, t.System, t.Tools, t.present[:len(t.present):len(t.present)]})
	s := t.cost
	s.Turn, s.At, s.Seconds = f.Turn, at, view.SecondsBetween(t.asked, time.Time{}, at)
	t.cost = Message{}
	return t.addMessage(f.Message, s)
}

// applyCompaction replaces all messages so far with others.
func (t *transcriptBuilder) applyCompaction(f nexus.SessionCompacted, at time.Time) error {
	t.present = nil
	text := fmt.Sprintf("What was said so far was shortened from about %s to %s tokens: %s.",
		view.FormatNumber(f.Before), view.FormatNumber(f.After), f.Why)
	t.Messages = append(t.Messages, Message{
		Why: "compacted", At: at, Message: llm.Message{From: llm.User, Parts: []llm.MessagePart{{Text: text}}},
	})
	return t.loadMessages(f.Messages)
}

// loadMessages adds messages to the next request.
func (t *transcriptBuilder) loadMessages(hashes []string) error {
	for _, hash := range hashes {
		var m llm.Message
		if err := t.readBlob(hash, &m); err != nil {
			return err
		}
		t.present = append(t.present, m)
	}
	return nil
}

// trackSession records the messages of all sessions.
func (t *transcriptBuilder) trackSession(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.SessionStarted:
		t.others[f.Session] = slices.Clip(t.others[f.After])
	case nexus.PromptSent:
		t.others[f.Session] = append(t.others[f.Session], f.Message)
	case nexus.ModelTurnRecorded:
		t.others[f.Session] = append(t.others[f.Session], f.Message)
	case nexus.ToolResultsSent:
		t.others[f.Session] = append(t.others[f.Session], f.Message)
	default:
	}
}

func (t *transcriptBuilder) addMessage(hash string, s Message) error {
	if err := t.readBlob(hash, &s.Message); err != nil {
		return err
	}
	t.Messages, t.present = append(t.Messages, s), append(t.present, s.Message)
	return nil
}

func (t *transcriptBuilder) readBlob(hash string, to any) error {
	data, err := t.get(hash)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		return fmt.Errorf("read the transcript of %s: %w", t.Session, err)
	}
	return nil
}

// Draw draws the session for people. Long tool results are folded.
func (t ConversationTranscript) Draw(s view.OutputStyle) string {
	var b strings.Builder
	figures := []string{view.CountWithNoun(len(t.Requests), "turn"), t.Spent.String(), view.TokensText(s, t.Usage)}
	if t.Outcome != "" {
		figures = append(figures, string(t.Outcome))
	}
	b.WriteString(s.TruncateLine(s.Bold(view.EscapeForTerminal(string(t.Session)))+"  "+view.EscapeForTerminal(t.Model)+"  "+s.JoinFigures(figures...)) + "\n")
	if t.About != "" {
		b.WriteString(s.Wrap("asked: "+view.EscapeForTerminal(t.About), "  ") + "\n")
	}
	if t.After != "" {
		b.WriteString(s.Wrap("continues the conversation of "+view.EscapeForTerminal(string(t.After))+", which each request begins with", "  ") + "\n")
	}
	var names []string
	for _, tool := range t.Tools {
		names = append(names, tool.Name)
	}
	tools := view.EscapeForTerminal(strings.Join(names, " "))
	prompt := fmt.Sprintf("system prompt: %s characters; tools: %s", view.FormatNumber(int64(len(t.System))), tools)
	b.WriteString(s.Wrap(s.Dim(prompt), "  ") + "\n")
	for _, m := range t.Messages {
		if m.Why != "results" {
			b.WriteString("\n")
		}
		b.WriteString(m.Draw(s))
	}
	if t.Why != "" {
		b.WriteString("\n" + s.Wrap(view.WithReason(string(t.Outcome), view.EscapeForTerminal(t.Why)), "") + "\n")
	}
	return s.Sanitize(b.String())
}

// Draw draws the message. Long tool results are folded.
func (m Message) Draw(s view.OutputStyle) string {
	var b strings.Builder
	if m.Turn > 0 {
		figures := s.JoinFigures(view.FormatSeconds(m.Seconds), m.Spent.String(), view.TokensText(s, m.Usage))
		b.WriteString(s.TruncateLine(s.Busy(fmt.Sprintf("turn %d", m.Turn))+"  "+s.Dim(figures)) + "\n")
	} else if m.Why != "results" {
		b.WriteString(s.Bold(view.EscapeForTerminal(m.Why)) + "\n")
	}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			b.WriteString(drawToolCall(s, *p.Call))
			if p.Call.Flaw != "" {
				b.WriteString(s.Wrap(s.Bad("malformed: "+view.EscapeForTerminal(p.Call.Flaw)), "    ") + "\n")
			}
		case p.Result != nil:
			b.WriteString(drawToolResult(s, *p.Result))
		case p.Text != "":
			for line := range strings.SplitSeq(strings.TrimSpace(view.EscapeLinesForTerminal(p.Text)), "\n") {
				b.WriteString(strings.TrimRight(s.Wrap(line, "  "), " ") + "\n")
			}
		}
	}
	return s.Sanitize(b.String())
}
