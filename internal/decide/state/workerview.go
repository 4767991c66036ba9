package state

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// WorkerView is the part of the state that a worker needs, copied when its intent was recorded. It
// never changes.
type WorkerView struct {
	Run         nexus.RunID
	Goal        nexus.GoalAccepted
	Limits      nexus.Limits
	Task        TaskState               // zero for the plan and the result
	Attempt     *AttemptState           // the attempt, the planning, or nil
	Interview   *clarify.InterviewState // state of the interview; nil for other attempts
	Alone       bool                    // no person answers questions
	Merge       *AttemptState           // the merger's attempt, during a landing
	Tip         string                  // last commit on the run's branch
	Landings    int                     // commits on it
	Passed      bool                    // the gates passed the last tree
	Resumed     bool                    // another process worked on the run before
	Spent       nexus.Money
	Tasks       []nexus.Task
	Drafts      []UnapprovedPlan          // plans that people did not let start, oldest first
	Landed      []nexus.Task              // landed tasks of the plan
	Needs       []NeededTaskResult        // results of the tasks that the task needs
	Meanwhile   []nexus.Task              // tasks that landed since the attempt's base
	Readers     []nexus.ReviewModelChosen // models that review the work of other models, as far as recorded
	Waived      []int                     // numbers of the task's criteria that a person waived or approved
	Bear        []string                  // tests that showed criteria of landed tasks
	Without     string                    // see [CriterionFixHistory.CommitWithoutWork]
	Divisible   bool                      // the task may be split
	Tried       []nexus.GateEvidence      // results of criteria's commands on the tree that the plan was made for
	Past        []*AttemptState           // earlier attempts at the task, all ended, oldest first
	Said        []DeliveredGuidance       // people's guidance about the task that its agents received, oldest first
	Kept        StartingTree              // tree from which the attempt starts
	Added       nexus.Task                // the addition of which tasks are made
	TargetMerge TargetMerge               // merge of the landed commits onto a target that moved
	Commits     []CompletedLanding        // landed commits, in order, for a revert
	Reverts     bool                      // a revert was made of commits that people had agreed to publish
	Proofs      []LandingEvidence         // evidence for each commit on the branch, once all tasks have ended
}

// StartingTree is the tree of an earlier attempt from which another one starts, with its open
// findings. The zero value is none.
type StartingTree struct {
	RoundResultTree
	Open  []nexus.Finding
	Ready bool // the author has nothing left to do unless the gates fail now
}

