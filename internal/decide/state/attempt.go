package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AttemptStage is the stage of an attempt.
type AttemptStage string

// Values of AttemptStage.
const (
	Working AttemptStage = "working" // it has a worker, or is about to have one
	Waiting AttemptStage = "waiting" // it lost its worker, or the landing queue returned it
	Over    AttemptStage = "over"
)

// AttemptState is one attempt at a task. A worker has its own clone and applies the facts that it
// records to it.
type AttemptState struct {
	ID       nexus.AttemptID
	Task     nexus.TaskID
	Tier     nexus.Tier
	Strategy nexus.WritingStrategy
	Base     string // commit that the work is compared with
	Start    string // tree or commit in which the worktree starts, if it is not Base
	// commit that Start's change is compared with, if it is not Base: the change is to be
	// merged onto Base
	Since      string
	From       nexus.AttemptID // attempt whose round is Start; empty: none
	FromRound  int
	Asked      bool           // a person chose that
	Warm       *SharedSession // the shared session that its coder continues; nil: none
	Forgone    string         // why it does not start from the result of earlier attempts
	Stage      AttemptStage
	Losses     int  // lost processes without progress
	Moved      bool // it made progress since it last had a worker
	LetGo      bool // it had been asked to stop when it last lost its worker
	Cut        bool // a person interrupted its agent, whose calls must not be run again
	Leaves     bool // its worker must release it, because a person interrupted its agent
	Refusals   int  // by the landing queue
	Unlanded   bool // the landing queue refused the work in its present form
	Broken     bool
	Undone     bool // a rewind undid it: it does not count
	Outcome    nexus.Outcome
	Category   nexus.AttemptFailureCategory
	Why        string
	Commit     string // the accepted work
	Tree       string
	Proof      *nexus.TestsRunWithoutWork     // the last one
	Checks     nexus.CriterionTestsFound      // the last ones
	Reproduced *nexus.IndependentChecksRun    // the last ones; nil: no independent check was made
	Seen       *nexus.BaseFailuresCompared    // what failed before the work; nil: not checked
	Tried      []nexus.GateEvidence           // results of criteria's commands, if a plan is made
	Looks      []nexus.PlanCoverageChecked    // coverage checks of a plan that is being made
	Weighed    nexus.CriteriaEvidenceRecorded // the last ones
	Rounds     []*AttemptRound
	Sessions   []*AgentSessionState
	Network    []nexus.NetworkRequestsRecorded // hosts that its commands and gates requested
	Snapshot   nexus.TreeSnapshotted
	Handed     []nexus.Finding // by the landing queue, for the next round
	HandedWhy  string
	// returned because of people's comments, for the next round; nil: not returned
	Sent     *nexus.WorkReturnedToAuthor
	Applied  *nexus.SuggestionsApplied // results of Sent's replacements; nil: none yet
	Open     []nexus.ReviewComment     // people's comments that its author received and has not answered
	Reminded []string                  // those of them for which it received a reminder
	// its author's answers to comments, before they are checked against the change
	Claims   []nexus.FindingAnswer
	Risky    *nexus.ChangeRiskRated // risky files of its change; nil: not checked
	Heard    []int64                // landings that it was notified of
	Began    time.Time
	Finished time.Time
	Worked   time.Duration // time of work in it, until it last lost its worker
	Rested   time.Duration // time since it last had a worker in which it waited for a provider or a person
	Rests    time.Time     // end of the present wait
	Active   time.Time     // start of its active time
	Clock    time.Time     // Active by the run's clock

	asks  []string  // questions whose answer by a person it waits for
	asked time.Time // start of that wait

	small *packedAttempt // stores Rounds and Sessions, which are empty then; see [AttemptByID.UnpackedCopy]
}

