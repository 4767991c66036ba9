package replan_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// attempt is one whose rounds ended with so many findings of the test gate each.
func attempt(red ...int) *state.AttemptState {
	a := &state.AttemptState{ID: "T1.1", Stage: state.Working}
	for i, n := range red {
		r := &state.AttemptRound{RoundStarted: nexus.RoundStarted{Round: i + 1}}
		r.Verdict = &nexus.GatesVerdictGiven{Gate: "test", Tree: string(rune('a' + i)), State: nexus.Fail}
		if n == 0 {
			r.Verdict.State = nexus.Pass
		}
		e := nexus.GateEvidence{Gate: "test", State: r.Verdict.State}
		for k := range n {
			e.Findings = append(e.Findings, nexus.Finding{Message: string(rune('a'+i)) + string(rune('a'+k))})
		}
		r.Evidence = []nexus.GateEvidence{e}
		a.Rounds = append(a.Rounds, r)
	}
	return a
}

// TestJump holds that a threshold that is passed several times over at once is decided
// about once, and again only at its next multiple.
func TestJump(t *testing.T) {
	l := nexus.DefaultLimits()
	files := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	for name, c := range map[string]struct {
		first, same, next replan.WorkerTaskFacts
		times             int
	}{
		"time":  {replan.WorkerTaskFacts{Worked: 11 * time.Minute}, replan.WorkerTaskFacts{Worked: 14 * time.Minute}, replan.WorkerTaskFacts{Worked: 15 * time.Minute}, 2},
		"files": {replan.WorkerTaskFacts{Beside: files[:7]}, replan.WorkerTaskFacts{Beside: files[:9]}, replan.WorkerTaskFacts{Beside: files}, 2},
	} {
		task := &state.TaskState{Task: nexus.Task{ID: "T1", Minutes: 3}, Tier: nexus.Fast}
		write := repair.RepairStep{Move: repair.Write}
		d, step := replan.DecideReplanStep(task, attempt(9), l, c.first, write)
		if d == nil || d.Course != nexus.CourseContinue || d.Crossed[0].Times != c.times || step.Move != repair.Write {
			t.Fatalf("%s: %+v, %+v", name, d, step)
		}
		task.Replans = []nexus.ReplanDecided{*d}
		if d, step := replan.DecideReplanStep(task, attempt(9, 7), l, c.same, write); d != nil || step.Move != repair.Write {
			t.Errorf("%s: nothing new was reached, and %+v, %+v", name, d, step)
		}
		if d, _ := replan.DecideReplanStep(task, attempt(9, 7), l, c.next, write); d == nil || d.Crossed[0].Times != c.times+1 {
			t.Errorf("%s: the next multiple: %+v", name, d)
		}
	}
	old := nexus.ReplanDecided{Task: "T1", Attempt: "T1.1", Course: nexus.CourseContinue, Crossed: []nexus.CrossedThreshold{{Threshold: nexus.OverEstimate}}}
	task := &state.TaskState{Task: nexus.Task{ID: "T1", Minutes: 3}, Replans: []nexus.ReplanDecided{old, old}}
	if all := replan.CrossedThresholds(task, attempt(9), l, replan.WorkerTaskFacts{Worked: 14 * time.Minute}); len(all) > 0 {
		t.Errorf("a journal that says no multiple counts them: %+v", all)
	}
}

