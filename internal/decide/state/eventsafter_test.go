package state_test

import (
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// happened is a run of which much is known: a task landed, another is under way, and a third was
// added since.
const happened = `goal.accepted base=c0 limits.parallel=4 limits.run_money=1 limits.size.files=5 limits.size.criteria=6 limits.size.characters=2000
run.started
plan.proposed tasks=2
task.planned task.id=T1
task.planned task.id=T2
plan.approved
attempt.started attempt=T1.1 task=T1 base=c0 tier=fast
attempt.started attempt=T2.1 task=T2 base=c0 tier=fast
round.started attempt=T2.1 round=1 role=coder session=T2.1/coder.1
tree.snapshotted attempt=T2.1 commit=w2 tree=t2
attempt.ended attempt=T1.1 outcome=accepted commit=w1
train.boarded task=T1 attempt=T1.1
train.departed task=T1 attempt=T1.1 onto=c0
train.landed task=T1 attempt=T1.1 commit=c1 parent=c0 tree=t1
budget.reserved id="1" model=p/m money=0.25
budget.spent id="1" money=0.25
request.made request.verb=add request.by=ada request.plan.tasks=[{"title":"c"}]
task.planned task.id=T3
tasks.added request=17 tasks=[T3] by=ada
request.settled seq=17 granted=true
request.made request.verb=checkpoint request.id=here request.by=bob
checkpoint.made name=here reason=manual tip=c1 by=bob
request.settled seq=21 granted=true
attempt.lost attempt=T2.1 why="its process died"
attempt.broken attempt=T2.1 why="git fell over"
attempt.started attempt=T2.2 task=T2 base=c1 tier=fast
attempt.started attempt=T3.1 task=T3 base=c1 tier=fast
request.made request.verb=tell request.text=hurry
run.drained to=stopped why=enough
result.offered commit=c1
result.published why="the disk is full"
result.published branch=nexus/r commit=c1
`

// life folds a tape.
func life(t *testing.T, tape string) *state.State {
	t.Helper()
	events, err := eventtapetest.ReadTape("r", tape)
	if err != nil {
		t.Fatal(err)
	}
	s := state.NewState("r")
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestAfter says what going back to a point would take away, and what it would not.
func TestAfter(t *testing.T) {
	s := life(t, happened)
	a, err := view.EventsSince(s, 10)
	if err != nil {
		t.Fatal(err)
	}
	if a.Events != 22 || a.Money != nexus.Dollar/4 || a.Then.Seq != 10 || a.Then.Tip != "c0" {
		t.Errorf("%d events, %s, at %d on %s", a.Events, a.Money, a.Then.Seq, a.Then.Tip)
	}
	if len(a.Landings) != 1 || a.Landings[0].Commit != "c1" || !slices.Equal(a.Tasks, []nexus.TaskID{"T3"}) {
		t.Errorf("%d landings, tasks %q", len(a.Landings), a.Tasks)
	}
	if !slices.Equal(a.Attempts, []nexus.AttemptID{"T2.2"}) || !slices.Equal(a.Ended, []nexus.AttemptID{"T1.1", "T2.1"}) {
		t.Errorf("begun since %q, and ended by it %q", a.Attempts, a.Ended)
	}
	var asked []nexus.RequestKind
	for _, r := range a.Requests {
		asked = append(asked, r.Verb)
	}
	if !slices.Equal(asked, []nexus.RequestKind{nexus.VerbAdd}) || a.Published == nil || a.Published.Branch != "nexus/r" {
		t.Errorf("people asked for %q, and published is %+v", asked, a.Published)
	}
	a, err = view.EventsSince(s, 27)
	if err != nil || a.Events != 5 || a.Money != 0 || len(a.Landings)+len(a.Tasks)+len(a.Attempts)+len(a.Requests) != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if !slices.Equal(a.Ended, []nexus.AttemptID{"T2.2", "T3.1"}) {
		t.Errorf("ended by it are %q", a.Ended)
	}
	if a, err := view.EventsSince(s, 32); err != nil || a.Events != 0 || a.Published != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestGoingBackKeepsWhatPeopleKnow: points made since are undone, and those before are not; a lane keeps its
// name.
func TestGoingBackKeepsWhatPeopleKnow(t *testing.T) {
	s := life(t, `goal.accepted base=c0 limits.parallel=4 limits.run_money=1
run.started
plan.proposed tasks=2
task.planned task.id=T1
task.planned task.id=T2
plan.approved
checkpoint.made name=one reason=manual tip=c0 by=ada
attempt.started attempt=T1.1 task=T1 base=c0 tier=fast
session.started session=T1.1/coder.1 attempt=T1.1 role=coder model=p/m prompt=b
budget.reserved id="1" model=p/m task=T1 session=T1.1/coder.1 money=0.2
lane.formed lane=L1 tasks=[T1,T2] why=small
checkpoint.made name=two reason=manual tip=c0 by=ada
budget.spent id="1" money=0.2
request.made request.verb=review request.task=T1 request.by=ada request.review.comments=[{"kind":"must","body":"b"}]
request.settled seq=14 granted=true
request.made request.verb=tell request.task=T1 request.by=ada request.text=hurry
run.rewound to=7 tip=c0 from=c0 by=ada
`)
	if c := s.CheckpointByName("one"); c == nil || c.Undone {
		t.Errorf("%+v", c)
	}
	if c := s.CheckpointByName("two"); c == nil || !c.Undone {
		t.Errorf("%+v", c)
	}
	t1 := s.TaskByID("T1")
	if a := t1.CurrentAttempt(); len(t1.Attempts) != 1 || a.ID != "T1.1" || !a.Undone || !t1.IsUntried() {
		t.Errorf("%d attempts, the last is %+v", len(t1.Attempts), a)
	}
	if s.Ledger.SpentMoney() != nexus.Dollar/5 || t1.Spent != nexus.Dollar/5 || len(t1.Comments) != 1 || t1.Comments[0].ID != "c1" {
		t.Errorf("spent are %s, of the task %s, and said is %+v", s.Ledger.SpentMoney(), t1.Spent, t1.Comments)
	}
	if len(s.Lanes) != 1 || s.Lanes[0].Lane != "L1" || len(s.Lanes[0].Tasks) != 0 {
		t.Errorf("%+v", s.Lanes)
	}
	if len(s.Requests) != 1 || s.Requests[0].Verb != nexus.VerbTell || len(s.Rewinds) != 1 || s.Rewinds[0].To != 7 {
		t.Errorf("%+v, %+v", s.Requests, s.Rewinds)
	}
}

// TestGoingBackHasBounds: not to what is to come, to before the run, to the middle of a plan, in a run without
// work, or too deep into what was undone.
func TestGoingBackHasBounds(t *testing.T) {
	s := life(t, happened)
	const middle = " is in the middle of facts that were recorded together"
	for to, why := range map[int64]string{
		0: "the run had not started at event 0", 33: "event 33 does not exist yet", 5: "", 6: "", 32: "",
		3: "event 3" + middle, 4: "event 4" + middle, 16: "event 16" + middle, 17: "event 17" + middle,
	} {
		got := ""
		if err := s.CheckFacts(nexus.RunRewound{To: to}); err != nil {
			got = err.Error()
		}
		if got != why {
			t.Errorf("to %d: %q, want %q", to, got, why)
		}
	}
	if err := life(t, "goal.accepted base=c0 goal.mode=interview\nrun.started\n").CheckFacts(nexus.RunRewound{To: 1}); err == nil {
		t.Error("an interview goes back")
	}
	tape := happened
	for n := range 8 {
		tape += "run.rewound to=" + []string{"6", "33", "34", "35", "36", "37", "38", "39"}[n] + " tip=c0 from=c0\n"
	}
	s = life(t, tape)
	if err := s.CheckFacts(nexus.RunRewound{To: 40}); err == nil {
		t.Error("it goes back to what it reached after it went back, and so on, without an end")
	}
	if err := s.CheckFacts(nexus.RunRewound{To: 39}); err != nil {
		t.Error(err)
	}
}

// TestChange says what a task's change is, from what to what: that of its landing, and before that of its last
// attempt that has one.
func TestChange(t *testing.T) {
	s := life(t, happened)
	for id, want := range map[nexus.TaskID]string{"T1": "c0 c1", "T2": "c0 w2", "T3": " "} {
		if from, to := s.TaskByID(id).ChangedCommits(); from+" "+to != want {
			t.Errorf("%s: %s to %s", id, from, to)
		}
	}
}

// TestSaidOfAChange: whose comments keep it from landing, who is told of them, and which of them an answer
// settles.
func TestSaidOfAChange(t *testing.T) {
	const begun = `goal.accepted base=c0 limits.parallel=4 limits.run_money=1 limits.review.people=all
run.started
plan.proposed tasks=1
task.planned task.id=T1
plan.approved
attempt.started attempt=T1.1 task=T1 base=c0 tier=fast
tree.snapshotted attempt=T1.1 commit=w1 tree=t1
request.made request.verb=review request.task=T1 request.by=ada request.review.commit=w1 request.review.base=c0 request.review.comments=[{"kind":"must","body":"a"},{"kind":"should","file":"a.go","start":1,"replace":{"text":"x"}},{"kind":"praise","body":"c"}]
request.settled seq=8 granted=true
`
	names := func(all []state.Guidance) (ids []string) {
		for _, g := range all {
			for _, c := range g.Comments {
				ids = append(ids, c.ID)
			}
		}
		return ids
	}
	s := life(t, begun)
	t1 := s.TaskByID("T1")
	if ids := names(t1.UndeliveredComments("T1.1")); !slices.Equal(ids, []string{"c1", "c2", "c3"}) || len(t1.UndeliveredComments("T1.1")) != 1 {
		t.Errorf("told are %q", ids)
	}
	if m := t1.BlockingComments(); len(m) != 1 || m[0].ID != "c1" || m[0].Commit != "w1" || m[0].Base != "c0" || m[0].By != "ada" || m[0].Seq != 8 {
		t.Errorf("%+v", m)
	}
	if _, ok := t1.CommentByID("c4"); ok || !t1.Helped || len(t1.Looks) != 1 || t1.Looks[0].Commit != "w1" || t1.Looks[0].Approved {
		t.Errorf("%+v", t1.Looks)
	}
	const heard = begun + `prompt.sent session=T1.1/coder.1 message=b why=review request=8 comments=[{"id":"c1","kind":"must"},{"id":"c2","kind":"should"},{"id":"c3","kind":"praise"}]
`
	if ids := names(life(t, heard).TaskByID("T1").UndeliveredComments("T1.1")); len(ids) > 0 {
		t.Errorf("told again are %q", ids)
	}
	if ids := names(life(t, heard).TaskByID("T1").UndeliveredComments("T1.2")); !slices.Equal(ids, []string{"c1", "c2"}) {
		t.Errorf("the next attempt is told %q", ids)
	}
	const answered = heard + `comments.answered attempt=T1.1 task=T1 round=1 commit=w1 answers=[{"comment":"c1","reply":"fixed","changed":true},{"comment":"c2","reply":"declined","why":"no"}]
`
	if ids := names(life(t, answered).TaskByID("T1").UndeliveredComments("T1.2")); !slices.Equal(ids, []string{"c1"}) {
		t.Errorf("after answers the next attempt is told %q", ids)
	}
	const apply = heard + `request.made request.verb=review request.task=T1 request.by=bob request.review.commit=w1 request.review.apply=["c2"]
request.settled seq=11 granted=true
`
	if f, ok := life(t, apply).TaskByID("T1").WorkToReturn(&state.AttemptState{ID: "T1.1"}); !ok || len(f.Apply) != 1 || f.Apply[0].ID != "c2" || f.Tell || f.Why != "a person reviewed it: c2" {
		t.Errorf("%+v", f)
	}
	for fate, tape := range map[string]string{
		"w3": apply + "comments.applied attempt=T1.1 task=T1 applied=[\"c2\"] commit=w3\n",
		"":   apply + "comments.applied attempt=T1.1 task=T1 refused=[{\"comment\":\"c2\",\"why\":\"gone\"}]\n",
	} {
		t1 := life(t, tape).TaskByID("T1")
		c, _ := t1.CommentByID("c2")
		if _, ok := t1.WorkToReturn(&state.AttemptState{ID: "T1.1"}); ok || c.Applied != fate || (c.Resolved == "") != (fate == "") || (c.Refused == "gone") != (fate == "") {
			t.Errorf("%+v", c)
		}
	}
	settled := life(t, heard+`request.made request.verb=review request.task=T1 request.review.commit=w1 request.review.approve=true request.review.resolve=["c1"]
request.settled seq=11 granted=true
attempt.ended attempt=T1.1 outcome=accepted commit=w1 tree=t1
`)
	a := settled.AttemptByID("T1.1")
	if c, _ := settled.TaskByID("T1").CommentByID("c1"); c.Resolved != "a person" || settled.LandingHoldReason(settled.TaskByID("T1"), a) != "" {
		t.Errorf("%+v, held: %s", c, settled.LandingHoldReason(settled.TaskByID("T1"), a))
	}
	a.Commit = "w2"
	if why := settled.LandingHoldReason(settled.TaskByID("T1"), a); why != "every change waits for a person" {
		t.Errorf("what nobody saw lands: %q", why)
	}
}

// TestRiskIsOfATree: what was weighed of another tree says nothing about this one.
func TestRiskIsOfATree(t *testing.T) {
	s := state.NewState("r")
	s.Limits.Review.People = nexus.ReviewRisky
	for want, a := range map[string]*state.AttemptState{
		"it is unknown how risky it is": {Tree: "t2", Risky: &nexus.ChangeRiskRated{Tree: "t1"}},
		"":                              {Tree: "t1", Risky: &nexus.ChangeRiskRated{Tree: "t1"}},
		"it is risky: it is large":      {Tree: "t1", Risky: &nexus.ChangeRiskRated{Tree: "t1", Risky: []string{"it is large"}}},
	} {
		if got := s.PersonReviewReason(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := s.PersonReviewReason(&state.AttemptState{}); got != "it is unknown how risky it is" {
		t.Error(got)
	}
}