// AttemptRound is one period of writing and the judgements that followed.
type AttemptRound struct {
	nexus.RoundStarted
	Base     string                // commit that the work was compared with
	From     string                // commit or tree at its start
	Commit   string                // its last snapshot; empty if none was made
	Prompted bool                  // the session received its instructions
	Fixed    nexus.TreeSnapshotted // last change by formatters and linters; zero: none
	Evidence []nexus.GateEvidence
	Verdict  *nexus.GatesVerdictGiven
	Reviews  []nexus.ReviewerVerdictGiven
	Proof    *nexus.TestsRunWithoutWork
	Broken   []nexus.RoleIsolationViolated
	Suspect  *nexus.TamperSuspected
	Verified *nexus.VerifierVerdictGiven
	Answers  []nexus.FindingAnswer // the author's answers about the subject of the round
	Result   string                // blob: the author's last submission; empty: none

	Handed    []nexus.Finding // by the landing queue, if it caused the round
	HandedWhy string
}

// AgentSessionState is one conversation.
type AgentSessionState struct {
	nexus.SessionStarted
	Messages []string // blobs of [llm.Message], in order
	// number of messages at the start that belong to the session that it continues, until it
	// is compacted
	Before  int
	Unheard int // number of our messages at the end that have no answer yet
	Turns   int
	Pending bool // the model waits for tool results
	Over    bool // it has submitted, for now
	Outcome nexus.Outcome
	Why     string
	Result  string // blob
	Needs   nexus.BlockedAgentNeed
	Doing   string   // for people: its last action
	Purpose string   // purpose of its last message from us: brief, repair, guidance, ...
	Looked  []string // subjects of its calls, without repetition
	Usage   nexus.Usage
	Spent   nexus.Money
	Tally   ToolCallTally                 // of its tool calls
	Compact nexus.SessionCompacted        // the last compaction
	Opened  nexus.AgentConversationOpened // the conversation of another maker's agent that does it; empty: Nexus does it
	Closed  nexus.AgentProgramEnded       // how that agent's program last ended
	Memory  []nexus.RelevantMemoryEntry   // entries of the repository's memory that it received at its start
	Foreign int                           // messages that a model other than the present one saw
	// time of calls and tools while a process was there, without waits for permission, people
	// and providers
	Elapsed time.Duration

	call  string        // reservation of the running call
	since time.Time     // start of the running call or tools
	asks  []string      // running calls that wait for a person
	asked time.Duration // time of those waits
}

// maxLooked limits the calls of a session whose subjects are stored.
const maxLooked = 500

// ActiveSince returns since when the attempt has been active, or zero while it is not.
func (a *AttemptState) ActiveSince() time.Time { return a.Active }

// LastAttemptWithRounds returns the attempt whose rounds are the task's rounds: the last one with
// rounds, which is also the one that landed; nil without one.
func (t *TaskState) LastAttemptWithRounds() *AttemptState {
	for _, a := range slices.Backward(t.Attempts) {
		if a.LastRound() != nil {
			return a
		}
	}
	return nil
}

// LastRound returns the last round, or nil before the first.
func (a *AttemptState) LastRound() *AttemptRound {
	a = a.UnpackedCopy()
	if len(a.Rounds) == 0 {
		return nil
	}
	return a.Rounds[len(a.Rounds)-1]
}

// RoundAt returns the n-th round, from 1, or nil if there is none.
func (a *AttemptState) RoundAt(n int) *AttemptRound {
	a = a.UnpackedCopy()
	if n < 1 || n > len(a.Rounds) {
		return nil
	}
	return a.Rounds[n-1]
}

// ResultTree returns the commit or tree at the end of the round.
func (r *AttemptRound) ResultTree() string { return cmp.Or(r.Commit, r.From) }

// SessionByID returns the session with this ID, or nil if there is none.
func (a *AttemptState) SessionByID(id nexus.SessionID) *AgentSessionState {
	a = a.UnpackedCopy()
	for _, s := range a.Sessions {
		if s.Session == id {
			return s
		}
	}
	return nil
}

// LastSession returns the last session of a role, or nil if there is none.
func (a *AttemptState) LastSession(role nexus.Role) *AgentSessionState {
	a = a.UnpackedCopy()
	for i := len(a.Sessions) - 1; i >= 0; i-- {
		if a.Sessions[i].Role == role {
			return a.Sessions[i]
		}
	}
	return nil
}

