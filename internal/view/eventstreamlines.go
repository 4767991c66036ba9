package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DrawRunOverview draws a list of runs.
func DrawRunOverview(s OutputStyle, all []RunView) string {
	if len(all) == 0 {
		return ""
	}
	rows := make([][]string, 0, len(all))
	for _, r := range all {
		started := r.Started.Local().Format("Jan 02 15:04")
		if s.Plain {
			started = r.Started.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{
			string(r.ID), s.colourStatus(r.Status), started, FormatSeconds(r.Seconds),
			fmt.Sprintf("%d/%d", r.Counts.Landed, r.Counts.Total), r.Money.Spent.String(), GoalLine(r.Goal),
		})
	}
	return s.Sanitize(DrawTable(s, []string{"run", "status", "started", "time", "landed", "money", "goal"}, rows))
}

// EventStreamLine is one line of a JSON event stream.
type EventStreamLine struct {
	Seq  int64           `json:"seq"`
	Run  nexus.RunID     `json:"run"`
	At   time.Time       `json:"at"`
	Kind string          `json:"kind"`
	Fact json.RawMessage `json:"fact"`
	Hash string          `json:"hash"`
}

// EventStreamLineOf returns an event in the form of a stream.
func EventStreamLineOf(e nexus.Event) (EventStreamLine, error) {
	kind, data, err := nexus.EncodeFact(e.Fact)
	return EventStreamLine{e.Seq, e.Run, e.At.UTC(), kind, data, e.Hash}, err
}

// IsAboutTask reports whether a fact is about a task, one of its attempts or one
// of their sessions.
func IsAboutTask(f nexus.Fact, id nexus.TaskID) bool {
	about, _ := DescribeFact(f)
	rest, ok := strings.CutPrefix(about, string(id))
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '/')
}

// FirstLine returns the first line of a program's output, made safe.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return EscapeForTerminal(line)
}

// DrawDiff draws a diff for a terminal. Its content comes from agents, so control characters are
// escaped.
func DrawDiff(s OutputStyle, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, returns := strings.CutSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line = EscapeLinesForTerminal(line); returns {
			line += `\r` // a change of line ends would be invisible otherwise
		}
		switch {
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "index "):
			line = s.Bold(line)
		case strings.HasPrefix(line, "@@"):
			line = s.Busy(line)
		case strings.HasPrefix(line, "+"):
			line = s.Good(line)
		case strings.HasPrefix(line, "-"):
			line = s.Bad(line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
