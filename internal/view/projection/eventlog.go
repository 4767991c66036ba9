package projection

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// EventLog returns up to n events after a number, the oldest first; with a negative number, the last
// n. If the projection no longer has them, it reads the run again, and an error means that this
// failed.
func (p *RunProjection) EventLog(after int64, n int) ([]EventLogLine, error) {
	lines := []EventLogLine{}
	last := p.trail.last
	if after < 0 && (len(last) >= n || p.trail.from == 0) {
		for _, e := range last[max(0, len(last)-n):] {
			lines = append(lines, p.logLine(e))
		}
		return lines, nil
	}
	if after < p.trail.from && p.o.Past != nil {
		return p.rereadLines(max(after, 0), n, after < 0)
	}
	for _, e := range last {
		if e.Seq > after && len(lines) < n {
			lines = append(lines, p.logLine(e))
		}
	}
	return lines, nil
}

// rereadLines reads past lines: the first n, or the last.
func (p *RunProjection) rereadLines(after int64, n int, tail bool) ([]EventLogLine, error) {
	lines := []EventLogLine{}
	for e, err := range p.o.Past(after) {
		if err != nil {
			return nil, err
		}
		if e.Seq > p.state.Seq || !tail && len(lines) >= n {
			break
		}
		if lines = append(lines, p.logLine(e)); len(lines) > 2*n {
			lines = append(lines[:0], lines[len(lines)-n:]...)
		}
	}
	return lines[max(0, len(lines)-n):], nil
}

func (p *RunProjection) logLine(e nexus.Event) EventLogLine {
	about, text := view.DescribeFact(e.Fact)
	return EventLogLine{
		Seq: e.Seq, At: e.At, Kind: nexus.FactKind(e.Fact), Task: p.taskAbout(about), Bad: view.IsBadNews(e.Fact),
		About: view.EscapeForTerminal(about), Text: view.EscapeForTerminal(text), Event: e,
	}
}

// taskAbout returns the task of a line, empty for none.
func (p *RunProjection) taskAbout(about string) nexus.TaskID {
	if p.state.TaskByID(nexus.TaskID(about)) != nil {
		return nexus.TaskID(about)
	}
	return p.taskOf(about)
}
