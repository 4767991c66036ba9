// Package audit checks a run for violations of invariants, from its facts alone and without the
// fold.
package audit

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
)

// FactAudit holds the records of one run.
type FactAudit struct {
	routed bool // tasks are routed before they begin
	others func(day string) nexus.Money
	today  string                 // the day of the event
	days   map[string]nexus.Money // spent, by the day on which a call was reserved
	asked  map[string]string      // the day on which a call was reserved
	world  *toyworld.SimulatedWorld
	wrong  func(format string, args ...any)

	limits   nexus.Limits
	tasks    map[nexus.TaskID]*auditedTask
	of       map[nexus.AttemptID]nexus.TaskID
	working  map[nexus.AttemptID]bool
	starts   int
	paused   bool
	draining bool
	ended    nexus.RunStatus
	result   *nexus.FinalGatesJudged
	passed   map[string]bool // tips whose tree passed all checks
	land     bool            // the target must move, too
	offered  bool            // publishing the landed work was attempted, at least
	verdicts map[nexus.AttemptID]nexus.GatesVerdictGiven
	reviews  map[nexus.AttemptID]nexus.ReviewerVerdictGiven
	suspects map[nexus.AttemptID]string // trees that change their own checks
	proofs   map[nexus.AttemptID]nexus.TestProofResult
	verified map[nexus.AttemptID]nexus.VerifierVerdictGiven
	ways     map[nexus.AttemptID]nexus.WritingStrategy
	breached map[nexus.AttemptID]bool // the tester changed more than tests
	tip      string
	base     string
	aboard   nexus.AttemptID
	mends    criterionFixAudit
	splits   taskSplitAudit
	lanes    []nexus.SharedSessionGroupFormed
	adds     additionAudit
	consents planConsentAudit
	requests map[int64]bool // true once settled
	turns    map[nexus.SessionID]int
	snaps    map[nexus.AttemptID]string
	onto     map[nexus.AttemptID]string
	told     map[int64]bool
	open     map[string]nexus.BudgetReserved
	closed   map[string]bool
	spent    nexus.Money
	largest  nexus.Money // of all calls that were reserved
	now      time.Time
	accounts quotaAudit
	cap      nexus.Money // the highest that any day or run allowed
	log      []nexus.Event
	again    bool // these records are rebuilt from a log, and change nothing
}

// auditedTask is a task according to the facts.
type auditedTask struct {
	nexus.Task
	landed, over bool
	attempt      nexus.AttemptID // the last one
	flying       bool            // it is neither on the branch nor given up
	tries        map[nexus.Tier]int
	rounds       int
	begins       nexus.Tier            // the tier that it was routed or moved to
	way          nexus.WritingStrategy // the strategy that it was lowered to
	replan       replanAudit
	refused      bool // a verifier refused its work, and none approved it since
	held         bool // a person paused it
}

// NewFactAudit returns an empty audit. It calls wrong for each violation. Others returns the spending of
// other runs on a day.
func NewFactAudit(w *toyworld.SimulatedWorld, others func(day string) nexus.Money, wrong func(string, ...any)) *FactAudit {
	return &FactAudit{
		world: w, others: others, wrong: wrong, days: map[string]nexus.Money{}, asked: map[string]string{}, tasks: map[nexus.TaskID]*auditedTask{}, of: map[nexus.AttemptID]nexus.TaskID{},
		working: map[nexus.AttemptID]bool{}, requests: map[int64]bool{}, turns: map[nexus.SessionID]int{},
		snaps: map[nexus.AttemptID]string{}, told: map[int64]bool{}, open: map[string]nexus.BudgetReserved{},
		verdicts: map[nexus.AttemptID]nexus.GatesVerdictGiven{}, reviews: map[nexus.AttemptID]nexus.ReviewerVerdictGiven{},
		suspects: map[nexus.AttemptID]string{}, proofs: map[nexus.AttemptID]nexus.TestProofResult{}, verified: map[nexus.AttemptID]nexus.VerifierVerdictGiven{},
		ways: map[nexus.AttemptID]nexus.WritingStrategy{}, breached: map[nexus.AttemptID]bool{},
		passed: map[string]bool{}, closed: map[string]bool{}, onto: map[nexus.AttemptID]string{},
	}
}

