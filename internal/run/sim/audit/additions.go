package audit

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// additionAudit records the additions of people.
type additionAudit struct {
	wanted map[int64]bool // requests without tasks so far
	made   int            // tasks made of them
}

// recordAddRequest records that a person adds something.
func (b *FactAudit) recordAddRequest(seq int64, r nexus.Request) {
	if r.Verb != nexus.VerbAdd {
		return
	}
	if b.adds.wanted == nil {
		b.adds.wanted = map[int64]bool{}
	}
	b.adds.wanted[seq] = true
}

// checkAddition checks that each addition is processed once.
func (b *FactAudit) checkAddition(f nexus.Fact) {
	over := func(request int64) {
		if !b.adds.wanted[request] {
			b.wrong("%s of request %d, which adds nothing any more", nexus.FactKind(f), request)
		}
		delete(b.adds.wanted, request)
	}
	switch f := f.(type) {
	case nexus.AdditionPlanningStarted:
		if !b.adds.wanted[f.Request] || b.paused || b.draining {
			b.wrong("%s makes tasks of request %d; paused %v, draining %v", f.Attempt, f.Request, b.paused, b.draining)
		}
	case nexus.AdditionPlanningFailed:
		over(f.Request)
	case nexus.TasksAdded:
		over(f.Request)
		if len(f.Tasks) == 0 || slices.ContainsFunc(f.Tasks, func(id nexus.TaskID) bool { return b.tasks[id] == nil || b.tasks[id].attempt != "" }) {
			b.wrong("%v are added, and were not planned before, or have begun", f.Tasks)
		}
		b.adds.made += len(f.Tasks)
	default:
	}
}

// CountAddedTasks returns the number of tasks made of additions.
func (b *FactAudit) CountAddedTasks() int { return b.adds.made }
