package tui

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/highlight"
	"github.com/nexus-ai-builder/nexus/internal/face/view/transcript"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// doc is a text that a command line gave.
type doc struct {
	key     string
	version int // of the snapshot that it was read for
	files   []highlight.File
	talk    transcript.Conversation
	text    string
	failed  string
}

// loaded returns the document of a key, or what to show in its place.
func (m *Model) loaded(key string) (d *doc, why string) {
	d = m.docs[key]
	switch {
	case key == "":
		return nil, "No agent has worked on it yet."
	case d == nil:
		return nil, "Reading it ..."
	case d.failed != "":
		return nil, view.Clean(d.failed)
	}
	return d, ""
}

// wanted names the document that is on the screen; empty: none.
func (m *Model) wanted() string {
	switch {
	case m.view == MemoryView:
		return "memory"
	case !m.view.lists():
		return ""
	case m.tab == DiffTab:
		return m.diffKey()
	case m.tab == LogTab:
		return m.talkKey()
	}
	return ""
}

func (m *Model) diffKey() string {
	if t := m.snap.Task; t != nil && len(t.Tries) > 0 {
		return "diff " + string(t.ID)
	}
	return ""
}

// talkKey names the session that the Log tab shows: the one that is selected, or
// the latest of the task.
func (m *Model) talkKey() string {
	if id, ok := strings.CutPrefix(m.sel[m.view], "session "); ok {
		return "show " + id
	}
	t := m.snap.Task
	if t == nil {
		return ""
	}
	for i := len(t.Tries) - 1; i >= 0; i-- {
		if n := len(t.Tries[i].Sessions); n > 0 {
			return "show " + string(t.Tries[i].Sessions[n-1].ID)
		}
	}
	return ""
}

// load returns the command that reads what is on the screen, where it is not
// there or old, and no other is read.
func (m *Model) load() tea.Cmd {
	key := m.wanted()
	if key == "" || m.reading || m.o.Verbs == nil {
		return nil
	}
	if d := m.docs[key]; d != nil && d.version == m.version {
		return nil
	}
	m.reading = true
	ctx, verbs, version, run := m.ctx, m.o.Verbs, m.version, m.o.Run
	return func() tea.Msg { return read(verbs.Do(ctx, argsOf(key, run)), key, version) }
}

func argsOf(key string, run nexus.RunID) []string {
	what, of, _ := strings.Cut(key, " ")
	if what == "memory" {
		return []string{"memory", "list"}
	}
	return []string{what, "--run", string(run), "--json", "--", of}
}

// read makes a document of what a command line printed.
func read(out Outcome, key string, version int) *doc {
	d := &doc{key: key, version: version, failed: out.Failed, text: out.Text}
	if out.Failed != "" || key == "memory" {
		return d
	}
	var err error
	if strings.HasPrefix(key, "diff ") {
		var c struct {
			Diff string `json:"diff"`
		}
		err = json.Unmarshal(out.Data, &c)
		d.files = highlight.Diff(c.Diff)
	} else {
		err = json.Unmarshal(out.Data, &d.talk)
	}
	if err != nil {
		d.failed = "it cannot be read: " + err.Error()
	}
	return d
}

// turn is a turn of a conversation with what came before it.
type turn struct {
	head string
	body []transcript.Said
}

// turns folds a conversation by turn.
func (m *Model) turns(c transcript.Conversation) []turn {
	var all []turn
	for _, s := range c.Messages {
		if s.Turn == 0 && s.Why == "results" && len(all) > 0 {
			all[len(all)-1].body = append(all[len(all)-1].body, s)
			continue
		}
		name := s.Why
		if s.Turn > 0 {
			name = fmt.Sprintf("turn %d", s.Turn)
		}
		all = append(all, turn{m.b.Bold(view.Clean(name)) + m.gist(s), []transcript.Said{s}})
	}
	return all
}

// gist says what a turn did, on the rest of its line.
func (m *Model) gist(s transcript.Said) string {
	var did []string
	text := ""
	for _, p := range s.Parts {
		if p.Call != nil {
			did = append(did, m.b.pick("\u203a ", "> ")+view.Clean(p.Call.Tool)+about(p.Call.Input))
		} else if text == "" && p.Text != "" {
			text = view.FirstLine(p.Text)
		}
	}
	if len(did) == 0 {
		return "  " + m.b.Dim(view.Clean(text))
	}
	return "  " + strings.Join(did, "  ")
}

// about says what a call is about, where it is short.
func about(input json.RawMessage) string {
	var in struct {
		Path, Command, Pattern string
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	text := strings.TrimSpace(in.Path + " " + in.Command + " " + in.Pattern)
	if text == "" {
		return ""
	}
	return " " + view.Clean(ansi.Truncate(text, 60, "..."))
}

// talkLines draw the session, folded by turn. The last turn is open, and those
// that the person opened.
func (m *Model) talkLines(width int) []string {
	d, why := m.loaded(m.talkKey())
	if d == nil {
		return []string{why}
	}
	c := d.talk
	lines := []string{m.b.Bold(view.Clean(string(c.Session))) + "  " + m.b.Dim(view.Clean(c.Model)+m.b.Dot()+c.Spent.String())}
	all := m.turns(c)
	style := m.b.Style
	style.Width = width
	m.talked = len(all)
	at := min(max(m.turn, 0), max(len(all)-1, 0))
	if m.follow {
		at = len(all) - 1
	}
	for i, t := range all {
		open := m.open[i] != (i == len(all)-1)
		sign := m.b.pick("\u25b8 ", "+ ")
		if open {
			sign = m.b.pick("\u25be ", "- ")
		}
		if line := sign + t.head; i == at {
			m.turnLine = len(lines)
			lines = append(lines, m.b.chosen(line, width, m.right))
		} else {
			lines = append(lines, line)
		}
		if !open {
			continue
		}
		for _, s := range t.body {
			lines = append(lines, strings.Split(strings.TrimRight(strings.ReplaceAll(s.Draw(style), "\t", "    "), "\n"), "\n")...)
		}
	}
	return lines
}
