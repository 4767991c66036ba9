package audit

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// recordSharedSessionGroup records the tasks that share a session: no more than allowed, each in one shared
// session.
func (b *FactAudit) recordSharedSessionGroup(f nexus.SharedSessionGroupFormed) {
	if len(f.Tasks) < 2 || len(f.Tasks) > b.limits.Batch {
		b.wrong("%d tasks share a session, of at most %d", len(f.Tasks), b.limits.Batch)
	}
	for _, id := range f.Tasks {
		if slices.ContainsFunc(b.lanes, func(l nexus.SharedSessionGroupFormed) bool { return slices.Contains(l.Tasks, id) }) {
			b.wrong("%s is in two lanes", id)
		}
		if b.tasks[id].attempt != "" {
			b.wrong("%s was begun before it got a lane", id)
		}
	}
	b.lanes = append(b.lanes, f)
}

// checkContinuedSession checks the conversation that an attempt continues: that of a landed task of the
// same shared session.
func (b *FactAudit) checkContinuedSession(f nexus.AttemptStarted) {
	if f.Continues == "" {
		return
	}
	attempt, _, _ := strings.Cut(string(f.Continues), "/")
	of := b.of[nexus.AttemptID(attempt)]
	if o := b.tasks[of]; o == nil || !o.landed {
		b.wrong("%s goes on in the conversation of %s, which did not land", f.Attempt, f.Continues)
	}
	if !slices.ContainsFunc(b.lanes, func(l nexus.SharedSessionGroupFormed) bool {
		return slices.Contains(l.Tasks, of) && slices.Contains(l.Tasks, f.Task)
	}) {
		b.wrong("%s goes on in the conversation of %s, which is in another lane", f.Attempt, f.Continues)
	}
}
