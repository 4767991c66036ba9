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

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/face/view/transcript"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

const (
	// latestTurns is the number of a session's turns on the screen of its task.
	latestTurns = 12
	// maxPart limits a text on a page, in characters.
	maxPart = 20_000
)

// Talk is a session in its form for pages.
type Talk struct {
	transcript.Conversation

	Turns []Turn
	Left  int // omitted earlier turns
}

// Turn is one message.
type Turn struct {
	ID    string
	Label string // its author
	Line  string // summary, on one line
	Open  bool
	Parts []Part
}

// Part is a part of a message.
type Part struct{ Kind, Text string }

// latest returns the last session of a task, up to its current end.
func (s *Site) latest(ctx context.Context, run nexus.RunID, t projection.Task) ([]Talk, error) {
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
	talk, ok, err := s.talk(ctx, run, last.ID)
	if err != nil || !ok {
		return nil, err
	}
	talk.Left = max(len(talk.Turns)-latestTurns, 0)
	talk.Turns = talk.Turns[talk.Left:]
	return []Talk{talk}, nil
}

func (s *Site) talk(ctx context.Context, run nexus.RunID, id nexus.SessionID) (Talk, bool, error) {
	said, ok, err := transcript.Of(id, s.Journal.Events(ctx, run, 0), s.Blob)
	if err != nil || !ok {
		return Talk{}, ok, err
	}
	t := Talk{Conversation: said}
	for i, m := range said.Messages {
		t.Turns = append(t.Turns, turn(id, i, m))
	}
	if n := len(t.Turns); n > 0 {
		t.Turns[n-1].Open = true
	}
	return t, true, nil
}

func (s *Site) session(r *http.Request) (templ.Component, error) {
	id := nexus.SessionID(r.PathValue("session"))
	f, err := s.frame(r, "session", "Session "+string(id), nil)
	if err != nil {
		return nil, err
	}
	t, ok, err := s.talk(r.Context(), f.Run.ID, id)
	if err == nil && !ok {
		err = missing("session", string(id))
	}
	return sessionScreen(f, t), err
}

// turn builds a turn with a summary line from a message.
func turn(id nexus.SessionID, i int, m transcript.Message) Turn {
	t := Turn{ID: fmt.Sprintf("u-%s-%d", id, i), Label: cmp.Or(m.Why, "message")}
	if m.Turn > 0 {
		t.Label = fmt.Sprintf("turn %d", m.Turn)
	}
	var gist []string
	for _, p := range m.Parts {
		part, line := partOf(p)
		if part.Text == "" {
			continue
		}
		t.Parts = append(t.Parts, part)
		gist = append(gist, line)
	}
	t.Line = cut(view.Clean(strings.Join(gist, "; ")), 160)
	if m.Spent > 0 {
		t.Label += " " + m.Spent.String()
	}
	return t
}

// partOf returns a part of a message, and its subject.
func partOf(p llm.Part) (Part, string) {
	switch {
	case p.Call != nil:
		return Part{p.Call.Tool, limit(indent(p.Call.Input))}, p.Call.Tool + " " + subject(p.Call.Input)
	case p.Result != nil:
		return Part{"result", limit(p.Result.Text)}, view.FirstLine(p.Result.Text)
	case p.Text != "":
		return Part{"says", limit(p.Text)}, view.FirstLine(p.Text)
	default:
		return Part{}, ""
	}
}

// limit cuts a text that is too long for a page, and adds a note.
func limit(text string) string {
	r := []rune(text)
	if len(r) <= maxPart {
		return text
	}
	return string(r[:maxPart]) + fmt.Sprintf("\n(cut here; it has %s characters: see nexus show)", view.Number(int64(len(r))))
}

func indent(data json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}

// subject returns the subject of a call: its path, command or first short text.
func subject(data json.RawMessage) string {
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