// RecordEvent records an event.
func (b *FactAudit) RecordEvent(e nexus.Event) {
	b.log = append(b.log, e)
	b.recordTimeAndConsent(e)
	if b.recordAnytimeFact(e) {
		return
	}
	if b.ended != "" {
		b.wrong("%s after the run ended", nexus.FactKind(e.Fact))
	}
	switch f := e.Fact.(type) {
	case nexus.GoalAccepted:
		b.recordGoal(f)
	case nexus.RunRecovered, nexus.RunPaused, nexus.RunResumed, nexus.RunDrainStarted:
		b.recordRunStatus(f)
	case nexus.RunEnded:
		b.checkRunEnd(f)
	case nexus.FinalGatesJudged:
		b.result, b.passed[b.tip] = &f, b.passed[b.tip] || f.Verdict.Passed
	case nexus.ResultPublished:
		b.checkPublished(f)
	case nexus.RequestSettled:
		b.checkSettled(f)
	case nexus.CriterionDiagnosisStarted, nexus.CriterionFaultsFound, nexus.FixTasksPlanned, nexus.TaskSplitStarted, nexus.TaskSplitCompleted, nexus.TaskSplitFailed:
		b.recordFix(f)
	case nexus.AdditionPlanningStarted, nexus.AdditionTasksProposed, nexus.AdditionPlanningFailed, nexus.TasksAdded:
		b.checkAddition(f)
	case nexus.TaskPlanned:
		b.checkPlannedTask(f.Task)
		b.tasks[f.Task.ID] = &auditedTask{Task: f.Task, tries: map[nexus.Tier]int{}}
	case nexus.SharedSessionGroupFormed:
		b.recordSharedSessionGroup(f)
	case nexus.ReplanDecided:
		b.recordReplanDecision(f)
	case nexus.StartTierChosen, nexus.TaskEscalated:
		b.recordTier(f)
	case nexus.TaskParked, nexus.TaskSkipped, nexus.TaskPaused, nexus.TaskResumed, nexus.TaskRetried:
		b.recordTaskEnd(f)
	case nexus.BudgetReserved, nexus.BudgetSettled, nexus.BudgetRefused:
		b.recordCall(f)
	case nexus.AgentQuotaReported, nexus.QuotaExhausted, nexus.QuotaNearlyExhausted, nexus.QuotaReset:
		b.recordQuota(f)
	case nexus.LandingStarted, nexus.LandingCompleted, nexus.LandingRejected:
		b.recordLanding(f)
	case nexus.SessionStarted, nexus.PromptSent, nexus.ModelTurnRecorded, nexus.TreeSnapshotted, nexus.StartingTreeRejected:
		b.recordConversation(f)
	default:
		b.recordAttempt(f)
	}
}

// recordAnytimeFact records events that may also happen after the end of a run, and reports whether e is
// one.
func (b *FactAudit) recordAnytimeFact(e nexus.Event) bool {
	switch f := e.Fact.(type) {
	case nexus.RunRewound:
		b.rebuildAfterRewind(f)
	case nexus.RequestMade:
		b.requests[e.Seq] = false
		b.recordAddRequest(e.Seq, f.Request)
	case nexus.RunReopened:
		b.ended, b.draining, b.result, b.offered = "", false, nil, false
	default:
		return false
	}
	return true
}

// recordRunStatus records the permitted state of the run.
func (b *FactAudit) recordRunStatus(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.RunRecovered:
		if f.Limits != nil {
			b.setLimits(*f.Limits)
		}
	case nexus.RunPaused:
		b.paused = true
	case nexus.RunResumed:
		b.paused = false
	case nexus.RunDrainStarted:
		b.draining = true
	default:
	}
}

// recordTimeAndConsent records the time of an event, and its effect on the consent to the plan.
func (b *FactAudit) recordTimeAndConsent(e nexus.Event) {
	b.now, b.today = e.At, e.At.UTC().Format(time.DateOnly)
	b.recordConsent(e.Fact)
}

func (b *FactAudit) checkSettled(f nexus.RequestSettled) {
	if done, ok := b.requests[f.Seq]; done || !ok {
		b.wrong("request %d is settled, and was %v %v", f.Seq, ok, done)
	}
	b.requests[f.Seq] = true
	if !f.Granted {
		delete(b.adds.wanted, f.Seq)
	}
}

func (b *FactAudit) recordGoal(f nexus.GoalAccepted) {
	b.setLimits(f.Limits)
	b.land, b.routed = f.Land, len(f.Routing.Order) > 0
	b.tip, b.base = f.Base, f.Base
}

func (b *FactAudit) setLimits(l nexus.Limits) {
	b.limits = l
	b.cap = max(b.cap, l.RunMoney)
}

