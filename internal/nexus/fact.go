package nexus

import (
	"time"
)

// Fact is something that happened in a run. The sum is closed: every fact is one of the types
// in this package. A fact never changes its meaning; a new meaning is a new fact.
//
//sumtype:decl
type Fact interface {
	fact() string // its kind; see [FactKind]
}

// Event is a fact with its place in the journal.
type Event struct {
	Seq  int64     // position in the journal, from 1, without gaps; a cursor everywhere
	Run  RunID     // the run of the fact
	At   time.Time // when it was appended, UTC
	Fact Fact
	Hash string // SHA-256 over the event before and this one, hex
}

// Facts about the life of a run.
type (
	// GoalAccepted starts a run.
	GoalAccepted struct {
		Goal    Goal             `json:"goal"`
		Base    string           `json:"base"`   // commit the run starts from
		Target  string           `json:"target"` // branch that the result is for; empty on a detached head
		Land    bool             `json:"land"`   // fast-forward the target at the end
		Limits  Limits           `json:"limits"`
		Gates   []string         `json:"gates,omitempty"` // names of the gates
		Routing StartTierRules   `json:"routing,omitzero"`
		Consent PlanApprovalRule `json:"consent,omitzero"` // approval of the plan

		// money that another run spent on its plan, deducted from the limit
		Planning Money `json:"planning,omitzero"`
		// questions about the goal before the run; the run's own questions are numbered from
		// the next one
		Asked int         `json:"asked,omitzero"`
		Fork  *ForkOrigin `json:"fork,omitempty"` // the run that it was forked from
	}
	// RunPrechecked records the notices that were found before the run started and did not stop
	// it.
	RunPrechecked struct {
		Strict  bool     `json:"strict,omitzero"`   // in strict mode a notice would have stopped the run
		Skipped []string `json:"skipped,omitempty"` // checks that were skipped
		Notices []string `json:"notices,omitempty"` // "name: problem"
	}
	// RunStarted records that a process works on the run for the first time.
	RunStarted struct {
		Process RunProcess `json:"process"`
		Fence   int64      `json:"fence"`
		Spent   Money      `json:"spent"`            // by other runs, on this day
		Sandbox string     `json:"sandbox,omitzero"` // sandbox of agents and gates; "off": none
		Hooks   bool       `json:"hooks,omitzero"`   // hooks are asked before work starts

		// no person is available: questions that only a person may answer stay open
		Alone    bool          `json:"alone,omitzero"`
		Patience time.Duration `json:"patience,omitzero"` // how long a question of the run itself waits; 0: forever
	}
	// RunRecovered records that another process has continued the run.
	RunRecovered struct {
		Process RunProcess `json:"process"`
		Fence   int64      `json:"fence"`
		Spent   Money      `json:"spent"`
		Limits  *Limits    `json:"limits,omitempty"` // new limits, if a person set some
		Sandbox string     `json:"sandbox,omitzero"`
		Hooks   bool       `json:"hooks,omitzero"` // as in RunStarted

		Alone    bool          `json:"alone,omitzero"`    // as in RunStarted
		Patience time.Duration `json:"patience,omitzero"` // as in RunStarted
	}
	// RunPaused pauses every worker at its next turn.
	RunPaused struct {
		Why string `json:"why,omitzero"`
	}
	// RunResumed lets the workers continue.
	RunResumed struct{}
	// RunReopened continues a run that had ended.
	RunReopened struct {
		Why string `json:"why,omitzero"`
		// only to publish and to merge the landed commits: no task is worked on
		Deliver bool `json:"deliver,omitzero"`
	}
	// RunDrainStarted records the intent to end the run: nothing starts any more, and running work
	// stops at its next turn.
	RunDrainStarted struct {
		To   RunStatus `json:"to"`
		Why  string    `json:"why,omitzero"`
		Code ErrorCode `json:"code,omitzero"` // of the error that ends it
	}
	// FinalGatesJudged records the gates' verdict on the run's last tree.
	FinalGatesJudged struct {
		Verdict GatesVerdict `json:"verdict"`
	}
	// FinalGatesStarted records the intent to gate the run's last tree.
	FinalGatesStarted struct{}
	// CriterionDiagnosisStarted is recorded before Nexus searches for the cause of unmet criteria on the landed tree.
	CriterionDiagnosisStarted struct {
		Attempt AttemptID        `json:"attempt"` // "fix.1": its checks and session find the cause
		Faults  []CriterionFault `json:"faults"`
	}
	// CriterionFaultsFound records why each criterion is not met.
	CriterionFaultsFound struct {
		Attempt AttemptID        `json:"attempt"`
		Faults  []CriterionFault `json:"faults"`
	}
	// FixTasksPlanned returns the run to its tasks. The tasks that fix the faults
	// are planned before this fact.
	FixTasksPlanned struct {
		Round int      `json:"round"` // from 1
		Tasks []TaskID `json:"tasks"`
	}
	// ResultPublishingStarted records the intent to publish the landed commits.
	ResultPublishingStarted struct {
		Commit string `json:"commit"`
	}
	// TargetLandingRequested records that a person asked to land the result on a branch of the user's
	// repository.
	TargetLandingRequested struct {
		Target string `json:"target"`
		By     string `json:"by,omitzero"`
	}
	// TargetBranchMoved records that the target has moved since the run's work began, or since its
	// last merge.
	TargetBranchMoved struct {
		Target string `json:"target"`
		Commit string `json:"commit"` // the target's commit
	}
	// TargetMergeStarted records the intent to merge the landed commits onto a target that moved.
	TargetMergeStarted struct {
		Attempt AttemptID `json:"attempt"` // "land.1": its sessions resolve conflicts
		Target  string    `json:"target"`
		Onto    string    `json:"onto"` // the target's commit
	}
	// TargetMergeCommitted records that the merged tree passes the gates and is a commit.
	TargetMergeCommitted struct {
		Attempt  AttemptID `json:"attempt"`
		Onto     string    `json:"onto"`
		Commit   string    `json:"commit"` // its first parent is Onto
		Tree     string    `json:"tree"`   // the tree that the gates passed
		Resolved bool      `json:"resolved,omitzero"`
	}
	// TargetMergeRefused records why the landed commits are not merged onto the target.
	TargetMergeRefused struct {
		Onto string `json:"onto"`
		Why  string `json:"why"`
	}
	// ResultPublished records the location of the published result.
	ResultPublished struct {
		Branch string `json:"branch"`
		Commit string `json:"commit"`
		Target string `json:"target,omitzero"` // branch that was fast-forwarded
		// commit of Target, if it differs from Commit because the branch had moved
		Merged string `json:"merged,omitzero"`
		Why    string `json:"why,omitzero"` // why the target was not moved although this was requested
		// why its commits have no evidence notes although they were requested
		Bare string `json:"bare,omitzero"`
		Hook string `json:"hook,omitzero"` // the hook that refused; Why is its reason
	}
	// RunEnded closes the run.
	RunEnded struct {
		Status RunStatus `json:"status"`
		Why    string    `json:"why,omitzero"`
	}
	// RequestMade records a request of a person or a program.
	RequestMade struct {
		Request Request `json:"request"`
	}
	// RequestSettled records how a request ended.
	RequestSettled struct {
		Seq     int64  `json:"seq"` // of the RequestMade
		Granted bool   `json:"granted"`
		Why     string `json:"why,omitzero"`
	}
	// QuestionAsked records a question that waits for a person, until its deadline if it has
	// one.
	QuestionAsked struct {
		ID       string    `json:"id"` // "q1", "q2", ... within the run; a repeated question keeps its ID
		Attempt  AttemptID `json:"attempt,omitzero"`
		Text     string    `json:"text"`
		Fallback string    `json:"fallback"`
		Deadline time.Time `json:"deadline,omitzero"`
		Trigger  string    `json:"trigger,omitzero"` // why it is asked; see decide/humaninput
		Mark     string    `json:"mark,omitzero"`    // name that the asking component gave it
	}
	// QuestionExpired records that a question that only a person may answer had no answer in
	// time. It stays open, and the run continues as far as it can without an answer.
	QuestionExpired struct {
		ID string `json:"id"`
	}
	// QuestionAnswered closes a question. The first answer counts.
	QuestionAnswered struct {
		ID   string `json:"id"`
		Text string `json:"text"`
		By   string `json:"by"` // "fallback" if the default was used, "auto" if a model answered
		Why  string `json:"why,omitzero"`
	}
)

