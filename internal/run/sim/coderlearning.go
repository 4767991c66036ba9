package sim

import (
	"math/rand/v2"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
)

// CoderLearningResult is the effort of coders who do not have all the necessary knowledge.
type CoderLearningResult struct {
	Runs      int    `json:"runs"`
	Tasks     int    `json:"tasks"`
	Landed    int    `json:"landed"`
	Attempts  int    `json:"attempts"`
	Rounds    int    `json:"rounds"`
	Violation string `json:"violation,omitzero"` // of the first run with a violation
}

// RoundsPerTask returns the number of rounds per landed task, including those of tasks that did not
// land.
func (l CoderLearningResult) RoundsPerTask() float64 {
	return float64(l.Rounds) / float64(max(1, l.Landed))
}

// MeasureLearning plays runs of that many seeds. With told, new attempts receive the results of earlier
// ones, otherwise only how they ended. See [toyworld.KnowledgeScenario].
func MeasureLearning(first uint64, runs int, told bool) CoderLearningResult {
	out := CoderLearningResult{Runs: runs}
	for i := range runs {
		seed := first + uint64(i)                                                                          //nolint:gosec // i is not below 0
		dice := rand.New(rand.NewPCG(seed, 4))                                                             //nolint:gosec // a seed must give the same dice
		s := newRunSimulator(toyworld.KnowledgeScenario(dice, told), dice, rand.New(rand.NewPCG(seed, 5))) //nolint:gosec // as above
		s.useDailyBudget(&simulatedDailyBudget{now: func() time.Time { return s.now }, pick: dice.IntN})
		r := s.playRun(seed)
		out.Tasks, out.Landed = out.Tasks+r.Tasks, out.Landed+r.Landed
		for _, e := range s.journal.events {
			switch e.Fact.(type) {
			case nexus.AttemptStarted:
				out.Attempts++
			case nexus.RoundStarted:
				out.Rounds++
			default:
			}
		}
		if out.Violation == "" {
			out.Violation = r.Violation
		}
	}
	return out
}
