package humaninput

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// The triggers of questions: the work that asked waits for the answer.
const (
	AmbiguityTrigger = "ambiguity" // an agent has a question
	InterviewTrigger = "interview" // the interviewer has a question about the goal
	SecurityTrigger  = "security"  // a command needs permission
	GroundTrigger    = "ground"    // a gate cannot judge where runs work
	PublishTrigger   = "publish"   // what landed needs permission to leave the private clone

	PlanTrigger = nexus.PlanTrigger // the plan needs consent before anything of it starts
)

// The triggers of tasks that did not land: other work does not wait for these.
const (
	ConflictTrigger = "conflict" // it does not merge with what landed
	CostTrigger     = "cost"     // its budget is used up
	RetriesTrigger  = "retries"  // all allowed attempts failed
	ReviewTrigger   = "review"   // a person must decide or answer something
)

// Severity says how much depends on an answer.
type Severity string

// The severities.
const (
	Green  Severity = "green"  // the work continues with the fallback that the asker named
	Yellow Severity = "yellow" // the task is left, and the rest continues
	Red    Severity = "red"    // nothing is done without an answer: security, money, conflicts, publishing, and unknown triggers
)

// Default says what happens if nobody answers.
type Default string

// What can happen. The zero Fall is none of these.
const (
	FallContinue Default = "continue" // the work continues with the fallback that the asker named
	FallSkip     Default = "skip"     // the task stays as it is, and the others continue
	FallAbort    Default = "abort"    // it is not done: the task is parked, or nothing is published
)

// Trigger is a reason to ask a person.
type Trigger struct {
	Name     string
	Severity Severity
	Fall     Default
	Choices  []string // the only answers; none: any text
	Doc      string   // why a person is asked, and what happens without an answer
}

// Triggers returns the triggers, in the order of their documentation.
func Triggers() []Trigger {
	agree, task := []string{"yes", "no"}, []string{"retry", "skip"}
	return []Trigger{
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

// FindTrigger returns the trigger of that name. The empty one is that of questions
// from before there were any, which agents asked; one that is unknown is
// red, and wants a yes or a no.
func FindTrigger(name string) Trigger {
	if name == "" {
		name = AmbiguityTrigger
	}
	for _, t := range Triggers() {
		if t.Name == name {
			return t
		}
	}
	return Trigger{name, Red, FallAbort, []string{"yes", "no"}, "unknown trigger; nothing is done"}
}

// StaysOpen reports whether a question of that trigger stays open when nobody
// answers it in time: only a person can say yes or no to it.
func StaysOpen(name string) bool { return FindTrigger(name).Fall == FallAbort }

// FallbackOf returns what a question that nobody answered is answered with: its
// own fallback where that is green, and never a yes elsewhere, whatever
// whoever asked proposed.
func FallbackOf(q nexus.QuestionAsked) string {
	if FindTrigger(q.Trigger).Fall != FallContinue {
		return nexus.Unapproved
	}
	return q.Fallback
}
