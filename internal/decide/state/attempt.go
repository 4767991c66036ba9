package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AttemptStage is where an attempt stands.
type AttemptStage string

// The stages of an attempt.
const (
	Working AttemptStage = "working" // it has, or is about to have, a worker
	Waiting AttemptStage = "waiting" // it lost its worker, or the train handed it back
	Over    AttemptStage = "over"
)

// Attempt is one try at a task. A worker has a clone of its own and folds
// into it what it records.
type Attempt struct {
	ID         nexus.AttemptID
	Task       nexus.TaskID
	Tier       nexus.Tier
	Strategy   nexus.Strategy
	Base       string          // commit that the work is compared with
	Start      string          // tree or commit to start the worktree from, when not Base
	Since      string          // commit that what Start changes is compared with, when not Base: it is to be merged onto Base
	From       nexus.AttemptID // whose round Start is; empty for none
	FromRound  int
	Asked      bool           // a person chose that
	Warm       *SharedSession // the session that its coder goes on in; nil for none
	Forgone    string         // why it does not start from the result of earlier attempts
	Stage      AttemptStage
	Losses     int  // of its process, before it got anywhere
	Moved      bool // it got somewhere since it last had a worker
	LetGo      bool // it was told to stop when it last lost its worker
	Cut        bool // a person interrupted its agent, whose calls are not to be run again
	Leaves     bool // its worker is to let go of it, as a person interrupted its agent
	Refusals   int  // by the train
	Unlanded   bool // the train refused the work as it is
	Broken     bool
	Undone     bool // the run went back to before it: nothing of it counts
	Outcome    nexus.Outcome
	Category   nexus.Category
	Why        string
	Commit     string // the accepted work
	Tree       string
	Proof      *nexus.TestsProved      // the last one
	Checks     nexus.ChecksProved      // the last ones
	Reproduced *nexus.ChecksReproduced // the last ones; nil: nobody was asked for an independent check
	Seen       *nexus.RedSeen          // what failed before; nil: nobody looked
	Tried      []nexus.Evidence        // of commands of criteria, where a plan is made
	Looks      []nexus.PlanLooked      // at a plan that is made
	Weighed    nexus.CriteriaWeighed   // the last ones
	Rounds     []*Round
	Sessions   []*Session
	Network    []nexus.NetworkJudged // hosts that its commands and gates asked for
	Snapshot   nexus.TreeSnapshotted
	Handed     []nexus.Finding // by the train, for the next round
	HandedWhy  string
	Sent       *nexus.WorkReturned    // by what people said about it, for the next round; nil: it was not
	Applied    *nexus.CommentsApplied // what became of the replacements of Sent; nil: nothing yet
	Open       []nexus.Comment        // of people that its author was told and has not answered
	Reminded   []string               // those of them that it was asked about again
	Claims     []nexus.Answer         // of its author to comments, before they are held against the change
	Risky      *nexus.ChangeWeighed   // what of it is risky, where somebody looked
	Heard      []int64                // landings that it was told of
	Began      time.Time
	Finished   time.Time
	Rested     time.Duration // of its time since it had a worker, it waited for a provider or a person
	Rests      time.Time     // until when it does
	Active     time.Time     // since when it works
	Clock      time.Time     // the same by the run's clock

	asks  []string  // questions that it waits for a person to answer
	asked time.Time // since when

	small *packedAttempt // has Rounds and Sessions, which are empty; see [Attempt.Unpacked]
}

// Round is one stretch of writing and what was found after it.
type Round struct {
	nexus.RoundStarted
	Base     string                // commit that the work was compared with
	From     string                // commit or tree that it began with
	Commit   string                // its last snapshot; empty where nothing was ever pinned
	Prompted bool                  // the session was told what to do
	Fixed    nexus.TreeSnapshotted // what formatters and linters changed last; zero for nothing
	Evidence []nexus.Evidence
	Verdict  *nexus.VerdictGiven
	Reviews  []nexus.ReviewGiven
	Proof    *nexus.TestsProved
	Broken   []nexus.IsolationBroken
	Suspect  *nexus.TamperSuspected
	Verified *nexus.WorkVerified
	Answers  []nexus.Answer // of whoever wrote, to what the round is about
	Result   string         // blob: what whoever wrote submitted last; empty where it did not

	Handed    []nexus.Finding // by the train, when it caused the round
	HandedWhy string
}

