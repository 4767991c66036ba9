package finding

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/decide/workitem"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Rule is why nobody takes up a finding.
type Rule string

// The rules.
const (
	Rejected    Rule = "rejected"    // a person said no, and why
	InWork      Rule = "in work"     // a run works on it, or is about to
	Quarantined Rule = "quarantined" // people let the failure of its test not count for now
	FailedTwice Rule = "failed"      // it was tried twice, and nothing is new since
	Unread      Rule = "unread"      // the file that says what people decided cannot be read
	NoFinding   Rule = "no finding"  // its check passes, or could not be tried
)

// SkippedFinding is a finding that nobody takes up, and why.
type SkippedFinding struct {
	Ranked

	Rule Rule   `json:"rule"`
	Say  string `json:"say"` // why it holds, with who and when; of what a person rejected, that person's words
}

// Words says why nobody takes it up, for who is not told the rule.
func (l SkippedFinding) Words() string {
	if l.Rule == Rejected {
		return "rejected: " + l.Say
	}
	return l.Say
}

// Rules are what people decided.
type Rules struct {
	Items      []workitem.Item   // of the backlog
	Unread     map[string]string // files of the backlog that cannot be read, by the finding that they are about, with why
	Quarantine flaky.QuarantineOn
}

// tries is how often something may fail before it waits for new facts.
const tries = 2

// Item returns the item of the backlog that was made of a finding, or that says no to it.
func (r Rules) Item(id string) (workitem.Item, bool) {
	for _, i := range r.Items {
		if i.Finding == id {
			return i, true
		}
	}
	return workitem.Item{}, false
}

// Partition parts what may be taken up from what may not be, each in the order that it had.
func Partition(all []Ranked, r Rules, w RankFacts) (open []Ranked, left []SkippedFinding) {
	for _, f := range all {
		if rule, say := r.skipRule(f.Finding, w); rule != "" {
			left = append(left, SkippedFinding{f, rule, say})
			continue
		}
		open = append(open, f)
	}
	return open, left
}

// skipRule returns the rule that keeps a finding from being taken up.
func (r Rules) skipRule(f Finding, w RankFacts) (Rule, string) {
	item, kept := r.Item(f.ID)
	past := w.Past.Findings[f.ID]
	switch {
	case kept && item.State == workitem.Rejected:
		return Rejected, item.Reason
	case r.Unread[f.ID] != "":
		return Unread, "the decision about it is unknown: " + r.Unread[f.ID]
	case !f.Open():
		return NoFinding, f.why()
	case kept && (item.State == workitem.Active || item.State == workitem.Queued):
		return InWork, fmt.Sprintf("item %s is %s in run %s", item.ID, item.State, item.Run)
	case past.Active:
		return InWork, fmt.Sprintf("run %s works on it", past.Run)
	}
	if f.Test != "" {
		if e, ok := r.Quarantine.List.Of("", f.Test, r.Quarantine.Day); ok && e.Active(r.Quarantine.Day) {
			return Quarantined, e.Note()
		}
	}
	if past.Failed >= tries && !w.changedSince(f, past) {
		return FailedTwice, fmt.Sprintf("it was tried %s, last in run %s, and none of its files has changed since", times(past.Failed), past.Run)
	}
	return "", ""
}

// why says why a finding is none.
func (f Finding) why() string {
	switch {
	case f.No != "":
		return f.No
	case f.State == "":
		return "its check was not tried"
	}
	return fmt.Sprintf("its check gave no usable result (%s)", f.State)
}

// changedSince reports whether something about a finding is new since it failed last: one
// of its files was changed by a later commit. Git tells seconds alone: a commit of the same one is later.
func (w RankFacts) changedSince(f Finding, past WorkRecord) bool {
	failed := past.Last.Truncate(time.Second)
	for _, file := range f.Files() {
		if last := w.Changes[file].Last; !last.IsZero() && !last.Before(failed) {
			return true
		}
	}
	return false
}

// Item returns what the backlog keeps of a finding.
func (f Finding) Item() workitem.Item {
	files := f.Files()
	item := workitem.Item{
		Title: sanitize.Cut(f.Title, 100), Text: f.Brief(), State: workitem.Waiting, Priority: f.Severity,
		Files: files[:min(len(files), 20)], Check: f.Check, Finding: f.ID,
	}
	if kind := f.Task(); kind != "" && kind != "code" {
		item.Kind = kind
	}
	return item
}
