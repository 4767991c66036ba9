package repair

import (
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RepairTrend is whether the present approach works.
type RepairTrend string

// From best to worst.
const (
	CourseWorking    RepairTrend = "working"         // fewer problems than before, or it has just started
	CourseStruggling RepairTrend = "struggling"      // as many problems as before
	CourseStuck      RepairTrend = "stuck"           // the same failure or tree again
	CourseWrong      RepairTrend = "wrong-direction" // more problems each time, or the work was rejected twice
)

// RecommendedNextStep is the recommended next step.
type RecommendedNextStep string

// Values of NextStep.
const (
	GoOn    RecommendedNextStep = "continue"
	Another RecommendedNextStep = "try-alternative" // a new attempt, a stronger model, another strategy
	Help    RecommendedNextStep = "request-help"    // a person can remove the obstacle
	Cut     RecommendedNextStep = "split-task"
	Abort   RecommendedNextStep = "abort" // no option is left
)

// TaskAssessment describes the state of the work on a task.
type TaskAssessment struct {
	Progress int                 `json:"progress"` // percentage of gates and criteria that pass; 0 before the first judgement
	Course   RepairTrend         `json:"course"`
	Next     RecommendedNextStep `json:"next"`
	Why      string              `json:"why"`
	Blockers []TaskObstacle      `json:"blockers,omitempty"`
}

// AssessTask assesses the last attempt at a task, or returns nil before the first.
func AssessTask(s *state.State, t *state.TaskState) *TaskAssessment {
	a := t.CurrentAttempt().UnpackedCopy()
	if a == nil {
		return nil
	}
	r := &TaskAssessment{Progress: progressScore(t, a)}
	r.Course, r.Why = TrendOf(a)
	r.Blockers = FindObstacles(blockerTexts(t, a)...)
	for i, b := range r.Blockers {
		asked := t.Replan != nil && slices.Contains(t.Replan.Blockers, b.Text)
		r.Blockers[i].Person = asked || a.Category == nexus.PersonNeeded && b.Text == a.Why
	}
	r.Next = nextStep(s, t, a, r)
	return r
}

// blockerTexts returns agents' statements about obstacles.
func blockerTexts(t *state.TaskState, a *state.AttemptState) []string {
	var all []string
	if a.Outcome == nexus.GaveUp {
		all = append(all, a.Why)
	}
	if p := t.Replan; p != nil {
		all = append(append(all, p.Reason), p.Blockers...)
	}
	return all
}

// progressScore counts the passed gates, criteria and review of the last judged tree. A gate
// that judged an earlier tree and was not reached this time counts as not passed.
func progressScore(t *state.TaskState, a *state.AttemptState) int {
	if t.Status == nexus.Landed || a.Outcome == nexus.Accepted {
		return 100
	}
	known := map[string]bool{}
	var last *state.AttemptRound
	for _, r := range a.Rounds {
		for _, e := range r.Evidence {
			if e.State != nexus.NotRun {
				known[e.Gate] = true
			}
		}
		if len(r.Evidence) > 0 {
			last = r
		}
	}
	if last == nil || len(known) == 0 {
		return 0
	}
	passed := map[string]bool{} // a gate has an evidence for each package that it judges
	for _, e := range last.Evidence {
		if known[e.Gate] {
			before, judged := passed[e.Gate]
			passed[e.Gate] = e.Passed() && (before || !judged)
		}
	}
	done := 0
	for _, ok := range passed {
		if ok {
			done++
		}
	}
	return 100 * done / (len(known) + 1) // the review is one more
}

// TrendOf compares the judged rounds of an attempt.
func TrendOf(a *state.AttemptState) (RepairTrend, string) {
	turned := 0
	for _, r := range a.Rounds {
		if slices.ContainsFunc(r.Reviews, func(v nexus.ReviewerVerdictGiven) bool { return v.Reviewed && (!v.Approved || v.SendsBack) }) {
			turned++
		}
	}
	judged := slices.DeleteFunc(slices.Clone(a.Rounds), func(r *state.AttemptRound) bool { return r.Verdict == nil })
	if len(judged) < 2 {
		return CourseWorking, "it has just started"
	}
	last, before := judged[len(judged)-1], judged[len(judged)-2]
	switch {
	case turned >= 2:
		return CourseWrong, fmt.Sprintf("reviews rejected it %d times", turned)
	case last.Verdict.State == nexus.Pass:
		return CourseWorking, "the gates pass"
	case StuckReason(a, 2) != "":
		if grown := countGrowingRounds(a); grown >= 2 {
			return CourseWrong, fmt.Sprintf("the number of findings grew %d times in a row", grown)
		}
		return CourseStuck, StuckReason(a, 2)
	case before.Verdict.State == nexus.Pass, slices.ContainsFunc(before.Evidence, func(e nexus.GateEvidence) bool { return e.Gate == last.Verdict.Gate && e.Passed() }):
		return CourseStruggling, "what passed fails again"
	case last.Verdict.Gate == before.Verdict.Gate && CountStoppingFindings(last) >= CountStoppingFindings(before):
		return CourseStruggling, fmt.Sprintf("%d findings of %s, %d before", CountStoppingFindings(last), last.Verdict.Gate, CountStoppingFindings(before))
	}
	return CourseWorking, "less is wrong than before"
}

// nextStep returns the recommended next step; obstacles come first.
func nextStep(s *state.State, t *state.TaskState, a *state.AttemptState, r *TaskAssessment) RecommendedNextStep {
	switch {
	case t.Status == nexus.Landed, a.Outcome == nexus.Accepted:
		return GoOn
	case t.Status == nexus.Parked, t.Replan != nil && len(t.Replan.Blockers) > 0, a.Category.NeedsPerson():
		return Help
	case t.Status == nexus.Failed:
		if e := s.Splits.SplitOfTask(t.ID); s.Limits.Parts > 0 && t.Depth < s.Limits.Depth && e == nil {
			return Cut
		}
		return Abort
	case t.Status.HasEnded():
		return Abort
	case s.IsSplitting(t.ID):
		return Cut
	case r.Course == CourseStuck || r.Course == CourseWrong:
		return Another
	}
	return GoOn
}

// SummaryLine returns the assessment in one line.
func (a *TaskAssessment) SummaryLine() string {
	text := fmt.Sprintf("%d %% of its checks pass, %s (%s), next: %s", a.Progress, a.Course, a.Why, a.Next)
	for _, b := range a.Blockers {
		text += fmt.Sprintf("; %s: %s", b.Kind, b.Text)
	}
	return text
}