// Session is one conversation.
type Session struct {
	nexus.SessionStarted
	Messages []string // blobs of [llm.Message], in order
	Before   int      // the first so many are of the session that it goes on in, until it is compacted
	Unheard  int      // the last so many messages are of ours, and nothing came of them yet
	Turns    int
	Pending  bool // the model waits for tool results
	Over     bool // submitted, for now
	Outcome  nexus.Outcome
	Why      string
	Result   string // blob
	Needs    nexus.Needs
	Doing    string   // for people: what it did last
	Purpose  string   // what it was last told for: brief, repair, guidance, ...
	Looked   []string // what its calls were about, each once
	Usage    nexus.Usage
	Spent    nexus.Money
	Tally    Tally                  // of its tool calls
	Compact  nexus.SessionCompacted // the last time that it was compacted
	Opened   nexus.AgentOpened      // the conversation of another maker's agent that does it; empty: Nexus does
	Closed   nexus.AgentEnded       // how that agent's program ended last
	Memory   []nexus.Remembered     // of the repository's memory, as it was told when it began
	Foreign  int                    // messages that another model than the present one saw
	Elapsed  time.Duration          // of calls and tools, while a process was there; waits for leave, people and providers left out

	call  string        // reservation of the call under way
	since time.Time     // when the call or the tools under way began
	asks  []string      // calls under way that wait for a person
	asked time.Duration // time that those took
}

// maxLooked is how many calls of a session are known by what they were about.
const maxLooked = 500

// Resumed returns since when the attempt works, for as long as it does.
func (a *Attempt) Resumed() time.Time { return a.Active }

// LastRound returns the round under way, nil before the first.
func (a *Attempt) LastRound() *Round {
	a = a.Unpacked()
	if len(a.Rounds) == 0 {
		return nil
	}
	return a.Rounds[len(a.Rounds)-1]
}

// Round returns the n-th round, from 1, nil when there is none.
func (a *Attempt) Round(n int) *Round {
	a = a.Unpacked()
	if n < 1 || n > len(a.Rounds) {
		return nil
	}
	return a.Rounds[n-1]
}

// ResultTree returns the commit or tree that the round came to.
func (r *Round) ResultTree() string { return cmp.Or(r.Commit, r.From) }

// Session returns the session with this ID, nil when there is none.
func (a *Attempt) Session(id nexus.SessionID) *Session {
	a = a.Unpacked()
	for _, s := range a.Sessions {
		if s.Session == id {
			return s
		}
	}
	return nil
}

// LastSession returns the last session of a role, nil when there is none.
func (a *Attempt) LastSession(role nexus.Role) *Session {
	a = a.Unpacked()
	for i := len(a.Sessions) - 1; i >= 0; i-- {
		if a.Sessions[i].Role == role {
			return a.Sessions[i]
		}
	}
	return nil
}

// CurrentSession returns the session that began last, nil when there is none. Those
// that another sent are beside it and do not count.
func (a *Attempt) CurrentSession() *Session {
	a = a.Unpacked()
	for i := len(a.Sessions) - 1; i >= 0; i-- {
		if a.Sessions[i].Role != nexus.Scout {
			return a.Sessions[i]
		}
	}
	return nil
}

// ModelOf returns the model that a role worked with last, empty where it did
// not.
func (a *Attempt) ModelOf(role nexus.Role) string {
	if s := a.LastSession(role); s != nil {
		return s.Model
	}
	return ""
}

// Apply folds a fact of this attempt. Facts of anything else change nothing.
func (a *Attempt) Apply(f nexus.Fact, at time.Time) {
	a.unpack()
	switch f := f.(type) {
	case nexus.AttemptResumed:
		a.Stage, a.Base, a.Start, a.Active, a.Unlanded = Working, f.Base, f.Tree, at, false
		a.Outcome, a.Commit, a.Tree = "", "", ""
		a.Rested, a.Rests, a.asks, a.Leaves = 0, time.Time{}, nil, false
	case nexus.AttemptInterrupted:
		a.Cut, a.Leaves = true, true
	case nexus.AttemptLost:
		for _, s := range a.Sessions {
			s.halt()
		}
		a.ResumeAfterAnswer("", at)
		a.Stage, a.LetGo, a.Why = Waiting, !f.Counted, f.Why
		if f.Counted && !a.Moved {
			a.Losses++
		}
		a.Moved = false
	case nexus.AttemptBroken:
		a.Stage, a.Broken, a.Why, a.Finished = Over, true, f.Why, at
	case nexus.AttemptEnded:
		a.Stage, a.Finished = Over, at
		a.Outcome, a.Category, a.Why, a.Commit, a.Tree = f.Outcome, f.Category, f.Why, f.Commit, f.Tree
	case nexus.RoundStarted:
		a.round(f)
	case nexus.GateJudged, nexus.VerdictGiven, nexus.ReviewGiven, nexus.TestsProved, nexus.ChecksProved, nexus.ChecksReproduced, nexus.RedSeen, nexus.CheckTried, nexus.PlanLooked, nexus.CriteriaWeighed, nexus.IsolationBroken, nexus.TamperSuspected, nexus.WorkVerified:
		a.applyJudgement(f)
	case nexus.StartForgone:
		a.Start, a.Since, a.From, a.FromRound, a.Forgone = "", "", "", 0, f.Why
		a.Snapshot, a.Proof = nexus.TreeSnapshotted{}, nil
	case nexus.TreeSnapshotted:
		a.Snapshot = f
		if r := a.LastRound(); r != nil {
			r.Commit = f.Commit
			if f.Fixed != "" {
				r.Fixed = f
			}
		}
	case nexus.TrainRefused:
		a.refuse(f)
	case nexus.WorkReturned, nexus.CommentsApplied, nexus.CommentsAnswered, nexus.ChangeWeighed:
		a.comments(f)
	case nexus.SessionStarted:
		a.Sessions = append(a.Sessions, a.begin(f))
	case nexus.SessionCompacted:
		a.applyCompaction(f)
	case nexus.BudgetReserved, nexus.BudgetSpent, nexus.CallDelayed, nexus.QuotaHit, nexus.ModelSwitched:
		a.spend(f, at)
	default:
		a.applySessionFact(f, at)
	}
}

