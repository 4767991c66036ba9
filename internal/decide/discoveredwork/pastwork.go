package discoveredwork

import (
	"regexp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PastWorkResult is the result of earlier work on a finding or for a strategy.
type PastWorkResult struct {
	Landed int         `json:"landed"`
	Failed int         `json:"failed"`          // number that failed or were parked
	Last   time.Time   `json:"last,omitzero"`   // time of the last failure
	Run    nexus.RunID `json:"run,omitzero"`    // the last run that worked on it
	Active bool        `json:"active,omitzero"` // that run's work on it has not ended
	Spent  nexus.Money `json:"spent,omitzero"`  // by all that worked on it
}

// failedPastWork is a piece of work that failed, with place and time.
type failedPastWork struct {
	dir string
	at  time.Time
}

// PastWorkRecord records the results of earlier work on findings. The zero value is empty.
type PastWorkRecord struct {
	Findings   map[string]PastWorkResult // by ID
	Strategies map[string]PastWorkResult // by name

	failures []failedPastWork
}

// named matches the ID of a finding in a task's text; see [WorkFinding.TaskBrief].
var named = regexp.MustCompile(regexp.QuoteMeta(foundAs) + `([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)\.(?:\s|$)`)

// IDInText returns the ID of the finding from which a text was made, or "".
func IDInText(text string) string {
	all := named.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// SummarizePastWork summarizes runs, given oldest first.
func SummarizePastWork(runs []*state.State) PastWorkRecord {
	p := PastWorkRecord{Findings: map[string]PastWorkResult{}, Strategies: map[string]PastWorkResult{}}
	for _, s := range runs {
		for _, t := range s.Tasks {
			if !t.IsTakenOver() {
				p.addTaskResult(s, t)
			}
		}
	}
	return p
}

// addTaskResult adds the result of a task.
func (p *PastWorkRecord) addTaskResult(s *state.State, t *state.TaskState) {
	failed := (t.Status == nexus.Failed || t.Status == nexus.Parked) && !t.FailedOnlyByMachine()
	if failed {
		for _, file := range t.Files {
			p.failures = append(p.failures, failedPastWork{directoryOf(file), t.Ended})
		}
	}
	id := IDInText(t.Brief)
	if id == "" {
		return
	}
	strategy, _, _ := strings.Cut(id, "/")
	f, of := p.Findings[id], p.Strategies[strategy]
	f.Spent, of.Spent = f.Spent+t.Spent, of.Spent+t.Spent
	f.Run, f.Active = s.Run, !s.Status.HasEnded() && !t.Status.HasEnded()
	switch {
	case t.Status == nexus.Landed:
		f.Landed, of.Landed = f.Landed+1, of.Landed+1
	case failed:
		f.Failed, of.Failed = f.Failed+1, of.Failed+1
		f.Last = t.Ended
		if f.Last.IsZero() {
			f.Last = s.Updated
		}
	}
	p.Findings[id], p.Strategies[strategy] = f, of
}

// failedIn returns the number of pieces of work that failed in a directory since a time.
func (p PastWorkRecord) failedIn(dir string, since time.Time) int {
	n := 0
	for _, f := range p.failures {
		if f.dir == dir && f.at.After(since) {
			n++
		}
	}
	return n
}
