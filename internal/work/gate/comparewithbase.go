package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// CompareWithBase compares a gate's result with its result on the base: only regressions count.
// Two findings are the same when gate, code, file, test and message agree; lines, addresses
// and durations may differ. If nothing is new, the gate has passed, and Why lists the earlier
// findings.
//
// Tests that are named in wants must pass, whatever their result on the base. If a gate passes
// and fewer tests ran, a finding reports that, which is no failure: the author must explain
// it.
func CompareWithBase(base, now nexus.GateEvidence, wants []string) nexus.GateEvidence {
	e := compareWithBase(base, now, wants)
	was, is := base.Counts.Passed+base.Counts.Failed, e.Counts.Passed+e.Counts.Failed
	if e.State == nexus.Pass && base.Gate == e.Gate && base.Tree != "" && is < was {
		e.Findings = append(slices.Clone(e.Findings), nexus.Finding{
			Gate: e.Gate, Severity: nexus.Minor, Code: parserbase.CodeFewer,
			Message: fmt.Sprintf("fewer tests ran than on the base: %d, not %d", is, was),
		})
	}
	return e
}

func compareWithBase(base, now nexus.GateEvidence, wants []string) nexus.GateEvidence {
	if base.Gate != now.Gate || base.Tree == "" {
		base = nexus.GateEvidence{} // there were no earlier results
	}
	if now.State == nexus.NotRun && hasNoTestsReason(now) && base.State == nexus.Fail && hasNoTestsReason(base) {
		base.State = nexus.NotRun // earlier versions had another word for it
	}
	if e, ok := markGateNotRun(base, now); ok {
		return e
	}
	switch {
	case isToolMissing(now) && isToolMissing(base): // the work is not at fault
		now.State, now.Findings = nexus.NotRun, nil // the base's result reports it once
		return now
	case changedCheckedFiles(now) && changedCheckedFiles(base) && !slices.ContainsFunc(now.Findings, func(f nexus.Finding) bool {
		return !slices.ContainsFunc(base.Findings, func(b nexus.Finding) bool { return b.File == f.File })
	}): // its command judges nothing, and the work is not the cause
		now.State, now.Why = nexus.NotRun, now.Why+", also on the base"
		return now
	// the work is not the cause
	case now.State == nexus.Exceeded && base.State == nexus.Exceeded && now.Over == base.Over:
		now.State, now.Why = nexus.Environmental, now.Why+", also on the base: raise the bound"
		return now
	case base.HasHung() && now.HasHung():
		return compareHanging(base, now, wants)
	case now.State == nexus.Environmental && base.State == nexus.Pass && slices.ContainsFunc(now.Findings, mayConcernTree):
		now.State, now.Why = nexus.Fail, "it passes on the base: "+now.Why
		return now
	case now.State == nexus.NotRun && (base.State == nexus.Pass || base.State == nexus.Fail || base.State == nexus.Unverifiable && base.Exit == 0 && now.Exit != 0):
		now.State, now.Why = nexus.Fail, strings.TrimSuffix("it runs on the base but not now: "+now.Why, ": ")
		return now
	case now.State == nexus.NotRun && base.State == nexus.NotRun && hasNoTestsReason(now):
		return compareWithoutTests(base, now, wants)
	case now.State != nexus.Fail || base.State != nexus.Fail && len(now.Flaky) == 0:
		return now
	case exceedsFindingLimit(base) || exceedsFindingLimit(now):
		now.Why = "too many findings to tell which were there before"
		return now
	}
	w := compareFindings(base, now, wants)
	var why []string
	if n := len(w.flaky); n > 0 {
		why = append(why, fmt.Sprintf("flaky: %s", strings.Join(w.flaky, ", ")))
	}
	switch {
	case len(w.fresh) > 0 && len(w.old) > 0:
		why = append(why, baseFindingsNote(len(w.old), "more "))
	case len(w.fresh) == 0 && len(w.old) > 0 && hasUnrunTests(base, now):
		now.State, why = nexus.Unverifiable, []string{"no test runs, also on the base: " + firstFinding(now.Findings)}
	case len(w.fresh) == 0 && len(w.old) > 0:
		now.State = nexus.Pass
		why = append(why, baseFindingsNote(len(w.old), "")+": "+firstFinding(now.Findings))
	case len(w.fresh) == 0 && len(w.flaky) > 0:
		now.State = nexus.Pass
	}
	if len(why) > 0 {
		now.Why = strings.Join(why, "; ")
	}
	now.Findings, now.Old = w.fresh, w.old
	return now
}

