package nexus

import (
	"time"
)

// Fact is something that happened in a run. The sum is closed: every fact is
// one of the types in this file. A fact never changes its
// meaning; a new meaning is a new fact.
//
//sumtype:decl
type Fact interface {
	fact() string // its kind; see [Kind]
}

// Event is a fact with its place in the journal.
type Event struct {
	Seq  int64     // position in the journal, from 1, without gaps; a cursor everywhere
	Run  RunID     // whose fact it is
	At   time.Time // when it was appended, UTC
	Fact Fact
	Hash string // SHA-256 over the event before and this one, hex
}

// The life of a run.
type (
	// GoalAccepted starts a run.
	GoalAccepted struct {
		Goal    Goal     `json:"goal"`
		Base    string   `json:"base"`   // commit the run starts from
		Target  string   `json:"target"` // branch it is meant for; empty on a detached head
		Land    bool     `json:"land"`   // fast-forward the target at the end
		Limits  Limits   `json:"limits"`
		Gates   []string `json:"gates,omitempty"` // names of the gates
		Routing Routing  `json:"routing,omitzero"`
		Consent Consent  `json:"consent,omitzero"` // to the plan

		Planning Money `json:"planning,omitzero"` // what another run spent on its plan, which is taken off the limit
		Asked    int   `json:"asked,omitzero"`    // questions about the goal before the run, whose own are numbered on from there
		Fork     *Fork `json:"fork,omitempty"`    // the run that it was forked from
	}
	// RunChecked records the notices that were found before the run started
	// and did not stop it.
	RunChecked struct {
		Strict  bool     `json:"strict,omitzero"`   // a notice would have stopped it
		Skipped []string `json:"skipped,omitempty"` // checks that were skipped
		Notices []string `json:"notices,omitempty"` // "name: what is wrong"
	}
	// RunStarted records that a process works on the run for the first time.
	RunStarted struct {
		Process Process `json:"process"`
		Fence   int64   `json:"fence"`
		Spent   Money   `json:"spent"`            // by other runs, on this day
		Sandbox string  `json:"sandbox,omitzero"` // what confines agents and gates; "off" is nothing
		Hooks   bool    `json:"hooks,omitzero"`   // hooks are asked before work starts

		Alone    bool          `json:"alone,omitzero"`    // nobody is there: questions that only a person may answer stay open
		Patience time.Duration `json:"patience,omitzero"` // how long a question of the run itself waits; 0: forever
	}
	// RunRecovered records that another process took the run over.
	RunRecovered struct {
		Process Process `json:"process"`
		Fence   int64   `json:"fence"`
		Spent   Money   `json:"spent"`
		Limits  *Limits `json:"limits,omitempty"` // new limits, if a person set some
		Sandbox string  `json:"sandbox,omitzero"`
		Hooks   bool    `json:"hooks,omitzero"` // as in RunStarted

		Alone    bool          `json:"alone,omitzero"`    // as in RunStarted
		Patience time.Duration `json:"patience,omitzero"` // as in RunStarted
	}
	// RunPaused holds every worker at its next turn.
	RunPaused struct {
		Why string `json:"why,omitzero"`
	}
	// RunResumed lets them continue.
	RunResumed struct{}
	// RunReopened continues a run that had ended.
	RunReopened struct {
		Why     string `json:"why,omitzero"`
		Deliver bool   `json:"deliver,omitzero"` // only to publish and to land what landed: no task is worked on
	}
	// RunDrained records the intent to end the run: nothing starts any more, and what
	// runs stops at its next turn.
	RunDrained struct {
		To   RunStatus `json:"to"`
		Why  string    `json:"why,omitzero"`
		Code Code      `json:"code,omitzero"` // of the error that ends it
	}
	// ResultGated records how the gates judged the run's last tree.
	ResultGated struct {
		Verdict Verdict `json:"verdict"`
	}
	// ResultReviewed records the intent to gate the run's last tree.
	ResultReviewed struct{}
	// FaultsSought is recorded before Nexus looks for the cause of unmet criteria on the landed tree.
	FaultsSought struct {
		Attempt AttemptID        `json:"attempt"` // "fix.1": its checks and session find the cause
		Faults  []CriterionFault `json:"faults"`
	}
	// FaultsFound records why each criterion is not met.
	FaultsFound struct {
		Attempt AttemptID        `json:"attempt"`
		Faults  []CriterionFault `json:"faults"`
	}
	// FixesPlanned returns the run to its tasks. The tasks that fix the faults
	// are planned before this fact.
	FixesPlanned struct {
		Round int      `json:"round"` // from 1
		Tasks []TaskID `json:"tasks"`
	}
	// ResultOffered records the intent to publish what landed.
	ResultOffered struct {
		Commit string `json:"commit"`
	}
	// LandingAsked records that a person asked to land the result on a branch of
	// the user's repository.
	LandingAsked struct {
		Target string `json:"target"`
		By     string `json:"by,omitzero"`
	}
	// TargetMoved records that the target has moved since the run's work began,
	// or since it was last merged.
	TargetMoved struct {
		Target string `json:"target"`
		Commit string `json:"commit"` // where it is
	}
	// LandingSought records the intent to merge what landed onto a target that moved.
	LandingSought struct {
		Attempt AttemptID `json:"attempt"` // "land.1": whose sessions resolve conflicts
		Target  string    `json:"target"`
		Onto    string    `json:"onto"` // where the target is
	}
	// LandingMerged records that the merged tree passes, and is a commit.
	LandingMerged struct {
		Attempt  AttemptID `json:"attempt"`
		Onto     string    `json:"onto"`
		Commit   string    `json:"commit"` // its first parent is Onto
		Tree     string    `json:"tree"`   // the tree that the gates passed
		Resolved bool      `json:"resolved,omitzero"`
	}
	// LandingRefused records why what landed is not merged onto the target.
	LandingRefused struct {
		Onto string `json:"onto"`
		Why  string `json:"why"`
	}
	// ResultPublished records where the published result is.
	ResultPublished struct {
		Branch string `json:"branch"`
		Commit string `json:"commit"`
		Target string `json:"target,omitzero"` // branch that was fast-forwarded
		Merged string `json:"merged,omitzero"` // commit of Target, if it is not Commit because the branch had moved
		Why    string `json:"why,omitzero"`    // why the target was not moved although asked for
		Bare   string `json:"bare,omitzero"`   // why its commits have no evidence notes although asked for
		Hook   string `json:"hook,omitzero"`   // the hook that refused; Why is its reason
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
	// RequestSettled records how a request was settled.
	RequestSettled struct {
		Seq     int64  `json:"seq"` // of the RequestMade
		Granted bool   `json:"granted"`
		Why     string `json:"why,omitzero"`
	}
	// QuestionAsked waits for a person, until its deadline if it has one.
	QuestionAsked struct {
		ID       string    `json:"id"` // "q1", "q2", ... within the run; asked again, it keeps its name
		Attempt  AttemptID `json:"attempt,omitzero"`
		Text     string    `json:"text"`
		Fallback string    `json:"fallback"`
		Deadline time.Time `json:"deadline,omitzero"`
		Trigger  string    `json:"trigger,omitzero"` // why it is asked; see decide/humaninput
		Mark     string    `json:"mark,omitzero"`    // name that the asking side gave it
	}
	// QuestionLeft records that nobody answered a question in time that only a
	// person may answer. It stays open, and the run continues as far as it can
	// without an answer.
	QuestionLeft struct {
		ID string `json:"id"`
	}
	// QuestionAnswered closes a question; the first answer wins.
	QuestionAnswered struct {
		ID   string `json:"id"`
		Text string `json:"text"`
		By   string `json:"by"` // "fallback" if nobody answered, "auto" if a model did
		Why  string `json:"why,omitzero"`
	}
)

// Tasks that are left, split or skipped.
type (
	// TaskParked leaves a task for a person.
	TaskParked struct {
		Task   TaskID `json:"task"`
		Why    string `json:"why"`
		Failed bool   `json:"failed,omitzero"` // the cause is mechanical, not a judgement
		Report string `json:"report,omitzero"` // blob: what was tried, last errors, suggestion
	}
	// SplitSought records the intent to split a task that would be left otherwise.
	SplitSought struct {
		Attempt AttemptID `json:"attempt"` // "split.1": the session that does it
		Task    TaskID    `json:"task"`
		Why     string    `json:"why"`              // why it would be left
		Failed  bool      `json:"failed,omitzero"`  // the cause is mechanical
		Rescope bool      `json:"rescope,omitzero"` // its agent wants another plan, which may be one task
		Work    string    `json:"work,omitzero"`    // last commit of its last attempt
	}
	// TaskSplit replaces a task by others, which are planned before it.
	TaskSplit struct {
		Attempt AttemptID `json:"attempt"`
		Task    TaskID    `json:"task"`
		Parts   []TaskID  `json:"parts"`
	}
	// SplitFailed records why a task is not split.
	SplitFailed struct {
		Attempt AttemptID `json:"attempt"`
		Task    TaskID    `json:"task"`
		Why     string    `json:"why"`
	}
	// TaskSkipped skips a task.
	TaskSkipped struct {
		Task TaskID `json:"task"`
		By   string `json:"by,omitzero"`
	}
	// TaskPaused holds one task: its agent lets go of it at its next turn, and nothing
	// of it begins, continues or lands.
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
		Attempt AttemptID `json:"attempt,omitzero"` // whose Round the next attempt starts from
		Round   int       `json:"round,omitzero"`   // 0: it starts from the best tree so far
		Fresh   bool      `json:"fresh,omitzero"`   // it starts from the tip, whatever there is
	}
	// RoutesSought records the intent to ask plugins and a model how hard tasks are.
	RoutesSought struct {
		Attempt AttemptID `json:"attempt"` // "route.1": the session that says it
		Tasks   []TaskID  `json:"tasks"`
	}
	// RoutesTold says what they answered. A task that it does not name is left
	// to the next strategy.
	RoutesTold struct {
		Attempt AttemptID `json:"attempt"`
		Routes  []Route   `json:"routes,omitempty"`
		Why     string    `json:"why,omitzero"` // why there is no answer
	}
	// TaskRouted records how hard a task is estimated to be, and at which tier
	// it starts.
	TaskRouted struct {
		Task       TaskID     `json:"task"`
		Complexity Complexity `json:"complexity"`
		Tier       Tier       `json:"tier"`
		By         string     `json:"by"`  // the strategy that answered
		Why        string     `json:"why"` // its reason

		Strategy Strategy `json:"strategy,omitzero"`     // in which order code and tests are written
		Chosen   string   `json:"strategy_why,omitzero"` // why that one

		Estimate *TaskEstimate `json:"estimate,omitempty"` // estimated time and cost; nil: unknown
	}
	// RoleRouted says with which model a role looks at the work of another
	// model. It is recorded once for each pair.
	RoleRouted struct {
		Role   Role   `json:"role"`
		Model  string `json:"model"`
		Author string `json:"author"` // whose work it is
		Why    string `json:"why"`
	}
	// CriterionRevised replaces the text of a criterion.
	CriterionRevised struct {
		Task      TaskID    `json:"task"`
		Number    int       `json:"number"` // from 1
		Criterion Criterion `json:"criterion"`
		By        string    `json:"by,omitzero"`
		Why       string    `json:"why,omitzero"` // why its check was taken back; empty where a person said so
	}
	// TaskEscalated moves a task to a stronger tier.
	TaskEscalated struct {
		Task TaskID `json:"task"`
		From Tier   `json:"from"`
		To   Tier   `json:"to"`
		Why  string `json:"why"`

		Strategy Strategy `json:"strategy,omitzero"` // the new strategy, if it changes
	}
)