// TestNext holds at which thresholds what is decided before a round.
func TestNext(t *testing.T) {
	files := []string{"a", "b", "c", "d"}
	before := func(of nexus.ReplanThreshold, c nexus.TaskContinuation) nexus.ReplanDecided {
		return nexus.ReplanDecided{Task: "T1", Attempt: "T1.1", Course: c, Crossed: []nexus.CrossedThreshold{{Threshold: of}}}
	}
	for name, c := range map[string]struct {
		a      *state.AttemptState
		seen   replan.WorkerTaskFacts
		told   []nexus.ReplanDecided
		tier   nexus.Tier
		want   nexus.TaskContinuation // empty: nothing is decided
		of     nexus.ReplanThreshold
		ending bool
	}{
		"nothing":                            {a: attempt(2)},
		"three files":                        {a: attempt(2), seen: replan.WorkerTaskFacts{Beside: files[:3]}},
		"four files, as it began":            {a: attempt(2), seen: replan.WorkerTaskFacts{Beside: files, Divisible: true}, want: nexus.CourseContinue, of: nexus.OverFiles},
		"four files, no better":              {a: attempt(2, 2), seen: replan.WorkerTaskFacts{Beside: files, Divisible: true}, want: nexus.CourseSplit, of: nexus.OverFiles, ending: true},
		"four files, undivided":              {a: attempt(2, 2), seen: replan.WorkerTaskFacts{Beside: files}, want: nexus.CourseEscalate, of: nexus.OverFiles, ending: true},
		"four files, the top":                {a: attempt(2, 2), seen: replan.WorkerTaskFacts{Beside: files}, tier: nexus.Strong, want: nexus.CourseContinue, of: nexus.OverFiles},
		"four files, known":                  {a: attempt(2, 2), seen: replan.WorkerTaskFacts{Beside: files}, told: []nexus.ReplanDecided{before(nexus.OverFiles, nexus.CourseContinue)}},
		"seven files":                        {a: attempt(3, 2), seen: replan.WorkerTaskFacts{Beside: append(files, "e", "f", "g"), Divisible: true}, told: []nexus.ReplanDecided{before(nexus.OverFiles, nexus.CourseContinue)}, want: nexus.CourseSplit, of: nexus.OverFiles, ending: true},
		"the gates pass":                     {a: attempt(2, 0), seen: replan.WorkerTaskFacts{Beside: files, Divisible: true}, want: nexus.CourseContinue, of: nexus.OverFiles},
		"in time":                            {a: attempt(2, 2), seen: replan.WorkerTaskFacts{Worked: 14 * time.Minute, Divisible: true}},
		"late, and better":                   {a: attempt(3, 2), seen: replan.WorkerTaskFacts{Worked: 15 * time.Minute, Divisible: true}, want: nexus.CourseContinue, of: nexus.OverEstimate},
		"late, and no better":                {a: attempt(2, 2), seen: replan.WorkerTaskFacts{Worked: 15 * time.Minute, Divisible: true}, want: nexus.CourseRescope, of: nexus.OverEstimate, ending: true},
		"late again":                         {a: attempt(3, 2), seen: replan.WorkerTaskFacts{Worked: 30 * time.Minute, Divisible: true}, told: []nexus.ReplanDecided{before(nexus.OverEstimate, nexus.CourseContinue)}, want: nexus.CourseRescope, of: nexus.OverEstimate, ending: true},
		"five red in a row":                  {a: attempt(2, 2, 2, 2, 2), want: nexus.CourseEscalate, of: nexus.OverFailures, ending: true},
		"four red in a row":                  {a: attempt(2, 0, 2, 2, 2, 2)},
		"five red, as in the attempt before": {a: attempt(2, 2, 2, 2, 2), told: []nexus.ReplanDecided{{Task: "T1", Attempt: "T1.0", Course: nexus.CourseEscalate, Crossed: []nexus.CrossedThreshold{{Threshold: nexus.OverFailures}}}}, want: nexus.CourseEscalate, of: nexus.OverFailures, ending: true},
		"worse and worse, at the top":        {a: attempt(1, 4, 9, 16), seen: replan.WorkerTaskFacts{Beside: files}, tier: nexus.Strong, want: nexus.CourseContinue, of: nexus.OverFiles},
		"worse and worse, at the top, again": {a: attempt(1, 4, 9, 16), seen: replan.WorkerTaskFacts{Beside: append(files, "e", "f", "g")}, tier: nexus.Strong, told: []nexus.ReplanDecided{before(nexus.OverFiles, nexus.CourseContinue)}, want: nexus.CourseStop, of: nexus.OverFiles, ending: true},
		"the gates pass, again":              {a: attempt(2, 0), seen: replan.WorkerTaskFacts{Beside: append(files, "e", "f", "g"), Divisible: true}, told: []nexus.ReplanDecided{before(nexus.OverFiles, nexus.CourseContinue)}, want: nexus.CourseContinue, of: nexus.OverFiles},
		"its rounds":                         {a: attempt(9, 8, 0, 7, 6, 0, 5, 4), want: nexus.CourseContinue, of: nexus.OverRounds},
		"it was not to go on":                {a: attempt(2), told: []nexus.ReplanDecided{before(nexus.OverFiles, nexus.CourseSplit)}, ending: true},
	} {
		task := &state.TaskState{Task: nexus.Task{ID: "T1", Minutes: 10}, Tier: nexus.Fast, Replans: c.told}
		if c.tier != "" {
			task.Tier = c.tier
		}
		l := nexus.DefaultLimits()
		l.Rounds, l.Replan.Rounds = 20, 40
		d, step := replan.DecideReplanStep(task, c.a, l, c.seen, repair.RepairStep{Move: repair.Write})
		switch {
		case (d != nil) != (c.want != ""):
			t.Errorf("%s: %+v", name, d)
		case d != nil && (d.Course != c.want || d.Crossed[0].Threshold != c.of || d.Why == "" || replan.DecisionText(*d) == ""):
			t.Errorf("%s: %+v, want %s at %s", name, *d, c.want, c.of)
		}
		if (step.Move == repair.End) != c.ending {
			t.Errorf("%s: %+v", name, step)
		}
		for _, step := range []repair.RepairStep{{Move: repair.Judge}, {Move: repair.Write, Resume: true}} {
			if d, after := replan.DecideReplanStep(task, c.a, l, c.seen, step); d != nil || after.Move != step.Move {
				t.Errorf("%s: what is under way does not continue: %+v", name, after)
			}
		}
		if d, _ := replan.DecideReplanStep(task, c.a, nexus.Limits{Rounds: 20}, c.seen, repair.RepairStep{Move: repair.Write}); d != nil && len(c.told) == 0 {
			t.Errorf("%s: there is no threshold, and %+v", name, d)
		}
	}
}
