package attempt_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

var update = flag.Bool("update", false, "rewrite the recordings and the page that compares them")

// retelling is a run in which attempts at one task failed.
type retelling struct {
	*job
	s   *state.State
	seq int64
	ids map[string]string // of commits, by what stands for them in a recording
}

func newRetelling(t *testing.T) *retelling {
	t.Helper()
	j := newJob(t, map[string]string{"dur/dur.go": "package dur\n\n// Parse reads a duration.\nfunc Parse(s string) (int, error) { return 0, nil }\n"})
	p := &retelling{job: j, s: state.NewState("r"), ids: map[string]string{}}
	p.ids[j.base] = "BASE"
	task := nexus.Task{
		ID: "T1", Title: "Read weeks", Brief: "Parse reads 2w as 14 days, and everything that String writes.", Files: []string{"dur/dur.go", "dur/dur_test.go"},
		Criteria: []nexus.Criterion{{Text: "2w is 14 days", Check: "go test ./dur -run Weeks"}, {Text: "What String writes is read", Check: "test"}},
	}
	limits := nexus.Limits{Rounds: 50, Same: 3, ReviewRounds: 2, MajorsBlock: 1, PerTier: map[nexus.Tier]int{nexus.Fast: 2, nexus.Balanced: 2}}
	p.fold(
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "Durations have weeks"}, Base: j.base, Limits: limits}, nexus.RunStarted{},
		nexus.PlanningStarted{Attempt: "plan.1"}, nexus.PlanProposed{Tasks: 2}, nexus.TaskPlanned{Task: task},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Title: "Write days", Criteria: []nexus.Criterion{{Text: "It is there", Check: "test"}}}}, nexus.PlanApproved{By: "none"},
	)
	return p
}

func (p *retelling) fold(facts ...nexus.Fact) {
	p.t.Helper()
	for _, f := range facts {
		p.seq++
		if err := p.s.Apply(nexus.Event{Seq: p.seq, Run: "r", At: time.Unix(p.seq, 0), Fact: f}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// start begins an attempt, as the schedule would.
func (p *retelling) start(id nexus.AttemptID) {
	p.t.Helper()
	v, fresh := schedule.UpcomingView(p.s, p.s.TaskByID("T1"))
	a := v.Attempt
	if !fresh || a.ID != id {
		p.t.Fatalf("the next attempt is %s", a.ID)
	}
	p.fold(
		nexus.AttemptStarted{Attempt: id, Task: "T1", Tier: a.Tier, Strategy: nexus.TestAfter, Base: a.Base, Tree: a.Start, Since: a.Since, From: a.From, Round: a.FromRound},
		nexus.SessionStarted{Session: nexus.SessionID(id + "/coder.1"), Attempt: id, Role: nexus.Coder, Model: "toy/one", Prompt: "p"},
	)
}

// wrote is a round in which the coder wrote files and submitted with a summary,
// or, without one, was cut off after it said something.
func (p *retelling) wrote(id nexus.AttemptID, cause string, files map[string]string, summary string, answers ...nexus.FindingAnswer) nexus.TreeSnapshotted {
	p.t.Helper()
	a := p.s.AttemptByID(id)
	session := nexus.SessionID(id + "/coder.1")
	n := len(a.Rounds) + 1
	commit, tree := p.tree(id, a.Base, files)
	p.ids[commit] = fmt.Sprintf("%s-ROUND-%d", id, n)
	snap := nexus.TreeSnapshotted{Attempt: id, Commit: commit, Tree: tree}
	p.fold(nexus.RoundStarted{Attempt: id, Round: n, Role: nexus.Coder, Cause: cause, Session: session}, nexus.PromptSent{Session: session, Message: p.blob(llm.UserMessage("begin")), Why: "brief"})
	if summary == "" {
		said := llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Text: "I split Parse into a scanner and a table of units.\nThe scanner works; the table has no weeks yet."}}}
		p.fold(
			nexus.ModelTurnRecorded{Session: session, Turn: 1, Message: p.blob(llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Text: "I look around."}}})},
			nexus.ModelTurnRecorded{Session: session, Turn: 2, Message: p.blob(said)}, snap, nexus.SessionEnded{Session: session, Outcome: nexus.Exhausted, Why: "the task's time limit of 1h0m0s is reached"},
		)
		return snap
	}
	result := p.blob(map[string]string{"subject": "Read weeks", "summary": summary, "status": "done"})
	p.fold(snap, nexus.SessionEnded{Session: session, Outcome: nexus.Accepted, Result: result, Answers: answers})
	return snap
}