// An attempt.
type (
	// LaneFormed records which small tasks one coder's session does, one after the
	// other. Each keeps its own attempts, gates, review and landing.
	LaneFormed struct {
		Lane  string   `json:"lane"`  // L1, L2, ...
		Tasks []TaskID `json:"tasks"` // in their order
		Why   string   `json:"why"`   // what they have in common
	}
	// AttemptStarted intends one try at a task.
	AttemptStarted struct {
		Attempt  AttemptID `json:"attempt"`
		Task     TaskID    `json:"task"`
		Tier     Tier      `json:"tier"`
		Strategy Strategy  `json:"strategy"`
		Base     string    `json:"base"`           // commit it starts from
		Tree     string    `json:"tree,omitzero"`  // where its worktree starts; empty means base
		Since    string    `json:"since,omitzero"` // commit that Tree's change is compared with, if it is not Base: the change is merged onto Base

		Continues SessionID `json:"continues,omitzero"` // the session of another task of its lane that its coder continues; empty: a new session

		From  AttemptID `json:"from,omitzero"`  // attempt whose Round Tree comes from; empty: none
		Round int       `json:"round,omitzero"` // of From
		Asked bool      `json:"asked,omitzero"` // a person chose it; otherwise it is the best so far
	}
	// StartForgone records why an attempt starts from its base, and not from the
	// result of earlier ones.
	StartForgone struct {
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
	}
	// AttemptResumed resumes an attempt that lost its process or failed to
	// land.
	AttemptResumed struct {
		Attempt AttemptID `json:"attempt"`
		Base    string    `json:"base"` // commit its work is now compared with
		Tree    string    `json:"tree"` // where its worktree starts; empty means base
	}
	// AttemptLost records that an attempt no longer has a process.
	AttemptLost struct {
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
		Counted bool      `json:"counted"` // its process died; a clean stop does not count against it
	}
	// AttemptInterrupted cuts off the turn that an agent is at: a call that is under way
	// is not answered, and tools that run are not run again.
	AttemptInterrupted struct {
		Attempt AttemptID `json:"attempt"`
		By      string    `json:"by,omitzero"`
	}
	// AttemptBroken records that the attempt failed because of Nexus or the machine, not because of the work.
	AttemptBroken struct {
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
	}
	// AttemptEnded records how a try ended.
	AttemptEnded struct {
		Attempt AttemptID `json:"attempt"`
		Outcome Outcome   `json:"outcome"`
		Commit  string    `json:"commit,omitzero"` // the work, pinned
		Tree    string    `json:"tree,omitzero"`
		Why     string    `json:"why,omitzero"`

		Category Category `json:"category,omitzero"` // of a failure, if it decides what happens next
	}
	// RoundStarted records that the agent is about to write.
	RoundStarted struct {
		Attempt AttemptID `json:"attempt"`
		Round   int       `json:"round"`            // from 1, over all sessions of the attempt
		Role    Role      `json:"role"`             // who writes
		Cause   string    `json:"cause,omitzero"`   // the gate that was red; empty at first
		Session SessionID `json:"session,omitzero"` // the conversation that continues
	}
	// TestsProved records how new tests ended without the work.
	TestsProved struct {
		Attempt  AttemptID  `json:"attempt"`
		Tree     string     `json:"tree"` // that they ran on
		Proof    Proof      `json:"proof"`
		Tests    []string   `json:"tests,omitempty"`  // that failed as they should
		Files    []string   `json:"files,omitempty"`  // that the tests are in
		Beside   []string   `json:"beside,omitempty"` // changed files that are not tests
		Why      string     `json:"why,omitzero"`
		Findings []Finding  `json:"findings,omitempty"` // mistakes in the tests themselves
		Evidence []Evidence `json:"evidence,omitempty"` // of the gates that ran them
	}
	// ChecksProved records which tests show criteria that came without a check.
	ChecksProved struct {
		Attempt AttemptID        `json:"attempt"`
		Tree    string           `json:"tree"`   // that they pass on
		Handin  string           `json:"handin"` // blob: what named them
		Checks  []CriterionCheck `json:"checks"`
	}
	// ChecksReproduced says what independent checks said about a tree: tests by a
	// session that saw the goal and the base, and nothing of the change.
	ChecksReproduced struct {
		Attempt AttemptID        `json:"attempt"`
		Round   int              `json:"round"`           // whose tree they ran on
		Tree    string           `json:"tree"`            // that they ran on, besides the base
		Handin  string           `json:"handin,omitzero"` // blob: the tests; empty: there are none
		Checks  []CriterionCheck `json:"checks"`          // one for each criterion that needed one
	}
	// RedSeen says what fails on the base of an attempt, compared with what
	// its task names. It is recorded before the work starts.
	RedSeen struct {
		Attempt AttemptID `json:"attempt"`
		Tree    string    `json:"tree"`             // of the base
		Meant   []string  `json:"meant,omitempty"`  // what fails and the task means: tests, other findings, commands
		Green   []string  `json:"green,omitempty"`  // what the task names and does not fail: it cannot show that the work is done
		Aside   []string  `json:"aside,omitempty"`  // tests that the task, or the project, says to leave alone
		Others  []string  `json:"others,omitempty"` // tests that fail and that the task does not mean
	}
	// CriteriaWeighed records for each criterion whose check is a gate what shows
	// it, on a tree that passed the gates. It is recorded before their
	// verdict.
	CriteriaWeighed struct {
		Attempt  AttemptID        `json:"attempt"`
		Tree     string           `json:"tree"`
		Criteria []CriterionShown `json:"criteria"`
	}
	// IsolationBroken records that a role changed files that it may not change. The change was undone.
	IsolationBroken struct {
		Attempt AttemptID `json:"attempt"`
		Role    Role      `json:"role"`
		Files   []string  `json:"files"`
	}
	// TamperSuspected says what a change does to its own tests and gates, for a
	// verifier to explain. It is recorded before the verdict of the same tree.
	TamperSuspected struct {
		Attempt  AttemptID `json:"attempt"`
		Tree     string    `json:"tree"`
		Findings []Finding `json:"findings"`
	}
	// WorkVerified gives a verifier's verdict on an attempt.
	WorkVerified struct {
		Attempt  AttemptID      `json:"attempt"`
		Tree     string         `json:"tree"`
		Read     bool           `json:"read"`              // false: there is no verdict, and the gates decide
		Category Category       `json:"category,omitzero"` // why it says no; zero when it does not
		Why      string         `json:"why,omitzero"`
		Criteria []CriterionMet `json:"criteria,omitempty"`
		Findings []Finding      `json:"findings,omitempty"` // to be fixed first
	}
	// GateStarted records that a gate began to judge a tree. At most one at a time
	// does so for an attempt or a landing.
	GateStarted struct {
		Attempt AttemptID `json:"attempt,omitzero"` // whose tree, or who waits for the base; empty for the train
		Task    TaskID    `json:"task,omitzero"`    // whose landing it judges, for the train
		Base    bool      `json:"base,omitzero"`    // it judges the tree that the work started from
		Gate    string    `json:"gate"`             // "warm-up" compiles for those of a base, and is not judged
	}
	// GateJudged says what a gate found on a tree.
	GateJudged struct {
		Attempt  AttemptID `json:"attempt,omitzero"` // empty for the base and for the train
		Task     TaskID    `json:"task,omitzero"`    // whose landing it judged, for the train
		Base     bool      `json:"base,omitzero"`    // judged the tree that the work started from
		Evidence Evidence  `json:"evidence"`
		Cached   bool      `json:"cached,omitzero"` // the evidence was known for this tree

		WarmUp time.Duration `json:"warm_up,omitzero"` // time to compile for it and the gates after it, before it started
	}
	// VerdictGiven gives the combined result of the gates for an attempt's tree.
	VerdictGiven struct {
		Attempt AttemptID `json:"attempt"`
		Tree    string    `json:"tree"`
		State   GateState `json:"state"` // of the gate that decided
		Gate    string    `json:"gate,omitzero"`
		Why     string    `json:"why,omitzero"`
		Own     bool      `json:"own,omitzero"` // only new tests and checks that failed before are red
	}
	// ReviewGiven gives a reviewer's verdict on an attempt.
	ReviewGiven struct {
		Attempt  AttemptID `json:"attempt"`
		Tree     string    `json:"tree"`
		Reviewed bool      `json:"reviewed"` // false: not reviewed, which never approves
		Approved bool      `json:"approved"`
		Summary  string    `json:"summary,omitzero"`
		Findings []Finding `json:"findings,omitempty"`
		Readers  []Reader  `json:"readers,omitempty"` // who read what of it

		SendsBack bool     `json:"sends_back,omitzero"` // by the run's limits on findings, whatever the reviewer decided
		Agreed    []string `json:"agreed,omitempty"`    // deletions in the change that all readers agree to
	}
	// TreeSnapshotted records that the worktree's state is pinned.
	TreeSnapshotted struct {
		Attempt AttemptID `json:"attempt"`
		Commit  string    `json:"commit"`
		Tree    string    `json:"tree"`
		Fixed   string    `json:"fixed,omitzero"`        // files that formatters and linters put right, not an agent, and by which commands
		Lines   []string  `json:"fixed_lines,omitempty"` // which lines of them, as they are now: a.go:3-5, 9
	}
)

