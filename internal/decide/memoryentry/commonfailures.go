package memoryentry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const (
	// often is the number of tasks with the same failure from which it counts as common.
	often = 3

	maxMarks = 5_000 // failures of tasks that are compared
)

// LandedTaskFailure is a failure that occurred during a task that landed, in any file.
type LandedTaskFailure struct {
	Signature string      `json:"signature"` // of the gate and the finding, without its file
	Gate      string      `json:"gate"`
	Said      string      `json:"said"` // the finding in one line, as it first occurred
	File      string      `json:"file,omitzero"`
	Title     string      `json:"title"`        // title of the task
	Day       string      `json:"day,omitzero"` // day on which it ended
	Of        EntryOrigin `json:"of"`
}

// LandedTaskFailures returns the failures of a run's landed tasks, each signature once per task.
func LandedTaskFailures(s *state.State) []LandedTaskFailure {
	var all []LandedTaskFailure
	for _, t := range s.Tasks {
		if t.Landed == nil {
			continue
		}
		seen := map[string]bool{}
		for _, r := range judgedRounds(t) {
			for _, e := range r.Evidence {
				found := r.findingsOfRedGate(e.Gate)
				for _, key := range sortedSignatures(found) {
					f := found[key]
					bare := f
					bare.File = ""
					sign := repair.FailureSignature(e.Gate, []nexus.Finding{bare})
					if seen[sign] {
						continue
					}
					seen[sign] = true
					m := LandedTaskFailure{
						Signature: sign, Gate: e.Gate, Said: findingLine(bare), Title: strings.Trim(quoteTitle(t.Title), `"`), Day: DayOf(t.Ended).String(),
						Of: EntryOrigin{Run: s.Run, Task: t.ID, Commit: t.Landed.Commit},
					}
					if f.File != "" && pathFault(f.File) == "" {
						m.File = f.File
					}
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// MergeFailures adds failures to the known ones, the newest last, each signature once per task.
func MergeFailures(known, more []LandedTaskFailure) []LandedTaskFailure {
	for _, m := range more {
		if !slices.ContainsFunc(known, func(o LandedTaskFailure) bool {
			return o.Signature == m.Signature && o.Of.Run == m.Of.Run && o.Of.Task == m.Of.Task
		}) {
			known = append(known, m)
		}
	}
	return known[max(0, len(known)-maxMarks):]
}

// CommonFailureEntries returns an entry for each failure that at least three tasks had: no single task
// shows that it is common.
func CommonFailureEntries(marks []LandedTaskFailure) []MemoryEntry {
	by := map[string][]LandedTaskFailure{}
	var order []string
	for _, m := range marks {
		if by[m.Signature] == nil {
			order = append(order, m.Signature)
		}
		by[m.Signature] = append(by[m.Signature], m)
	}
	var all []MemoryEntry
	for _, sign := range order {
		if of := by[sign]; len(of) >= often {
			all = append(all, failureEntry(sign, of))
		}
	}
	return all
}

func failureEntry(sign string, of []LandedTaskFailure) MemoryEntry {
	first, last := of[0], of[len(of)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "Work here often fails the gate %s at first: %s\n\n", first.Gate, cmp.Or(first.Said, "no message"))
	fmt.Fprintf(&b, "%d tasks met that, and each needed another round for it:\n\n", len(of))
	shown := of[max(0, len(of)-maxNamed):]
	for _, m := range shown {
		fmt.Fprintf(&b, "- \"%s\" (%s %s)%s\n", m.Title, m.Of.Run, m.Of.Task, inFileText(m.File))
	}
	if more := len(of) - len(shown); more > 0 {
		fmt.Fprintf(&b, "- and %d before\n", more)
	}
	b.WriteString("\nLook for it before you submit.\n")
	e := MemoryEntry{Kind: Pattern, State: Proposed, By: ByRun, Text: b.String()}
	if day, err := time.Parse(time.DateOnly, last.Day); err == nil {
		e.Learned = DayOf(day)
	}
	for _, m := range of {
		e.From = append(e.From, m.Of)
	}
	e.From = e.From[max(0, len(e.From)-maxOrigin):]
	e.ID = EntryID(Pattern, "often "+first.Gate+" "+first.Said, sign)
	return e
}

func inFileText(file string) string {
	if file == "" {
		return ""
	}
	return ", in " + file
}