func (p *retelling) blob(v any) string {
	p.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		p.t.Fatal(err)
	}
	hash, err := p.Site.Blobs.Put(data)
	if err != nil {
		p.t.Fatal(err)
	}
	return hash
}

// red lets a gate fail a snapshot after another passed.
func (p *retelling) red(snap nexus.TreeSnapshotted, gate string, found ...nexus.Finding) {
	p.t.Helper()
	for i := range found {
		found[i].Gate = gate
	}
	if gate != "build" {
		p.fold(nexus.GateJudged{Attempt: snap.Attempt, Evidence: nexus.GateEvidence{Gate: "build", State: nexus.Pass, Tree: snap.Tree, Command: "go build ./..."}})
	}
	p.fold(
		nexus.GateJudged{Attempt: snap.Attempt, Evidence: nexus.GateEvidence{Gate: gate, State: nexus.Fail, Tree: snap.Tree, Command: "go " + gate + " ./...", Exit: 1, Findings: found, Output: p.blob("--- FAIL")}},
		nexus.GatesVerdictGiven{Attempt: snap.Attempt, Tree: snap.Tree, State: nexus.Fail, Gate: gate, Why: fmt.Sprintf("%d findings", len(found))},
	)
}

// green lets all gates pass a snapshot.
func (p *retelling) green(snap nexus.TreeSnapshotted) {
	p.t.Helper()
	for _, gate := range []string{"build", "test", "accept: go test ./dur -run Weeks"} {
		p.fold(nexus.GateJudged{Attempt: snap.Attempt, Evidence: nexus.GateEvidence{Gate: gate, State: nexus.Pass, Tree: snap.Tree, Command: "go " + gate}})
	}
	p.fold(nexus.GatesVerdictGiven{Attempt: snap.Attempt, Tree: snap.Tree, State: nexus.Pass})
}

func (p *retelling) ended(id nexus.AttemptID, o nexus.Outcome, why string) {
	p.t.Helper()
	snap := p.s.AttemptByID(id).Snapshot
	p.fold(nexus.AttemptEnded{Attempt: id, Outcome: o, Why: why, Commit: snap.Commit, Tree: snap.Tree})
}

// asks lets a person ask for something that is granted.
func (p *retelling) asks(r nexus.Request) int64 {
	p.t.Helper()
	r.By = "ann"
	p.fold(nexus.RequestMade{Request: r})
	seq := p.seq
	if r.Verb == nexus.VerbRetry {
		p.fold(nexus.TaskRetried{Task: r.Task, By: r.By})
	}
	p.fold(nexus.RequestSettled{Seq: seq, Granted: true})
	return seq
}

// opening returns the message that the next attempt begins with, with names
// that are the same on every machine.
func (p *retelling) opening() []prompt.SentPromptSection {
	p.t.Helper()
	p.plays(nil)
	p.view, _ = schedule.UpcomingView(p.s, p.s.TaskByID("T1"))
	u, err := attempt.PreviewPrompt(p.t.Context(), p.AttemptWorker, p.view, nexus.Coder)
	if err != nil {
		p.t.Fatal(err)
	}
	var parts []prompt.SentPromptSection
	for _, part := range u.Parts {
		if strings.HasPrefix(part.Title, "Worktree") || part.Title == "Map" {
			continue
		}
		for id, name := range p.ids {
			part.Text = strings.ReplaceAll(part.Text, id, name)
		}
		parts = append(parts, part)
	}
	return parts
}