// Reader is one who read a change, or a part of a large one.
type Reader struct {
	Session  SessionID `json:"session"`
	Model    string    `json:"model,omitzero"`
	Persona  string    `json:"persona,omitzero"` // what it looked for; empty: everything
	Part     int       `json:"part,omitzero"`    // of Parts, from 1; 0: the whole
	Parts    int       `json:"parts,omitzero"`
	Reviewed bool      `json:"reviewed"`
	Approved bool      `json:"approved"`
	Why      string    `json:"why,omitzero"`    // why it did not review
	Plugin   string    `json:"plugin,omitzero"` // who it is, where it is no model; there is no session then
}

// Judgement records whether a tool call might be made, by which rule and why, and
// who said so. The zero Judgement is of a call that nobody judges.
type Judgement struct {
	Decision string `json:"decision"` // allow, ask or deny
	Rule     string `json:"rule"`
	Why      string `json:"why,omitzero"`
	By       string `json:"by"`               // policy, role, or person where one was asked
	Refused  bool   `json:"refused,omitzero"` // it was not made
}

// A conversation.
type (
	// SessionStarted opens a conversation.
	SessionStarted struct {
		Session SessionID `json:"session"`
		Attempt AttemptID `json:"attempt"`
		Role    Role      `json:"role"`
		Model   string    `json:"model"`          // provider/model
		Prompt  string    `json:"prompt"`         // blob: system prompt and tools
		About   string    `json:"about,omitzero"` // what it is asked, for one that another session sent
		After   SessionID `json:"after,omitzero"` // session whose conversation it continues for another task; its messages come before the first of this one
	}
	// PromptSent adds a message of ours to the conversation.
	PromptSent struct {
		Session SessionID `json:"session"`
		Message string    `json:"message"`          // blob
		Why     string    `json:"why"`              // brief, repair, nudge, guidance, landed
		Request int64     `json:"request,omitzero"` // the guidance it delivers, or the landing that it tells of

		Memory []Remembered `json:"memory,omitempty"` // episodes of the repository's memory that fit the task

		Comments []Comment `json:"comments,omitempty"` // comments of people that it delivers: their places, without their texts

		Manifest string `json:"manifest,omitempty"` // blob: the items of what was sent, see [PromptItem]; empty for one line of ours
	}
	// TurnTaken adds the model's answer.
	TurnTaken struct {
		Session SessionID `json:"session"`
		Turn    int       `json:"turn"`    // from 1
		Message string    `json:"message"` // blob
		Stop    string    `json:"stop"`
		Says    string    `json:"says,omitzero"` // beginning of its text, for people
	}
	// ToolCalled intends a tool call.
	ToolCalled struct {
		Session SessionID `json:"session"`
		Call    string    `json:"call"`
		Tool    string    `json:"tool"`
		About   string    `json:"about,omitzero"` // path or command, cut for people
	}
	// ToolAnswered records the result of a tool call.
	ToolAnswered struct {
		Session  SessionID     `json:"session"`
		Call     string        `json:"call"`
		Failed   bool          `json:"failed,omitzero"`
		Duration time.Duration `json:"duration"`
		About    string        `json:"about,omitzero"` // beginning of the result
		Judged   Judgement     `json:"judged,omitzero"`
		Over     string        `json:"over,omitzero"` // what its command used too much of, if that ended it: memory, cpu, disk or processes
	}
	// NetworkJudged records which hosts a tool call or a gate asked for.
	NetworkJudged struct {
		Attempt AttemptID     `json:"attempt,omitzero"` // whose gate it is
		Session SessionID     `json:"session,omitzero"` // whose call it is
		Call    string        `json:"call,omitzero"`
		Gate    string        `json:"gate,omitzero"`
		Hosts   []HostReached `json:"hosts"` // each with host, port, allowed, rule, why, address, times, and bytes up and down
	}
	// ToolsAnswered adds the message that carries the results of a turn.
	ToolsAnswered struct {
		Session SessionID `json:"session"`
		Message string    `json:"message"` // blob
	}
	// SessionCompacted replaces the messages so far by fewer ones, because
	// the model could not hold more.
	SessionCompacted struct {
		Session  SessionID `json:"session"`
		Turn     int       `json:"turn"`          // taken before it
		Row      int       `json:"row"`           // how many in a row without progress, from 1
		Why      string    `json:"why"`           // what made it necessary
		Gone     int       `json:"gone,omitzero"` // messages that were removed; 0 if only results were shortened
		Before   int64     `json:"before"`        // tokens, estimated
		After    int64     `json:"after"`
		Messages []string  `json:"messages"` // blobs, in order
	}
	// SessionEnded closes a conversation, for now: a repair continues in it.
	SessionEnded struct {
		Session SessionID `json:"session"`
		Outcome Outcome   `json:"outcome"`
		Why     string    `json:"why,omitzero"`
		Result  string    `json:"result,omitzero"` // blob: what the role submitted
		Needs   Needs     `json:"needs,omitzero"`  // what would unblock it, if it gave up

		Answers []Answer `json:"answers,omitempty"` // to the findings that it got
	}
)

