package finding

import (
	"regexp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// WorkRecord is what became of the work on something.
type WorkRecord struct {
	Landed int         `json:"landed"`
	Failed int         `json:"failed"`          // failed, or given to a person
	Last   time.Time   `json:"last,omitzero"`   // when it failed last
	Run    nexus.RunID `json:"run,omitzero"`    // that worked on it last
	Active bool        `json:"active,omitzero"` // that run has not ended its work on it
	Spent  nexus.Money `json:"spent,omitzero"`  // by all that worked on it
}

// failure is a piece of work that failed, where and when.
type failure struct {
	dir string
	at  time.Time
}

// PastWork is what became of findings that somebody worked on. The zero Past knows of none.
type PastWork struct {
	Findings   map[string]WorkRecord // by ID
	Strategies map[string]WorkRecord // by name

	failures []failure
}

// named finds the ID of a finding in what a task says; see [Finding.Brief].
var named = pattern.Lazy(regexp.QuoteMeta(foundAs) + `([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)\.(?:\s|$)`)

// IDInText returns the ID of the finding that a text was made of, empty for none.
func IDInText(text string) string {
	all := named().FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// PastOf sums up runs, the oldest first.
func PastOf(runs []*state.State) PastWork {
	p := PastWork{Findings: map[string]WorkRecord{}, Strategies: map[string]WorkRecord{}}
	for _, s := range runs {
		for _, t := range s.Tasks {
			if !t.TakenOver() {
				p.add(s, t)
			}
		}
	}
	return p
}

// add adds what became of a task.
func (p *PastWork) add(s *state.State, t *state.Task) {
	failed := (t.Status == nexus.Failed || t.Status == nexus.Parked) && !t.OnlyBroken()
	if failed {
		for _, file := range t.Files {
			p.failures = append(p.failures, failure{area(file), t.Ended})
		}
	}
	id := IDInText(t.Brief)
	if id == "" {
		return
	}
	strategy, _, _ := strings.Cut(id, "/")
	f, of := p.Findings[id], p.Strategies[strategy]
	f.Spent, of.Spent = f.Spent+t.Spent, of.Spent+t.Spent
	f.Run, f.Active = s.Run, !s.Status.Ended() && !t.Status.Ended()
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

// failedIn returns how many pieces of work failed in a directory since a time.
func (p PastWork) failedIn(dir string, since time.Time) int {
	n := 0
	for _, f := range p.failures {
		if f.dir == dir && f.at.After(since) {
			n++
		}
	}
	return n
}