// parse is a file that differs from others by what it does about weeks.
func parse(weeks string) map[string]string {
	return map[string]string{"dur/dur.go": "package dur\n\n// Parse reads a duration.\nfunc Parse(s string) (int, error) {\n\t" + weeks + "\n}\n"}
}

func weeks() nexus.Finding {
	return nexus.Finding{File: "dur/dur_test.go", Line: 21, Test: "dur.TestRoundTrip", Code: "fail", Message: "Parse(String(15d)) = 14d\nwant 15d: String writes 2w1d, without a space between the units"}
}

// retold are runs in which the next attempt has something to learn from those
// before it.
var retold = []struct {
	name, what string
	play       func(p *retelling)
}{
	{"same-failure", "The same test failed three times, with another change each time.", func(p *retelling) {
		p.start("T1.1")
		snap := p.wrote("T1.1", "", parse(`return weeks(strings.Split(s, " "))`), "Parse splits its text at spaces and adds the weeks.")
		p.red(snap, "test", weeks())
		snap = p.wrote("T1.1", "test", parse(`return weeks(strings.Fields(s))`), "Parse splits its text at any white space and adds the weeks.")
		p.red(snap, "test", weeks())
		snap = p.wrote("T1.1", "test", parse(`return weeks(strings.SplitN(s, " ", 2))`), "Parse splits its text once, at the first space.\nThe weeks come first.")
		p.red(snap, "test", weeks())
		p.ended("T1.1", nexus.NoProgress, "the same test failure 3 times")
	}},
	{"review-rejected", "The gates passed, and a review rejected the change twice. One finding was disputed, and stood.", func(p *retelling) {
		p.start("T1.1")
		race := nexus.Finding{Gate: "review", File: "dur/dur.go", Line: 4, Severity: nexus.Major, Message: "the table of units is changed by each call, and two calls at once race", Advice: "build it once"}
		lost := nexus.Finding{Gate: "review", File: "dur/dur.go", Line: 5, Severity: nexus.Major, Message: "the error names no unit", Advice: "name the unit in it"}
		snap := p.wrote("T1.1", "", parse(`units["w"] = 7; return read(s, units)`), "Weeks are added to the table of units.")
		p.green(snap)
		p.fold(nexus.ReviewerVerdictGiven{Attempt: "T1.1", Tree: snap.Tree, Reviewed: true, SendsBack: true, Summary: "It races, and errors say nothing.", Findings: []nexus.Finding{race, lost}})
		snap = p.wrote("T1.1", "review", parse(`units["w"] = 7; return readNamed(s, units)`), "Errors name the unit.", nexus.FindingAnswer{Finding: 1, Status: nexus.Contested, Why: "Parse is called by one goroutine"}, nexus.FindingAnswer{Finding: 2, Status: nexus.Fixed})
		p.green(snap)
		p.fold(nexus.ReviewerVerdictGiven{Attempt: "T1.1", Tree: snap.Tree, Reviewed: true, SendsBack: true, Summary: "It still races.", Findings: []nexus.Finding{race}})
		p.ended("T1.1", nexus.Exhausted, "rejected by review 2 times: It still races.")
	}},
	{"merge-conflict", "The change was accepted, but does not merge with what landed meanwhile.", func(p *retelling) {
		p.start("T1.1")
		snap := p.wrote("T1.1", "", parse(`return read(s, map[string]int{"d": 1, "w": 7})`), "Parse reads units from a table.")
		p.green(snap)
		p.fold(nexus.ReviewerVerdictGiven{Attempt: "T1.1", Tree: snap.Tree, Reviewed: true, Approved: true, Summary: "Fine."})
		p.ended("T1.1", nexus.Accepted, "Fine.")
		tip, tree := p.tree("T2.1", p.base, parse(`return days(s)`))
		p.ids[tip] = "TIP"
		p.fold(
			nexus.AttemptStarted{Attempt: "T2.1", Task: "T2", Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: p.base},
			nexus.AttemptEnded{Attempt: "T2.1", Outcome: nexus.Accepted, Commit: tip, Tree: tree},
			nexus.LandingQueued{Task: "T2", Attempt: "T2.1"}, nexus.LandingStarted{Task: "T2", Attempt: "T2.1", Onto: p.base},
			nexus.LandingCompleted{Task: "T2", Attempt: "T2.1", Commit: tip, Tree: tree, Parent: p.base},
			nexus.LandingQueued{Task: "T1", Attempt: "T1.1"}, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: tip},
			nexus.LandingRejected{Task: "T1", Attempt: "T1.1", Conflict: true, Onto: tip, Why: "it conflicts with T2 in dur/dur.go, and nobody could merge it"},
		)
		p.start("T1.2")
		p.fold(nexus.StartingTreeRejected{Attempt: "T1.2", Why: "it does not merge with what landed since: dur/dur.go"})
	}},
	{"tier-escalated", "Two attempts failed, each in its own way; the next one has a stronger model.", func(p *retelling) {
		p.start("T1.1")
		snap := p.wrote("T1.1", "", parse(`return scan(s)`), "Parse is written anew, as a scanner.")
		for range 3 {
			p.red(snap, "build", nexus.Finding{File: "dur/dur.go", Line: 5, Code: "compile", Message: "undefined: scan"})
			snap = p.wrote("T1.1", "build", parse(`return scan(s)`+strings.Repeat(" ", len(p.s.AttemptByID("T1.1").Rounds))), "Parse is written anew, as a scanner.")
		}
		p.ended("T1.1", nexus.NoProgress, "the same build failure 3 times")
		p.start("T1.2")
		snap = p.wrote("T1.2", "", parse(`return weeks(strings.Fields(s))`), "Weeks are split off before Parse reads the rest.")
		p.red(snap, "test", weeks(), nexus.Finding{File: "dur/dur_test.go", Line: 30, Test: "dur.TestEmpty", Message: "no error for an empty text"})
		snap = p.wrote("T1.2", "test", parse(`return weeks(cut(s, "w"))`), "Weeks are cut off at the w.")
		p.red(snap, "test", weeks())
		snap = p.wrote("T1.2", "test", parse(`return weeks(strings.Split(s, "w"))`), "Weeks are split off at the w.")
		p.red(snap, "test", weeks(), nexus.Finding{File: "dur/dur_test.go", Line: 30, Test: "dur.TestEmpty", Message: "no error for an empty text"})
		p.ended("T1.2", nexus.NoProgress, "the same test failure 3 times")
		p.fold(nexus.TaskEscalated{Task: "T1", From: nexus.Fast, To: nexus.Balanced, Why: "2 attempts failed"})
	}},
	{"time-over", "The task's time was up with part of the work done, and a person gave it more.", func(p *retelling) {
		p.start("T1.1")
		p.wrote("T1.1", "", map[string]string{"dur/scan.go": "package dur\n\nfunc scan(s string) []token { return nil }\n"}, "")
		p.ended("T1.1", nexus.Exhausted, "the task's time limit of 1h0m0s is reached; the work is kept")
		p.fold(nexus.TaskParked{Task: "T1", Why: "its time is over", Failed: true})
		p.asks(nexus.Request{Verb: nexus.VerbRetry, Task: "T1"})
	}},
	{"advice", "A person told the agent something, answered its question, and said why it is tried again.", func(p *retelling) {
		p.start("T1.1")
		seq := p.asks(nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "Weeks have 7 days here, also in calendars."})
		snap := p.wrote("T1.1", "", parse(`return weeks(s, 5)`), "A week has five working days.")
		p.fold(nexus.PromptSent{Session: "T1.1/coder.1", Message: p.blob(llm.UserMessage("said")), Why: "guidance", Request: seq})
		p.fold(
			nexus.QuestionAsked{ID: "q1", Attempt: "T1.1", Text: "May Parse read months, too?", Fallback: "no"}, nexus.QuestionAnswered{ID: "q1", Text: "No: months have no fixed length.", By: "ann"},
			nexus.QuestionAsked{ID: "q2", Attempt: "T1.1", Text: "Which style?", Fallback: "the file's"}, nexus.QuestionAnswered{ID: "q2", Text: "the file's", By: "fallback"},
		)
		p.red(snap, "test", weeks())
		p.ended("T1.1", nexus.GaveUp, "TestRoundTrip contradicts the task")
		p.fold(nexus.TaskParked{Task: "T1", Why: "its agent gave up"})
		seq = p.asks(nexus.Request{Verb: nexus.VerbRetry, Task: "T1", Text: "TestRoundTrip is right: String writes no spaces."})
		p.start("T1.2")
		p.fold(nexus.PromptSent{Session: "T1.2/coder.1", Message: p.blob(llm.UserMessage("said")), Why: "guidance", Request: seq})
		p.asks(nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "This comes with its next turn, and not before."})
	}},
}

