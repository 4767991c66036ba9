package accept_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ran returns a run whose tasks have four criteria, as the gates of its last
// tree judged them.
func ran(status nexus.TaskStatus, tree string, evidence ...nexus.GateEvidence) *state.State {
	s := state.NewState("r")
	s.Tip = "c1"
	t := &state.TaskState{Task: nexus.Task{ID: "T1", Criteria: []nexus.Criterion{
		{Text: "tests pass", Check: "test"}, {Text: "it greets", Check: "sh greet.sh"}, {Text: "it is nice"}, {Text: "it is fast", Check: "bench"},
	}}, Status: status}
	a := &state.AttemptState{ID: "T1.1"}
	for _, n := range []int{1, 4} {
		a.Weighed.Criteria = append(a.Weighed.Criteria, nexus.CriterionGateEvidence{Number: n, Of: state.CriterionFingerprint(t.Task, n), By: nexus.NewBearing, Tests: []string{"TestNew"}, Why: "so"})
	}
	t.Attempts = append(t.Attempts, a)
	s.Tasks = append(s.Tasks, t)
	s.Landings = []*state.CompletedLanding{{}}
	if tree != "" {
		s.Result = &nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Tree: tree, Evidence: evidence}}
	}
	return s
}

func green(gate string) nexus.GateEvidence {
	return nexus.GateEvidence{Gate: gate, State: nexus.Pass, Tree: "t"}
}

func states(t accept.CriteriaTable) string {
	var all []string
	for _, r := range t.Rows {
		all = append(all, string(r.State))
	}
	return strings.Join(all, " ")
}

func TestOf(t *testing.T) {
	red := nexus.GateEvidence{Gate: "accept: sh greet.sh", State: nexus.Fail, Tree: "t", Exit: 1}
	other := green("test")
	other.Tree = "u"
	unsure := nexus.GateEvidence{Gate: "test", State: nexus.Unverifiable, Tree: "t"}
	for name, c := range map[string]struct {
		s    *state.State
		want string
	}{
		"all that can be shown":   {ran(nexus.Landed, "t", green("test"), green("accept: sh greet.sh")), "met met unknown unknown"},
		"one is red":              {ran(nexus.Landed, "t", green("test"), red), "met unmet unknown unknown"},
		"another tree shows none": {ran(nexus.Landed, "t", other), "unknown unknown unknown unknown"},
		"a gate that cannot tell": {ran(nexus.Landed, "t", unsure), "unknown unknown unknown unknown"},
		"nothing was judged":      {ran(nexus.Landed, ""), "unknown unknown unknown unknown"},
		"it did not land":         {ran(nexus.Parked, "t", green("test"), green("accept: sh greet.sh")), "unknown unknown unknown unknown"},
		"no tree is no evidence":  {ran(nexus.Landed, "t", nexus.GateEvidence{Gate: "test", State: nexus.Pass}), "unknown unknown unknown unknown"},
	} {
		table := accept.BuildCriteriaTable(c.s, nil)
		if got := states(table); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		for _, r := range table.Rows {
			if e := r.Evidence; e != nil && (e.Tree != "t" || table.Tree == "") || e == nil && r.State == accept.Met {
				t.Errorf("%s: %s has the evidence %+v", name, r.ID, e)
			}
			if (r.State == accept.Met) == (r.Why != "") {
				t.Errorf("%s: %s is %s because %q", name, r.ID, r.State, r.Why)
			}
		}
	}
}

// TestWaived lets a person's word be beside the evidence, and not for it.
func TestWaived(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := accept.WaiversFrom([]nexus.Event{
		{At: at, Fact: nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbApprove, ID: "T1/AC-3", Text: "old", By: "ann"}}},
		{At: at, Fact: nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbApprove, ID: "T1/AC-3", Text: "seen on the screen", By: "ann"}}},
		{At: at, Fact: nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbAnswer, ID: "T1/AC-4", Text: "yes"}}},
	})
	table := accept.BuildCriteriaTable(ran(nexus.Landed, "t", green("test"), green("accept: sh greet.sh")), w)
	if r := table.Rows[2]; r.State != accept.Unknown || r.Waived == nil || r.Waived.By != "ann" || r.Waived.Reason != "seen on the screen" {
		t.Errorf("%+v", r)
	}
	if unmet, unknown := table.CountOpen(); unmet != 0 || unknown != 1 || table.Waived != 1 || table.Unknown != 2 || table.Met != 2 {
		t.Errorf("%d unmet, %d unknown; %+v", unmet, unknown, table)
	}
}

