package attempt

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// reproducers limits the requests for independent checks in an attempt: one more if the first
// checks do not fail without the change.
const reproducers = 2

// maxTestText limits the text of one independent check, in bytes.
const maxTestText = 64 << 10

//go:embed reproduce.json
var reproduceSchema []byte

// independentTestsSchema returns the JSON Schema of a reproducer's submission.
func independentTestsSchema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, reproduceSchema) != nil { // a test parses it
		return reproduceSchema
	}
	return b.Bytes()
}

// criteriaForIndependentChecks returns the numbers of the criteria that need an independent check.
func (w *attemptWork) criteriaForIndependentChecks(ctx context.Context) ([]int, error) {
	r := w.a.LastRound()
	own := func(s nexus.CriterionGateEvidence) bool { return s.Own }
	if r == nil || r.Verdict == nil || r.Verdict.Tree != w.a.Weighed.Tree || !slices.ContainsFunc(w.a.Weighed.Criteria, own) {
		return nil, nil
	}
	changed, err := w.Worker.Trees.PrivateRepo().ChangedFiles(ctx, w.a.Base, w.a.Snapshot.Commit)
	if err != nil {
		return nil, err
	}
	edits := slices.ContainsFunc(changed, func(c worktree.ChangedTreeFile) bool {
		return c.Status == "M" && !stack.ServesTests(c.Path) && !stack.IsProse(c.Path)
	})
	return repair.CriteriaNeedingIndependentCheck(w.Worker.Sessions.Independent, w.task.Task, w.a.Weighed.Criteria, edits), nil
}

// independentCheckTest is a check of a criterion by an agent that did not see the change.
type independentCheckTest struct {
	nexus.CriterionTest
	Text string `json:"text,omitzero"` // text of its file
}

// runIndependentChecks asks an agent that sees the goal and the base, and nothing of the change, to write
// checks of criteria whose only evidence is the change's own tests, and runs them on the tree
// as it is. In later rounds the existing checks run again.
func (w *attemptWork) runIndependentChecks(ctx context.Context) error {
	tree := w.a.Snapshot.Tree
	f := nexus.IndependentChecksRun{Attempt: w.a.ID, Round: len(w.a.Rounds), Tree: tree}
	if w.a.Reproduced != nil {
		f.Handin = w.a.Reproduced.Handin
	}
	var tests []independentCheckTest
	err := worker.RunInterruptible(ctx, w.desk, false, func(ctx context.Context) (err error) {
		if f.Handin == "" {
			tests, f.Handin, err = w.reproducerTests(ctx)
		} else {
			tests, err = w.loadIndependentTests(f.Handin)
		}
		for i := 0; i < len(tests) && err == nil; i++ {
			err = w.runCheckOnChange(ctx, &tests[i], tree)
		}
		return err
	})
	if err == nil {
		err = w.tree.ResetExactly(ctx, tree)
	}
	if err != nil {
		return fmt.Errorf("check %s independently: %w", w.a.ID, err)
	}
	for _, one := range tests {
		f.Checks = append(f.Checks, one.CriterionTest)
	}
	weighed := w.a.Weighed
	weighed.Criteria = accept.AddIndependentResults(weighed.Criteria, f)
	facts := []nexus.Fact{f, weighed}
	if doubt := repair.DoubtedFindings(w.a, f); len(doubt) > 0 {
		facts = append(facts, nexus.TamperSuspected{Attempt: w.a.ID, Tree: tree, Findings: append(slices.Clone(w.suspectFindings()), doubt...)})
	}
	return w.recordFacts(ctx, facts...)
}

// reproducerTests has checks written on the base, without the change, and stores them. A check
// that does not fail there as it should is requested once more.
func (w *attemptWork) reproducerTests(ctx context.Context) (tests []independentCheckTest, handin string, err error) {
	open, err := w.criteriaForIndependentChecks(ctx)
	if err != nil {
		return nil, "", err
	}
	for n := 1; n <= reproducers && len(open) > 0; n++ {
		said, err := w.askReproducer(ctx, n, open, tests)
		if err != nil {
			return nil, "", err
		}
		for i := range said {
			if err := w.failsOnBase(ctx, &said[i]); err != nil {
				return nil, "", err
			}
		}
		tests = append(slices.DeleteFunc(tests, func(t independentCheckTest) bool { return slices.Contains(open, t.Number) }), said...)
		open = slices.DeleteFunc(open, func(number int) bool {
			return slices.ContainsFunc(said, func(t independentCheckTest) bool { return t.Number == number && (t.Why == "" || t.Command == "") })
		})
	}
	data, err := json.Marshal(tests)
	if err != nil {
		return nil, "", err
	}
	handin, err = w.Worker.Site.Blobs.Put(data)
	return tests, handin, err
}