// baseFindingsNote describes the number of findings that do not count against the work.
func baseFindingsNote(n int, more string) string {
	if n == 1 {
		return "1 " + more + "finding that is also on the base"
	}
	return fmt.Sprintf("%d %sfindings that are also on the base", n, more)
}

// hasNoTestsReason reports whether a gate's findings state why none of its tests ran.
func hasNoTestsReason(e nexus.GateEvidence) bool {
	return parserbase.NoTestsReason(e.Findings, e.Counts) != ""
}

// compareWithoutTests compares a gate that ran no test and did not on the base either: that is no
// pass, and no failure of the work. Findings that the base did not have count against the
// work: its own tests that cannot be loaded, for example.
func compareWithoutTests(base, now nexus.GateEvidence, wants []string) nexus.GateEvidence {
	w := compareFindings(base, now, wants)
	if len(w.fresh) == 0 {
		now.Why += ", also on the base"
		return now
	}
	now.State, now.Findings = nexus.Fail, w.fresh
	return now
}

// exceedsFindingLimit reports whether a gate has more findings than are compared.
func exceedsFindingLimit(e nexus.GateEvidence) bool {
	return slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Code == parserbase.CodeMore })
}

func isHangFinding(f nexus.Finding) bool { return f.Code == parserbase.CodeHang }

// compareHanging compares a gate that does not end and did not on the base either: that alone
// does not count. It got worse if the tests ended before and do not now, if a wanted test was
// running, or if an open handle is new.
func compareHanging(base, now nexus.GateEvidence, wants []string) nexus.GateEvidence {
	meant := accept.ParseMentions(wants).ResolvePlaces(base.Findings)
	switch {
	case now.State == nexus.Timeout && base.State != nexus.Timeout:
		return now
	case slices.ContainsFunc(now.Findings, func(f nexus.Finding) bool { return f.Test != "" && meant.MatchesFinding(f) }):
		return now
	}
	fresh := slices.DeleteFunc(slices.Clone(now.Findings), func(f nexus.Finding) bool {
		return !isHangFinding(f) || f.File == "" || slices.ContainsFunc(base.Findings, func(b nexus.Finding) bool { return isHangFinding(b) && b.File == f.File })
	})
	if base.State == nexus.Environmental && len(fresh) > 0 {
		now.State, now.Findings, now.Why = nexus.Fail, fresh, "nothing in these files kept the runner from exiting on the base: "+now.Why
		return now
	}
	now.Hangs, now.Why = true, now.Why+", also on the base"
	return now
}

// mayConcernTree reports whether an environmental finding is about something that the work may have
// changed.
func mayConcernTree(f nexus.Finding) bool {
	return f.File != "" || f.Code == parserbase.CodeExit || f.Code == parserbase.CodeMissing || f.Code == parserbase.CodeHang
}

// hasUnrunTests reports whether planned tests did not run: their results are not known to be the
// same.
func hasUnrunTests(base, now nexus.GateEvidence) bool {
	fewer := now.Counts.Passed < base.Counts.Passed && now.Counts.Passed+now.Counts.Failed == 0
	none := base.Counts == (nexus.TestCounts{}) && now.Counts == (nexus.TestCounts{}) ||
		base.Counts.Passed == 0 && now.Counts.Passed == 0 && len(now.Findings) > 0 && !slices.ContainsFunc(now.Findings, isNotCompileError)
	return fewer || none && strings.Contains(now.Command, "test")
}

// isNotCompileError reports whether a test runner's finding is about more than an unreadable file:
// some runners count such a file as a failed test.
func isNotCompileError(f nexus.Finding) bool { return f.Code != parserbase.CodeCompile }

// baselineComparison is the comparison of findings with those of a base.
type baselineComparison struct {
	fresh []nexus.Finding
	old   []string
	flaky []string
}

