package audit

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// taskSplitAudit records tasks that must be split.
type taskSplitAudit struct {
	sought map[nexus.TaskID]nexus.TaskSplitStarted // since a person last gave the task a chance
	over   map[nexus.AttemptID]bool
	open   []nexus.Task // parts that were planned, and are not yet part of the run
	done   map[nexus.TaskID]bool
	parts  int
	most   nexus.Limits // ever allowed
}

// recordSplit records that a task is stuck, and the result of splitting it.
func (b *FactAudit) recordSplit(f nexus.Fact) {
	s := &b.splits
	if s.sought == nil {
		s.sought, s.over, s.done = map[nexus.TaskID]nexus.TaskSplitStarted{}, map[nexus.AttemptID]bool{}, map[nexus.TaskID]bool{}
	}
	switch f := f.(type) {
	case nexus.TaskSplitStarted:
		s.most.Parts, s.most.Depth = max(s.most.Parts, b.limits.Parts), max(s.most.Depth, b.limits.Depth)
		b.checkNoOtherStep(f.Task)
		t := b.tasks[f.Task]
		if old, ok := s.sought[f.Task]; ok && (old != f || s.over[f.Attempt]) {
			b.wrong("%s is to be split again", f.Task)
		}
		if b.paused || b.draining || t.over || t.landed || t.flying || t.attempt == "" || f.Why == "" || t.Depth >= s.most.Depth || b.mends.fixes[string(f.Task)] {
			b.wrong("%s is to be split: %+v; paused %v, draining %v", f.Task, t, b.paused, b.draining)
		}
		s.sought[f.Task] = f
	case nexus.TaskSplitFailed:
		if s.sought[f.Task].Attempt != f.Attempt || s.over[f.Attempt] || f.Why == "" {
			b.wrong("%s does not split %s", f.Attempt, f.Task)
		}
		s.over[f.Attempt] = true
	case nexus.TaskSplitCompleted:
		b.checkSplit(f)
	default:
	}
}

// checkSplit checks that no part of a task is lost when it is split.
func (b *FactAudit) checkSplit(f nexus.TaskSplitCompleted) {
	s, t := &b.splits, b.tasks[f.Task]
	if s.sought[f.Task].Attempt != f.Attempt || s.over[f.Attempt] || t.over || t.landed || t.flying {
		b.wrong("%s is split by %s: %+v", f.Task, f.Attempt, t)
	}
	if n := len(s.open); n != len(f.Parts) || n > s.most.Parts || n < 2 && !s.sought[f.Task].Rescope && s.most.Parts > 1 {
		b.wrong("%s is split into %d parts, said to be %d", f.Task, n, len(f.Parts))
	}
	for _, c := range t.Criteria {
		if !slices.ContainsFunc(s.open, func(p nexus.Task) bool { return slices.Contains(p.Criteria, c) }) {
			b.wrong("%q of %s is lost when it is split", c.Text, f.Task)
		}
	}
	for _, p := range s.open {
		if p.Depth != t.Depth+1 || p.Depth > s.most.Depth || !slices.Contains(f.Parts, p.ID) {
			b.wrong("%s is no part of %s: %+v", p.ID, f.Task, p)
		}
	}
	for _, o := range b.tasks {
		for _, after := range []*[]nexus.TaskID{&o.Needs, &o.Wants} {
			if i := slices.Index(*after, f.Task); i >= 0 { // a dependent task needs all of its parts
				*after = slices.Concat((*after)[:i], f.Parts, (*after)[i+1:])
			}
		}
	}
	s.over[f.Attempt], s.done[f.Task], s.open = true, true, nil
	t.over = true
}

// recordPart records a task that is planned while one is being split.
func (b *FactAudit) recordPart(t nexus.Task) bool {
	s := &b.splits
	for id := range s.sought {
		if b.isSplitting(id) && strings.HasPrefix(string(t.ID), string(id)+"-") {
			s.open = append(s.open, t)
			s.parts++
			return true
		}
	}
	return false
}

// isSplitting reports whether a task is being split.
func (b *FactAudit) isSplitting(id nexus.TaskID) bool {
	f, ok := b.splits.sought[id]
	return ok && !b.splits.over[f.Attempt]
}

// CountParts returns the number of tasks that are results of splits.
func (b *FactAudit) CountParts() int { return b.splits.parts }
