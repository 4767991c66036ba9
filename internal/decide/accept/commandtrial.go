package accept

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// CommandTrial is the result of a criterion's command on the tree that its task is planned for,
// where it must fail because the work is missing.
type CommandTrial struct {
	Task   nexus.TaskID
	Number int // of the criterion in its task, from 1
	Check  string
	Said   string // short description of the result
	Wrong  string // why the command is unsuitable; empty: it is suitable, or this is unknown
	Form   string // suitable form of the command; empty: see Wrong
	Vain   bool   // the command could not show the criterion even with the work
}

// TrialJudgementContext is additional information for the judgement of a trial.
type TrialJudgementContext struct {
	Tests func(command string) bool // reports whether a command runs tests, and so must report their number
	Old   []nexus.GateEvidence      // the gates' results on the same tree
	Short bool                      // it had a shorter time limit than a gate
}

// JudgeTrial judges the result of a criterion's command on the tree that its task is planned
// for. It should fail: in an assertion, or because a name, file or test does not exist yet.
// It is wrong if it passes, unless the criterion is about unchanged behavior. It is also
// wrong if it fails for a reason that the task's work does not remove: the machine, the
// command itself, or other tests. And it is wrong if it runs tests without reporting their
// number.
func JudgeTrial(t nexus.Task, number int, e nexus.GateEvidence, a TrialJudgementContext) CommandTrial {
	c := t.Criteria[number-1]
	r := CommandTrial{Task: t.ID, Number: number, Check: c.Check, Said: resultText(e)}
	hidden := ""
	if a.Tests(c.Check) {
		hidden = shell.FindHiddenOutput(c.Check, a.Tests)
	}
	switch fault := commandFault(c.Check, e); {
	case hidden != "":
		r.Wrong, r.Form, r.Vain = "it hides how many tests run: Nexus counts them by name in their output", countableCommand(retargetGoTest(t, hidden)), true
	case e.State == nexus.Unverifiable && e.Exit == 0:
		r.Wrong, r.Form, r.Vain = cmp.Or(e.Why, "its output was not understood"), countableCommand(c.Check), true
	case e.State == nexus.NotRun && retargetGoTest(t, c.Check) != c.Check:
		r.Wrong, r.Form = "it runs the tests of one package, but those that the task writes are in another", countableCommand(retargetGoTest(t, c.Check))
	case e.Passed() && (t.Kind == nexus.TestTask || !c.Red && mayPassBeforeReason(c) != ""):
		r.Said = "passes, and must still pass afterwards"
	case e.Passed():
		r.Wrong = "it passes already, before any work, so it shows nothing; ask for what only the work makes true"
	case e.State == nexus.Flaky:
		r.Wrong = cmp.Or(e.Why, "it sometimes fails and sometimes passes") + "; a check must fail each time"
	case e.State == nexus.Timeout && a.Short:
		r.Said = "did not end in time"
	case e.State == nexus.Timeout:
		r.Wrong, r.Vain = "it "+cmp.Or(e.Why, "does not end")+"; a check must end by itself, in a few seconds", true
	case e.State == nexus.Exceeded:
		r.Wrong, r.Vain = cmp.Or(e.Why, "it uses too much")+"; a check must use few resources", true
	case fault != "":
		r.Wrong, r.Vain = fault, true
	case e.State == nexus.Environmental && e.Why == "it was killed":
		r.Said = "was cut off"
	case (e.State == nexus.Environmental || e.State == nexus.MissingAsset) && !lacksTaskFile(t, e):
		r.Wrong, r.Vain = fmt.Sprintf("it cannot run here: %s; use what the project has", firstLine(cmp.Or(e.Why, string(e.State)))), true
	case unrelatedFailures(t, c.Check, e, a.Old) != "":
		r.Wrong = fmt.Sprintf("it fails because of %s, which fails before any work and which the task does not name; run only the tests of the task", unrelatedFailures(t, c.Check, e, a.Old))
	}
	return r
}

// resultText returns a short description of a command's result.
func resultText(e nexus.GateEvidence) string {
	switch {
	case e.Passed():
		return "passes"
	case e.State == nexus.NotRun:
		return cmp.Or(firstLine(e.Why), nexus.NoTests)
	case len(e.Findings) > 0:
		return "fails: " + firstLine(FindingLabel(e.Findings[0]))
	case e.State == nexus.Fail:
		return fmt.Sprintf("fails with exit code %d", e.Exit)
	}
	return firstLine(cmp.Or(e.Why, string(e.State)))
}

// firstLine returns the first line of a tool's output, cut for people.
func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return sanitize.TruncateText(text, 100)
}