// TestWhatANextAttemptIsTold compares the message that opens an attempt after
// others failed with the recording of it, for each kind of failure, and the page
// that holds these against what was told before with what they come to. The
// recordings of what was told before are history: no test writes them.
func TestWhatANextAttemptIsTold(t *testing.T) {
	var table, texts strings.Builder
	git := breaks(t)
	for _, c := range retold {
		git.fails(0)
		p := newRetelling(t)
		c.play(p)
		var said []string
		for _, part := range p.opening() {
			said = append(said, part.Text)
		}
		git.unread(p.job, nexus.Coder)
		now := strings.Join(said, "\n\n") + "\n"
		recorded(t, filepath.Join("testdata", "retold", c.name+".txt"), now)
		was, err := os.ReadFile(filepath.Join("testdata", "retold", c.name+".before.txt"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d |\n", c.name, len(was), prompt.EstimateTokens(string(was)), len(now), prompt.EstimateTokens(now))
		fmt.Fprintf(&texts, "\n## %s\n\n%s\n\nBefore:\n\n%s\n\nNow:\n\n%s\n", c.name, c.what, sanitize.FenceUntrustedText("text", history(string(was))), sanitize.FenceUntrustedText("text", history(now)))
	}
	recorded(t, filepath.Join("..", "..", "..", "docs", "evidence", "retold.md"), fmt.Sprintf(page, table.String(), texts.String()))
}

// TestWhatIsLostIsNotTold holds that words which are gone keep nobody from trying
// again, and that a gate without findings has what it printed.
func TestWhatIsLostIsNotTold(t *testing.T) {
	p := newRetelling(t)
	p.start("T1.1")
	snap := p.wrote("T1.1", "", parse("return scan(s)"), "A scanner.")
	out, err := p.Site.Blobs.Put([]byte("=== RUN TestScan\npanic: out of tokens\n"))
	if err != nil {
		t.Fatal(err)
	}
	p.fold(
		nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Fail, Tree: snap.Tree, Output: out, Why: "exit 2"}},
		nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: snap.Tree, State: nexus.Fail, Gate: "test", Why: "exit 2"},
	)
	p.ended("T1.1", nexus.NoProgress, "the same test failure 3 times")
	said := func() string {
		var all []string
		for _, part := range p.opening() {
			all = append(all, part.Text)
		}
		return strings.Join(all, "\n")
	}
	has(t, said(), []string{"idea: A scanner.", "exit 2", "panic: out of tokens"})
	a := p.s.AttemptByID("T1.1")
	a.Sessions[0].Result, a.Sessions[0].Messages, a.Rounds[0].Evidence[0].Output = "lost", []string{"lost"}, "lost"
	has(t, said(), []string{"- T1.1: the approach failed", "exit 2"}, "idea:", "panic")
}

