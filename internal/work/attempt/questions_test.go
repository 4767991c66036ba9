package attempt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// criteriaWithoutCheck is work with its tests whose gates pass, on a task with a criterion in
// words.
func criteriaWithoutCheck(j *job, checks, criterion string) {
	j.written(1, map[string]string{"one": "1\n", "new_test.go": "package m\n"})
	a := j.view.Attempt
	j.Sessions.Checks, a.Strategy, j.view.Task.Kind, j.view.Task.Criteria = checks, nexus.TestAfter, "", []nexus.Criterion{{Text: criterion}}
	a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
}

// question is what an attempt is asked for: what it would send to a role now.
type question struct {
	name string
	role nexus.Role
	set  func(*job)
	want nexus.Role
	why  string
	says []string
	not  []string
	once string
	err  nexus.ErrorCode
}

func questions() []question {
	red := func(j *job, n int) {
		j.written(n, one)
		a := j.view.Attempt
		r := a.LastRound()
		r.Evidence = []nexus.GateEvidence{{Gate: "lint", State: nexus.Fail, Command: "run-the-lint", Exit: 3, Tree: a.Snapshot.Tree, Findings: []nexus.Finding{{Gate: "lint", File: "one", Line: 1, Severity: nexus.Major, Message: fmt.Sprintf("fault %d", n)}}}}
		r.Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Fail, Gate: "lint"}
	}
	return []question{
		{name: "a coder begins", set: func(*job) {}, want: nexus.Coder, why: "brief", says: []string{"Task: T1 Write one", "T1.1/coder.1"}, not: []string{"## Change"}},
		{name: "the gates come next", set: func(j *job) { j.written(1, one) }, err: nexus.CodeNotFound},
		{name: "a red gate", set: func(j *job) { red(j, 1) }, want: nexus.Coder, why: "repair", says: []string{"fault 1", "Command: `run-the-lint`", "Exit: 3", "Must be fixed, new"}, not: []string{"the task's round", "told before"}},
		{name: "a red gate once more", set: func(j *job) { red(j, 1); red(j, 2) }, want: nexus.Coder, why: "repair", says: []string{"fault 2", "No longer found (1)", "fault 1"}},
		{
			name: "a red gate after fixers and a tester", want: nexus.Coder, why: "repair",
			set: func(j *job) {
				red(j, 1)
				r := j.view.Attempt.Rounds[0]
				r.Role, r.Fixed = nexus.Tester, nexus.TreeSnapshotted{Fixed: "1 file by gofmt", Lines: []string{"one:3-4"}}
				j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "The edges are tested.", "status": "done"})
			},
			says: []string{"gofmt` changed these lines", "one:3-4", "The edges are tested.", "fault 1"},
		},
		{
			name: "a reader of what nothing shows but its own tests", role: nexus.Reviewer, want: nexus.Reviewer, why: "brief",
			set: func(j *job) {
				red(j, 1)
				j.view.Task.Criteria = []nexus.Criterion{{Text: "it adds", Check: "lint"}, {Text: "it subtracts", Check: "lint"}}
				j.view.Attempt.Weighed.Criteria = []nexus.CriterionGateEvidence{
					{Number: 1, By: nexus.NewBearing}, {Number: 2, By: nexus.NewBearing, Own: true, Tests: []string{"TestSub", "TestSubTwo"}}, {Number: 9, Own: true},
				}
			},
			says: []string{"Shown by its own tests", "2. it subtracts: TestSub, TestSubTwo"}, not: []string{"1. it adds:"},
		},
		{
			name: "a red gate of a task with many rounds", want: nexus.Coder, why: "repair",
			set: func(j *job) {
				j.view.Limits.Rounds, j.view.Limits.Same = 20, 20
				for n := range 10 {
					red(j, n+1)
				}
			},
			says: []string{"round 11 of the task", "## one, lines 1 to 1", "fault 10"},
		},
		{
			name: "a red gate with findings in two files, of a task with many rounds", want: nexus.Coder, why: "repair",
			set: func(j *job) {
				j.view.Limits.Rounds, j.view.Limits.Same = 20, 20
				for n := range 10 {
					red(j, n+1)
				}
				a := j.view.Attempt
				a.Snapshot.Commit, a.Snapshot.Tree = j.tree(a.ID, j.base, map[string]string{"one": "1\n", "two": "2\n"})
				found := a.LastRound().Evidence[0].Findings[0]
				other := found
				other.File = "two"
				again := found
				again.Message = "another fault"
				a.LastRound().Evidence[0].Findings = []nexus.Finding{found, other, again}
			},
			says: []string{"## one, lines 1 to 1", "## two, lines 1 to 1", "another fault"}, once: "## one, lines",
		},
		{name: "the coder after a red gate, when a reader is asked for", role: nexus.Reviewer, set: func(j *job) { red(j, 1) }, want: nexus.Reviewer, why: "brief", says: []string{"+1", "run-the-lint", "T1.1/reviewer.1"}},
		{name: "a verifier", role: nexus.Verifier, set: func(j *job) { red(j, 1) }, want: nexus.Verifier, why: "brief", says: []string{"+1", "T1.1/verifier.1"}},
		{
			name: "a verifier once more", role: nexus.Verifier, want: nexus.Verifier, why: "brief",
			set: func(j *job) {
				red(j, 1)
				j.view.Attempt.Rounds[0].Verified = &nexus.VerifierVerdictGiven{Attempt: "T1.1", Read: true, Category: nexus.TestsFailing, Why: "it is half done", Findings: []nexus.Finding{{Gate: "verify", Message: "the other half"}}}
				red(j, 2)
				j.view.Attempt.Rounds[1].Suspect = &nexus.TamperSuspected{Attempt: "T1.1", Findings: []nexus.Finding{{Code: "tamper.deleted", Message: "a test went"}}}
				j.view.Task.Refused = []state.VerifierRejection{{Attempt: "T1.0", Why: "an older reason"}, {Attempt: "T1.1", Why: "its own, which the rounds say"}}
			},
			says: []string{"T1.1/verifier.2", "the other half", "it is half done", "an older reason", "To be explained", "a test went"}, not: []string{"its own, which"},
		},
		{
			name: "a verifier after one that agreed", role: nexus.Verifier, want: nexus.Verifier, why: "brief",
			set: func(j *job) {
				j.view.Task.Refused = []state.VerifierRejection{{Attempt: "T1.0", Why: "an older reason"}}
				red(j, 1)
				j.view.Attempt.Rounds[0].Verified = &nexus.VerifierVerdictGiven{Attempt: "T1.1", Read: true}
				red(j, 2)
				j.view.Attempt.Rounds[1].Verified = &nexus.VerifierVerdictGiven{Attempt: "T1.1", Category: nexus.TestsFailing, Why: "it did not finish"}
			},
			says: []string{"T1.1/verifier.3"}, not: []string{"an older reason", "Refused before", "did not finish"},
		},
		{name: "a reader of nothing", role: nexus.Reviewer, set: func(*job) {}, err: nexus.CodeNotFound},
		{name: "a verifier of nothing", role: nexus.Verifier, set: func(j *job) { j.written(1, one); j.view.Attempt.Rounds = nil }, err: nexus.CodeNotFound},
		{name: "a role that works on no task", role: nexus.Planner, set: func(*job) {}, err: nexus.CodeInvalidInput},
		{name: "no role", role: "cook", set: func(*job) {}, err: nexus.CodeNotFound},
		{
			name: "a tester after the code", role: nexus.Tester, want: nexus.Tester, why: "brief",
			set: func(j *job) {
				red(j, 1)
				j.view.Task.Strategy, j.view.Task.Reason, j.view.Task.Files = nexus.NoTest, "words alone", []string{"main.go", "main_test.go"}
				j.view.Attempt.Strategy = nexus.TestAfter
			},
			says: []string{"T1.1/tester.1", "+1", "main_test.go", "The code is written"}, not: []string{"words alone", "main.go"},
		},
		{
			name: "a tester of what nothing shows", role: nexus.Tester, want: nexus.Tester, why: "brief",
			set: func(j *job) {
				red(j, 1)
				j.Sessions.Checks, j.view.Attempt.Strategy, j.view.Task.Criteria = "auto", nexus.TestAfter, []nexus.Criterion{{Text: "it adds"}}
			},
			says: []string{"There is no check for criterion 1 yet"}, not: []string{"write your tests in new files"},
		},
		{
			name: "a tester of what nothing shows of work that is green", want: nexus.Tester, why: "brief",
			set: func(j *job) {
				j.written(1, one)
				a := j.view.Attempt
				j.Sessions.Checks, a.Strategy, j.view.Task.Criteria = "auto", nexus.TestAfter, []nexus.Criterion{{Text: "it adds"}}
				a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
				a.Rounds = append(a.Rounds, &state.AttemptRound{RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: 2, Role: nexus.Tester, Cause: repair.CriteriaGate, Session: "T1.1/tester.1"}, Base: j.base, From: a.Snapshot.Commit})
			},
			says: []string{"There is no check for criterion 1 yet", "write your tests in new files"},
		},
		{
			name: "a criterion that nothing shows, where no machine can tell", want: nexus.Reviewer, why: "brief",
			set: func(j *job) { criteriaWithoutCheck(j, "auto", "it is readable") },
		},
		{
			name: "a criterion that nothing shows, which a machine may tell", want: nexus.Tester, why: "brief",
			set:  func(j *job) { criteriaWithoutCheck(j, "auto", "it adds") },
			says: []string{"There is no check for criterion 1 yet"},
		},
		{
			name: "a criterion that nothing shows, where always one is to be written", want: nexus.Tester, why: "brief",
			set:  func(j *job) { criteriaWithoutCheck(j, "always", "it is readable") },
			says: []string{"There is no check for criterion 1 yet"},
		},
		{
			name: "a criterion that nothing shows, where none is to be written", want: nexus.Reviewer, why: "brief",
			set: func(j *job) { criteriaWithoutCheck(j, "never", "it adds") },
		},
		{
			name: "a coder after a tester", role: nexus.Coder, want: nexus.Coder, why: "brief",
			set: func(j *job) {
				j.view.Attempt.Strategy = nexus.TDDStrict
				j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "The edges are tested.", "status": "done"})
			},
			says: []string{"The tester's message", "The edges are tested."},
		},
		{
			name: "a coder who goes on from another attempt", want: nexus.Coder, why: "brief",
			set: func(j *job) {
				a := j.view.Attempt
				a.Start, _ = j.tree("T1.0", j.base, map[string]string{"one": "from before\n"})
				a.From, a.FromRound, a.Since = "T1.0", 2, j.base
				j.view.Kept = state.StartingTree{Open: []nexus.Finding{{Message: "still to be done"}}}
			},
			says: []string{"round 2 of T1.0", "merged onto it", "still to be done"},
		},
		{
			name: "a coder whose start was forgone", want: nexus.Coder, why: "brief",
			set:  func(j *job) { j.view.Attempt.Forgone = "it did not merge" },
			says: []string{"it did not merge"}, not: []string{"Your worktree holds the"},
		},
		{
			name: "what was red before", want: nexus.Coder, why: "brief",
			set: func(j *job) {
				j.view.Attempt.Seen = &nexus.BaseFailuresCompared{Attempt: "T1.1", Meant: []string{"TestAdd fails"}, Green: []string{"TestSub passes"}, Aside: []string{"TestOld"}}
			},
			says: []string{"must pass when you are done:\n- TestAdd fails", "it does not fail now, so it cannot show that the task is done", "TestSub passes", "Leave this alone:\n- TestOld"},
		},
		{
			name: "what the tasks made that it needs", want: nexus.Coder, why: "brief",
			set: func(j *job) {
				j.over(nexus.Coder, 1, nexus.Accepted, map[string]string{"summary": "Zero is none.", "status": "done"})
				a := j.view.Attempt
				made, _ := j.tree("T0.1", j.base, map[string]string{"zero.go": "package m\n\nfunc Zero() int { return 0 }\n", "bad": "good\n"})
				j.view.Needs = []state.NeededTaskResult{{Task: nexus.Task{ID: "T0", Title: "Write zero"}, Landed: nexus.LandingCompleted{Commit: made, Parent: j.base}, Said: a.Sessions[0].Result}}
				a.Sessions = nil
			},
			says: []string{"T0", "Write zero", "Zero is none.", "zero.go", "added", "3 func Zero() int", "bad", "changed"},
		},
		{
			name: "a change that renames, and needs no tests for that", want: nexus.Reviewer, why: "brief",
			set:  func(j *job) { renames(j, map[string]string{"bad": "worse\n"}) },
			says: []string{"+worse"},
		},
		{
			name: "a change that does more than rename", want: nexus.Tester, why: "brief",
			set: func(j *job) { renames(j, map[string]string{"bad": "worse\n", "one": "1\n"}) },
		},
		{
			name: "a tester who changed what was there", want: nexus.Reviewer, role: nexus.Reviewer, why: "brief",
			set: func(j *job) {
				criteriaWithoutCheck(j, "auto", "it adds")
				a, was := j.view.Attempt, j.view.Attempt.Snapshot
				j.written(2, map[string]string{"one": "2\n", "new_test.go": "package m\n"})
				a.Rounds[1].Role, a.Rounds[1].Cause, a.Rounds[1].From = nexus.Tester, repair.CriteriaGate, was.Commit
			},
			says: []string{"+2"},
		},
		{
			name: "a coder after an earlier attempt", want: nexus.Coder, why: "brief",
			set: func(j *job) {
				j.written(1, one)
				was := j.view.Attempt
				was.ID, j.view.Past = "T1.0", []*state.AttemptState{was}
				j.view.Attempt = &state.AttemptState{ID: "T1.1", Task: "T1", Base: j.base, Strategy: nexus.NoTest}
			},
			says: []string{"T1.0"},
		},
		{name: "nothing was red before", want: nexus.Coder, why: "brief", set: func(j *job) { j.view.Attempt.Seen = &nexus.BaseFailuresCompared{} }, not: []string{"This fails now", "The task names this", "Leave this alone"}},
		{
			name: "a tester whose test stops the coder", want: nexus.Tester, why: "repair",
			set: func(j *job) {
				a := j.view.Attempt
				a.Strategy = nexus.TDDStrict
				j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
				j.over(nexus.Coder, 1, nexus.GaveUp, nil)
				a.Sessions[1].Why = "the fixture of the test cannot be read"
				for n, role := range []nexus.Role{nexus.Tester, nexus.Coder} {
					id := nexus.SessionID(fmt.Sprintf("T1.1/%s.1", role))
					a.Rounds = append(a.Rounds, &state.AttemptRound{RoundStarted: nexus.RoundStarted{Attempt: "T1.1", Round: n + 1, Role: role, Session: id}, Base: j.base, From: j.base, Prompted: true})
				}
			},
			says: []string{"the fixture of the test cannot be read"},
		},
		{
			name: "a coder who goes on where time was used up", want: nexus.Coder, why: "brief",
			set: func(j *job) {
				a := j.view.Attempt
				a.Start, _ = j.tree("T1.0", j.base, map[string]string{"one": "from before\n"})
				a.From, a.FromRound = "T1.0", 2
				over := func(id nexus.AttemptID, anew bool, why string) nexus.ReplanDecided {
					return nexus.ReplanDecided{Task: "T1", Attempt: id, Anew: anew, Crossed: []nexus.CrossedThreshold{{Threshold: nexus.OverTime, Why: why}}}
				}
				j.view.Task.Replans = []nexus.ReplanDecided{over("T1.0", true, "an hour is over"), over("T1.0", false, "nothing began anew"), over("T0.9", true, "of another attempt")}
			},
			says: []string{"This continues an attempt", "an hour is over"}, not: []string{"nothing began anew", "of another attempt", "merged onto it"},
		},
		{
			name: "a coder of a task like earlier ones", want: nexus.Coder, why: "brief",
			set: func(j *job) {
				j.Sessions.Maps = &codemap.RepositoryMapper{}
				j.view.Task.Files = []string{"cmd/main.go"}
				j.view.Goal.Routing.Lessons = &nexus.RunLessons{
					Touched: []nexus.RelatedFileLesson{{Of: "cmd/main.go", File: "bad", Cases: 3, Tasks: 4}, {Of: "cmd/main.go", File: "gone", Cases: 4, Tasks: 4}},
					Read:    []nexus.RelatedFileLesson{{Of: "cmd/", File: "bad", Cases: 2, Tasks: 5}, {Of: "lib/", File: "bad", Cases: 5, Tasks: 5}},
				}
			},
			says: []string{"From earlier tasks", "- `bad`: changed by 3 of 4 tasks that declare `cmd/main.go`\n- `bad`: read first by 2 of 5 tasks that declare `cmd/`"}, not: []string{"gone", "lib/"},
		},
		{
			name: "what the tasks changed and took away that it needs", want: nexus.Coder, why: "brief",
			set: func(j *job) {
				had, _ := j.tree("had", j.base, map[string]string{"m.go": "package m\n\nfunc Add(a int) int { return a }\n\nfunc Old() {}\n", "gone.go": "package m\n\nfunc Gone() {}\n"})
				w, err := j.Trees.AddTree(j.t.Context(), "r", "made", had)
				if err = errors.Join(err, w.Restore(j.t.Context(), had), os.Remove(filepath.Join(w.Dir, "gone.go"))); err != nil {
					j.t.Fatal(err)
				}
				gittest.WriteFiles(j.t, w.Dir, map[string]string{"m.go": "package m\n\nfunc Add(a, b int) int { return a + b }\n"})
				made, _, err := w.Snapshot(j.t.Context(), "made")
				if err != nil {
					j.t.Fatal(err)
				}
				j.view.Needs = []state.NeededTaskResult{{Task: nexus.Task{ID: "T0", Title: "Add two"}, Landed: nexus.LandingCompleted{Commit: made, Parent: had}}}
			},
			says: []string{"gone.go", "deleted", "m.go", "changed", "3 func Add(a, b int) int (before: func Add(a int) int)", "gone: func Old()"}, not: []string{"gone: func Gone"},
		},
		{
			name: "a reader of a finding that was disputed", role: nexus.Reviewer, want: nexus.Reviewer, why: "brief",
			set: func(j *job) {
				stands := nexus.Finding{Gate: "review", File: "one", Line: 1, Severity: nexus.Major, Message: "it leaks"}
				for n := range 2 {
					j.written(n+1, map[string]string{"one": fmt.Sprint(n)})
					a := j.view.Attempt
					r := a.LastRound()
					r.Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
				}
				a := j.view.Attempt
				a.Rounds[0].Reviews = []nexus.ReviewerVerdictGiven{{Attempt: a.ID, Tree: a.Snapshot.Tree, Reviewed: true, SendsBack: true, Findings: []nexus.Finding{stands}}}
				a.Rounds[1].Cause, a.Rounds[1].Answers = repair.ReviewCause, []nexus.FindingAnswer{{Finding: 1, Status: nexus.Contested, Why: "it is closed"}}
			},
			says: []string{"it leaks", "coder: disputed: it is closed"},
		},
		{
			name: "a verifier whose turn it is", want: nexus.Verifier, why: "brief",
			set: func(j *job) {
				j.written(1, one)
				a := j.view.Attempt
				a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
				a.Rounds[0].Suspect = &nexus.TamperSuspected{Attempt: a.ID, Tree: a.Snapshot.Tree, Findings: []nexus.Finding{{Code: "tamper.deleted", Message: "a test went"}}}
			},
			says: []string{"a test went"},
		},
		{
			name: "what came back from the merge train", want: nexus.Coder, why: "repair",
			set: func(j *job) {
				red(j, 1)
				j.view.Attempt.HandedWhy, j.view.Attempt.Handed = "it is red with what landed", []nexus.Finding{{Gate: "lint", Message: "they collide"}}
			},
			says: []string{"it is red with what landed", "they collide"}, not: []string{"fault 1"},
		},
	}
}

// renames is work whose gates pass on a task that says nothing but that it renames.
func renames(j *job, files map[string]string) {
	j.view.Task.Title, j.view.Task.Kind = "Rename bad to worse", ""
	j.written(1, files)
	a := j.view.Attempt
	a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
}