// String returns the line for the planner.
func (r CommandTrial) String() string {
	text := fmt.Sprintf("%s `%s`: %s. Now: %s.", CriterionID(r.Task, r.Number), r.Check, r.Wrong, r.Said)
	if r.Form != "" {
		text += " Write: " + r.Form
	}
	return text
}

// explanation returns the text for people.
func (r CommandTrial) explanation() string {
	if r.Wrong == "" {
		return r.Said
	}
	return r.Wrong
}

// CommandTrials are the trials of a plan.
type CommandTrials []CommandTrial

// WrongTrials returns the trials whose commands are unsuitable.
func (all CommandTrials) WrongTrials() CommandTrials {
	return slices.DeleteFunc(slices.Clone(all), func(r CommandTrial) bool { return r.Wrong == "" })
}

// MarkTasks writes the results of the trials into the tasks. A criterion whose command could not
// show it even with the work loses the command.
func (all CommandTrials) MarkTasks(tasks []nexus.Task) {
	for _, r := range all {
		i := slices.IndexFunc(tasks, func(t nexus.Task) bool { return t.ID == r.Task })
		tasks[i].Criteria = slices.Clone(tasks[i].Criteria)
		c := &tasks[i].Criteria[r.Number-1]
		if c.Tried, c.Unfit = r.explanation(), r.Wrong != ""; r.Vain {
			c.Was, c.Check = c.Check, ""
		}
	}
}

// countableCommand returns the form of a test command that reports the number of tests.
func countableCommand(command string) string {
	words := strings.Fields(command)
	if len(words) < 2 || words[0] != "go" || words[1] != "test" || strings.ContainsAny(command, "|;&") || slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-list") }) {
		if strings.ContainsAny(command, "|;&") || strings.Contains(command, "go test") {
			return "the command that runs the tests by itself, such as `go test -run '^TestName$' ./...`"
		}
		return fmt.Sprintf("`%s`, by itself, in a form in which it says how many tests ran", command)
	}
	var kept []string
	for i, w := range words {
		switch {
		case w == "-v" || w == "-json":
			continue
		case i > 0 && words[i-1] == "-run":
			w = anchorPattern(w)
		case strings.HasPrefix(w, "-run="):
			w = "-run=" + anchorPattern(w[len("-run="):])
		}
		kept = append(kept, w)
	}
	return "`" + strings.Join(kept, " ") + "`"
}

// retargetGoTest returns a go test command of the root package with the package that contains all
// test files of the task, if that is another one; otherwise it returns the command unchanged.
func retargetGoTest(t nexus.Task, command string) string {
	words := strings.Fields(command)
	if len(words) < 2 || words[0] != "go" || words[1] != "test" || strings.ContainsAny(command, "|;&>") {
		return command
	}
	dir := ""
	for _, file := range t.Files {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		if dir != "" && dir != path.Dir(file) {
			return command
		}
		dir = path.Dir(file)
	}
	if i := slices.Index(words, "."); i > 0 && dir != "" && dir != "." {
		words[i] = "./" + dir
		return strings.Join(words, " ")
	}
	return command
}

// anchorPattern returns the pattern that matches exactly one test name.
func anchorPattern(pattern string) string {
	name := strings.Trim(pattern, `'"^$`)
	if !regexp.MustCompile(`^\w+$`).MatchString(name) {
		return pattern
	}
	return "'^" + name + "$'"
}

// commandFault returns why a command fails by its own fault, or "".
func commandFault(check string, e nexus.GateEvidence) string {
	if e.Passed() {
		return ""
	}
	const tools = `(?:[efz]?grep|rg|sed|[gm]?awk|jq|test|\[|find|cut|sort|head|tail|wc|tr|xargs|diff|expr|comm|sh|bash|dash)`
	own := regexp.MustCompile(`^(?:\S+: )?(?:line )?(?:\d+: )?` + tools + `: (?:\d+: )?.*(?i:invalid|unrecogni[sz]ed|unknown|unmatched|unterminated|syntax error|unexpected|missing (?:operand|argument)|illegal|extra operand|too many arguments|bad (?:option|regex)|out of range)`)
	typed := regexp.MustCompile(`(?:^|\s)-(?:c|e|p)\s`).MatchString(check)
	for _, text := range findingTexts(e) {
		text = firstLine(text)
		switch {
		case strings.Contains(text, "No such file"):
		case own.MatchString(text), strings.HasPrefix(text, "jq: error: syntax"), strings.Contains(text, "Syntax error"):
			return "the command itself is wrong: " + text
		case typed && strings.HasPrefix(text, "SyntaxError"):
			return "the program in the command is wrong: " + text
		case strings.HasPrefix(check, "go test ") && (strings.Contains(text, "flag provided but not defined") || strings.HasPrefix(text, "malformed import path")), strings.HasPrefix(text, "go ") && strings.Contains(text, "unknown command"):
			return "the command itself is wrong: " + text
		case strings.Contains(text, "dial tcp: lookup "), hasNoNetwork(text):
			return "it needs the network, which checks do not have: " + text
		}
	}
	return ""
}