// checkRunEnd checks the facts that may describe a run that is over.
func (b *FactAudit) checkRunEnd(f nexus.RunEnded) {
	b.ended = f.Status
	if len(b.working) > 0 || len(b.open) > 0 {
		b.wrong("the run ended with %d attempts and %d calls under way", len(b.working), len(b.open))
	}
	if len(b.world.Snapshot().Landed) > 0 && b.tip != b.base && !b.offered {
		b.wrong("the run ended and what landed is not published")
	}
	if at := b.world.Snapshot().Target; at != b.base && !b.passed[at] {
		b.wrong("the run ended and the target is at %s, which never passed", at)
	}
	b.checkFixesAtEnd(f)
	if f.Status != nexus.StatusDone {
		return
	}
	if at := b.world.Snapshot().Target; b.land && at != b.tip {
		b.wrong("the run is done, %s landed and the target is at %s", b.tip, at)
	}
	for id, t := range b.tasks {
		if !t.landed && !b.splits.done[id] {
			b.wrong("the run is done without %s", id)
		}
	}
	if b.result == nil || !b.result.Verdict.Passed || b.result.Verdict.Tree != b.world.TreeOf(b.tip) {
		b.wrong("the run is done and its last tree did not pass")
	}
	if b.world.Snapshot().Published != b.tip {
		b.wrong("the run is done, %s landed and %s is published", b.tip, b.world.Snapshot().Published)
	}
}

// checkPublished checks that the facts about the branches are true.
func (b *FactAudit) checkPublished(f nexus.ResultPublished) {
	b.offered = true
	books := b.world.Snapshot()
	if f.Branch != "" && books.Published != f.Commit {
		b.wrong("%s is said to be published, and %s is", f.Commit, books.Published)
	}
	if f.Target != "" && (books.Target != f.Commit || !b.land) {
		b.wrong("the target is said to be at %s, and is at %s; asked for %v", f.Commit, books.Target, b.land)
	}
}

// recordTaskEnd records that a task is given up, or retried.
func (b *FactAudit) recordTaskEnd(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.TaskParked:
		b.checkNoOtherStep(f.Task)
		b.endTask(f.Task)
		if f.Why == "" {
			b.wrong("%s is parked without a reason", f.Task)
		}
	case nexus.TaskSkipped:
		b.endTask(f.Task)
	case nexus.TaskPaused:
		b.recordPause(f.Task, true)
	case nexus.TaskResumed:
		b.recordPause(f.Task, false)
	case nexus.TaskRetried:
		t := b.tasks[f.Task]
		if !t.over || t.landed || b.splits.done[f.Task] {
			b.wrong("%s is retried", f.Task)
		}
		delete(b.splits.sought, f.Task)
		t.over, t.held = false, false
		t.rounds = 0
		t.replan.resetThresholds()
		clear(t.tries)
	default:
	}
}

// recordPause records that a person pauses a task, or resumes it.
func (b *FactAudit) recordPause(id nexus.TaskID, held bool) {
	t := b.tasks[id]
	if t.held == held || t.over || t.landed {
		b.wrong("%s is paused: %v, after %v; over %v, landed %v", id, held, t.held, t.over, t.landed)
	}
	t.held = held
}

// recordTier records the tier at which a task begins, once, and its later tiers.
func (b *FactAudit) recordTier(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.StartTierChosen:
		t := b.tasks[f.Task]
		if t.begins != "" && f.By != "budget" || t.attempt != "" {
			b.wrong("%s is routed again, or too late", f.Task)
		}
		if !b.routed || !f.Tier.IsKnown() || !f.Complexity.IsKnown() || f.Why == "" {
			b.wrong("%s is routed to %q as %q by %s: %q", f.Task, f.Tier, f.Complexity, f.By, f.Why)
		}
		t.begins = f.Tier
	case nexus.TaskEscalated:
		b.checkNoOtherStep(f.Task)
		t := b.tasks[f.Task]
		if t.begins = f.To; f.Strategy != "" {
			b.checkStrategyChange(t, f)
		}
	default:
	}
}

func (b *FactAudit) endTask(id nexus.TaskID) {
	t := b.tasks[id]
	if t.landed || b.aboard != "" && b.of[b.aboard] == id {
		b.wrong("%s is given up, and it has landed or is landing", id)
	}
	t.over, t.flying = true, false
}