// CurrentSession returns the session that began last, or nil if there is none. Subagents'
// sessions do not count.
func (a *AttemptState) CurrentSession() *AgentSessionState {
	a = a.UnpackedCopy()
	for i := len(a.Sessions) - 1; i >= 0; i-- {
		if a.Sessions[i].Role != nexus.Scout {
			return a.Sessions[i]
		}
	}
	return nil
}

// ModelOf returns the model that a role used last, or "" if it used none.
func (a *AttemptState) ModelOf(role nexus.Role) string {
	if s := a.LastSession(role); s != nil {
		return s.Model
	}
	return ""
}

// Apply applies a fact of this attempt. It ignores all other facts.
func (a *AttemptState) Apply(f nexus.Fact, at time.Time) {
	a.unpackInPlace()
	switch f := f.(type) {
	case nexus.AttemptResumed:
		a.Stage, a.Base, a.Start, a.Active, a.Unlanded = Working, f.Base, f.Tree, at, false
		a.Outcome, a.Commit, a.Tree = "", "", ""
		a.Rested, a.Rests, a.asks, a.Leaves = 0, time.Time{}, nil, false
	case nexus.AgentTurnInterrupted:
		a.Cut, a.Leaves = true, true
	case nexus.AttemptLost:
		for _, s := range a.Sessions {
			s.clearStep()
		}
		a.ResumeAfterAnswer("", at)
		a.Stage, a.LetGo, a.Why = Waiting, !f.Counted, f.Why
		if f.Counted && !a.Moved {
			a.Losses++
		}
		a.Moved = false
	case nexus.AttemptInfrastructureFailed:
		a.Stage, a.Broken, a.Why, a.Finished = Over, true, f.Why, at
	case nexus.AttemptEnded:
		a.Stage, a.Finished = Over, at
		a.Outcome, a.Category, a.Why, a.Commit, a.Tree = f.Outcome, f.Category, f.Why, f.Commit, f.Tree
	case nexus.RoundStarted:
		a.beginRound(f)
	case nexus.GateJudged, nexus.GatesVerdictGiven, nexus.ReviewerVerdictGiven, nexus.TestsRunWithoutWork, nexus.CriterionTestsFound, nexus.IndependentChecksRun, nexus.BaseFailuresCompared, nexus.CriterionCommandTried, nexus.PlanCoverageChecked, nexus.CriteriaEvidenceRecorded, nexus.RoleIsolationViolated, nexus.TamperSuspected, nexus.VerifierVerdictGiven:
		a.applyJudgement(f)
	case nexus.StartingTreeRejected:
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
	case nexus.LandingRejected:
		a.applyLandingRejection(f)
	case nexus.WorkReturnedToAuthor, nexus.SuggestionsApplied, nexus.CommentsAnswered, nexus.ChangeRiskRated:
		a.applyCommentFact(f)
	case nexus.SessionStarted:
		a.Sessions = append(a.Sessions, a.beginSession(f))
	case nexus.SessionCompacted:
		a.applyCompaction(f)
	case nexus.BudgetReserved, nexus.BudgetSettled, nexus.ModelCallDelayed, nexus.QuotaExhausted, nexus.SessionModelSwitched:
		a.trackCallTime(f, at)
	default:
		a.applySessionFact(f, at)
	}
}

