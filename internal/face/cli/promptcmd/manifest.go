package promptcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// promptManifest is the JSON output of nexus prompt SESSION.
type promptManifest struct {
	Session  nexus.SessionID `json:"session"`
	Role     nexus.Role      `json:"role"`
	Model    string          `json:"model"`
	Messages []sentMessage   `json:"messages"`
}

// sentMessage is a message that a session received.
type sentMessage struct {
	Seq    int64                      `json:"seq"` // of its event
	Why    string                     `json:"why"`
	Tokens int64                      `json:"tokens"`          // of its items, estimated
	Items  []nexus.PromptManifestItem `json:"items,omitempty"` // none: it is a single line by Nexus, or a person's message
}

// printManifest prints the parts of the messages that a session received.
func printManifest(ctx context.Context, a *console.Console, p *app.Repository, of app.RunSubject) error {
	store, err := p.OpenBlobStore()
	if err != nil {
		return err
	}
	m := promptManifest{Session: of.Session}
	for e, err := range p.Journal.Events(ctx, of.ID, 0) {
		if err != nil {
			return err
		}
		if f, ok := e.Fact.(nexus.SessionStarted); ok && f.Session == of.Session {
			m.Role, m.Model = f.Role, f.Model
		}
		if f, ok := e.Fact.(nexus.PromptSent); ok && f.Session == of.Session {
			one := sentMessage{Seq: e.Seq, Why: f.Why}
			if err := one.readItems(f.Manifest, store.Get); err != nil {
				return fmt.Errorf("read what event %d was made of: %w", e.Seq, err)
			}
			m.Messages = append(m.Messages, one)
		}
	}
	if len(m.Messages) == 0 {
		return app.NotFoundError("session", string(of.Session), "Use a name such as T1.1/coder.1. nexus status TASK lists the sessions of a task.")
	}
	return a.Answer(m, m.draw)
}

// readItems fills in the items from a blob.
func (t *sentMessage) readItems(hash string, get func(hash string) ([]byte, error)) error {
	if hash == "" {
		return nil
	}
	data, err := get(hash)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &t.Items); err != nil {
		return err
	}
	for _, i := range t.Items {
		t.Tokens += i.Tokens
	}
	return nil
}

// draw draws a table for each message.
func (m promptManifest) draw(s view.OutputStyle) string {
	var b strings.Builder
	b.WriteString(s.TruncateLine(s.Bold(view.EscapeForTerminal(string(m.Session)))+"  "+view.EscapeForTerminal(m.Model)) + "\n")
	for _, t := range m.Messages {
		figures := []string{t.Why}
		if len(t.Items) > 0 {
			figures = append(figures, "about "+view.FormatNumber(t.Tokens)+" tokens")
		}
		fmt.Fprintf(&b, "\n%s  %s\n", s.Busy(fmt.Sprintf("event %d", t.Seq)), s.JoinFigures(figures...))
		var rows [][]string
		for i, item := range t.Items {
			rows = append(rows, itemRow(s, item, titleOf(item, i == 0 || t.Items[i-1].In != item.In)))
		}
		if len(rows) > 0 {
			b.WriteString(view.DrawTable(s, manifestHead(), rows))
		}
	}
	return b.String()
}

// manifestHead returns the column titles of a manifest.
func manifestHead() []string { return []string{"part", "section", "tokens", "because", "cut"} }

func itemRow(s view.OutputStyle, i nexus.PromptManifestItem, title string) []string {
	return []string{i.In, title, view.FormatNumber(i.Tokens), view.EscapeForTerminal(i.Reason), s.Warn(view.EscapeForTerminal(cutReason(i)))}
}

// titleOf names an item, also one without a heading; first means that it is the first one in its
// place.
func titleOf(i nexus.PromptManifestItem, first bool) string {
	switch {
	case i.Title != "":
		return view.EscapeForTerminal(i.Title)
	case i.In == "system" && first:
		return "The role"
	case i.In == "system":
		return "House rules"
	case first:
		return "Task"
	default:
		return "Note"
	}
}

// cutReason describes the part of an item that was cut, with the reason; empty if nothing was.
func cutReason(i nexus.PromptManifestItem) string {
	switch {
	case i.Of == 0:
		return i.Cut // it is not available yet
	case i.Tokens == 0:
		return fmt.Sprintf("left out, %s tokens: %s", view.FormatNumber(i.Of), i.Cut)
	default:
		return fmt.Sprintf("of %s tokens: %s", view.FormatNumber(i.Of), i.Cut)
	}
}
