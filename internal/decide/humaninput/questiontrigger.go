package humaninput

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// Triggers of questions: the asking work waits for the answer.
const (
	AmbiguityTrigger = "ambiguity" // an agent has a question
	InterviewTrigger = "interview" // the interviewer has a question about the goal
	SecurityTrigger  = "security"  // a command needs permission
	GroundTrigger    = "ground"    // a gate cannot judge in the place where runs work
	PublishTrigger   = "publish"   // the landed commits need permission to be published from the private clone

	PlanTrigger = nexus.PlanTrigger // the plan needs approval before any of it starts
)

// Triggers of tasks that did not land: other work does not wait for these.
const (
	ConflictTrigger = "conflict" // it does not merge with the landed commits
	CostTrigger     = "cost"     // its budget is used up
	RetriesTrigger  = "retries"  // all allowed attempts failed
	ReviewTrigger   = "review"   // a person must decide or answer something
)

// QuestionSeverity is how much depends on an answer.
type QuestionSeverity string

// Values of Severity.
const (
	Green  QuestionSeverity = "green"  // the work continues with the fallback of the asking agent
	Yellow QuestionSeverity = "yellow" // the task is parked, and the rest continues
	// nothing happens without an answer: security, money, conflicts, publishing, and unknown
	// triggers.
	Red QuestionSeverity = "red"
)

// DefaultAction is the action if nobody answers.
type DefaultAction string

// The zero value is none of these.
const (
	FallContinue DefaultAction = "continue" // the work continues with the fallback of the asking agent
	FallSkip     DefaultAction = "skip"     // the task stays parked, and the others continue
	FallAbort    DefaultAction = "abort"    // it is not done: the task is parked, or nothing is published
)

// QuestionTrigger is a reason to ask a person.
type QuestionTrigger struct {
	Name     string
	Severity QuestionSeverity
	Fall     DefaultAction
	Choices  []string // the only possible answers; none: any text
	Doc      string   // why a person is asked, and what happens without an answer
}

// QuestionTriggers returns the triggers, in the order of their documentation.
func QuestionTriggers() []QuestionTrigger {
	agree, task := []string{"yes", "no"}, []string{"retry", "skip"}
	return []QuestionTrigger{
		{AmbiguityTrigger, Green, FallContinue, nil, "an agent has a question; it continues with the fallback that it named"},
		{InterviewTrigger, Green, FallContinue, nil, "the interviewer has a question about the goal; its default becomes an assumption"},
		{ReviewTrigger, Yellow, FallSkip, task, "a task needs a person's decision; it stays parked"},
		{RetriesTrigger, Yellow, FallSkip, task, "a task failed after all allowed attempts; it stays failed"},
		{CostTrigger, Red, FallAbort, task, "a task's budget is used up; nothing more is spent on it"},
		{ConflictTrigger, Red, FallAbort, task, "a task's work does not merge with what landed; it does not land"},
		{
			PlanTrigger, Red, FallAbort, agree, "the run asks for consent to its plan; nothing of the plan starts, and the question stays open; " +
				"no with a reason (no: two tasks are enough) makes another plan",
		},
		{
			nexus.AddTrigger, Red, FallAbort, agree,
			"a planner made tasks of what was added to a run; they are not worked on, and the question stays open",
		},
		{
			nexus.StepTrigger, Red, FallAbort, nil, "a run that works task by task asks whether the next task may begin: yes, skip, stop, or a message " +
				"for its agent; the task does not begin, and the question stays open",
		},
		{
			nexus.ChangeTrigger, Red, FallAbort, agree, "a task's change waits for a person's review, or a comment on it that must be resolved is not; it does not land, " +
				"and the question stays open; no with what to do (no: keep the old name) sends it back to its agent",
		},
		{SecurityTrigger, Red, FallAbort, agree, "an agent asks for permission to run a command; the command does not run, the task is parked, and the question stays open"},
		{GroundTrigger, Red, FallAbort, agree, "a gate cannot judge where runs work, for a reason that is not in the tree; the run ends before a model is asked, and the question stays open"},
		{PublishTrigger, Red, FallAbort, agree, "the run asks for permission to publish what landed; what landed is kept but not published, and the question stays open"},
	}
}

// FindTrigger returns the trigger with that name. The empty name belongs to agents' questions
// from before triggers existed. An unknown trigger is red, and needs a yes or a no.
func FindTrigger(name string) QuestionTrigger {
	if name == "" {
		name = AmbiguityTrigger
	}
	for _, t := range QuestionTriggers() {
		if t.Name == name {
			return t
		}
	}
	return QuestionTrigger{name, Red, FallAbort, []string{"yes", "no"}, "unknown trigger; nothing is done"}
}

// StaysOpenAfterDeadline reports whether a question with that trigger stays open after its deadline: only
// a person can answer it with yes or no.
func StaysOpenAfterDeadline(name string) bool { return FindTrigger(name).Fall == FallAbort }

// DefaultAnswerOf returns the default answer of a question: its own fallback if its severity is
// green, and otherwise never a yes, whatever the asking agent proposed.
func DefaultAnswerOf(q nexus.QuestionAsked) string {
	if FindTrigger(q.Trigger).Fall != FallContinue {
		return nexus.Unapproved
	}
	return q.Fallback
}
