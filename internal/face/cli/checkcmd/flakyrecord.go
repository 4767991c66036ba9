package checkcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// flakyRecord is the quarantine record that a tree is judged with.
type flakyRecord struct {
	flaky.DatedQuarantine
	Broken error // why the record cannot be read and excuses no test
}

// readFlaky reads the record of a directory, or, if a change is judged, of its base: a change
// cannot excuse its own failures.
func readFlaky(ctx context.Context, dir, base string, now time.Time) (flakyRecord, error) {
	s := flakyRecord{DatedQuarantine: flaky.DatedQuarantine{Day: flaky.DayOf(now)}}
	var err error
	if base == "" {
		s.List, err = gate.ReadQuarantineIn(dir)
	} else {
		var repo git.Repo
		if repo, err = git.FindRepo(ctx, dir); err != nil {
			return s, err
		}
		commit, err2 := repo.Resolve(ctx, base)
		if err2 != nil {
			return s, err2
		}
		s.List, err = gate.ReadQuarantineAt(ctx, repo, commit)
	}
	if errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}) {
		s.Broken, err = err, nil
	}
	return s, err
}

// addRecordNotes appends findings about the record itself, if tests ran.
func (s flakyRecord) addRecordNotes(dir string, all []nexus.GateEvidence) []nexus.GateEvidence {
	ran := slices.ContainsFunc(all, func(e nexus.GateEvidence) bool { return e.Counts != (nexus.TestCounts{}) })
	e := nexus.GateEvidence{Gate: flaky.QuarantineGate, State: nexus.Pass, Tree: workingTree}
	switch {
	case !ran:
		return all
	case s.Broken != nil:
		e.State = nexus.Fail
		e.Findings = []nexus.Finding{{Gate: flaky.QuarantineGate, File: flaky.QuarantineFile, Code: flaky.QuarantineGate + ".broken", Message: s.Broken.Error()}}
	case len(s.List) > 0:
		e.Findings = s.CheckEntries(gate.TestLookupIn(dir))
	}
	if len(e.Findings) == 0 {
		return all
	}
	return append(all, e)
}

// findingsAlsoOnBase returns the findings that a gate also has on the base: those that the comparison
// removed, without those of flaky tests.
func findingsAlsoOnBase(raw, weighed nexus.GateEvidence) []nexus.Finding {
	return slices.DeleteFunc(slices.Clone(raw.Findings), func(f nexus.Finding) bool {
		return slices.ContainsFunc(weighed.Findings, func(x nexus.Finding) bool {
			return x.File == f.File && x.Line == f.Line && x.Column == f.Column && x.Test == f.Test && x.Code == f.Code
		}) || slices.ContainsFunc(weighed.Flaky, func(x nexus.FlakyTestCount) bool { return x.Test == f.Test })
	})
}

// markFlaky marks a gate as flaky if its tests failed, passed when they ran again, and there is no
// base to compare with. Failures of quarantined tests leave the gate unchanged.
func markFlaky(e nexus.GateEvidence, base string) nexus.GateEvidence {
	if base != "" || !strings.HasPrefix(e.Why, "flaky: ") {
		// It was compared with a base, or the tool repeated the tests itself, as the project
		// configures it.
		return e
	}
	for _, x := range e.Flaky {
		if x.Quarantine != "" {
			continue
		}
		if e.State == nexus.Pass && x.Runs > 1 {
			e.State = nexus.Flaky
		}
		e.Findings = append(slices.Clip(e.Findings), nexus.Finding{
			Gate: e.Gate, Severity: nexus.Minor, Code: parserbase.CodeFlaky, Test: x.Test,
			Message: fmt.Sprintf("failed in %d of %d runs on this tree", x.Failed, x.Runs),
			Advice:  "Fix it, or quarantine it: nexus quarantine add.",
		})
	}
	return e
}
