package flaky

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// QuarantineCode is the code of findings about quarantined tests, and QuarantineGate the name
// of the gate that judges the record itself.
const (
	QuarantineCode = "quarantined"
	QuarantineGate = "quarantine"
)

// DatedQuarantine is the quarantine on a day. The zero value is empty.
type DatedQuarantine struct {
	List QuarantineList
	Day  QuarantineDay
}

// ApplyQuarantine returns a gate's evidence without counting failures of quarantined tests. They stay
// in its findings as remarks, and are listed among the flaky tests with the reason. Only a
// failure of the test itself is excluded: a panic, a race or a timeout affects other tests.
// No failure is excluded if the findings were cut, if a criterion needs the test, or if the
// command is itself a criterion.
//
// A failure of a test whose entry has expired counts, and the finding mentions the expiry.
func (r DatedQuarantine) ApplyQuarantine(e nexus.GateEvidence, gate string, wanted func(test string) bool) nexus.GateEvidence {
	cut := slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Code == "more" })
	if len(r.List) == 0 || strings.HasPrefix(gate, nexus.AcceptGate) {
		return e
	}
	for i, x := range e.Flaky { // these failures do not count anyway
		if q, ok := r.List.EntryFor(gate, x.Test, r.Day); ok && q.IsActive(r.Day) && !x.Base {
			e.Flaky = slices.Clone(e.Flaky)
			e.Flaky[i].Quarantine = q.NoteText()
		}
	}
	if e.State != nexus.Fail {
		return e
	}
	found := slices.Clone(e.Findings)
	var spared []string
	open := false // there is a failure that counts
	for i, f := range found {
		q, ok := r.List.EntryFor(gate, f.Test, r.Day)
		switch {
		case ok && q.IsExpired(r.Day):
			found[i].Advice = strings.TrimSpace("Its quarantine ended on " + q.Until.String() + ". " + f.Advice)
		case ok && q.IsActive(r.Day) && !cut && f.Code == "test" && !wanted(f.Test):
			found[i].Severity, found[i].Code, found[i].Advice = nexus.Minor, QuarantineCode, "In quarantine "+q.NoteText()+"."
			if !slices.Contains(spared, f.Test) {
				spared = append(spared, f.Test)
				e.Flaky = append(slices.Clip(e.Flaky), nexus.FlakyTestCount{Test: f.Test, Failed: 1, Runs: 1, Quarantine: q.NoteText()})
			}
			continue
		}
		if f.Severity != nexus.Minor && f.Severity != nexus.Suggestion {
			open = true
		}
	}
	e.Findings = found
	if len(spared) == 0 {
		return e
	}
	why := "in quarantine: " + strings.Join(spared, ", ")
	if e.Why != "" {
		why = e.Why + "; " + why
	}
	e.Why = why
	if !open {
		e.State = nexus.Pass
	}
	return e
}

// CheckEntries judges the record itself: it returns findings for expired entries, and for
// entries without an existing test. There reports whether a test exists; nil: unknown.
func (r DatedQuarantine) CheckEntries(there func(test string) bool) (found []nexus.Finding) {
	for _, e := range r.List {
		f := nexus.Finding{Gate: QuarantineGate, File: QuarantineFile, Severity: nexus.Minor, Test: e.Test}
		switch {
		case e.IsExpired(r.Day):
			f.Code, f.Message = QuarantineGate+".expired", "its quarantine ended on "+e.Until.String()+": its failure counts"
			f.Advice = "Fix the test, or renew its entry with nexus quarantine remove and add."
		case there != nil && !there(e.Test):
			f.Code, f.Message = QuarantineGate+".unknown", "it is in quarantine, but no test has that name"
			f.Advice = "Remove it with nexus quarantine remove, or write its name as findings do."
		default:
			continue
		}
		found = append(found, f)
	}
	return found
}
