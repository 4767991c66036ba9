package state

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// View is what a worker is given: copies of what concerns it, taken when its
// intent was recorded. Nothing in it changes any more.
type View struct {
	Run         nexus.RunID
	Goal        nexus.GoalAccepted
	Limits      nexus.Limits
	Task        Task               // zero for the plan and the result
	Attempt     *Attempt           // the attempt, the planning, or nil
	Interview   *clarify.Interview // what is known of it; nil but for an interview
	Alone       bool               // nobody answers questions
	Merge       *Attempt           // the merger's work, when landing
	Tip         string             // last commit on the run's branch
	Landings    int                // commits on it
	Passed      bool               // the gates passed the last tree
	Resumed     bool               // another process worked on the run before
	Spent       nexus.Money
	Tasks       []nexus.Task
	Drafts      []PlanDraft         // plans that people did not let start, oldest first
	Landed      []nexus.Task        // those of them that landed
	Needs       []NeededTask        // what the tasks that the task needs made
	Meanwhile   []nexus.Task        // tasks that landed since the attempt's base
	Readers     []nexus.RoleRouted  // who reads whose work, as far as it was said
	Waived      []int               // numbers of the task's criteria that a person does without, or signed
	Bear        []string            // tests that showed criteria of tasks that landed
	Without     string              // see [Fixes.CommitWithoutWork]
	Divisible   bool                // the task may be split
	Tried       []nexus.Evidence    // of commands of criteria, on the tree that the plan was made for
	Past        []*Attempt          // earlier attempts at the task, all of them over, oldest first
	Said        []DeliveredGuidance // what people said about the task and its agents heard, oldest first
	Kept        StartingTree        // what the attempt starts from
	Added       nexus.Task          // what somebody added, for whoever makes tasks of it
	TargetMerge TargetMerge         // how what landed gets onto a target that moved
	Commits     []Landing           // what landed, in order, for whoever reverts some of it
	Reverts     bool                // that was done, of what people agreed to publish
	Proofs      []Proof             // what was shown of each commit on the branch, once all tasks have ended
}

// StartingTree is the tree of an earlier attempt that one starts from, with what is to
// be fixed in it yet. The zero Kept is none.
type StartingTree struct {
	Tree
	Open  []nexus.Finding
	Ready bool // its author has nothing left to do unless the gates say otherwise now
}

// AuthorSession returns the session whose work an attempt is: its coder's, or, where the
// gates only judged again what an earlier attempt left, that one's; nil for none.
func (v View) AuthorSession(a *Attempt) *Session {
	if s := a.LastSession(nexus.Coder); s != nil || a.From == "" {
		return s
	}
	for _, old := range v.Past {
		if old.ID == a.From && old.ID != a.ID {
			return v.AuthorSession(old)
		}
	}
	return nil
}

// NeededTask is what a task made that another one needs.
type NeededTask struct {
	nexus.Task
	Landed nexus.TrainLanded
	Said   string    // blob of what its author submitted; empty for nothing
	Tie    nexus.Tie // why it is needed; zero means that it blocks
}

// needs returns what the tasks made that a task needs or wants, as far as it landed, in the
// order in which the plan names them.
func (s *State) needs(t *Task) []NeededTask {
	var all []NeededTask
	for _, id := range t.After() {
		n := s.tasks[id]
		if n == nil || n.Landed == nil {
			continue
		}
		need := NeededTask{Task: n.Task, Landed: *n.Landed, Tie: t.Ties[id]}
		if a := s.attempts[n.Landed.Attempt]; a != nil {
			if author := a.LastSession(nexus.Coder); author != nil {
				need.Said = author.Result
			}
		}
		all = append(all, need)
	}
	return all
}

// StartingTreeOf returns what an attempt starts from.
func (s *State) StartingTreeOf(a *Attempt) StartingTree {
	if a == nil {
		return StartingTree{}
	}
	old := s.attempts[a.From]
	if old == nil || old.Round(a.FromRound) == nil {
		return StartingTree{}
	}
	r := old.Round(a.FromRound)
	return StartingTree{TreeOf(old, r), openFindings(r), s.ready(a, old, r)}
}

// ready reports whether the gates judge the tree that an attempt starts from
// before anybody is asked to write: its author submitted it, no reader sent it
// back, and nobody said anything that its author has not heard. One that was red
// is red again unless a person did something about that since, or it is merged
// with what landed. An author who gave up on a tree that passes has more to do.
func (s *State) ready(a, old *Attempt, r *Round) bool {
	author := old.Session(r.Session)
	if r.Verdict == nil || author == nil || IsTampered(r) || r.Verified != nil && r.Verified.Category != "" ||
		slices.ContainsFunc(r.Reviews, func(v nexus.ReviewGiven) bool { return v.SendsBack }) {
		return false
	}
	t := s.tasks[a.Task]
	unheard := slices.ContainsFunc(s.Guidance, func(g Guidance) bool { return g.Task == t.ID && !g.Landed })
	retried := t.Mercy > 0 && t.Mercy == len(t.Attempts)-1 || t.Mercy > 0 && s.attempts[a.ID] == nil && t.Mercy == len(t.Attempts)
	switch {
	case unheard || len(t.UndeliveredComments(a.ID)) > 0:
		return false
	case author.Outcome == nexus.GaveUp:
		return retried && r.Verdict.State != nexus.Pass
	case author.Outcome != nexus.Accepted || r != old.LastRound():
		return false
	}
	return retried || a.Since != "" || !red(r.Verdict.State)
}

// Proof is what was shown of a commit on the run's branch.
type Proof struct {
	nexus.TrainLanded
	Evidence []nexus.Evidence   // of its tree, the last of each gate
	Review   *nexus.ReviewGiven // the last of the attempt; nil for none
}

