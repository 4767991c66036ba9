package discover

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/testselection"
)

func findTypeErrors(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	return s.findRedGates(ctx, "type-errors", nexus.PriorityHigh, "Fix %s that the type check reports", "type")
}

func findBuildErrors(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	return s.findRedGates(ctx, "build-errors", nexus.PriorityCritical, "Fix the build: %s", "build")
}

// findRedGates makes one finding of each red gate of a step: a compiler's messages about one
// file follow from another, so that a part cannot be fixed alone.
func (s *SourceTree) findRedGates(ctx context.Context, strategy string, severity nexus.Priority, title, step string) (StrategyResult, error) {
	var found StrategyResult
	gates, err := s.gatesForSteps(ctx, step)
	if err != nil {
		return found, err
	}
	if len(gates) == 0 {
		found.Skipped = "the project has no gate " + step
		return found, nil
	}
	for _, g := range gates {
		e, _, err := s.runGate(ctx, g)
		if err != nil {
			return found, err
		}
		if e.State != nexus.Fail {
			found.Notes = append(found.Notes, inconclusiveReasons(e)...)
			continue
		}
		f := gateFinding(strategy, g, e.Findings)
		f.Severity, f.Kind = severity, discoveredwork.Fix
		f.Title = fmt.Sprintf(title, pluralCount(len(e.Findings), "error"))
		if where := f.FilePaths(); len(where) > 0 {
			f.Title += " in " + joinSome(where, 3)
		}
		found.Findings = append(found.Findings, f)
	}
	return found, nil
}

// inconclusiveReasons returns why a gate that neither passed nor failed is inconclusive.
func inconclusiveReasons(e nexus.GateEvidence) []string {
	if e.State == nexus.Pass || e.State == nexus.Fail {
		return nil
	}
	return []string{fmt.Sprintf("gate %s was not judged (%s): %s", e.Gate, e.State, cmp.Or(e.Why, "no reason is known"))}
}

// gateFinding makes one finding of a red gate's findings, with that gate as its check.
func gateFinding(strategy string, g gate.QualityGate, all []nexus.Finding) discoveredwork.WorkFinding {
	f := discoveredwork.WorkFinding{
		Strategy: strategy, Check: g.Name, State: nexus.Fail, Count: max(len(all), 1),
		Minutes: discoveredwork.EstimateMinutes(strategy, len(all)), Why: "gate " + g.Name + " is red",
	}
	parts := []string{g.Name}
	var evidence []string
	for _, one := range all {
		parts = append(parts, one.File, one.Code, one.Test, discoveredwork.WithoutNumbers(one.Message))
		if one.File != "" {
			f.Places = append(f.Places, discoveredwork.FindingPlace{File: one.File, Line: one.Line})
		}
		if len(evidence) < 5 {
			evidence = append(evidence, formatGateFinding(one))
		}
	}
	f.Places, f.Evidence = f.Places[:min(len(f.Places), 20)], strings.Join(evidence, "\n")
	f.ID = discoveredwork.FindingID(strategy, parts...)
	if len(all) > 0 {
		f.Why += ": " + truncateRunes(formatGateFinding(all[0]), 160)
	}
	return f
}

// formatGateFinding formats a gate's finding as compilers do.
func formatGateFinding(f nexus.Finding) string {
	text := strings.Join(strings.Fields(f.Message), " ")
	if f.Test != "" {
		text = f.Test + ": " + text
	}
	if f.File == "" {
		return truncateRunes(text, 300)
	}
	return truncateRunes(discoveredwork.FindingPlace{File: f.File, Line: f.Line}.String()+": "+text, 300)
}

// findLintIssues makes a finding of each file with lint messages, if the linter can check a single
// file, and one of the whole gate otherwise.
func findLintIssues(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	var found StrategyResult
	gates, err := s.gatesForSteps(ctx, "lint", "format")
	if err != nil {
		return found, err
	}
	if len(gates) == 0 {
		found.Skipped = "the project has no linter that Nexus knows"
		return found, nil
	}
	for _, g := range gates {
		e, printed, err := s.runGate(ctx, g)
		if err != nil {
			return found, err
		}
		if e.State != nexus.Fail {
			found.Notes = append(found.Notes, inconclusiveReasons(e)...)
			continue
		}
		found.Findings = append(found.Findings, lintFindings(g, e, printed)...)
	}
	return found, nil
}

