// Package trigger lists why people are asked, how serious each question is, and
// what happens without an answer.
package trigger

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// The triggers of questions, which work waits for.
const (
	Ambiguity = "ambiguity" // an agent wants to know something
	Security  = "security"  // a command that is not simply allowed
	Publish   = "publish"   // what landed is to leave the private clone
)

// The triggers of tasks that were left, which other work does not wait for.
const (
	Conflict = "conflict" // it does not merge with what landed
	Cost     = "cost"     // its own budget does not allow more
	Retries  = "retries"  // everything that may be tried was tried
	Review   = "review"   // a person has to judge, or to say something
)

// Severity is how much hangs on an answer.
type Severity string

// The severities.
const (
	Green  Severity = "green"  // the work goes on with the fallback that the asker named
	Yellow Severity = "yellow" // the task is left, and the rest goes on
	Red    Severity = "red"    // nothing is done without an answer: security, money, conflicts, what others see, and what nobody knows
)

// Fall is what follows where nobody answers.
type Fall string

// What may follow. The zero Fall is none of them.
const (
	Continue Fall = "continue" // with the fallback that the asker named
	Skip     Fall = "skip"     // the task stays as it is, and the others go on
	Abort    Fall = "abort"    // it is not done: the task is parked, or nothing is published
)

// Trigger is one reason for which a person is wanted.
type Trigger struct {
	Name     string
	Severity Severity
	Fall     Fall
	Choices  []string // the only answers; none: any text
	Doc      string   // what is wanted, and what happens without
}

// All returns the triggers, in the order of their documentation.
func All() []Trigger {
	agree, task := []string{"yes", "no"}, []string{"retry", "skip"}
	return []Trigger{
		{Ambiguity, Green, Continue, nil, "an agent wants to know something; it continues with the fallback that it named"},
		{Review, Yellow, Skip, task, "a task waits for a person's judgement; it stays parked"},
		{Retries, Yellow, Skip, task, "a task failed after all that may be tried; it stays failed"},
		{Cost, Red, Abort, task, "a task's budget is used up; nothing more is spent on it"},
		{Conflict, Red, Abort, task, "work does not merge with what landed; it stays out"},
		{Security, Red, Abort, agree, "an agent asks for permission to run a command; it is not run, the task is parked, and the question stays open"},
		{Publish, Red, Abort, agree, "what landed is to be published; it is kept, not published, and the question stays open"},
	}
}

// Find returns the trigger of that name. The empty one is that of questions
// from before there were any, which agents asked; one that nobody knows is
// red, and wants a yes or a no.
func Find(name string) Trigger {
	if name == "" {
		name = Ambiguity
	}
	for _, t := range All() {
		if t.Name == name {
			return t
		}
	}
	return Trigger{name, Red, Abort, []string{"yes", "no"}, "unknown trigger; nothing is done"}
}

// Stays reports whether a question of that trigger stays open when nobody
// answers it in time: only a person can say yes or no to it.
func Stays(name string) bool { return Find(name).Fall == Abort }

// Fallback returns what a question that nobody answered is answered with: its
// own fallback where that is green, and never a yes elsewhere, whatever
// whoever asked proposed.
func Fallback(q nexus.QuestionAsked) string {
	if Find(q.Trigger).Fall != Continue {
		return nexus.Unapproved
	}
	return q.Fallback
}