// applyLandingRejection returns work that the landing queue found to fail on top of the landed commits.
func (a *AttemptState) applyLandingRejection(f nexus.LandingRejected) {
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

// trackCallTime records the time of its sessions' calls.
func (a *AttemptState) trackCallTime(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.BudgetReserved:
		if s := a.SessionByID(f.Session); s != nil {
			s.clearStep()
			s.call, s.since, a.Cut = f.ID, at, false
			if strings.HasPrefix(s.Doing, "waits ") {
				s.Doing = ""
			}
		}
	case nexus.BudgetSettled:
		for _, s := range a.Sessions {
			s.endCall(f.ID, at)
		}
	case nexus.ModelCallDelayed:
		a.Rested, a.Rests = a.Rested+f.Wait, at.Add(f.Wait)
		if s := a.SessionByID(f.Session); s != nil {
			s.Doing = fmt.Sprintf("waits %s for %s (%s)", f.Wait.Round(time.Second), f.Model, f.Why)
			if f.Wait == 0 {
				s.Doing = fmt.Sprintf("waits for its turn with %s (%s)", f.Model, f.Why)
			}
		}
	case nexus.QuotaExhausted:
		a.excludeQuotaWait(at, f.Until)
		if s := a.SessionByID(f.Session); s != nil {
			s.Doing = fmt.Sprintf("waits for %s, which is out of quota", f.Account)
		}
	case nexus.SessionModelSwitched:
		a.switchModel(f, at)
	default:
	}
}

// excludeQuotaWait excludes the wait for an account's quota from the attempt's time.
func (a *AttemptState) excludeQuotaWait(at, until time.Time) {
	if a.Rests.After(at) {
		at = a.Rests
	}
	if until.After(at) {
		a.Rested, a.Rests = a.Rested+until.Sub(at), until
	}
}

// ExcludeWait excludes a wait for permission from the attempt's time, unless it is already
// excluded.
func (a *AttemptState) ExcludeWait(from, until time.Time) { a.excludeQuotaWait(from, until) }

// switchModel changes the model of a session at once.
func (a *AttemptState) switchModel(f nexus.SessionModelSwitched, at time.Time) {
	if a.Rests.After(at) {
		a.Rested, a.Rests = a.Rested-a.Rests.Sub(at), at
	}
	if s := a.SessionByID(f.Session); s != nil {
		s.Model, s.Foreign, s.Compact.Row = f.To, len(s.Messages), 0
		s.Doing = fmt.Sprintf("continues with %s (%s)", f.To, f.Why)
	}
}

// PauseForQuestion stops the attempt's clock while a person is asked.
func (a *AttemptState) PauseForQuestion(question string, at time.Time) {
	if slices.Contains(a.asks, question) {
		return
	}
	if len(a.asks) == 0 {
		a.asked = at
	}
	a.asks = append(clipCapacity(a.asks), question)
}

// ResumeAfterAnswer starts the clock again if no question is open: the question was answered,
// or timed out. With an empty question it ends all of them.
func (a *AttemptState) ResumeAfterAnswer(question string, at time.Time) {
	if len(a.asks) == 0 {
		return
	}
	a.asks = slices.DeleteFunc(slices.Clone(a.asks), func(q string) bool { return q == question || question == "" })
	if len(a.asks) == 0 {
		a.Rested += max(0, at.Sub(a.asked))
	}
}

// WaitTime returns how long it has waited for providers and people since it last had a
// worker.
func (a *AttemptState) WaitTime(at time.Time) time.Duration {
	d := a.Rested - max(0, a.Rests.Sub(at))
	if len(a.asks) > 0 {
		d += max(0, at.Sub(a.asked))
	}
	return d
}

// applyJudgement applies the judgements of a round's work.
func (a *AttemptState) applyJudgement(f nexus.Fact) {
	a.Moved = true
	switch f := f.(type) {
	case nexus.TestsRunWithoutWork:
		a.Proof = &f
	case nexus.CriterionTestsFound:
		a.Checks = f
	case nexus.IndependentChecksRun:
		a.Reproduced = &f
	case nexus.BaseFailuresCompared:
		a.Seen = &f
	case nexus.CriterionCommandTried:
		a.Tried = append(a.Tried, f.Evidence)
	case nexus.PlanCoverageChecked:
		a.Looks = append(a.Looks, f)
	case nexus.CriteriaEvidenceRecorded:
		a.Weighed = f
	default:
	}
	r := a.LastRound()
	if r == nil {
		return
	}
	switch f := f.(type) {
	case nexus.TestsRunWithoutWork:
		r.Proof = &f
	case nexus.RoleIsolationViolated:
		r.Broken = append(r.Broken, f)
	case nexus.TamperSuspected:
		r.Suspect = &f
	case nexus.VerifierVerdictGiven:
		r.Verified = &f
	case nexus.GateJudged:
		if !f.Base {
			r.Evidence = append(r.Evidence, f.Evidence)
		}
	case nexus.GatesVerdictGiven:
		r.Verdict = &f
	case nexus.ReviewerVerdictGiven:
		r.Reviews = append(r.Reviews, f)
	default:
	}
}