// Money.
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
		Tokens  int64     `json:"tokens,omitzero"` // maximum that it may use, if the model has no known price
		Else    []string  `json:"else,omitempty"`  // models that may be asked instead, best first
	}
	// BudgetSpent settles a reservation. Failed calls settle too.
	BudgetSpent struct {
		ID        string `json:"id"`
		Money     Money  `json:"money"`
		Usage     Usage  `json:"usage"`
		Estimated bool   `json:"estimated,omitzero"` // the cost was not reported
		Service   string `json:"service,omitzero"`   // the service tier that answered, if the provider reports it
	}
	// CallDelayed records that a call of a model failed, was settled, and is made
	// again after a wait; or, with Try 0, that it waits before it is made.
	CallDelayed struct {
		Session SessionID     `json:"session"`
		Model   string        `json:"model"`
		Try     int           `json:"try"`  // failures of this kind in a row; 0: it is held back
		Wait    time.Duration `json:"wait"` // until the next try; 0 if unknown
		Why     string        `json:"why"`  // overloaded, out of quota, failing or near its limit
		Said    string        `json:"said,omitzero"`
	}
	// QuotaHit records that a provider's account takes no calls until a time.
	QuotaHit struct {
		Account string    `json:"account"` // name of the provider
		Until   time.Time `json:"until"`
		Why     string    `json:"why"`
		Session SessionID `json:"session,omitzero"` // whose call it was
	}
	// QuotaHeld records that no new session begins with an account until a time,
	// because a window is nearly used up. Sessions under way continue.
	QuotaHeld struct {
		Account string    `json:"account"` // name of the agent
		Window  string    `json:"window"`
		Used    int       `json:"used"` // percent
		Until   time.Time `json:"until"`
	}
	// QuotaReset records that the account takes calls again.
	QuotaReset struct {
		Account string `json:"account"`
		Held    bool   `json:"held,omitzero"` // it was held, not used up
	}
	// ModelSwitched records that a session continues with another model of its tier.
	ModelSwitched struct {
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

		Tokens *TokenCap `json:"tokens,omitempty"` // instead of money, where the cap counts tokens
	}
	// BudgetShared gives what all other runs, of every repository, have spent
	// or reserved on a day.
	BudgetShared struct {
		Day    string `json:"day"` // UTC, as 2026-11-21
		Others Money  `json:"others"`
	}
	// BudgetPressed records that spending reached a percentage of a limit.
	BudgetPressed struct {
		Percent int `json:"percent"` // 50, 75, 90 or 100
	}
	// EnvironmentPrepared records that what lock files name was installed, once for every tree that has the same.
	EnvironmentPrepared struct {
		Key      string        `json:"key"`
		Locks    []string      `json:"locks,omitempty"` // the lock files
		Source   string        `json:"source"`          // where it came from, for people
		Paths    []string      `json:"paths,omitempty"` // the paths that worktrees get
		Bytes    int64         `json:"bytes"`
		Duration time.Duration `json:"duration"`
	}
)