// AuthorSession returns the session that wrote an attempt's work: its coder's, or, if the
// gates only judged an earlier attempt's tree again, that attempt's; nil if there is none.
func (v WorkerView) AuthorSession(a *AttemptState) *AgentSessionState {
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

// NeededTaskResult is the result of a task that another one needs.
type NeededTaskResult struct {
	nexus.Task
	Landed nexus.LandingCompleted
	Said   string                 // blob of the author's submission; empty: none
	Tie    nexus.DependencyReason // why it is needed; zero means that it blocks
}

// neededTasks returns the landed results of the tasks that a task needs or wants, in the plan's
// order.
func (s *State) neededTasks(t *TaskState) []NeededTaskResult {
	var all []NeededTaskResult
	for _, id := range t.Prerequisites() {
		n := s.tasks[id]
		if n == nil || n.Landed == nil {
			continue
		}
		need := NeededTaskResult{Task: n.Task, Landed: *n.Landed, Tie: t.Ties[id]}
		if a := s.attempts[n.Landed.Attempt]; a != nil {
			if author := a.LastSession(nexus.Coder); author != nil {
				need.Said = author.Result
			}
		}
		all = append(all, need)
	}
	return all
}

// StartingTreeOf returns the tree from which an attempt starts.
func (s *State) StartingTreeOf(a *AttemptState) StartingTree {
	if a == nil {
		return StartingTree{}
	}
	old := s.attempts[a.From]
	if old == nil || old.RoundAt(a.FromRound) == nil {
		return StartingTree{}
	}
	r := old.RoundAt(a.FromRound)
	return StartingTree{RatedRoundTree(old, r), openFindings(r), s.canJudgeBeforeWriting(a, old, r)}
}

// canJudgeBeforeWriting reports whether the gates judge an attempt's starting tree before an agent is asked
// to write: its author submitted it, no reviewer rejected it, and the author has received all
// guidance. A tree that failed fails again, unless a person has acted on that since or it is
// merged with landed commits. An author who gave up on a tree that passes has more to do.
func (s *State) canJudgeBeforeWriting(a, old *AttemptState, r *AttemptRound) bool {
	author := old.SessionByID(r.Session)
	if r.Verdict == nil || author == nil || IsTampered(r) || r.Verified != nil && r.Verified.Category != "" ||
		slices.ContainsFunc(r.Reviews, func(v nexus.ReviewerVerdictGiven) bool { return v.SendsBack }) {
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
	return retried || a.Since != "" || !isRedState(r.Verdict.State)
}

// LandingEvidence is the evidence for a commit on the run's branch.
type LandingEvidence struct {
	nexus.LandingCompleted
	Evidence []nexus.GateEvidence        // of its tree, the last of each gate
	Review   *nexus.ReviewerVerdictGiven // the attempt's last review; nil: none
}

// WorkerView returns the data that the worker of a task, of the plan (for an empty task) or of a
// landing needs.
func (s *State) WorkerView(id nexus.TaskID) WorkerView {
	v := WorkerView{Run: s.Run, Goal: s.Goal, Limits: s.Limits, Tip: s.Tip, Landings: len(s.Landings), Alone: s.Alone, Readers: slices.Clip(s.Readers)}
	v.Passed = s.Result != nil && s.Result.Verdict.Passed
	v.Resumed, v.Spent = s.Start.Again, s.Ledger.SpentMoney()
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
		s.fillRunView(&v)
		return v
	}
	v.Task = *t
	v.Task.Attempts = nil
	v.Attempt = t.CurrentAttempt().Clone()
	if s.CurrentLanding != nil && s.CurrentLanding.Task == id {
		v.Attempt = s.attempts[s.CurrentLanding.Attempt].Clone()
		v.Merge = s.CurrentLanding.Merge.Clone()
	}
	for i := range t.Criteria {
		if slices.Contains(s.waived, fmt.Sprintf("%s/AC-%d", id, i+1)) {
			v.Waived = append(v.Waived, i+1)
		}
	}
	v.Needs, v.Meanwhile = s.neededTasks(t), s.tasksLandedSinceStart(v.Attempt)
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

// fillRunView fills in the data for workers without a task.
func (s *State) fillRunView(v *WorkerView) {
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
		v.Proofs = s.LandingProofs()
	}
}

// CanSplit reports whether a task may be split: not if parts would land without a verifier's
// approval, if limits are reached, or if a split failed before.
func (s *State) CanSplit(t *TaskState) bool {
	e := s.Splits.SplitOfTask(t.ID)
	return len(t.Refused) == 0 && s.Limits.Parts > 0 && t.Depth < s.Limits.Depth && s.Fixes.FaultOfTask(t.ID) == nil && (e == nil || e.IsOpen())
}

// tasksLandedSinceStart returns the tasks that landed after the commit from which an attempt started.
func (s *State) tasksLandedSinceStart(a *AttemptState) []nexus.Task {
	var all []nexus.Task
	for _, l := range s.LandingsSince(a) {
		all = append(all, s.tasks[l.Task].Task)
	}
	return all
}

// LandingsSince returns the landings after the commit from which an attempt started.
func (s *State) LandingsSince(a *AttemptState) []*CompletedLanding {
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

// LandingProofs returns the evidence for each commit on the branch.
func (s *State) LandingProofs() []LandingEvidence {
	known := map[string]map[string]nexus.GateEvidence{}
	keep := func(e nexus.GateEvidence) {
		if known[e.Tree] == nil {
			known[e.Tree] = map[string]nexus.GateEvidence{}
		}
		known[e.Tree][e.Gate] = e
	}
	reviews := map[nexus.AttemptID]*nexus.ReviewerVerdictGiven{}
	for _, l := range s.Landings {
		a := s.attempts[l.Attempt].UnpackedCopy()
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
	for _, e := range s.evidence { // also the evidence of landings and of the result
		keep(e)
	}
	if s.Result != nil {
		for _, e := range s.Result.Verdict.Evidence {
			keep(e)
		}
	}
	all := make([]LandingEvidence, 0, len(s.Landings))
	for _, l := range s.Landings {
		p := LandingEvidence{LandingCompleted: l.LandingCompleted, Review: reviews[l.Attempt]}
		for _, gate := range slices.Sorted(maps.Keys(known[l.Tree])) {
			p.Evidence = append(p.Evidence, known[l.Tree][gate])
		}
		all = append(all, p)
	}
	return all
}
