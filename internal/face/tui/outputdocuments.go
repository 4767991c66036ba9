package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/face/common/transcript"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// commandOutputDocument is the output of a command line.
type commandOutputDocument struct {
	key    string
	seq    int64         // event of the run when it was read
	at     time.Time     // when it was read
	took   time.Duration // reading time
	old    bool          // it is read again at once
	review changereview.TaskChangeReview
	talk   transcript.ConversationTranscript
	text   string
	failed string
}

// documentOrReason returns the document of a key, or the text to show instead.
func (m *Model) documentOrReason(key string) (d *commandOutputDocument, why string) {
	d = m.docs[key]
	switch {
	case key == "":
		return nil, "No agent has worked on it yet."
	case d == nil:
		return nil, "Reading it ..."
	case d.failed != "":
		return nil, view.EscapeForTerminal(d.failed)
	}
	return d, ""
}

// visibleDocumentKey returns the key of the document on the screen; empty: none.
func (m *Model) visibleDocumentKey() string {
	switch {
	case m.view == MemoryView:
		return "memory"
	case !m.view.isList():
		return ""
	case m.tab == DiffTab:
		return m.diffKey()
	case m.tab == LogTab:
		return m.transcriptKey()
	case m.tab == PlanTab && m.snap.Task == nil:
		return "plan"
	}
	return ""
}

func (m *Model) diffKey() string {
	if t := m.snap.Task; t != nil && len(t.Tries) > 0 {
		return "review " + string(t.ID)
	}
	return ""
}

// transcriptKey returns the key of the session in the Log tab: the selected one, or the latest of the
// task.
func (m *Model) transcriptKey() string {
	if id, ok := strings.CutPrefix(m.sel[m.view], "session "); ok {
		return "status " + id
	}
	t := m.snap.Task
	if t == nil {
		return ""
	}
	for i := len(t.Tries) - 1; i >= 0; i-- {
		if n := len(t.Tries[i].Sessions); n > 0 {
			return "status " + string(t.Tries[i].Sessions[n-1].ID)
		}
	}
	return ""
}

// A document is shown for rest times its reading time, and at least leastRest, before it is read
// again: an agent changes it many times a second.
const (
	rest      = 50
	leastRest = time.Second
)

// isVisibleDocumentOutdated reports whether the document on the screen must be read again, now or later.
func (m *Model) isVisibleDocumentOutdated() bool {
	d := m.docs[m.visibleDocumentKey()]
	return d != nil && d.seq != m.snap.Seq
}

// mustReadDocument reports whether a document must be read now.
func (m *Model) mustReadDocument(d *commandOutputDocument) bool {
	if d == nil || d.old {
		return true
	}
	return d.seq != m.snap.Seq && m.snap.Now.Sub(d.at) >= max(rest*d.took, leastRest)
}

// invalidateDocuments makes documents be read again at once, after an action on them.
func (m *Model) invalidateDocuments() {
	for _, d := range m.docs {
		d.old = true
	}
}

// loadVisibleDocument returns the command that reads the document on the screen, if it is missing or old, and no
// other read is in progress.
func (m *Model) loadVisibleDocument() tea.Cmd {
	key := m.visibleDocumentKey()
	if key == "" || m.reading || m.o.Verbs == nil || !m.mustReadDocument(m.docs[key]) {
		return nil
	}
	m.reading = true
	d := &commandOutputDocument{key: key, seq: m.snap.Seq, at: m.snap.Now}
	ctx, verbs, run, now := m.ctx, m.o.Verbs, m.o.Run, m.o.Clock
	return func() tea.Msg {
		var begin time.Time
		if now != nil {
			begin = now()
		}
		d.applyOutput(verbs.Do(ctx, argsOf(key, run), ""))
		if now != nil {
			d.took = now().Sub(begin)
		}
		return d
	}
}

func argsOf(key string, run nexus.RunID) []string {
	what, of, _ := strings.Cut(key, " ")
	switch what {
	case "memory":
		return []string{"memory"}
	case "plan":
		return []string{"plan", "--run", string(run)}
	}
	return []string{what, "--run", string(run), "--json", "--", of}
}

// applyOutput stores the output of a command line.
func (d *commandOutputDocument) applyOutput(out CommandOutcome) {
	d.failed, d.text = out.Failed, out.Text
	if out.Failed != "" || d.key == "memory" || d.key == "plan" {
		return
	}
	var err error
	if strings.HasPrefix(d.key, "review ") {
		err = json.Unmarshal(out.Data, &d.review)
	} else {
		err = json.Unmarshal(out.Data, &d.talk)
	}
	if err != nil {
		d.failed = "it cannot be read: " + err.Error()
	}
}

// transcriptTurn is a turn of a conversation with the messages before it.
type transcriptTurn struct {
	head string
	body []transcript.Message
}

// transcriptTurns groups a conversation by turn.
func (m *Model) transcriptTurns(c transcript.ConversationTranscript) []transcriptTurn {
	var all []transcriptTurn
	for _, s := range c.Messages {
		if s.Turn == 0 && s.Why == "results" && len(all) > 0 {
			all[len(all)-1].body = append(all[len(all)-1].body, s)
			continue
		}
		name := s.Why
		if s.Turn > 0 {
			name = fmt.Sprintf("turn %d", s.Turn)
		}
		all = append(all, transcriptTurn{m.b.Bold(view.EscapeForTerminal(name)) + m.turnSummary(s), []transcript.Message{s}})
	}
	return all
}

// turnSummary summarises a turn for the rest of its line.
func (m *Model) turnSummary(s transcript.Message) string {
	var did []string
	text := ""
	for _, p := range s.Parts {
		if p.Call != nil {
			did = append(did, m.b.symbolOrASCII("\u203a ", "> ")+view.EscapeForTerminal(p.Call.Tool)+callSubject(p.Call.Input))
		} else if text == "" && p.Text != "" {
			text = view.FirstLine(p.Text)
		}
	}
	if len(did) == 0 {
		return "  " + m.b.Dim(view.EscapeForTerminal(text))
	}
	return "  " + strings.Join(did, "  ")
}

// callSubject returns the subject of a call, if it is short.
func callSubject(input json.RawMessage) string {
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
	return " " + view.EscapeForTerminal(ansi.Truncate(text, 60, "..."))
}

// transcriptLines draws the session, folded by turn. The last turn is open, and those that the person
// opened.
func (m *Model) transcriptLines(width int) []string {
	d, why := m.documentOrReason(m.transcriptKey())
	if d == nil {
		return []string{why}
	}
	c := d.talk
	lines := []string{m.b.Bold(view.EscapeForTerminal(string(c.Session))) + "  " + m.b.Dim(view.EscapeForTerminal(c.Model)+m.b.Separator()+c.Spent.String())}
	all := m.transcriptTurns(c)
	style := m.b.OutputStyle
	style.Width = width
	m.talked = len(all)
	at := min(max(m.turn, 0), max(len(all)-1, 0))
	if m.follow {
		at = len(all) - 1
	}
	for i, t := range all {
		open := m.open[i] != (i == len(all)-1)
		sign := m.b.symbolOrASCII("\u25b8 ", "+ ")
		if open {
			sign = m.b.symbolOrASCII("\u25be ", "- ")
		}
		if line := sign + t.head; i == at {
			m.turnLine = len(lines)
			lines = append(lines, m.b.selectedLine(line, width, m.right))
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