// Facts about tasks that are parked, split or skipped.
type (
	// TaskParked parks a task until a person decides.
	TaskParked struct {
		Task   TaskID `json:"task"`
		Why    string `json:"why"`
		Failed bool   `json:"failed,omitzero"` // the cause is mechanical, not a judgement
		Report string `json:"report,omitzero"` // blob: earlier attempts, last errors, suggestion
	}
	// TaskSplitStarted records the intent to split a task that would be parked otherwise.
	TaskSplitStarted struct {
		Attempt AttemptID `json:"attempt"` // "split.1": the session that does it
		Task    TaskID    `json:"task"`
		Why     string    `json:"why"`              // why it would be parked
		Failed  bool      `json:"failed,omitzero"`  // the cause is mechanical
		Rescope bool      `json:"rescope,omitzero"` // its agent asks for another plan, which may be a single task
		Work    string    `json:"work,omitzero"`    // last commit of its last attempt
	}
	// TaskSplitCompleted replaces a task by parts, which are planned before this fact.
	TaskSplitCompleted struct {
		Attempt AttemptID `json:"attempt"`
		Task    TaskID    `json:"task"`
		Parts   []TaskID  `json:"parts"`
	}
	// TaskSplitFailed records why a split failed.
	TaskSplitFailed struct {
		Attempt AttemptID `json:"attempt"`
		Task    TaskID    `json:"task"`
		Why     string    `json:"why"`
	}
	// TaskSkipped skips a task.
	TaskSkipped struct {
		Task TaskID `json:"task"`
		By   string `json:"by,omitzero"`
	}
	// TaskPaused pauses one task: its agent stops at its next turn, and no part of the task
	// starts, continues or lands.
	TaskPaused struct {
		Task TaskID `json:"task"`
		By   string `json:"by,omitzero"`
	}
	// TaskResumed lets a paused task continue.
	TaskResumed struct {
		Task TaskID `json:"task"`
		By   string `json:"by,omitzero"`
	}
	// TaskRetried gives a parked, failed or skipped task another chance.
	TaskRetried struct {
		Task    TaskID    `json:"task"`
		By      string    `json:"by,omitzero"`
		Attempt AttemptID `json:"attempt,omitzero"` // attempt whose Round the next attempt starts from
		Round   int       `json:"round,omitzero"`   // 0: it starts from the best tree so far
		Fresh   bool      `json:"fresh,omitzero"`   // it starts from the tip, even if earlier work exists
	}
	// ComplexityRatingStarted records the intent to ask plugins and a model for the complexity of tasks.
	ComplexityRatingStarted struct {
		Attempt AttemptID `json:"attempt"` // "route.1": the session that estimates it
		Tasks   []TaskID  `json:"tasks"`
	}
	// ComplexityRatingEnded records the answers. A task that it does not name is decided by the next
	// strategy.
	ComplexityRatingEnded struct {
		Attempt AttemptID          `json:"attempt"`
		Routes  []ComplexityRating `json:"routes,omitempty"`
		Why     string             `json:"why,omitzero"` // why there is no answer
	}
	// StartTierChosen records the estimated complexity of a task and its starting tier.
	StartTierChosen struct {
		Task       TaskID     `json:"task"`
		Complexity Complexity `json:"complexity"`
		Tier       Tier       `json:"tier"`
		By         string     `json:"by"`  // the strategy that decided
		Why        string     `json:"why"` // its reason

		Strategy WritingStrategy `json:"strategy,omitzero"`     // order in which code and tests are written
		Chosen   string          `json:"strategy_why,omitzero"` // why this strategy

		Estimate *TaskEstimate `json:"estimate,omitempty"` // estimated time and cost; nil: unknown
	}
	// ReviewModelChosen records the model with which a role reviews the work of another model. It is
	// recorded once for each pair.
	ReviewModelChosen struct {
		Role   Role   `json:"role"`
		Model  string `json:"model"`
		Author string `json:"author"` // model of the author
		Why    string `json:"why"`
	}
	// CriterionRevised replaces the text of a criterion.
	CriterionRevised struct {
		Task      TaskID    `json:"task"`
		Number    int       `json:"number"` // from 1
		Criterion Criterion `json:"criterion"`
		By        string    `json:"by,omitzero"`
		Why       string    `json:"why,omitzero"` // why its check was dropped; empty if a person dropped it
	}
	// TaskEscalated raises a task to a stronger tier.
	TaskEscalated struct {
		Task TaskID `json:"task"`
		From Tier   `json:"from"`
		To   Tier   `json:"to"`
		Why  string `json:"why"`

		Strategy WritingStrategy `json:"strategy,omitzero"` // the new strategy, if it changes
	}
)