// recordAttempt records the states of attempts.
func (b *FactAudit) recordAttempt(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.AttemptStarted:
		b.recordAttemptStart(f)
		b.checkContinuedSession(f)
	case nexus.AttemptResumed:
		if b.working[f.Attempt] || b.paused {
			b.wrong("%s is resumed; working %v, paused %v", f.Attempt, b.working[f.Attempt], b.paused)
		}
		if id, ok := b.of[f.Attempt]; ok {
			if t := b.tasks[id]; t.over || t.landed || t.held || t.attempt != f.Attempt {
				b.wrong("%s is resumed, and its task is over", f.Attempt)
			}
			b.recordWorker(f.Attempt)
		}
	case nexus.AttemptLost:
		delete(b.working, f.Attempt)
	case nexus.AttemptInfrastructureFailed:
		b.stopWorker(f.Attempt)
	case nexus.AttemptEnded:
		b.stopWorker(f.Attempt)
		if f.Outcome == nexus.Accepted {
			b.checkAccepted(f)
		}
		if t := b.tasks[b.of[f.Attempt]]; f.Outcome == nexus.Accepted && !t.over {
			t.flying = true // until it lands
		}
	case nexus.GatesVerdictGiven:
		b.verdicts[f.Attempt] = f
	case nexus.ReviewerVerdictGiven:
		b.reviews[f.Attempt] = f
	case nexus.TestsRunWithoutWork, nexus.VerifierVerdictGiven, nexus.RoleIsolationViolated, nexus.TamperSuspected:
		b.recordTestsFirst(f)
	case nexus.RoundStarted:
		b.checkRoundAllowed(f.Attempt)
		delete(b.verdicts, f.Attempt)
		delete(b.suspects, f.Attempt)
		delete(b.reviews, f.Attempt)
		t := b.tasks[b.of[f.Attempt]]
		if t.rounds++; b.limits.Rounds > 0 && t.rounds > b.limits.Rounds {
			b.wrong("%s is in round %d", t.ID, t.rounds)
		}
	default:
	}
}

// checkAccepted checks that exactly the accepted tree was checked and approved.
func (b *FactAudit) checkAccepted(f nexus.AttemptEnded) {
	b.checkTestsFirst(f)
	if b.tasks[b.of[f.Attempt]].refused {
		b.wrong("%s is accepted, and a verifier refused the work and none approved it since", f.Attempt)
	}
	v, r, t := b.verdicts[f.Attempt], b.reviews[f.Attempt], b.tasks[b.of[f.Attempt]]
	exempt := t.Kind == nexus.DocsTask || t.Strategy == nexus.NoTest
	if v.Tree != f.Tree || v.State != nexus.Pass && (v.State != nexus.NotRun || !exempt) {
		b.wrong("%s is accepted with tree %q, and the gates said %q of %q", f.Attempt, f.Tree, v.State, v.Tree)
	}
	majors := 0
	for _, x := range r.Findings {
		if x.Severity == nexus.Major && x.Unverified == "" {
			majors++
		}
	}
	rejected := majors >= max(1, b.limits.MajorsBlock) || !r.Approved && (majors > 0 || len(r.Findings) == 0)
	if r.Tree != f.Tree || !r.Reviewed || rejected {
		b.wrong("%s is accepted with tree %q, and the review of %q is %v, %v with %d majors", f.Attempt, f.Tree, r.Tree, r.Reviewed, r.Approved, majors)
	}
}

func (b *FactAudit) stopWorker(id nexus.AttemptID) {
	delete(b.working, id)
	if t := b.tasks[b.of[id]]; t != nil { // it is no attempt at a task
		t.flying = false
	}
}

// recordReservation records that a call is reserved.
func (b *FactAudit) recordReservation(f nexus.BudgetReserved) {
	if b.paused || b.draining {
		b.wrong("%s is reserved; paused %v, draining %v", f.ID, b.paused, b.draining)
	}
	if t := b.tasks[f.Task]; t != nil && t.held {
		b.wrong("%s is reserved, and %s is paused", f.ID, f.Task)
	}
	if b.open[f.ID].ID != "" || b.closed[f.ID] {
		b.wrong("%s is reserved twice", f.ID)
	}
	b.checkAccountQuota(f)
	b.largest = max(b.largest, f.Money)
	b.open[f.ID] = f
	b.asked[f.ID] = b.today
	held, role := b.spent, 0
	for _, r := range b.open {
		if r.Session == f.Session && r.ID != f.ID {
			b.wrong("%s waits for money while it holds %s", f.ID, r.ID)
		}
		held += r.Money
		if r.Role == f.Role {
			role++
		}
	}
	if held > b.cap {
		b.wrong("%s is reserved: %s of %s", f.ID, held, b.cap)
	}
	day := held - b.spent + b.days[b.today] + b.others(b.today)
	if most := b.limits.DayMoney; most > 0 && day > most {
		b.wrong("%s is reserved: %s of the day's %s, %s of it by others", f.ID, day, most, b.others(b.today))
	}
	if n := b.limits.PerRole[f.Role]; n > 0 && role > n {
		b.wrong("%d calls of %s at once", role, f.Role)
	}
}

