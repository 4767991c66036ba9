package attempt

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

// criteria is work on a task with two criteria in words and two with a gate.
func criteria() (*attemptWork, nexus.Task) {
	t := nexus.Task{ID: "T1", Title: "Add", Criteria: []nexus.Criterion{
		{Text: "it adds"}, {Text: "it subtracts"}, {Text: "it divides", Check: "test"}, {Text: "it is fast", Check: "test"},
	}}
	return &attemptWork{task: &state.TaskState{Task: t}, a: &state.AttemptState{ID: "T1.1"}}, t
}

// TestUnprovedIsWhatNothingShows: a criterion in words, and one whose gate does
// not bear on it, until a named test or a reason settles it.
func TestUnprovedIsWhatNothingShows(t *testing.T) {
	check := func(n int, task nexus.Task, proved bool, why string) nexus.CriterionTest {
		c := nexus.CriterionTest{Number: n, Of: state.CriterionFingerprint(task, n), Proved: proved, Why: why}
		if proved {
			c.Command = "go test"
		}
		return c
	}
	w, task := criteria()
	another := task
	another.Title = "Add numbers"
	w.a.Weighed.Criteria = []nexus.CriterionGateEvidence{{Number: 3}, {Number: 4, By: nexus.NewBearing}}
	for name, c := range map[string]struct {
		checks []nexus.CriterionTest
		left   bool // no machine can show the third
		want   []int
	}{
		"no check":                {nil, false, []int{1, 2, 3}},
		"no machine can show one": {nil, true, []int{1, 2}},
		"a test shows one":        {[]nexus.CriterionTest{check(1, task, true, "")}, false, []int{2, 3}},
		"nothing can show one":    {[]nexus.CriterionTest{check(3, task, false, "it is a matter of taste")}, false, []int{1, 2}},
		"a check without a word":  {[]nexus.CriterionTest{check(3, task, false, "")}, false, []int{1, 2, 3}},
		"of an older task":        {[]nexus.CriterionTest{check(1, another, true, "")}, false, []int{1, 2, 3}},
	} {
		w.a.Checks.Checks, w.a.Weighed.Criteria[0].Left = c.checks, c.left
		if got := w.unprovedCriteria(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestCriteriaInWordsKeepATaskFromLanding once a tester was asked to show them.
// One that the tester did not name is let through where tests show another.
func TestCriteriaInWordsKeepATaskFromLanding(t *testing.T) {
	named := []nexus.CriterionTest{{Number: 2}}
	for name, c := range map[string]struct {
		asked, handed bool
		by            nexus.EvidenceReason // of another criterion
		named         []nexus.CriterionTest
		want          []int
	}{
		"nobody was asked":                      {},
		"a tester was asked":                    {asked: true, want: []int{1, 2}},
		"a tester submitted":                    {handed: true, want: []int{1, 2}},
		"a test was named":                      {asked: true, named: named, want: []int{1, 2}},
		"tests show another":                    {asked: true, by: nexus.NewBearing},
		"a test was named, and others show":     {asked: true, by: nexus.TurnedBearing, named: named, want: []int{2}},
		"a named test shows another":            {asked: true, by: nexus.NamedBearing},
		"another is shown by no test":           {asked: true, by: "gate", want: []int{1, 2}},
		"a test was named that shows nothing":   {handed: true, by: "gate", named: named, want: []int{1, 2}},
		"nobody was asked, and a test is there": {by: nexus.NewBearing},
	} {
		w, task := criteria()
		if c.asked {
			w.a.Rounds = []*state.AttemptRound{{}, {RoundStarted: nexus.RoundStarted{Cause: repair.CriteriaGate}}}
		}
		if c.handed {
			w.a.Checks.Handin = "blob"
		}
		w.a.Checks.Checks = c.named
		var got []int
		for _, s := range w.uncheckedCriteria([]nexus.CriterionGateEvidence{{Number: 3, By: c.by}}) {
			got = append(got, s.Number)
			isNamed := slices.ContainsFunc(c.named, func(c nexus.CriterionTest) bool { return c.Number == s.Number })
			if s.Of != state.CriterionFingerprint(task, s.Number) || strings.Contains(s.Why, "the tester named neither") == isNamed {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	w, _ := criteria() // nobody is to blame for a check that cannot tell
	w.a.Checks.Handin, w.task.Criteria[0].Was = "blob", "sh test.sh"
	if got := w.uncheckedCriteria(nil); len(got) != 1 || got[0].Number != 2 {
		t.Errorf("%+v", got)
	}
}

// TestWhoSatThereBefore is known only of the very tree, and where no review came
// of it.
func TestWhoSatThereBefore(t *testing.T) {
	safety := nexus.ChangeReviewer{Session: "T1.1/reviewer.1-safety", Persona: "safety"}
	for name, c := range map[string]struct {
		review nexus.ReviewerVerdictGiven
		want   bool
	}{
		"the tree was not reviewed": {nexus.ReviewerVerdictGiven{Tree: "now", Readers: []nexus.ChangeReviewer{{Persona: "speed"}, safety}}, true},
		"it was reviewed":           {nexus.ReviewerVerdictGiven{Tree: "now", Reviewed: true, Readers: []nexus.ChangeReviewer{safety}}, false},
		"it was another tree":       {nexus.ReviewerVerdictGiven{Tree: "before", Readers: []nexus.ChangeReviewer{safety}}, false},
		"another sat there":         {nexus.ReviewerVerdictGiven{Tree: "now", Readers: []nexus.ChangeReviewer{{Persona: "speed"}}}, false},
		"it was a part of it":       {nexus.ReviewerVerdictGiven{Tree: "now", Readers: []nexus.ChangeReviewer{{Persona: "safety", Part: 1, Parts: 2}}}, false},
	} {
		s := &reviewerSession{seat: review.DiffReviewer{ReviewPersona: review.ReviewPersona{Name: "safety"}}}
		s.a = &state.AttemptState{Snapshot: nexus.TreeSnapshotted{Tree: "now"}, Rounds: []*state.AttemptRound{{Reviews: []nexus.ReviewerVerdictGiven{c.review}}}}
		got, ok := s.previousReviewer(s.pastReviews())
		if ok != c.want || ok && got.Session != safety.Session {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
		s.a.Rounds = append(s.a.Rounds, &state.AttemptRound{})
		if got, ok := s.previousReviewer(s.pastReviews()); ok {
			t.Errorf("%s, and a round since: %+v", name, got)
		}
	}
}