// loadIndependentTests returns stored checks.
func (w *attemptWork) loadIndependentTests(handin string) (tests []independentCheckTest, err error) {
	data, err := w.Worker.Site.Blobs.Get(handin)
	if err == nil {
		err = json.Unmarshal(data, &tests)
	}
	return tests, err
}

// askReproducer has the n-th conversation about checks of open criteria. Tried are the checks
// of the conversation before.
func (w *attemptWork) askReproducer(ctx context.Context, n int, open []int, tried []independentCheckTest) ([]independentCheckTest, error) {
	id := nexus.SessionID(fmt.Sprintf("%s/%s.%d", w.a.ID, nexus.Reproducer, n))
	old := w.a.SessionByID(id)
	if old == nil || !old.Over {
		if err := w.tree.ResetExactly(ctx, w.baseTree); err != nil {
			return nil, err
		}
		b := prompt.TaskBrief{Session: id, Task: w.task.Task, Base: w.a.Base, Order: requestIndependentTests(open, tried)}
		b.Task.Files = nil // they may be the files of the change
		next := ""
		var parts []prompt.SentPromptSection
		if old == nil || len(old.Messages) == 0 {
			next, parts = b.Text(), b.Parts()
		}
		_, err := w.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
			Attempt: w.a, Session: id, Task: w.task.Task, Role: nexus.Reproducer, Tier: w.a.Tier, Author: w.a.ModelOf(nexus.Coder), Readers: w.view.Readers, Tree: w.tree, Base: w.view.Goal.Base, Goal: w.view.Goal.Goal.Text,
			Next: next, Why: "brief", Parts: parts, Handin: independentTestsSchema(), Limits: w.view.Limits, Record: w.recordFacts,
		}, w.desk)
		// the work is finished and does not depend on this answer
		if e, ok := errors.AsType[*llm.ModelCallError](err); ok && ctx.Err() == nil {
			return addMissingTestReasons(w.task.Task, open, nil, "its author could not be asked: "+e.Error()), nil
		}
		if err != nil {
			return nil, err
		}
		old = w.a.SessionByID(id)
	}
	switch {
	case old.Outcome == nexus.Refused:
		return nil, worker.BudgetExceededError(old.Why)
	case old.Outcome != nexus.Accepted || old.Result == "":
		return addMissingTestReasons(w.task.Task, open, nil, "its author did not finish: "+cmp.Or(old.Why, string(old.Outcome))), nil
	}
	data, err := w.Worker.Site.Blobs.Get(old.Result)
	if err != nil {
		return nil, err
	}
	return addMissingTestReasons(w.task.Task, open, readIndependentTests(data, w.task.Task, open), "its author named none"), nil
}

// requestIndependentTests returns the request for checks of the open criteria, with the problems of the
// checks before.
func requestIndependentTests(open []int, tried []independentCheckTest) string {
	names := make([]string, len(open))
	for i, n := range open {
		names[i] = fmt.Sprint(n)
	}
	text := "Write a test for criterion " + strings.Join(names, ", ") + "."
	for _, t := range tried {
		if slices.Contains(open, t.Number) && t.Why != "" {
			text += fmt.Sprintf(" The test before for criterion %d, %s, does not count: %s.", t.Number, cmp.Or(t.Command, t.File, "which is missing"), oneLine(t.Why))
		}
	}
	return text
}

// addMissingTestReasons adds an entry to tests for each open criterion without one, with the reason.
func addMissingTestReasons(t nexus.Task, open []int, tests []independentCheckTest, why string) []independentCheckTest {
	for _, n := range open {
		if !slices.ContainsFunc(tests, func(one independentCheckTest) bool { return one.Number == n }) {
			tests = append(tests, independentCheckTest{CriterionTest: nexus.CriterionTest{Number: n, Of: state.CriterionFingerprint(t, n), Why: why}})
		}
	}
	return tests
}