// Facts about an attempt.
type (
	// SharedSessionGroupFormed records which small tasks one coder's session does, one after the other.
	// Each task has its own attempts, gates, review and landing.
	SharedSessionGroupFormed struct {
		Lane  string   `json:"lane"`  // L1, L2, ...
		Tasks []TaskID `json:"tasks"` // in their order
		Why   string   `json:"why"`   // properties that the tasks share
	}
	// AttemptStarted records the start of an attempt at a task.
	AttemptStarted struct {
		Attempt  AttemptID       `json:"attempt"`
		Task     TaskID          `json:"task"`
		Tier     Tier            `json:"tier"`
		Strategy WritingStrategy `json:"strategy"`
		Base     string          `json:"base"`          // commit it starts from
		Tree     string          `json:"tree,omitzero"` // tree in which its worktree starts; empty: Base
		// commit that Tree's change is compared with, if it differs from Base: the change is
		// merged onto Base
		Since string `json:"since,omitzero"`

		// session of another task whose shared session its coder continues; empty: a new
		// session
		Continues SessionID `json:"continues,omitzero"`

		From  AttemptID `json:"from,omitzero"`  // attempt whose Round Tree comes from; empty: none
		Round int       `json:"round,omitzero"` // of From
		Asked bool      `json:"asked,omitzero"` // a person chose it; otherwise it is the best tree so far
	}
	// StartingTreeRejected records why an attempt starts from its base and not from the result of
	// earlier attempts.
	StartingTreeRejected struct {
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
	}
	// AttemptResumed resumes an attempt that lost its process or failed to
	// land.
	AttemptResumed struct {
		Attempt AttemptID `json:"attempt"`
		Base    string    `json:"base"` // commit its work is now compared with
		Tree    string    `json:"tree"` // tree in which its worktree starts; empty: Base
	}
	// AttemptLost records that an attempt no longer has a process.
	AttemptLost struct {
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
		Counted bool      `json:"counted"` // its process died; a clean stop does not count against the attempt
	}
	// AgentTurnInterrupted records the interruption of an agent's current turn: a running call
	// gets no answer, and running tools are not run again.
	AgentTurnInterrupted struct {
		Attempt AttemptID `json:"attempt"`
		By      string    `json:"by,omitzero"`
	}
	// AttemptInfrastructureFailed records that the attempt failed because of Nexus or the machine, not
	// because of the work.
	AttemptInfrastructureFailed struct {
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
	}
	// AttemptEnded records how an attempt ended.
	AttemptEnded struct {
		Attempt AttemptID `json:"attempt"`
		Outcome Outcome   `json:"outcome"`
		Commit  string    `json:"commit,omitzero"` // commit of the work, pinned
		Tree    string    `json:"tree,omitzero"`
		Why     string    `json:"why,omitzero"`

		Category AttemptFailureCategory `json:"category,omitzero"` // of a failure, if it decides the next step
	}
	// RoundStarted records that the agent begins to write.
	RoundStarted struct {
		Attempt AttemptID `json:"attempt"`
		Round   int       `json:"round"`            // from 1, over all sessions of the attempt
		Role    Role      `json:"role"`             // role of the writer
		Cause   string    `json:"cause,omitzero"`   // the gate that failed; empty in the first round
		Session SessionID `json:"session,omitzero"` // the conversation that continues
	}
	// TestsRunWithoutWork records the results of new tests without the work.
	TestsRunWithoutWork struct {
		Attempt  AttemptID       `json:"attempt"`
		Tree     string          `json:"tree"` // that they ran on
		Proof    TestProofResult `json:"proof"`
		Tests    []string        `json:"tests,omitempty"`  // tests that failed as expected
		Files    []string        `json:"files,omitempty"`  // files of the tests
		Beside   []string        `json:"beside,omitempty"` // changed files that are not tests
		Why      string          `json:"why,omitzero"`
		Findings []Finding       `json:"findings,omitempty"` // mistakes in the tests themselves
		Evidence []GateEvidence  `json:"evidence,omitempty"` // of the gates that ran them
	}
	// CriterionTestsFound records which tests show criteria that had no check.
	CriterionTestsFound struct {
		Attempt AttemptID       `json:"attempt"`
		Tree    string          `json:"tree"`   // tree on which they pass
		Handin  string          `json:"handin"` // blob: the submission that named the checks
		Checks  []CriterionTest `json:"checks"`
	}
	// IndependentChecksRun records the results of independent checks on a tree: tests by a
	// session that saw the goal and the base, and nothing of the change.
	IndependentChecksRun struct {
		Attempt AttemptID       `json:"attempt"`
		Round   int             `json:"round"`           // round of the tree on which they ran
		Tree    string          `json:"tree"`            // tree on which they ran, besides the base
		Handin  string          `json:"handin,omitzero"` // blob: the tests; empty: none
		Checks  []CriterionTest `json:"checks"`          // one for each criterion that needed a check
	}
	// BaseFailuresCompared records the failures on the base of an attempt, compared with the failures that
	// its task names. It is recorded before the work starts.
	BaseFailuresCompared struct {
		Attempt AttemptID `json:"attempt"`
		Tree    string    `json:"tree"` // of the base
		// failures that the task refers to: tests, other findings, commands
		Meant []string `json:"meant,omitempty"`
		// tests that the task names and that pass: they cannot show that the work is done
		Green  []string `json:"green,omitempty"`
		Aside  []string `json:"aside,omitempty"`  // tests that the task, or the project, excludes
		Others []string `json:"others,omitempty"` // failing tests that the task does not refer to
	}
	// CriteriaEvidenceRecorded records, for each criterion whose check is a gate, the evidence on a
	// tree that passed the gates. It is recorded before their verdict.
	CriteriaEvidenceRecorded struct {
		Attempt  AttemptID               `json:"attempt"`
		Tree     string                  `json:"tree"`
		Criteria []CriterionGateEvidence `json:"criteria"`
	}
	// RoleIsolationViolated records that a role changed files that it may not change. The change
	// was undone.
	RoleIsolationViolated struct {
		Attempt AttemptID `json:"attempt"`
		Role    Role      `json:"role"`
		Files   []string  `json:"files"`
	}
	// TamperSuspected records a change's effects on its own tests and gates, for a verifier
	// to explain. It is recorded before the verdict on the same tree.
	TamperSuspected struct {
		Attempt  AttemptID `json:"attempt"`
		Tree     string    `json:"tree"`
		Findings []Finding `json:"findings"`
	}
	// VerifierVerdictGiven records a verifier's verdict on an attempt.
	VerifierVerdictGiven struct {
		Attempt  AttemptID              `json:"attempt"`
		Tree     string                 `json:"tree"`
		Read     bool                   `json:"read"`              // false: there is no verdict, and the gates decide
		Category AttemptFailureCategory `json:"category,omitzero"` // reason for a rejection; zero if it did not reject
		Why      string                 `json:"why,omitzero"`
		Criteria []CriterionJudgement   `json:"criteria,omitempty"`
		Findings []Finding              `json:"findings,omitempty"` // findings to be fixed first
	}
	// GateStarted records that a gate began to judge a tree. An attempt or a landing has at
	// most one running gate.
	GateStarted struct {
		// attempt whose tree it is, or that waits for the base; empty for the landing queue
		Attempt AttemptID `json:"attempt,omitzero"`
		Task    TaskID    `json:"task,omitzero"` // task whose landing it judges, for the landing queue
		Base    bool      `json:"base,omitzero"` // it judges the tree that the work started from
		// "warm-up" is the compile step before those of a base, and is not judged
		Gate string `json:"gate"`
	}
	// GateJudged records a gate's result on a tree.
	GateJudged struct {
		Attempt  AttemptID    `json:"attempt,omitzero"` // empty for the base and for the landing queue
		Task     TaskID       `json:"task,omitzero"`    // task whose landing it judged, for the landing queue
		Base     bool         `json:"base,omitzero"`    // judged the tree that the work started from
		Evidence GateEvidence `json:"evidence"`
		Cached   bool         `json:"cached,omitzero"` // the evidence was already known for this tree

		// time to compile for it and the gates after it, before it started
		WarmUp time.Duration `json:"warm_up,omitzero"`
	}
	// GatesVerdictGiven records the combined result of the gates for an attempt's tree.
	GatesVerdictGiven struct {
		Attempt AttemptID `json:"attempt"`
		Tree    string    `json:"tree"`
		State   GateState `json:"state"` // of the gate that decided
		Gate    string    `json:"gate,omitzero"`
		Why     string    `json:"why,omitzero"`
		Own     bool      `json:"own,omitzero"` // only new tests and checks that failed before are red
	}
	// ReviewerVerdictGiven records a reviewer's verdict on an attempt.
	ReviewerVerdictGiven struct {
		Attempt  AttemptID        `json:"attempt"`
		Tree     string           `json:"tree"`
		Reviewed bool             `json:"reviewed"` // false: not reviewed, which never approves
		Approved bool             `json:"approved"`
		Summary  string           `json:"summary,omitzero"`
		Findings []Finding        `json:"findings,omitempty"`
		Readers  []ChangeReviewer `json:"readers,omitempty"` // the reviewers, and the part that each read

		// required by the run's limits on findings, whatever the reviewer decided
		SendsBack bool     `json:"sends_back,omitzero"`
		Agreed    []string `json:"agreed,omitempty"` // deletions in the change that all reviewers approve
	}
	// TreeSnapshotted records that the worktree's state is pinned by a commit.
	TreeSnapshotted struct {
		Attempt AttemptID `json:"attempt"`
		Commit  string    `json:"commit"`
		Tree    string    `json:"tree"`
		// files that formatters and linters fixed, not an agent, and their commands
		Fixed string   `json:"fixed,omitzero"`
		Lines []string `json:"fixed_lines,omitempty"` // their changed lines, by present number: a.go:3-5, 9
	}
)

