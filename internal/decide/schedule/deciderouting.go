package schedule

import (
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// needsStartTier reports whether the starting tier of a task is still to be decided.
func needsStartTier(s *state.State, t *state.TaskState) bool {
	return len(s.Goal.Routing.Order) > 0 && t.Route == nil && t.IsUntried()
}

// decideStartTiers decides the starting tier of each task. Plugins and a model are asked once for all
// tasks that need them. If they do not answer in time, the next strategy decides.
func decideStartTiers(s *state.State) []nexus.Fact {
	var fs []nexus.Fact
	var ask, waiting []nexus.TaskID
	waits := s.Judging != nil && s.Judging.Stage != state.Over
	due := func(t *state.TaskState) bool { return t.Status == nexus.Pending && needsStartTier(s, t) }
	some := slices.ContainsFunc(s.Tasks, due)
	probes := route.NewLessonProbes(s.Goal.Routing)
	for _, t := range s.Tasks {
		if !due(t) {
			if some && t.Route != nil {
				probes.CountTask(t.Task, t.Route.Complexity)
			}
			continue
		}
		told, asked := s.ComplexityAnswer(t.ID)
		switch needs := route.NeedsComplexityAnswer(s.Goal.Routing, t.Task); {
		case needs && asked && waits:
			waiting = append(waiting, t.ID)
		case needs && !asked:
			ask = append(ask, t.ID)
		default:
			f := probes.ApplyProbe(t.Task, route.ChooseStartTier(s.Goal.Routing, t.Task, told))
			f.Tier = nextOpenTier(s, f.Tier)
			f.Strategy, f.Chosen = repair.ChooseStrategy(s.Goal.Routing, t.Task, f)
			if x := s.Goal.Routing.Experience; x != nil {
				e := route.EstimateTask(x, t.Task, f.Complexity, f.Tier)
				f.Estimate = &e
			}
			fs = append(fs, f)
		}
	}
	switch {
	case len(fs) > 0:
		return fs
	case waits && s.Judging.Stage == state.Waiting:
		return resumeComplexityRating(s, s.Judging, waiting)
	case len(ask) > 0 && !waits:
		return factList(nexus.ComplexityRatingStarted{Attempt: nexus.AttemptID(fmt.Sprintf("route.%d", s.Judged+1)), Tasks: ask})
	}
	return nil
}

// resumeComplexityRating resumes the question to a model, unless that was interrupted too often: then the
// tasks are routed without it.
func resumeComplexityRating(s *state.State, a *state.AttemptState, waiting []nexus.TaskID) []nexus.Fact {
	if isLostTooOften(s, a) {
		return factList(nexus.ComplexityRatingEnded{Attempt: a.ID, Why: fmt.Sprintf("interrupted %d times: %s", a.Losses, a.Why)})
	}
	return factList(nexus.ComplexityRatingStarted{Attempt: a.ID, Tasks: waiting})
}

// nextOpenTier returns the tier, or the next one above it at which attempts may be made, or
// the tier itself if there is none.
func nextOpenTier(s *state.State, tier nexus.Tier) nexus.Tier {
	for to, ok := tier, true; ok; to, ok = to.NextTier() {
		if !isTierClosed(s, to) {
			return to
		}
	}
	return tier
}