func lintFindings(g gate.QualityGate, e nexus.GateEvidence, printed string) []discoveredwork.WorkFinding {
	byFile := map[string][]nexus.Finding{}
	var files []string
	for _, one := range e.Findings {
		if byFile[one.File] == nil {
			files = append(files, one.File)
		}
		byFile[one.File] = append(byFile[one.File], one)
	}
	slices.Sort(files)
	var all []discoveredwork.WorkFinding
	for _, name := range files {
		f := gateFinding("lint-issues", g, byFile[name])
		f.Kind, f.Severity = discoveredwork.Lint, nexus.PriorityLow
		f.Title = fmt.Sprintf("Fix %s of gate %s in %s", pluralCount(len(byFile[name]), "finding"), g.Name, name)
		if f.Check = lintFileCheckCommand(g, name, printed, e.Exit); f.Check == "" || len(files) == 1 {
			all = nil
			break
		}
		all = append(all, f)
	}
	if all != nil {
		return all
	}
	f := gateFinding("lint-issues", g, e.Findings)
	f.Kind, f.Severity = discoveredwork.Lint, nexus.PriorityLow
	f.Title = fmt.Sprintf("Fix %s of gate %s", pluralCount(len(e.Findings), "finding"), g.Name)
	if where := f.FilePaths(); len(where) > 0 {
		f.Title += " in " + joinSome(where, 3)
	}
	return []discoveredwork.WorkFinding{f}
}

// longestCheck is slightly less than the longest check of an item of the backlog, in bytes.
const longestCheck = 480

// lintFileCheckCommand returns a command that fails as long as a linter names a line of one file: the
// linter itself, whose output is searched for that. It is "" if the linter's output now has no
// positions in that form, or if the linter has another exit code when it breaks than when it
// finds something. The printed output is that of the command, so the check is red.
func lintFileCheckCommand(g gate.QualityGate, name, printed string, exit int) string {
	if !isSafeInCheck(name) || exit > 1 || g.Dir != "" && g.Dir != "." {
		return ""
	}
	pattern := regexp.QuoteMeta(name)
	if !regexp.MustCompile(`(?m)^(?:\./)?` + pattern + `(?::[0-9]|$)`).MatchString(printed) {
		return ""
	}
	check := fmt.Sprintf(`out=$(%s 2>&1); test $? -le 1 && ! printf '%%s\n' "$out" | grep -Eq %s`,
		g.Command(), scriptcommands.QuoteShellWord(`^(\./)?`+pattern+`(:[0-9]|$)`))
	if len(check) > longestCheck || strings.Contains(check, "\n") {
		return ""
	}
	return check
}

// findFailingTests runs the tests affected by the last commits, and all if these are green.
func findFailingTests(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	var found StrategyResult
	gates, err := s.gatesForSteps(ctx, "test", "e2e")
	if err != nil {
		return found, err
	}
	if len(gates) == 0 {
		found.Skipped = "the project has no tests that Nexus knows"
		return found, nil
	}
	if why, err := s.redBuildReason(ctx); err != nil || why != "" {
		found.Skipped = why
		return found, err
	}
	changed, err := s.recentlyChangedFiles(ctx)
	if err != nil {
		return found, err
	}
	for _, c := range testselection.ChooseRelatedTests(s.bench.Tree.Dir, changed, gates) {
		if c.Some {
			red, notes, err := s.runTestsForFindings(ctx, c.Of, c.Gate)
			if err != nil {
				return found, err
			}
			if len(red) > 0 {
				found.Findings = append(found.Findings, red...)
				found.Notes = append(found.Notes, fmt.Sprintf("gate %s ran only the tests that the last %d commits concern, which are red",
					c.Of.Name, lateCommits))
				continue
			}
			found.Notes = append(found.Notes, notes...)
		}
		red, notes, err := s.runTestsForFindings(ctx, c.Of, c.Of)
		if err != nil {
			return found, err
		}
		found.Findings, found.Notes = append(found.Findings, red...), append(found.Notes, notes...)
	}
	return found, nil
}