// TestAFindingThatWasDisputedStands, which its author is told.
func TestAFindingThatWasDisputedStands(t *testing.T) {
	for _, status := range []nexus.FindingAnswerStatus{nexus.Contested, nexus.Fixed} {
		p := newRetelling(t)
		p.start("T1.1")
		race := nexus.Finding{Gate: "review", File: "dur/dur.go", Line: 4, Severity: nexus.Major, Message: "two calls at once race"}
		for n, cause := range []string{"", "review"} {
			var answers []nexus.FindingAnswer
			if n > 0 {
				answers = []nexus.FindingAnswer{{Finding: 1, Status: status, Why: "Parse is called by one goroutine"}}
			}
			snap := p.wrote("T1.1", cause, parse(fmt.Sprint("return ", n)), "Weeks are added.", answers...)
			p.green(snap)
			p.fold(nexus.ReviewerVerdictGiven{Attempt: "T1.1", Tree: snap.Tree, Reviewed: true, SendsBack: true, Summary: "It races.", Findings: []nexus.Finding{race}})
		}
		p.view.Attempt, p.view.Limits.ReviewRounds = p.s.AttemptByID("T1.1"), 5
		p.view.Task.Task = p.s.TaskByID("T1").Task
		want := []string{"two calls at once race", "it was disputed, and its judge reported it again"}
		if status == nexus.Contested {
			has(t, text(p.next(nexus.Coder)), want)
		} else {
			has(t, text(p.next(nexus.Coder)), want[:1], want[1])
		}
	}
}

