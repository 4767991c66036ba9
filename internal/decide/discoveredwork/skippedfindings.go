package discoveredwork

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// SkipReason is the rule because of which a finding is skipped.
type SkipReason string

// Values of Rule.
const (
	Rejected    SkipReason = "rejected"    // a person rejected it, with a reason
	InWork      SkipReason = "in work"     // a run is working on it, or is about to
	Quarantined SkipReason = "quarantined" // people have quarantined its test for now
	FailedTwice SkipReason = "failed"      // it was tried twice, and nothing has changed since
	Unread      SkipReason = "unread"      // the file with people's decisions cannot be read
	NoFinding   SkipReason = "no finding"  // its check passes, or could not be run
)

// SkippedFinding is a finding that is skipped, with the reason.
type SkippedFinding struct {
	RankedFinding

	Rule SkipReason `json:"rule"`
	Say  string     `json:"say"` // reason, with person and time; for a rejected finding, that person's words
}

// ReasonText returns the reason in words, for readers who do not see the rule.
func (l SkippedFinding) ReasonText() string {
	if l.Rule == Rejected {
		return "rejected: " + l.Say
	}
	return l.Say
}

// BacklogDecisions are people's decisions.
type BacklogDecisions struct {
	Items      []backlogitem.BacklogItem // of the backlog
	Unread     map[string]string         // backlog files that cannot be read, with reasons, by finding
	Quarantine flaky.DatedQuarantine
}

// tries is the number of failures after which a finding waits for new facts.
const tries = 2

// BacklogItemOf returns the backlog item that was made from a finding, or that rejects it.
func (r BacklogDecisions) BacklogItemOf(id string) (backlogitem.BacklogItem, bool) {
	for _, i := range r.Items {
		if i.Finding == id {
			return i, true
		}
	}
	return backlogitem.BacklogItem{}, false
}

// PartitionFindings separates findings that may be worked on from those that may not, each in their
// order.
func PartitionFindings(all []RankedFinding, r BacklogDecisions, w RankingInput) (open []RankedFinding, left []SkippedFinding) {
	for _, f := range all {
		if rule, say := r.skipRule(f.WorkFinding, w); rule != "" {
			left = append(left, SkippedFinding{f, rule, say})
			continue
		}
		open = append(open, f)
	}
	return open, left
}

// skipRule returns the rule because of which a finding is skipped, or "".
func (r BacklogDecisions) skipRule(f WorkFinding, w RankingInput) (SkipReason, string) {
	item, kept := r.BacklogItemOf(f.ID)
	past := w.Past.Findings[f.ID]
	switch {
	case kept && item.State == backlogitem.Rejected:
		return Rejected, item.Reason
	case r.Unread[f.ID] != "":
		return Unread, "the decision about it is unknown: " + r.Unread[f.ID]
	case !f.IsOpen():
		return NoFinding, f.dismissalReason()
	case kept && (item.State == backlogitem.Active || item.State == backlogitem.Queued):
		return InWork, fmt.Sprintf("item %s is %s in run %s", item.ID, item.State, item.Run)
	case past.Active:
		return InWork, fmt.Sprintf("run %s works on it", past.Run)
	}
	if f.Test != "" {
		if e, ok := r.Quarantine.List.EntryFor("", f.Test, r.Quarantine.Day); ok && e.IsActive(r.Quarantine.Day) {
			return Quarantined, e.NoteText()
		}
	}
	if past.Failed >= tries && !w.changedSince(f, past) {
		return FailedTwice, fmt.Sprintf("it was tried %s, last in run %s, and none of its files has changed since", timesText(past.Failed), past.Run)
	}
	return "", ""
}

// dismissalReason returns why it is not a finding.
func (f WorkFinding) dismissalReason() string {
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
func (w RankingInput) changedSince(f WorkFinding, past PastWorkResult) bool {
	failed := past.Last.Truncate(time.Second)
	for _, file := range f.FilePaths() {
		if last := w.Changes[file].Last; !last.IsZero() && !last.Before(failed) {
			return true
		}
	}
	return false
}

// ToItem returns the backlog item for a finding.
func (f WorkFinding) ToItem() backlogitem.BacklogItem {
	files := f.FilePaths()
	item := backlogitem.BacklogItem{
		Title: sanitize.TruncateText(f.Title, 100), Text: f.TaskBrief(), State: backlogitem.Waiting, Priority: f.Severity,
		Files: files[:min(len(files), 20)], Check: f.Check, Finding: f.ID,
	}
	if kind := f.TaskKind(); kind != "" && kind != "code" {
		item.Kind = kind
	}
	return item
}
