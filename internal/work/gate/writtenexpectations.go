package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// WrittenFiles are the files of a tree that a gate wrote, without ignored ones.
type WrittenFiles struct {
	Changed []string // changed or deleted files of the tree
	Added   []string // files that the tree does not have
}

// mayCompareExpectations reports whether a gate may run tests that compare with stored
// expectations.
func (g QualityGate) mayCompareExpectations() bool {
	return !g.Reads && (g.Tests || isCriterionGate(g))
}

// withCIVariable adds the variable CI, if gates should have it.
func (r GateRunner) withCIVariable(env []string) []string {
	if !r.CI || slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "CI=") }) {
		return env
	}
	return append(slices.Clone(env), "CI=true")
}

// writtenExpectations returns the written files that tests compare with: stored expectations,
// recognised by their names, and tests themselves, in which some runners store them.
func (w WrittenFiles) writtenExpectations() []string {
	var all []string
	for _, name := range w.Added {
		if stack.IsSnapshotOrGoldenFile(name) {
			all = append(all, name)
		}
	}
	for _, name := range w.Changed {
		if stack.IsSnapshotOrGoldenFile(name) || stack.IsTest(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// rejectRecordedExpectations fails a gate whose tests wrote their own expectations: any result would have
// passed.
func rejectRecordedExpectations(e nexus.GateEvidence, written WrittenFiles, res sandbox.Result) nexus.GateEvidence {
	files := written.writtenExpectations()
	line := stack.RecordedExpectations(string(res.Stdout) + "\n" + string(res.Stderr))
	if len(files) == 0 && line == "" || e.State == nexus.Timeout || e.State == nexus.Exceeded {
		return e
	}
	what := fmt.Sprintf("%q", line)
	if len(files) > 0 {
		what = pluralCount(len(files), "file") + " that tests compare with"
	}
	if e.State == nexus.Pass || e.State == nexus.Unverifiable {
		e.State, e.Why = nexus.Fail, "its tests wrote what they expect ("+what+"), so that they pass with any result"
	}
	const advice = "Run the test command in your worktree, check that what it writes is right, and keep the file: it is part of the change. " +
		"If the command has a flag that updates expectations, remove it."
	e.Findings = slices.Clone(e.Findings)
	for _, name := range files[:min(len(files), mostRewritten)] {
		e.Findings = append(e.Findings, nexus.Finding{
			Gate: e.Gate, File: name, Severity: nexus.Major, Code: parserbase.CodeRecorded,
			Message: "the tests wrote this file themselves while they ran: what they compare with is not in the tree", Advice: advice,
		})
	}
	if len(files) == 0 {
		e.Findings = append(e.Findings, nexus.Finding{
			Gate: e.Gate, Severity: nexus.Major, Code: parserbase.CodeRecorded,
			Message: fmt.Sprintf("the tests wrote what they compare with: %s", line), Advice: advice,
		})
	}
	return e
}