// TestWhatCameClosestIsShownToWhoContinues, which a tester does of work on tests
// alone.
func TestWhatCameClosestIsShownToWhoContinues(t *testing.T) {
	p := newRetelling(t)
	p.start("T1.1")
	snap := p.wrote("T1.1", "", parse("return scan(s)"), "A scanner.")
	p.red(snap, "build", nexus.Finding{File: "dur/dur.go", Line: 5, Code: "compile", Message: "undefined: scan"})
	p.ended("T1.1", nexus.NoProgress, "the same build failure 3 times")
	p.opening()
	for role, kinds := range map[nexus.Role]map[nexus.TaskKind]bool{nexus.Coder: {"": true, nexus.TestTask: true}, nexus.Tester: {"": false, nexus.TestTask: true}} {
		for kind, shown := range kinds {
			p.view.Task.Kind = kind
			if got := text(p.next(role)); strings.Contains(got, "return scan(s)") != shown {
				t.Errorf("a %s of a %s: %s", role, kind, got)
			}
		}
	}
}

// history is the part of a message that depends on earlier attempts.
func history(text string) string { return text[strings.Index(text, "## Start"):] }

const page = `# What the next attempt at a task is told

Six runs in which attempts at a task failed, and the message that opens the next attempt. "Before" is the message of the time when an attempt was told only how
earlier ones ended. The facts, commits and texts are made up; the code that turns them into a message is the real one.
[Decision 37](../decisions/0037-earlier-attempts.md) gives the reasons. Written by ` + "`go test ./internal/work/attempt -run WhatANextAttemptIsTold -args -update`" + `.

| run | bytes before | tokens before | bytes now | tokens now |
|---|---|---|---|---|
%s
What is said about earlier attempts takes at most an estimated 10,000 tokens. The whole messages are in ` + "`internal/work/attempt/testdata/retold`" + `. This page shows the
part that depends on earlier attempts; the system prompt, the tools, the task before it and the map after it are the same in both.
%s`

// recorded compares a text with the one that is kept.
func recorded(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil { //nolint:gosec // it is committed
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