// ChangeReviewer is a reviewer of a change, or of a part of a large one.
type ChangeReviewer struct {
	Session  SessionID `json:"session"`
	Model    string    `json:"model,omitzero"`
	Persona  string    `json:"persona,omitzero"` // what it searches for; empty: everything
	Part     int       `json:"part,omitzero"`    // number of the part, from 1, out of Parts; 0: the whole change
	Parts    int       `json:"parts,omitzero"`
	Reviewed bool      `json:"reviewed"`
	Approved bool      `json:"approved"`
	Why      string    `json:"why,omitzero"` // why it did not review
	// name of the plugin, if the reviewer is not a model; it has no session then
	Plugin string `json:"plugin,omitzero"`
}

// ToolCallDecision is the decision whether a tool call may be made: the rule, the reason and the
// author of the decision. The zero value is of a call that was not judged.
type ToolCallDecision struct {
	Decision string `json:"decision"` // allow, ask or deny
	Rule     string `json:"rule"`
	Why      string `json:"why,omitzero"`
	By       string `json:"by"`               // policy, a role, or a person who was asked
	Refused  bool   `json:"refused,omitzero"` // the call was not made
}

// Facts about a conversation.
type (
	// SessionStarted opens a conversation.
	SessionStarted struct {
		Session SessionID `json:"session"`
		Attempt AttemptID `json:"attempt"`
		Role    Role      `json:"role"`
		Model   string    `json:"model"`          // as provider/model
		Prompt  string    `json:"prompt"`         // blob: system prompt and tools
		About   string    `json:"about,omitzero"` // the question, if another session sent one
		// session of another task whose conversation it continues; that session's messages
		// precede this one's
		After SessionID `json:"after,omitzero"`
	}
	// PromptSent adds a message of Nexus to the conversation.
	PromptSent struct {
		Session SessionID `json:"session"`
		Message string    `json:"message"`          // blob
		Why     string    `json:"why"`              // brief, repair, nudge, guidance, landed
		Request int64     `json:"request,omitzero"` // the guidance that it delivers, or the landing that it reports

		Memory []RelevantMemoryEntry `json:"memory,omitempty"` // entries of the repository's memory that fit the task

		// people's comments that it delivers: their places, without their texts
		Comments []ReviewComment `json:"comments,omitempty"`

		// blob: the items of the message, see [PromptManifestItem]; empty for a single line
		Manifest string `json:"manifest,omitempty"`
	}
	// ModelTurnRecorded adds the model's answer.
	ModelTurnRecorded struct {
		Session SessionID `json:"session"`
		Turn    int       `json:"turn"`    // from 1
		Message string    `json:"message"` // blob
		Stop    string    `json:"stop"`
		Says    string    `json:"says,omitzero"` // beginning of its text, for people
	}
	// ToolCallStarted records the intent to make a tool call.
	ToolCallStarted struct {
		Session SessionID `json:"session"`
		Call    string    `json:"call"`
		Tool    string    `json:"tool"`
		About   string    `json:"about,omitzero"` // path or command, cut for display
	}
	// ToolCallEnded records the result of a tool call.
	ToolCallEnded struct {
		Session  SessionID        `json:"session"`
		Call     string           `json:"call"`
		Failed   bool             `json:"failed,omitzero"`
		Duration time.Duration    `json:"duration"`
		About    string           `json:"about,omitzero"` // beginning of the result
		Judged   ToolCallDecision `json:"judged,omitzero"`
		// the exceeded resource, if that ended its command: memory, cpu, disk or processes
		Over string `json:"over,omitzero"`
	}
	// NetworkRequestsRecorded records the hosts that a tool call or a gate requested.
	NetworkRequestsRecorded struct {
		Attempt AttemptID `json:"attempt,omitzero"` // attempt whose gate it is
		Session SessionID `json:"session,omitzero"` // session whose call it is
		Call    string    `json:"call,omitzero"`
		Gate    string    `json:"gate,omitzero"`
		// each with host, port, allowed, rule, why, address, times, and bytes up and down
		Hosts []RequestedHost `json:"hosts"`
	}
	// ToolResultsSent adds the message with the results of a turn's tool calls.
	ToolResultsSent struct {
		Session SessionID `json:"session"`
		Message string    `json:"message"` // blob
	}
	// SessionCompacted replaces the messages so far by fewer ones, because they no longer fit
	// into the model's context.
	SessionCompacted struct {
		Session  SessionID `json:"session"`
		Turn     int       `json:"turn"`          // turns before it
		Row      int       `json:"row"`           // compactions in a row without progress, from 1
		Why      string    `json:"why"`           // why it was necessary
		Gone     int       `json:"gone,omitzero"` // removed messages; 0 if only results were shortened
		Before   int64     `json:"before"`        // tokens, estimated
		After    int64     `json:"after"`
		Messages []string  `json:"messages"` // blobs, in order
	}
	// SessionEnded closes a conversation. A repair may continue it later.
	SessionEnded struct {
		Session SessionID        `json:"session"`
		Outcome Outcome          `json:"outcome"`
		Why     string           `json:"why,omitzero"`
		Result  string           `json:"result,omitzero"` // blob: the role's submission
		Needs   BlockedAgentNeed `json:"needs,omitzero"`  // the thing that would unblock it, if it gave up

		Answers []FindingAnswer `json:"answers,omitempty"` // to the findings that it received
	}
)