// applySessionFact applies a fact of one of the attempt's sessions.
func (a *AttemptState) applySessionFact(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.PromptSent:
		a.applyPrompt(f)
	case nexus.ModelTurnRecorded:
		if s := a.SessionByID(f.Session); s != nil {
			s.Messages, s.Turns, s.Pending = append(s.Messages, f.Message), f.Turn, f.Stop == "tools"
			s.Unheard = 0
			s.since = at
			a.Moved = true
			if f.Says != "" {
				s.Doing = f.Says
			}
		}
	case nexus.ToolCallStarted:
		if s := a.SessionByID(f.Session); s != nil {
			s.applyToolCall(f)
		}
	case nexus.ToolCallEnded:
		if s := a.SessionByID(f.Session); s != nil {
			s.applyToolAnswer(f)
		}
	case nexus.ToolResultsSent:
		if s := a.SessionByID(f.Session); s != nil {
			s.Messages, s.Pending = append(s.Messages, f.Message), false
			s.addStepTime(at)
		}
	case nexus.AgentConversationOpened, nexus.AgentProgramEnded:
		a.applyAgentFact(f)
	case nexus.SessionEnded:
		if s := a.SessionByID(f.Session); s != nil {
			// sessions with these outcomes continue
			s.Over = f.Outcome != nexus.Refused && f.Outcome != nexus.Stopped
			s.Outcome, s.Why, s.Result, s.Needs = f.Outcome, f.Why, f.Result, f.Needs
			s.clearStep()
		}
		a.recordAnswers(f)
	default:
	}
}

// applyPrompt applies a message that was sent to a session.
func (a *AttemptState) applyPrompt(f nexus.PromptSent) {
	if s := a.SessionByID(f.Session); s != nil {
		s.Messages, s.Over, s.Outcome = append(s.Messages, f.Message), false, ""
		s.Unheard++
		s.Purpose, s.Memory = f.Why, append(clipCapacity(s.Memory), f.Memory...)
	}
	a.addOpenComments(f)
	if f.Why == nexus.LandedWhy {
		a.Heard = append(clipCapacity(a.Heard), f.Request)
	}
	if r := a.LastRound(); r != nil && r.Session == f.Session {
		r.Prompted = true
	}
}

// applyToolCall applies a tool call.
func (s *AgentSessionState) applyToolCall(f nexus.ToolCallStarted) {
	s.Doing = f.Tool + " " + f.About
	s.Tally = s.Tally.WithCall(f.Tool)
	if len(s.Looked) < maxLooked && !slices.Contains(s.Looked, f.About) {
		s.Looked = append(clipCapacity(s.Looked), f.About)
	}
	if f.Tool == "ask" {
		s.asks = append(s.asks, f.Call)
	}
}

// recordAnswers records the author's statements about the work and about the findings of the round.
func (a *AttemptState) recordAnswers(f nexus.SessionEnded) {
	if r := a.LastRound(); r != nil && r.Session == f.Session {
		r.Answers, r.Result = f.Answers, f.Result
		a.recordClaims(f)
	}
}

// applyCompaction replaces a session's messages by the compacted ones.
func (a *AttemptState) applyCompaction(f nexus.SessionCompacted) {
	if s := a.SessionByID(f.Session); s != nil {
		s.Messages, s.Compact, s.Doing, s.Before = slices.Clone(f.Messages), f, "compacts the conversation", 0
		if s.Foreign > 0 {
			s.Foreign = len(s.Messages)
		}
	}
}