// hasNoNetwork reports whether a registry client had no network.
func hasNoNetwork(text string) bool {
	return slices.ContainsFunc(stack.MergedEnvironment().Unreached, func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) })
}

// findingTexts returns the texts of a gate's findings.
func findingTexts(e nexus.GateEvidence) []string {
	all := []string{e.Why}
	for _, f := range e.Findings {
		if f.Test == "" {
			all = append(all, f.Message)
		}
	}
	return all
}

// lacksTaskFile reports whether a command could not run because a file is missing that the
// task may create.
func lacksTaskFile(t nexus.Task, e nexus.GateEvidence) bool {
	for _, f := range e.Findings {
		if f.File != "" {
			return true
		}
		for _, file := range t.Files { // a module, by its own name or that of its directory
			for part := range strings.SplitSeq(file, "/") {
				name, _, _ := strings.Cut(part, ".")
				if m := regexp.MustCompile(`No module named '?(\w+)`).FindStringSubmatch(f.Message); m != nil && m[1] == name {
					return true
				}
			}
		}
	}
	return false
}

// unrelatedFailures returns the tests that alone make a command fail, that failed before on
// the same tree, and that neither the task nor the command names. It returns "" if there are
// none.
func unrelatedFailures(t nexus.Task, check string, e nexus.GateEvidence, old []nexus.GateEvidence) string {
	if e.State != nexus.Fail || len(e.Findings) == 0 {
		return ""
	}
	wishes := ParseMentions(TaskTexts(t)).ResolvePlaces(collectFindings(old))
	var names []string
	for _, f := range e.Findings {
		red := slices.ContainsFunc(old, func(o nexus.GateEvidence) bool {
			return slices.ContainsFunc(o.Findings, func(x nexus.Finding) bool { return x.Test == f.Test })
		})
		short := f.Test[strings.LastIndexAny(f.Test, ".:/")+1:]
		if f.Test == "" || !red || wishes.MatchesFinding(f) || strings.Contains(check, short) {
			return ""
		}
		names = appendUnique(names, f.Test)
	}
	return joinFirstNames(names)
}

// UndecidableCriteria returns the criteria of a task whose commands cannot decide, judged by
// their results on the task's work, reduced to their texts. The work is not at fault, unless
// the command failed or changed files that it was to check. It returns none if nothing else
// judged the work.
func UndecidableCriteria(t nexus.Task, now []nexus.GateEvidence) []nexus.CriterionRevised {
	if !slices.ContainsFunc(now, nexus.GateEvidence.Passed) {
		return nil
	}
	var all []nexus.CriterionRevised
	for i, c := range t.Criteria {
		gate, command := GateOfCriterion(c)
		if !command {
			continue
		}
		for _, e := range now {
			if e.Gate != gate || e.State != nexus.Unverifiable || e.Exit != 0 || hasRewrittenTree(e) {
				continue
			}
			why := cmp.Or(firstLine(e.Why), string(e.State))
			c.Was, c.Check, c.Tried, c.Unfit = c.Check, "", why, true
			all = append(all, nexus.CriterionRevised{Task: t.ID, Number: i + 1, Criterion: c, By: "nexus", Why: why})
			break
		}
	}
	return all
}

// hasRewrittenTree reports whether a gate changed files of the tree that it judged.
func hasRewrittenTree(e nexus.GateEvidence) bool {
	return slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Code == "rewrote" })
}

// CheckTrialResult is a check that was run before the work, and its result.
type CheckTrialResult struct {
	Criterion string `json:"criterion"` // T1/AC-2
	Check     string `json:"check"`
	Came      string `json:"came"`
	Fits      bool   `json:"fits"`
	Words     bool   `json:"words,omitzero"` // its command is useless, so the criterion has only its text
}

// TriedChecks returns the checks of tasks that were run before the work.
func TriedChecks(tasks []nexus.Task) []CheckTrialResult {
	var all []CheckTrialResult
	for _, t := range tasks {
		for i, c := range t.Criteria {
			if c.Tried != "" {
				all = append(all, CheckTrialResult{CriterionID(t.ID, i+1), cmp.Or(c.Check, c.Was), c.Tried, !c.Unfit, c.Was != ""})
			}
		}
	}
	return all
}