// refuse hands work back that the train found red on top of what landed.
func (a *Attempt) refuse(f nexus.TrainRefused) {
	a.Refusals++
	a.Why, a.Unlanded = f.Why, true
	if f.Conflict {
		a.Outcome = nexus.Conflicted
	}
	if !f.Broken && !f.Conflict {
		a.Handed, a.HandedWhy = f.Findings, cmp.Or(f.Why, "the merged tree is red")
		a.Stage, a.Outcome, a.Base, a.Start, a.Since = Waiting, "", f.Onto, f.Tree, ""
		a.Snapshot = nexus.TreeSnapshotted{}
	}
}

// spend keeps the time of the calls of its sessions.
func (a *Attempt) spend(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.BudgetReserved:
		if s := a.Session(f.Session); s != nil {
			s.halt()
			s.call, s.since, a.Cut = f.ID, at, false
			if strings.HasPrefix(s.Doing, "waits ") {
				s.Doing = ""
			}
		}
	case nexus.BudgetSpent:
		for _, s := range a.Sessions {
			s.settle(f.ID, at)
		}
	case nexus.CallDelayed:
		a.Rested, a.Rests = a.Rested+f.Wait, at.Add(f.Wait)
		if s := a.Session(f.Session); s != nil {
			s.Doing = fmt.Sprintf("waits %s for %s (%s)", f.Wait.Round(time.Second), f.Model, f.Why)
			if f.Wait == 0 {
				s.Doing = fmt.Sprintf("waits for its turn with %s (%s)", f.Model, f.Why)
			}
		}
	case nexus.QuotaHit:
		a.rest(at, f.Until)
		if s := a.Session(f.Session); s != nil {
			s.Doing = fmt.Sprintf("waits for %s, which is out of quota", f.Account)
		}
	case nexus.ModelSwitched:
		a.switchModel(f, at)
	default:
	}
}

// rest leaves the time until an account has quota again out of the attempt's.
func (a *Attempt) rest(at, until time.Time) {
	if a.Rests.After(at) {
		at = a.Rests
	}
	if until.After(at) {
		a.Rested, a.Rests = a.Rested+until.Sub(at), until
	}
}

// ExcludeWait leaves a wait for leave out of the attempt's time, as far as it is not
// left out already.
func (a *Attempt) ExcludeWait(from, until time.Time) { a.rest(from, until) }

// switchModel lets a session continue with another model, at once.
func (a *Attempt) switchModel(f nexus.ModelSwitched, at time.Time) {
	if a.Rests.After(at) {
		a.Rested, a.Rests = a.Rested-a.Rests.Sub(at), at
	}
	if s := a.Session(f.Session); s != nil {
		s.Model, s.Foreign, s.Compact.Row = f.To, len(s.Messages), 0
		s.Doing = fmt.Sprintf("continues with %s (%s)", f.To, f.Why)
	}
}

// PauseForQuestion stops the attempt's clock: a person is asked.
func (a *Attempt) PauseForQuestion(question string, at time.Time) {
	if slices.Contains(a.asks, question) {
		return
	}
	if len(a.asks) == 0 {
		a.asked = at
	}
	a.asks = append(clip(a.asks), question)
}

// ResumeAfterAnswer lets the clock continue when nothing more is asked: the question was
// answered, or left alone. Without a question it ends all of them.
func (a *Attempt) ResumeAfterAnswer(question string, at time.Time) {
	if len(a.asks) == 0 {
		return
	}
	a.asks = slices.DeleteFunc(slices.Clone(a.asks), func(q string) bool { return q == question || question == "" })
	if len(a.asks) == 0 {
		a.Rested += max(0, at.Sub(a.asked))
	}
}

