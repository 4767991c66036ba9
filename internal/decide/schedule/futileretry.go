package schedule

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/lessons"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// futileRetryReason returns why another attempt at the same tier is not worth its cost,
// according to earlier runs, or "" if it may be, or if there is no next tier. At intervals it
// is tried anyway, to check whether the lesson is still right.
func futileRetryReason(s *state.State, t *state.TaskState, a *state.AttemptState) string {
	l := s.Goal.Routing.Lessons
	if l == nil || a.Tier != t.Tier || !isTierFailure(a) || !hasTierAbove(s, t.Tier) {
		return ""
	}
	after := endReason(a)
	i := slices.IndexFunc(l.Retries, func(x nexus.RetryTierLesson) bool { return x.Tier == a.Tier && x.After == after })
	if i < 0 {
		return ""
	}
	x := l.Retries[i]
	n := x.Seen
	for _, o := range s.Tasks {
		for _, e := range o.Attempts {
			if e == a {
				continue
			}
			if e.Stage == state.Over && e.Tier == a.Tier && isTierFailure(e) && endReason(e) == after && e.Finished.Before(a.Finished) {
				n++
			}
		}
	}
	if x.Every > 0 && n%x.Every == x.Every-1 {
		return ""
	}
	return x.Why
}

// isTierFailure reports whether an attempt failed in a way that is evidence about its tier.
func isTierFailure(a *state.AttemptState) bool {
	if a.Broken || a.Category.NeedsPerson() {
		return false
	}
	return a.Outcome == nexus.GaveUp || a.Outcome == nexus.Exhausted || a.Outcome == nexus.NoProgress
}

// endReason returns the situation after an attempt, in the form of package history.
func endReason(a *state.AttemptState) string {
	gate, _, _ := strings.Cut(repair.LastSignature(a), ":")
	return cmp.Or(gate, string(a.Outcome))
}

// hasTierAbove reports whether attempts may be made at a tier above this one.
func hasTierAbove(s *state.State, tier nexus.Tier) bool {
	for to, ok := tier.NextTier(); ok; to, ok = to.NextTier() {
		if !isTierClosed(s, to) {
			return true
		}
	}
	return false
}

// overlapsByHistory reports whether a task probably touches a file of another one, as similar
// earlier tasks did, although neither declares the other's.
func overlapsByHistory(s *state.State, a, b *state.TaskState) bool {
	l := s.Goal.Routing.Lessons
	if l == nil || len(l.Touched) == 0 || b == nil || a == b {
		return false
	}
	x, y := undeclaredFiles(l, a), undeclaredFiles(l, b)
	return taskgraph.PathsOverlap(x, b.Files) || taskgraph.PathsOverlap(y, a.Files) || taskgraph.PathsOverlap(x, y)
}

// undeclaredFiles returns the files that a task probably touches without declaring them.
func undeclaredFiles(l *nexus.RunLessons, t *state.TaskState) []string {
	var all []string
	for _, f := range lessons.CompanionFilesOf(l.Touched, t.Files) {
		all = append(all, f.File)
	}
	return all
}