// lateCommits is the number of recent commits that decide which tests run first.
const lateCommits = 10

// recentlyChangedFiles returns the files that the last commits changed; some may be deleted.
func (s *SourceTree) recentlyChangedFiles(ctx context.Context) ([]string, error) {
	past, err := s.o.Repo.CommitHistory(ctx, s.o.Commit, lateCommits)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, p := range past {
		all = append(all, p.Files...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// redBuildReason returns why tests are inconclusive: a build is red.
func (s *SourceTree) redBuildReason(ctx context.Context) (string, error) {
	builds, err := s.gatesForSteps(ctx, "build")
	if err != nil {
		return "", err
	}
	for _, g := range builds {
		e, _, err := s.runGate(ctx, g)
		if err != nil {
			return "", err
		}
		if e.State == nexus.Fail {
			return "gate " + g.Name + " is red: tests would fail for that reason alone", nil
		}
	}
	return "", nil
}

// runTestsForFindings runs tests, and makes a finding of each that fails and can be run alone, and
// one of all others. Of is the gate; run is the command for some of its tests, or all.
func (s *SourceTree) runTestsForFindings(ctx context.Context, of, run gate.QualityGate) (all []discoveredwork.WorkFinding, notes []string, err error) {
	e, _, err := s.runGate(ctx, run)
	if err != nil || e.State != nexus.Fail {
		return nil, inconclusiveReasons(e), err
	}
	var rest []nexus.Finding
	seen := map[string]bool{}
	for _, one := range e.Findings {
		check := singleTestCommand(of, one.Test)
		if check == "" || one.Code == nexus.MoreFindings {
			rest = append(rest, one)
			continue
		}
		if seen[check] {
			continue
		}
		seen[check] = true
		f := gateFinding("failing-tests", of, []nexus.Finding{one})
		f.ID = discoveredwork.FindingID("failing-tests", of.Name, one.Test)
		f.Kind, f.Severity, f.Test, f.Check, f.State = discoveredwork.Fix, nexus.PriorityHigh, one.Test, check, ""
		f.Title = "Make the test pass: " + one.Test
		all = append(all, f)
	}
	if len(rest) > 0 && len(all) == 0 {
		f := gateFinding("failing-tests", of, rest)
		f.Kind, f.Severity = discoveredwork.Fix, nexus.PriorityHigh
		f.Title = fmt.Sprintf("Make the tests of gate %s pass: %s", of.Name, pluralCount(len(rest), "failure"))
		all = append(all, f)
	}
	return all, nil, nil
}

// singleTestCommand returns the command that runs one test of a gate, with more options of its
// runner, from the root of the tree; "" if the runner is unknown. For a subtest in Go, the
// outer test runs.
func singleTestCommand(g gate.QualityGate, test string, more ...string) string {
	if g.Format != outputparser.GoTestJSON {
		args, ok := gate.SingleTestArgs(g.Lone, g.Dir, test)
		if !ok || len(more) > 0 {
			return ""
		}
		return commandFromRoot(g, args)
	}
	c, ok := gosource.ParseGoTestCommand(slices.DeleteFunc(slices.Clone(g.Args), func(word string) bool { return word == "-json" }))
	pkg, name, named := gosource.SplitTestName(test)
	name, _, _ = strings.Cut(name, "/")
	if !ok || !named || !isSafeInCheck(name) || !isSafeInCheck(pkg) {
		return ""
	}
	return commandFromRoot(g, c.CommandFor([]string{pkg}, []string{name}, more...))
}

// commandFromRoot returns a command of a gate in a form that runs from the root of the tree.
func commandFromRoot(g gate.QualityGate, args []string) string {
	if len(args) == 0 {
		return ""
	}
	command := gate.QualityGate{Args: args}.Command()
	if g.Dir != "" && g.Dir != "." {
		command = "cd " + scriptcommands.QuoteShellWord(g.Dir) + " && " + command
	}
	if len(command) > longestCheck || strings.ContainsAny(command, "\n\r") {
		return ""
	}
	return command
}

func pluralCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// joinSome names up to most of several things.
func joinSome(all []string, most int) string {
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}