// Facts about money.
type (
	// BudgetReserved reserves the worst case of one model call.
	BudgetReserved struct {
		ID      string    `json:"id"`
		Task    TaskID    `json:"task,omitzero"`
		Session SessionID `json:"session,omitzero"`
		Role    Role      `json:"role,omitzero"`
		Model   string    `json:"model"`
		Tier    Tier      `json:"tier,omitzero"`
		Money   Money     `json:"money"`
		// maximum number of tokens for the call, if the model has no known price
		Tokens int64    `json:"tokens,omitzero"`
		Else   []string `json:"else,omitempty"` // models that may be called instead, best first
	}
	// BudgetSettled settles a reservation. Failed calls are settled too.
	BudgetSettled struct {
		ID        string `json:"id"`
		Money     Money  `json:"money"`
		Usage     Usage  `json:"usage"`
		Estimated bool   `json:"estimated,omitzero"` // the cost was not reported
		// the service tier that served the call, if the provider reports it
		Service string `json:"service,omitzero"`
	}
	// ModelCallDelayed records that a model call failed, was settled, and is repeated after a
	// wait; or, with Try 0, that a call waits before it is made.
	ModelCallDelayed struct {
		Session SessionID `json:"session"`
		Model   string    `json:"model"`
		// failures of this kind in a row; 0: the call is delayed before it is made
		Try  int           `json:"try"`
		Wait time.Duration `json:"wait"` // until the next try; 0 if unknown
		Why  string        `json:"why"`  // overloaded, out of quota, failing or near its limit
		Said string        `json:"said,omitzero"`
	}
	// QuotaExhausted records that a provider's account accepts no calls until a time.
	QuotaExhausted struct {
		Account string    `json:"account"` // name of the provider
		Until   time.Time `json:"until"`
		Why     string    `json:"why"`
		Session SessionID `json:"session,omitzero"` // session whose call it was
	}
	// QuotaNearlyExhausted records that no new session starts with an account until a time, because a
	// quota window is nearly used up. Running sessions continue.
	QuotaNearlyExhausted struct {
		Account string    `json:"account"` // name of the agent
		Window  string    `json:"window"`
		Used    int       `json:"used"` // percent
		Until   time.Time `json:"until"`
	}
	// QuotaReset records that the account accepts calls again.
	QuotaReset struct {
		Account string `json:"account"`
		Held    bool   `json:"held,omitzero"` // it was paused before its quota was used up
	}
	// SessionModelSwitched records that a session continues with another model of its tier.
	SessionModelSwitched struct {
		Session SessionID `json:"session"`
		From    string    `json:"from"`
		To      string    `json:"to"`
		Why     string    `json:"why"`
	}
	// BudgetRefused records that a call would have exceeded a cap.
	BudgetRefused struct {
		Task  TaskID `json:"task,omitzero"`
		Cap   string `json:"cap"`         // run, task, day, role, provider, tokens
		Of    string `json:"of,omitzero"` // the role or the provider
		Limit Money  `json:"limit"`
		Spent Money  `json:"spent"` // settled and reserved
		Asked Money  `json:"asked"`

		Tokens *TokenLimit `json:"tokens,omitempty"` // set instead of money if the cap counts tokens
	}
	// OtherRunsSpendingRecorded records the money that all other runs, of every repository, have spent or
	// reserved on a day.
	OtherRunsSpendingRecorded struct {
		Day    string `json:"day"` // UTC, as 2026-11-21
		Others Money  `json:"others"`
	}
	// BudgetPercentReached records that spending reached a percentage of a limit.
	BudgetPercentReached struct {
		Percent int `json:"percent"` // 50, 75, 90 or 100
	}
	// DependenciesInstalled records that the dependencies of lock files were installed, once
	// for all trees with the same lock files.
	DependenciesInstalled struct {
		Key      string        `json:"key"`
		Locks    []string      `json:"locks,omitempty"` // the lock files
		Source   string        `json:"source"`          // source of the installation, for people
		Paths    []string      `json:"paths,omitempty"` // the paths that are placed in worktrees
		Bytes    int64         `json:"bytes"`
		Duration time.Duration `json:"duration"`
	}
)