// recordLanding records landings: one at a time, each on the tip, each once.
func (b *FactAudit) recordLanding(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.LandingStarted:
		if b.aboard != "" || f.Onto != b.tip || b.paused {
			b.wrong("%s departs onto %s; the tip is %s, %q is landing, paused %v", f.Attempt, f.Onto, b.tip, b.aboard, b.paused)
		}
		if b.aboard = f.Attempt; b.onto[f.Attempt] != f.Onto {
			delete(b.snaps, state.MergerAttemptID(f.Attempt)) // the merger begins again
		}
		b.onto[f.Attempt] = f.Onto
	case nexus.LandingCompleted:
		t := b.tasks[f.Task]
		if t.landed || t.over || b.aboard != f.Attempt || f.Parent != b.tip {
			b.wrong("%s landed: before %v, given up %v, departed %q, parent %s, tip %s", f.Task, t.landed, t.over, b.aboard, f.Parent, b.tip)
		}
		b.checkLandedWork(f)
		b.aboard, b.tip = "", f.Commit
		t.landed, t.flying = true, false
		n := 0
		for _, x := range b.tasks {
			if x.landed {
				n++
			}
		}
		if branch := b.world.Snapshot().Landed; len(branch) != n || branch[n-1] != f.Commit {
			b.wrong("landing %d is %s, the branch has %v", n, f.Commit, branch)
		}
	case nexus.LandingRejected:
		if b.world.Snapshot().Tip != b.tip {
			b.wrong("%s is refused and on the branch", f.Task)
		}
		b.aboard = ""
		if !f.Broken && !f.Conflict {
			b.snaps[f.Attempt] = f.Tree // it continues from the merged tree
		}
		if f.Conflict {
			b.tasks[f.Task].flying = false // it will be parked
		}
	default:
	}
}

// recordConversation records conversations: each turn once, in order.
func (b *FactAudit) recordConversation(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.SessionStarted:
		if _, again := b.turns[f.Session]; again && f.Attempt != state.MergerAttemptID(b.aboard) {
			b.wrong("%s is started twice", f.Session)
		}
		if b.turns[f.Session] = 0; !b.again {
			b.world.ForgetConversation(f.Session)
		}
	case nexus.PromptSent:
		if f.Request != 0 && b.told[f.Request] {
			b.wrong("guidance %d is told twice", f.Request)
		}
		b.told[f.Request] = true
	case nexus.ModelTurnRecorded:
		if b.turns[f.Session]++; f.Turn != b.turns[f.Session] {
			b.wrong("turn %d of %s follows turn %d", f.Turn, f.Session, b.turns[f.Session]-1)
		}
		if b.limits.Turns > 0 && f.Turn > b.limits.Turns {
			b.wrong("%s takes turn %d", f.Session, f.Turn)
		}
	case nexus.TreeSnapshotted:
		b.snaps[f.Attempt] = f.Commit
	case nexus.StartingTreeRejected:
		delete(b.snaps, f.Attempt)
	default:
	}
}

// CheckWorktree checks that a worktree is reset to the last recorded snapshot.
func (b *FactAudit) CheckWorktree(id nexus.AttemptID, rev string) {
	if last := b.snaps[id]; last != "" && last != rev {
		b.wrong("%s goes on from %q, its last snapshot is %s", id, rev, last)
	}
}

// HasEnded reports whether the run is over, for now.
func (b *FactAudit) HasEnded() bool { return b.ended != "" }

// CurrentLimits returns the caps in force.
func (b *FactAudit) CurrentLimits() nexus.Limits { return b.limits }

// checkLandedWork checks that no refusal of the landed work is still valid, and that a reviewer read
// the merger's result.
func (b *FactAudit) checkLandedWork(f nexus.LandingCompleted) {
	if b.tasks[f.Task].refused {
		b.wrong("%s landed, and a verifier refused the work and none approved it since", f.Task)
	}
	if r := b.reviews[state.MergerAttemptID(f.Attempt)]; f.Resolved && (r.Tree != f.Tree || !r.Reviewed || !r.Approved) {
		b.wrong("%s landed resolved with tree %q, and the review of %q is %v, %v", f.Task, f.Tree, r.Tree, r.Reviewed, r.Approved)
	}
}