// View returns what the worker of a task, the plan (for an empty task) or a
// landing needs to know.
func (s *State) View(id nexus.TaskID) View {
	v := View{Run: s.Run, Goal: s.Goal, Limits: s.Limits, Tip: s.Tip, Landings: len(s.Landings), Alone: s.Alone, Readers: slices.Clip(s.Readers)}
	v.Passed = s.Result != nil && s.Result.Verdict.Passed
	v.Resumed, v.Spent = s.Start.Again, s.Ledger.Spent()
	v.TargetMerge = s.TargetMerge
	v.TargetMerge.Work = s.TargetMerge.Work.Clone()
	for _, t := range s.Tasks {
		v.Tasks = append(v.Tasks, t.Task)
		if t.Status == nexus.Landed {
			v.Landed = append(v.Landed, t.WithProvedChecks())
			for n := range t.Criteria {
				if shown, fresh := t.CriterionEvidence(n + 1); fresh {
					v.Bear = append(v.Bear, shown.Tests...)
				}
			}
		}
	}
	t := s.tasks[id]
	if t == nil {
		s.viewWhole(&v)
		return v
	}
	v.Task = *t
	v.Task.Attempts = nil
	v.Attempt = t.Current().Clone()
	if s.CurrentLanding != nil && s.CurrentLanding.Task == id {
		v.Attempt = s.attempts[s.CurrentLanding.Attempt].Clone()
		v.Merge = s.CurrentLanding.Merge.Clone()
	}
	for i := range t.Criteria {
		if slices.Contains(s.waived, fmt.Sprintf("%s/AC-%d", id, i+1)) {
			v.Waived = append(v.Waived, i+1)
		}
	}
	v.Needs, v.Meanwhile = s.needs(t), s.meanwhile(v.Attempt)
	if s.Planning != nil {
		v.Tried = slices.Clip(s.Planning.Tried)
	}
	v.Without, v.Divisible = s.Fixes.CommitWithoutWork(id), s.CanSplit(t)
	for _, a := range t.Attempts {
		if a.Stage == Over {
			v.Past = append(v.Past, a.Clone())
		}
	}
	v.Said = slices.DeleteFunc(slices.Clone(t.Said), func(said DeliveredGuidance) bool {
		return slices.ContainsFunc(s.Guidance, func(g Guidance) bool { return g.Seq == said.Seq && said.Seq != 0 })
	})
	v.Kept = s.StartingTreeOf(v.Attempt)
	return v
}

// viewWhole fills in what is for whoever works on no task.
func (s *State) viewWhole(v *View) {
	v.Attempt, v.Drafts = s.Planning.Clone(), slices.Clip(s.Consent.Drafts)
	if s.Goal.Goal.Mode == nexus.Interview {
		v.Interview = s.Interview.Clone()
	}
	if s.Undo.Asked != nil {
		_, done := s.Undo.Last.(nexus.UndoLanded)
		v.Reverts = s.deliver && done && s.out
		for _, l := range s.Landings {
			v.Commits = append(v.Commits, *l)
		}
	}
	if s.IsDelivering() {
		v.Proofs = s.Proofs()
	}
}

// CanSplit reports whether a task may be split: not where parts would land without a
// verifier's consent, where bounds are reached, or where it was in vain before.
func (s *State) CanSplit(t *Task) bool {
	e := s.Splits.ForTask(t.ID)
	return len(t.Refused) == 0 && s.Limits.Parts > 0 && t.Depth < s.Limits.Depth && s.Fixes.FaultOfTask(t.ID) == nil && (e == nil || e.Open())
}

// meanwhile returns the tasks that landed after the commit that an attempt
// started from.
func (s *State) meanwhile(a *Attempt) []nexus.Task {
	var all []nexus.Task
	for _, l := range s.LandingsSince(a) {
		all = append(all, s.tasks[l.Task].Task)
	}
	return all
}

// LandingsSince returns what landed after the commit that an attempt started from.
func (s *State) LandingsSince(a *Attempt) []*Landing {
	if a == nil || a.Base == s.Tip {
		return nil
	}
	from := 0
	for i, l := range s.Landings {
		if l.Parent == a.Base {
			from = i
		}
	}
	return s.Landings[from:]
}

// Proofs returns what was shown of each commit on the branch.
func (s *State) Proofs() []Proof {
	known := map[string]map[string]nexus.Evidence{}
	keep := func(e nexus.Evidence) {
		if known[e.Tree] == nil {
			known[e.Tree] = map[string]nexus.Evidence{}
		}
		known[e.Tree][e.Gate] = e
	}
	reviews := map[nexus.AttemptID]*nexus.ReviewGiven{}
	for _, l := range s.Landings {
		a := s.attempts[l.Attempt].Unpacked()
		if a == nil {
			continue
		}
		for _, r := range a.Rounds {
			for _, e := range r.Evidence {
				keep(e)
			}
			for _, given := range r.Reviews {
				reviews[l.Attempt] = &given
			}
		}
	}
	for _, e := range s.evidence { // what the train and the result were told, too
		keep(e)
	}
	if s.Result != nil {
		for _, e := range s.Result.Verdict.Evidence {
			keep(e)
		}
	}
	all := make([]Proof, 0, len(s.Landings))
	for _, l := range s.Landings {
		p := Proof{TrainLanded: l.TrainLanded, Review: reviews[l.Attempt]}
		for _, gate := range slices.Sorted(maps.Keys(known[l.Tree])) {
			p.Evidence = append(p.Evidence, known[l.Tree][gate])
		}
		all = append(all, p)
	}
	return all
}