// TokenLimit is a cap on tokens, used if money cannot be counted.
type TokenLimit struct {
	Limit int64 `json:"limit"`
	Spent int64 `json:"spent"` // settled and reserved
	Asked int64 `json:"asked"`
}

// Facts about landings.
type (
	// LandingQueued adds an accepted attempt to the landing queue.
	LandingQueued struct {
		Task    TaskID    `json:"task"`
		Attempt AttemptID `json:"attempt"`
	}
	// LandingStarted records the intent to land it.
	LandingStarted struct {
		Task    TaskID    `json:"task"`
		Attempt AttemptID `json:"attempt"`
		Onto    string    `json:"onto"` // commit that is to become its parent
	}
	// LandingCompleted records that its commit is on the run's branch.
	LandingCompleted struct {
		Task     TaskID         `json:"task"`
		Attempt  AttemptID      `json:"attempt"`
		Commit   string         `json:"commit"`
		Tree     string         `json:"tree"` // the tree that the gates passed
		Parent   string         `json:"parent"`
		Resolved bool           `json:"resolved,omitzero"` // the merger resolved a conflict
		Changes  LandingChanges `json:"changes,omitzero"`
	}
	// LandingRejected records why it did not land.
	LandingRejected struct {
		Task     TaskID    `json:"task"`
		Attempt  AttemptID `json:"attempt"`
		Conflict bool      `json:"conflict,omitzero"` // the merge conflict could not be resolved
		Tree     string    `json:"tree,omitzero"`     // the merged tree that failed the gates
		Onto     string    `json:"onto"`
		Why      string    `json:"why"`
		Broken   bool      `json:"broken,omitzero"` // Nexus or the machine failed, not the work
		Findings []Finding `json:"findings,omitempty"`
	}
)
