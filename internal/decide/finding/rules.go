package finding

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/decide/workitem"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Rule is the rule because of which a finding is skipped.
type Rule string

// Values of Rule.
const (
	Rejected    Rule = "rejected"    // a person rejected it, with a reason
	InWork      Rule = "in work"     // a run is working on it, or is about to
	Quarantined Rule = "quarantined" // people have quarantined its test for now
	FailedTwice Rule = "failed"      // it was tried twice, and nothing has changed since
	Unread      Rule = "unread"      // the file with people's decisions cannot be read
	NoFinding   Rule = "no finding"  // its check passes, or could not be run
)

// SkippedFinding is a finding that is skipped, with the reason.
type SkippedFinding struct {
	Ranked

	Rule Rule   `json:"rule"`
	Say  string `json:"say"` // reason, with person and time; for a rejected finding, that person's words
}

// Words returns the reason in words, for readers who do not see the rule.
func (l SkippedFinding) Words() string {
	if l.Rule == Rejected {
		return "rejected: " + l.Say
	}
	return l.Say
}

// Rules are people's decisions.
type Rules struct {
	Items      []workitem.Item   // of the backlog
	Unread     map[string]string // backlog files that cannot be read, with reasons, by finding
	Quarantine flaky.QuarantineOn
}

// tries is the number of failures after which a finding waits for new facts.
const tries = 2

// Item returns the backlog item that was made from a finding, or that rejects it.
func (r Rules) Item(id string) (workitem.Item, bool) {
	for _, i := range r.Items {
		if i.Finding == id {
			return i, true
		}
	}
	return workitem.Item{}, false
}

// Partition separates findings that may be worked on from those that may not, each in their
// order.
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

// skipRule returns the rule because of which a finding is skipped, or "".
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

// why returns why it is not a finding.
func (f Finding) why() string {
	switch {
	case f.No != "":
		return f.No
	case f.State == "":
		return "its check was not tried"
	}
	return fmt.Sprintf("its check gave no usable result (%s)", f.State)
}

// changedSince reports whether a finding has changed since its last failure: a later commit
// changed one of its files. Git stores whole seconds: a commit in the same second counts as
// later.
func (w RankFacts) changedSince(f Finding, past WorkRecord) bool {
	failed := past.Last.Truncate(time.Second)
	for _, file := range f.Files() {
		if last := w.Changes[file].Last; !last.IsZero() && !last.Before(failed) {
			return true
		}
	}
	return false
}

// Item returns the backlog item for a finding.
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