// compareFindings separates findings into new ones, each as often as it became more frequent,
// those of the base, and those of flaky tests.
func compareFindings(base, now nexus.GateEvidence, wants []string) baselineComparison {
	// the messages of its tests can be compared
	_, told := gosource.ParseGoTestCommand(strings.Fields(now.Command))
	before := map[nexus.Finding][]nexus.Finding{}
	for _, f := range base.Findings {
		before[findingKey(f)] = append(before[findingKey(f)], f)
	}
	meant := accept.ParseMentions(wants).ResolvePlaces(base.Findings)
	var w baselineComparison
	var open []nexus.Finding
	for _, f := range now.Findings {
		k := findingKey(f)
		at := -1
		if f.Test == "" && f.Line > 0 && !meant.MatchesFinding(f) {
			at = slices.IndexFunc(before[k], func(b nexus.Finding) bool { return b.Line == f.Line })
		}
		if at < 0 {
			open = append(open, f)
			continue
		}
		before[k] = slices.Delete(before[k], at, at+1) // the same finding in the same place
		w.old = append(w.old, accept.FindingLabel(f))
	}
	for _, f := range open {
		k := findingKey(f)
		i := slices.IndexFunc(now.Flaky, func(x nexus.FlakyTestCount) bool { return x.Test == f.Test })
		switch {
		case meant.MatchesFinding(f), len(before[k]) > 0 && meant.MatchesFinding(before[k][0]):
			w.fresh = append(w.fresh, f)
		case f.Test != "" && i >= 0:
			w.flaky = append(w.flaky, fmt.Sprintf("%s failed in %d of %d runs", f.Test, now.Flaky[i].Failed, now.Flaky[i].Runs))
		case f.Test != "" && slices.Contains(now.Unsure, f.Test):
			w.old = append(w.old, accept.FindingLabel(f))
		case len(before[k]) > 0 && (f.Test == "" || !told || !failsDifferently(before[k][0], f)):
			before[k] = before[k][1:]
			w.old = append(w.old, accept.FindingLabel(f))
		default:
			w.fresh = append(w.fresh, f)
		}
	}
	return w
}

// failsDifferently reports whether a test that failed before now fails with another message.
func failsDifferently(base, now nexus.Finding) bool {
	was, all := splitFailureMessage(base)
	is, _ := splitFailureMessage(now)
	return all && len(is.difference(was)) > 0
}

// findingKey returns the fields of a finding that identify it. A failing test is the same,
// whatever its message; see [failsDifferently].
func findingKey(f nexus.Finding) nexus.Finding {
	k := nexus.Finding{Gate: f.Gate, Code: f.Code, File: f.File, Test: f.Test, Message: normaliseMessage(f.Message)}
	if f.Test != "" {
		k.File, k.Message = "", ""
	}
	return k
}

// Parts of messages that differ from run to run, or with the lines above.
var (
	addresses  = regexp.MustCompile(`0x[0-9a-fA-F]+`)
	durations  = regexp.MustCompile(`\b\d+(?:\.\d+)?(?:ns|us|ms|s|m|h)\b`)
	places     = regexp.MustCompile(`(\.[A-Za-z]+):\d+(?::\d+)?`)
	lineWords  = regexp.MustCompile(`\b([Ll]ines?) \d+(?:[:-]\d+)?\b`)
	goroutines = regexp.MustCompile(`\bgoroutine \d+\b`)
	temporary  = regexp.MustCompile(`/tmp/[^\s:"']+`)
	blanks     = regexp.MustCompile(`\s+`)
)

// normaliseMessage removes the parts of a message that differ from run to run.
func normaliseMessage(s string) string {
	s = durations.ReplaceAllString(addresses.ReplaceAllString(s, "0x"), "0s")
	s = lineWords.ReplaceAllString(places.ReplaceAllString(s, "$1:"), "$1")
	s = temporary.ReplaceAllString(goroutines.ReplaceAllString(s, "goroutine"), "/tmp")
	return strings.TrimSpace(blanks.ReplaceAllString(s, " "))
}

func firstFinding(all []nexus.Finding) string {
	if len(all) == 0 {
		return ""
	}
	f := all[0]
	text, _, _ := strings.Cut(f.Message, "\n")
	switch {
	case f.Test != "":
		return f.Test
	case f.File != "":
		return f.File + ": " + text
	default:
		return text
	}
}

// changedCheckedFiles reports whether a gate changed files that it should only read.
func changedCheckedFiles(e nexus.GateEvidence) bool {
	return slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Code == parserbase.CodeRewrote })
}

// isToolMissing reports whether a gate could not run because its tool is missing.
func isToolMissing(e nexus.GateEvidence) bool {
	return e.State == nexus.Environmental && slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Code == parserbase.CodeMissing })
}

// namesTestOrAll reports whether one of the texts names a test, or refers to all failing tests.
func namesTestOrAll(test string, texts []string) bool {
	return accept.ParseMentions(texts).MatchesFinding(nexus.Finding{Test: test})
}
