package page

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/common/transcript"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

const (
	// latestTurns is the number of a session's turns on the screen of its task.
	latestTurns = 12
	// maxPart limits a text on a page, in characters.
	maxPart = 20_000
)

// TranscriptView is a session in its form for pages.
type TranscriptView struct {
	transcript.ConversationTranscript

	Turns []TranscriptTurn
	Left  int // omitted earlier turns
}

// TranscriptTurn is one message.
type TranscriptTurn struct {
	ID    string
	Label string // its author
	Line  string // summary, on one line
	Open  bool
	Parts []TranscriptTurnPart
}

// TranscriptTurnPart is a part of a message.
type TranscriptTurnPart struct{ Kind, Text string }

// latestSession returns the last session of a task, up to its current end.
func (s *PageHandlers) latestSession(ctx context.Context, run nexus.RunID, t projection.TaskDetailView) ([]TranscriptView, error) {
	if len(t.Tries) == 0 {
		return nil, nil
	}
	all := t.Tries[len(t.Tries)-1].Sessions
	if len(all) == 0 {
		return nil, nil
	}
	last := all[len(all)-1]
	for _, c := range all {
		if c.Role == nexus.Coder && last.Role != nexus.Coder && !last.Ended.IsZero() {
			last = c // the author of the change is more informative than its reviewer
		}
	}
	talk, ok, err := s.readTranscript(ctx, run, last.ID)
	if err != nil || !ok {
		return nil, err
	}
	talk.Left = max(len(talk.Turns)-latestTurns, 0)
	talk.Turns = talk.Turns[talk.Left:]
	return []TranscriptView{talk}, nil
}

func (s *PageHandlers) readTranscript(ctx context.Context, run nexus.RunID, id nexus.SessionID) (TranscriptView, bool, error) {
	said, ok, err := transcript.ReadConversation(id, s.Journal.Events(ctx, run, 0), s.Blob)
	if err != nil || !ok {
		return TranscriptView{}, ok, err
	}
	t := TranscriptView{ConversationTranscript: said}
	for i, m := range said.Messages {
		t.Turns = append(t.Turns, newSummarizedTurn(id, i, m))
	}
	if n := len(t.Turns); n > 0 {
		t.Turns[n-1].Open = true
	}
	return t, true, nil
}

func (s *PageHandlers) sessionPage(r *http.Request) (templ.Component, error) {
	id := nexus.SessionID(r.PathValue("session"))
	f, err := s.newFrame(r, "session", "Session "+string(id), nil)
	if err != nil {
		return nil, err
	}
	t, ok, err := s.readTranscript(r.Context(), f.Run.ID, id)
	if err == nil && !ok {
		err = notFoundError("session", string(id))
	}
	return sessionScreen(f, t), err
}

// newSummarizedTurn builds a turn with a summary line from a message.
func newSummarizedTurn(id nexus.SessionID, i int, m transcript.Message) TranscriptTurn {
	t := TranscriptTurn{ID: fmt.Sprintf("u-%s-%d", id, i), Label: cmp.Or(m.Why, "message")}
	if m.Turn > 0 {
		t.Label = fmt.Sprintf("turn %d", m.Turn)
	}
	var gist []string
	for _, p := range m.Parts {
		part, line := describePart(p)
		if part.Text == "" {
			continue
		}
		t.Parts = append(t.Parts, part)
		gist = append(gist, line)
	}
	t.Line = truncateText(view.EscapeForTerminal(strings.Join(gist, "; ")), 160)
	if m.Spent > 0 {
		t.Label += " " + m.Spent.String()
	}
	return t
}

// describePart returns a part of a message, and its subject.
func describePart(p llm.MessagePart) (TranscriptTurnPart, string) {
	switch {
	case p.Call != nil:
		return TranscriptTurnPart{p.Call.Tool, truncatePart(indentJSON(p.Call.Input))}, p.Call.Tool + " " + callSubject(p.Call.Input)
	case p.Result != nil:
		return TranscriptTurnPart{"result", truncatePart(p.Result.Text)}, view.FirstLine(p.Result.Text)
	case p.Text != "":
		return TranscriptTurnPart{"says", truncatePart(p.Text)}, view.FirstLine(p.Text)
	default:
		return TranscriptTurnPart{}, ""
	}
}

// truncatePart cuts a text that is too long for a page, and adds a note.
func truncatePart(text string) string {
	r := []rune(text)
	if len(r) <= maxPart {
		return text
	}
	return string(r[:maxPart]) + fmt.Sprintf("\n(cut here; it has %s characters: see nexus status)", view.FormatNumber(int64(len(r))))
}

func indentJSON(data json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}

// callSubject returns the subject of a call: its path, command or first short text.
func callSubject(data json.RawMessage) string {
	var values map[string]any
	if json.Unmarshal(data, &values) != nil {
		return ""
	}
	for _, name := range []string{"path", "file", "command", "pattern", "query", "summary"} {
		if text, ok := values[name].(string); ok {
			return view.FirstLine(text)
		}
	}
	return ""
}