// TestLooked lets the last word of who looked count: a no makes what nothing
// shows unmet, and what evidence shows stays met.
func TestLooked(t *testing.T) {
	said := func(verb nexus.RequestKind, id, text string) nexus.Event {
		return nexus.Event{Fact: nexus.RequestMade{Request: nexus.Request{Verb: verb, ID: id, Text: text, By: "ann"}}}
	}
	w := accept.WaiversFrom([]nexus.Event{
		said(nexus.VerbApprove, "T1/AC-3", accept.ByHand), said(nexus.VerbReject, "T1/AC-3", "it is grey"), said(nexus.VerbReject, "T1/AC-1", "no"),
		said(nexus.VerbReject, "T1/AC-4", "slow"), said(nexus.VerbApprove, "T1/AC-4", accept.ByHand+": fast now"),
	})
	table := accept.BuildCriteriaTable(ran(nexus.Landed, "t", green("test"), green("accept: sh greet.sh")), w)
	if got := states(table); got != "met met unmet unknown" {
		t.Error(got)
	}
	if r := table.Rows[2]; r.Waived != nil || r.Rejected == nil || r.Why != "ann checked it: it is grey" {
		t.Errorf("%+v", r)
	}
	if r := table.Rows[3]; r.Rejected != nil || r.Waived == nil || !r.Waived.Signed {
		t.Errorf("%+v", r)
	}
	if unmet, unknown := table.CountOpen(); unmet != 1 || unknown != 0 {
		t.Error(unmet, unknown)
	}
}

func TestNames(t *testing.T) {
	if task, n, ok := accept.ParseID(accept.CriterionID("F1-A-01", 12)); !ok || task != "F1-A-01" || n != 12 {
		t.Error(task, n, ok)
	}
	for _, bad := range []string{"", "T1", "T1/AC-", "T1/AC-0", "T1/AC-01", "T1/AC--1", "/AC-1", "T1/AC-x"} {
		if _, _, ok := accept.ParseID(bad); ok {
			t.Errorf("%q names a criterion", bad)
		}
	}
	a, b := nexus.Criterion{Text: "it  greets\n", Check: "go test ./..."}, nexus.Criterion{Text: "it greets", Check: "go  test ./..."}
	if accept.CriterionFingerprint(a) != accept.CriterionFingerprint(b) {
		t.Error("blanks count")
	}
	b.Check = "go test ./a"
	if accept.CriterionFingerprint(a) == accept.CriterionFingerprint(b) {
		t.Error("the check does not count")
	}
	s := ran(nexus.Landed, "")
	if _, ok := accept.FindCriterion(s, "T9/AC-1"); ok {
		t.Error("found what is not there")
	}
}

func TestGroups(t *testing.T) {
	s := ran(nexus.Landed, "t", green("test"), green("accept: sh greet.sh"))
	s.Tasks[0].Group, s.Tasks[0].Criteria = "greet", s.Tasks[0].Criteria[:2]
	add := func(id nexus.TaskID, group string, status nexus.TaskStatus, criteria ...nexus.Criterion) {
		t := &state.TaskState{Task: nexus.Task{ID: id, Group: group, Criteria: criteria}, Status: status, Attempts: []*state.AttemptState{{}}}
		for n := range criteria {
			t.Attempts[0].Weighed.Criteria = append(t.Attempts[0].Weighed.Criteria, nexus.CriterionGateEvidence{Number: n + 1, Of: state.CriterionFingerprint(t.Task, n+1), By: nexus.TurnedBearing})
		}
		s.Tasks = append(s.Tasks, t)
	}
	add("T2", "", nexus.Parked)
	add("T3", "count", nexus.Landed, nexus.Criterion{Text: "nice"})
	add("T4", "greet", nexus.Landed, nexus.Criterion{Text: "tests pass", Check: "test"})
	add("T5", "list", nexus.Parked, nexus.Criterion{Text: "nice"})
	add("T6", "greet / loudly", nexus.Landed, nexus.Criterion{Text: "tests pass", Check: "test"})
	add("T7", "list / long", nexus.Landed, nexus.Criterion{Text: "tests pass", Check: "test"})
	want := []accept.FeatureProgress{
		{Name: "greet", Tasks: 3, Landed: 3, Met: 4, Done: true},
		{Name: "greet / loudly", Tasks: 1, Landed: 1, Met: 1, Done: true},
		{Name: "count", Tasks: 1, Landed: 1, Unknown: 1, Why: "T3/AC-1 is unknown"},
		{Name: "list", Tasks: 2, Landed: 1, Met: 1, Unknown: 1, Why: "T5 is parked"},
		{Name: "list / long", Tasks: 1, Landed: 1, Met: 1, Done: true},
	}
	if got := accept.BuildCriteriaTable(s, nil).Groups; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	want[2].Done, want[2].Why = true, ""
	if got := accept.BuildCriteriaTable(s, map[string]accept.CriterionWaiver{"T3/AC-1": {By: "ann"}, "T5/AC-1": {By: "ann"}}).Groups; !slices.Equal(got, want) {
		t.Errorf("waived: %+v", got)
	}
}
