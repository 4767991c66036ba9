package watchcmd

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// runLinear shows a run in full sentences, one after the other, for screen readers: nothing is
// redrawn, and it asks one question at a time. It returns when the run ends or the person
// detaches, which does not affect the run.
func runLinear(ctx context.Context, o tui.Options) (tui.RunSnapshot, error) {
	l := &linearView{o: o, told: map[string]bool{}}
	typed := make(chan string)
	go func() {
		defer close(typed)
		for in := bufio.NewScanner(o.In); in.Scan(); {
			select {
			case typed <- strings.TrimSpace(in.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		changed := o.Source.Changed(o.Run)
		s, err := o.Source.Read(ctx, tui.SnapshotRequest{Run: o.Run, View: tui.LogView})
		if err != nil {
			return l.snap, tui.RunGoneError(err, o.Run)
		}
		l.printNews(s)
		if s.Run.Status.HasEnded() || s.Interrupted {
			return s, nil
		}
		select {
		case <-changed:
		case line, more := <-typed:
			if !more {
				typed = nil // the input has ended; the run is still shown
				continue
			}
			if leave := l.handleLine(ctx, line); leave {
				return l.snap, nil
			}
		case <-ctx.Done():
			return l.snap, tui.ErrInterrupted
		}
	}
}

// linearView is the state of the output so far.
type linearView struct {
	o     tui.Options
	snap  tui.RunSnapshot
	seq   int64
	lines view.EventLineDrawer
	told  map[string]bool // printed items, by question
	asked string          // the item that is asked about now
}

func (l *linearView) printLine(format string, args ...any) {
	_, _ = io.WriteString(l.o.Out, tui.ASCIIText(l.o.Style, view.EscapeForTerminal(fmt.Sprintf(format, args...)))+"\n")
}

// printNews prints the new events.
func (l *linearView) printNews(s tui.RunSnapshot) {
	if l.snap.Run.ID == "" {
		r := s.Run
		l.printLine("Run %s is %s. %d of %s landed. It has spent %s of %s.",
			r.ID, r.Status, r.Counts.Landed, view.CountWithNoun(r.Counts.Total, "task"), r.Money.Spent, r.Money.Limit)
		l.printLine("Type help and Enter for the commands. Leaving does not stop the run.")
		l.seq = lastSeq(s.Log)
	}
	l.snap = s
	for _, line := range s.Log {
		if line.Seq <= l.seq {
			continue
		}
		if text := l.lines.Draw(view.OutputStyle{Plain: true}, line.Event); text != "" && !isQuestion(line.Event.Fact) {
			l.printLine("At %s, %s.%s", line.At.Local().Format("15:04:05"), strings.TrimSuffix(text, "."), endedTaskCost(s, line))
		}
	}
	l.seq = max(l.seq, lastSeq(s.Log))
	if slices.ContainsFunc(s.Inbox, func(i projection.InboxItem) bool { return i.ID == l.asked }) {
		return // one question at a time
	}
	l.asked = ""
	for _, i := range s.Inbox {
		if !i.Notice && !l.told[i.ID+i.Text] {
			l.told[i.ID+i.Text], l.asked = true, i.ID
			l.askAboutItem(i)
			return
		}
	}
}

// isQuestion reports whether a fact is a question, which is printed as an item that needs the person.
func isQuestion(f nexus.Fact) bool {
	_, is := f.(nexus.QuestionAsked)
	return is
}

// endedTaskCost returns the cost of a task for the line that ends it.
func endedTaskCost(s tui.RunSnapshot, line projection.EventLogLine) string {
	switch line.Event.Fact.(type) {
	case nexus.LandingCompleted, nexus.TaskParked:
	default:
		return ""
	}
	for _, t := range s.Run.Tasks {
		if t.ID == line.Task && t.Spent > 0 {
			return fmt.Sprintf(" It took %s and cost %s.", view.FormatSeconds(t.Seconds), t.Spent)
		}
	}
	return ""
}

func lastSeq(all []projection.EventLogLine) int64 {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Seq
}

func (l *linearView) askAboutItem(i projection.InboxItem) {
	l.printLine("This needs you, %s %s: %s", i.Kind, i.ID, i.Text)
	if i.Fallback != "" {
		l.printLine("Without an answer: %s.", i.Fallback)
	}
	var can []string
	for _, a := range i.Actions {
		if a.Refused == "" {
			can = append(can, a.Name+inputHint(a))
		}
	}
	l.printLine("You can type: %s.", strings.Join(can, ", or "))
}

func inputHint(a projection.PersonAction) string {
	switch a.Input {
	case projection.InputText:
		return " and a text"
	case projection.InputReason:
		return " and a reason"
	case projection.InputNone:
	}
	if a.Name == "answer" {
		return " " + a.Args[len(a.Args)-1]
	}
	return ""
}

// handleLine handles typed input, and reports whether the person detaches.
func (l *linearView) handleLine(ctx context.Context, line string) (leave bool) {
	name, text, _ := strings.Cut(line, " ")
	switch name {
	case "":
	case "q", "quit":
		return true
	case "help":
		l.printLine("To answer a question, type approve, reject and a reason, or answer and a text. " +
			"Type pause, resume or stop for the run, status for how it is, and quit to leave; the run continues.")
	case "status":
		c := l.snap.Run.Counts
		l.printLine("The run is %s. %d of %s landed, %d are in progress, %d wait for you.",
			l.snap.Run.Status, c.Landed, view.CountWithNoun(c.Total, "task"), c.Active, projection.CountWaiting(l.snap.Inbox))
	default:
		l.performAction(ctx, name, strings.TrimSpace(text))
	}
	return false
}

func (l *linearView) performAction(ctx context.Context, name, text string) {
	all := l.snap.Actions
	for _, i := range l.snap.Inbox {
		if i.ID == l.asked {
			all = append(slices.Clone(i.Actions), all...)
		}
	}
	refused := "no item is selected for it"
	for _, a := range all {
		fixed := a.Name == "answer" && a.Input == projection.InputNone && a.Args[len(a.Args)-1] != text
		switch {
		case a.Name != name || fixed:
		case a.Refused != "":
			refused = a.Refused
		case a.Input == projection.InputText && text == "":
			refused = "it needs a text after it: " + a.Ask
		default:
			if out := l.o.Verbs.Do(ctx, tui.FillActionArguments(a, text), ""); out.Failed != "" {
				l.printLine("That could not be done: %s", out.Failed)
			} else {
				l.printLine("%s.", cmp.Or(strings.TrimSpace(out.Text), out.Said, "Done"))
			}
			return
		}
	}
	l.printLine("%s was not done: %s.", name, refused)
}