// TokenCap is a cap on tokens, where money cannot be counted.
type TokenCap struct {
	Limit int64 `json:"limit"`
	Spent int64 `json:"spent"` // settled and reserved
	Asked int64 `json:"asked"`
}

// Landing.
type (
	// TrainBoarded queues an accepted attempt for landing.
	TrainBoarded struct {
		Task    TaskID    `json:"task"`
		Attempt AttemptID `json:"attempt"`
	}
	// TrainDeparted records the intent to land it.
	TrainDeparted struct {
		Task    TaskID    `json:"task"`
		Attempt AttemptID `json:"attempt"`
		Onto    string    `json:"onto"` // commit it is to become the child of
	}
	// TrainLanded records that its commit is on the run's branch.
	TrainLanded struct {
		Task     TaskID    `json:"task"`
		Attempt  AttemptID `json:"attempt"`
		Commit   string    `json:"commit"`
		Tree     string    `json:"tree"` // the tree that the gates passed
		Parent   string    `json:"parent"`
		Resolved bool      `json:"resolved,omitzero"` // the merger resolved a conflict
		Changes  Changes   `json:"changes,omitzero"`
	}
	// TrainRefused records that it did not land, and why.
	TrainRefused struct {
		Task     TaskID    `json:"task"`
		Attempt  AttemptID `json:"attempt"`
		Conflict bool      `json:"conflict,omitzero"` // nobody could merge it
		Tree     string    `json:"tree,omitzero"`     // the merged tree that is red
		Onto     string    `json:"onto"`
		Why      string    `json:"why"`
		Broken   bool      `json:"broken,omitzero"` // the machinery failed, not the work
		Findings []Finding `json:"findings,omitempty"`
	}
)