// WaitTime returns how long it waited for providers and people since it last
// had a worker.
func (a *Attempt) WaitTime(at time.Time) time.Duration {
	d := a.Rested - max(0, a.Rests.Sub(at))
	if len(a.asks) > 0 {
		d += max(0, at.Sub(a.asked))
	}
	return d
}

// applyJudgement folds what was found after a round's writing.
func (a *Attempt) applyJudgement(f nexus.Fact) {
	a.Moved = true
	switch f := f.(type) {
	case nexus.TestsProved:
		a.Proof = &f
	case nexus.ChecksProved:
		a.Checks = f
	case nexus.ChecksReproduced:
		a.Reproduced = &f
	case nexus.RedSeen:
		a.Seen = &f
	case nexus.CheckTried:
		a.Tried = append(a.Tried, f.Evidence)
	case nexus.PlanLooked:
		a.Looks = append(a.Looks, f)
	case nexus.CriteriaWeighed:
		a.Weighed = f
	default:
	}
	r := a.LastRound()
	if r == nil {
		return
	}
	switch f := f.(type) {
	case nexus.TestsProved:
		r.Proof = &f
	case nexus.IsolationBroken:
		r.Broken = append(r.Broken, f)
	case nexus.TamperSuspected:
		r.Suspect = &f
	case nexus.WorkVerified:
		r.Verified = &f
	case nexus.GateJudged:
		if !f.Base {
			r.Evidence = append(r.Evidence, f.Evidence)
		}
	case nexus.VerdictGiven:
		r.Verdict = &f
	case nexus.ReviewGiven:
		r.Reviews = append(r.Reviews, f)
	default:
	}
}

// applySessionFact folds a fact of one of the attempt's sessions.
func (a *Attempt) applySessionFact(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.PromptSent:
		a.prompted(f)
	case nexus.TurnTaken:
		if s := a.Session(f.Session); s != nil {
			s.Messages, s.Turns, s.Pending = append(s.Messages, f.Message), f.Turn, f.Stop == "tools"
			s.Unheard = 0
			s.since = at
			a.Moved = true
			if f.Says != "" {
				s.Doing = f.Says
			}
		}
	case nexus.ToolCalled:
		if s := a.Session(f.Session); s != nil {
			s.called(f)
		}
	case nexus.ToolAnswered:
		if s := a.Session(f.Session); s != nil {
			s.answered(f)
		}
	case nexus.ToolsAnswered:
		if s := a.Session(f.Session); s != nil {
			s.Messages, s.Pending = append(s.Messages, f.Message), false
			s.lap(at)
		}
	case nexus.AgentOpened, nexus.AgentEnded:
		a.agent(f)
	case nexus.SessionEnded:
		if s := a.Session(f.Session); s != nil {
			s.Over = f.Outcome != nexus.Refused && f.Outcome != nexus.Stopped // those continue
			s.Outcome, s.Why, s.Result, s.Needs = f.Outcome, f.Why, f.Result, f.Needs
			s.halt()
		}
		a.answers(f)
	default:
	}
}

// prompted folds something that was said to a session.
func (a *Attempt) prompted(f nexus.PromptSent) {
	if s := a.Session(f.Session); s != nil {
		s.Messages, s.Over, s.Outcome = append(s.Messages, f.Message), false, ""
		s.Unheard++
		s.Purpose, s.Memory = f.Why, append(clip(s.Memory), f.Memory...)
	}
	a.addOpenComments(f)
	if f.Why == nexus.LandedWhy {
		a.Heard = append(clip(a.Heard), f.Request)
	}
	if r := a.LastRound(); r != nil && r.Session == f.Session {
		r.Prompted = true
	}
}

// called folds a call of a tool.
func (s *Session) called(f nexus.ToolCalled) {
	s.Doing = f.Tool + " " + f.About
	s.Tally = s.Tally.WithCall(f.Tool)
	if len(s.Looked) < maxLooked && !slices.Contains(s.Looked, f.About) {
		s.Looked = append(clip(s.Looked), f.About)
	}
	if f.Tool == "ask" {
		s.asks = append(s.asks, f.Call)
	}
}

// answers keeps what whoever wrote said about the work, and about the findings
// that the round is about.
func (a *Attempt) answers(f nexus.SessionEnded) {
	if r := a.LastRound(); r != nil && r.Session == f.Session {
		r.Answers, r.Result = f.Answers, f.Result
		a.claim(f)
	}
}

// applyCompaction puts what a session was compacted to in the place of its messages.
func (a *Attempt) applyCompaction(f nexus.SessionCompacted) {
	if s := a.Session(f.Session); s != nil {
		s.Messages, s.Compact, s.Doing, s.Before = slices.Clone(f.Messages), f, "compacts the conversation", 0
		if s.Foreign > 0 {
			s.Foreign = len(s.Messages)
		}
	}
}