// readIndependentTests returns a submission's tests for open criteria. A test that cannot be run has the
// reason in Why.
func readIndependentTests(handin []byte, t nexus.Task, open []int) []independentCheckTest {
	var said struct {
		Checks []struct {
			Criterion int
			Text      string
		}
	}
	checks := readCriterionChecks(handin, t, open)
	if len(handin) > maxHandin || json.Unmarshal(handin, &said) != nil {
		return nil
	}
	tests := make([]independentCheckTest, 0, len(checks))
	for _, c := range checks {
		one := independentCheckTest{CriterionTest: c}
		for _, x := range said.Checks {
			if x.Criterion == c.Number {
				one.Text = x.Text
				break
			}
		}
		switch {
		case c.Command == "" || c.Why != "":
			one.Text = ""
		case !filepath.IsLocal(c.File) || slices.Contains(strings.Split(strings.ToLower(c.File), "/"), ".git"):
			one.Why = fmt.Sprintf("%q is no path in the repository", c.File)
		case strings.TrimSpace(one.Text) == "":
			one.Why = "its file has no text"
		case len(one.Text) > maxTestText:
			one.Why, one.Text = fmt.Sprintf("its file has %d bytes, the maximum is %d", len(one.Text), maxTestText), ""
		}
		tests = append(tests, one)
	}
	return tests
}

// runIndependentTest runs a check on a tree after adding its file.
func (w *attemptWork) runIndependentTest(ctx context.Context, t *independentCheckTest, tree string) (nexus.GateEvidence, error) {
	with, err := w.Worker.Trees.PrivateRepo().TreeWithFiles(ctx, filepath.Dir(w.tree.Dir), tree, map[string][]byte{t.File: []byte(t.Text)})
	if err != nil {
		return nexus.GateEvidence{}, fmt.Errorf("add the check %s: %w", t.File, err)
	}
	// never the name of a gate, see invalidCheckReason
	g, _ := detect.CriterionGate(nexus.Criterion{Check: t.Command})
	return w.runGate(ctx, g, with)
}

// failsOnBase runs a check without the change. It must fail, and for the reason that the task
// reports: a check that merely does not load, for undeclared names, demands more than the task
// says.
func (w *attemptWork) failsOnBase(ctx context.Context, t *independentCheckTest) error {
	if t.Command == "" || t.Why != "" {
		return nil
	}
	e, err := w.runIndependentTest(ctx, t, w.baseTree)
	if err != nil {
		return err
	}
	switch p := repair.ProveTests([]string{t.File}, nil, []nexus.GateEvidence{e}); {
	case e.Passed(), p.Proof == nexus.ProofGreen:
		t.Why = "it passes without the change"
	case p.Proof != nexus.ProofRed:
		t.Why = "without the change it fails for an unrelated reason: " + firstFindingText(e, cmp.Or(p.Why, string(p.Proof)))
	}
	return nil
}

// runCheckOnChange runs a check on the tree that has the change, among the tests of the base: it
// was written for those, and tests of the change may use its names, or set its environment. If
// it is inconclusive there, since those tests do not fit the change, it runs on the tree as it
// is.
func (w *attemptWork) runCheckOnChange(ctx context.Context, t *independentCheckTest, tree string) error {
	if t.Command == "" || t.Why != "" {
		return nil
	}
	tests, _, err := w.splitChangedFiles(ctx, w.a.Base, w.a.Snapshot.Commit)
	if err != nil {
		return err
	}
	among, err := w.treeWithBaseFiles(ctx, w.a.Base, tree, tests)
	if err != nil {
		return err
	}
	for _, on := range []string{among, tree} {
		e, err := w.runIndependentTest(ctx, t, on)
		if err != nil {
			return err
		}
		if t.Proved = e.Passed(); t.Proved {
			t.Why = ""
			return nil
		}
		t.Red = repair.ProveTests([]string{t.File}, nil, []nexus.GateEvidence{e}).Proof == nexus.ProofRed
		if t.Why = firstFindingText(e, cmp.Or(e.Why, string(e.State))); t.Red || among == tree {
			return nil
		}
	}
	return nil
}

// firstFindingText returns the first finding of a gate, or otherwise.
func firstFindingText(e nexus.GateEvidence, otherwise string) string {
	if len(e.Findings) == 0 {
		return oneLine(otherwise)
	}
	return oneLine(e.Findings[0].Message)
}

// failingCheckTexts returns the files of independent checks that fail with the work, for the writer
// who must fix them.
func (w *attemptWork) failingCheckTexts() string {
	tests, err := w.loadIndependentTests(w.a.Reproduced.Handin)
	if err != nil {
		return "" // the findings are enough
	}
	var b strings.Builder
	for _, t := range tests {
		if slices.ContainsFunc(w.a.Reproduced.Checks, func(c nexus.CriterionTest) bool { return c.Number == t.Number && c.Red }) {
			fmt.Fprintf(&b, "%s:\n%s\n", t.File, t.Text)
		}
	}
	return b.String()
}
