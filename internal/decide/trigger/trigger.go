// Package trigger says why people are asked, how much hangs on the answer, and
// what becomes of a question that nobody answers.
package trigger

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// The triggers.
const (
	Ambiguity = "ambiguity" // an agent wants to know something
	Security  = "security"  // a command that is not simply allowed
	Publish   = "publish"   // what landed is to leave the private clone
)

// Severity is how much hangs on an answer.
type Severity string

// The severities.
const (
	Green Severity = "green" // the work goes on with the fallback that the asker named
	Red   Severity = "red"   // nothing is done without an answer: security, what others see, and what nobody knows
)

// Of returns how much hangs on the answers to a trigger's questions. The empty
// trigger is that of questions from before there were any, and green; one that
// nobody knows is red.
func Of(trigger string) Severity {
	if trigger == "" || trigger == Ambiguity {
		return Green
	}
	return Red
}

// Fallback returns what a question that nobody answered is answered with: its
// own fallback where that is green, and never a yes where it is red, whatever
// whoever asked proposed.
func Fallback(q nexus.QuestionAsked) string {
	if Of(q.Trigger) == Red {
		return nexus.Unapproved
	}
	return q.Fallback
}
