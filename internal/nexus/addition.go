package nexus

import (
	"slices"
	"strings"
	"unicode"
)

// What is added to a run after its plan, and asked before a task of it begins.
type (
	// AdditionSought is recorded before tasks are made of an addition to the run.
	AdditionSought struct {
		Attempt AttemptID `json:"attempt"` // "add.1": the sessions that make them
		Request int64     `json:"request"` // the RequestMade that added it
	}
	// AdditionProposed proposes tasks for an addition. They are not part of
	// the run before TasksAdded; their names are the planner's.
	AdditionProposed struct {
		Attempt AttemptID  `json:"attempt"`
		Tasks   []Task     `json:"tasks"`
		Cover   *PlanCover `json:"cover,omitempty"` // what a second look found; nil: there was none
	}
	// AdditionFailed says why an addition led to no tasks.
	AdditionFailed struct {
		Request int64     `json:"request"`
		Attempt AttemptID `json:"attempt,omitzero"` // attempt that could not make tasks of it; empty: there was none
		Why     string    `json:"why"`
		By      string    `json:"by,omitzero"` // who withdrew it; empty: no tasks could be made of it
	}
	// TasksAdded gives the run more tasks, which are planned before it.
	TasksAdded struct {
		Request int64    `json:"request"`
		Tasks   []TaskID `json:"tasks"`
		By      string   `json:"by"` // who agreed to them
	}
)

// The triggers of questions about tasks.
const (
	AddTrigger  = "add"  // may tasks that were made of an addition be the run's
	StepTrigger = "step" // may the next task begin, in a run that works task by task
)

// StepAnswer is what a person wants of the task that is to begin next.
type StepAnswer struct {
	Skip, Stop bool   // it is left out; the run ends
	Tell       string // what its agent should know; empty for nothing
	Unclear    bool   // it begins like a no, and says more: neither is done
}

// ReadStep reads the answer to whether a task may begin. A yes and words for its agent
// let it begin, "skip" and a no leave it out, "stop" ends the run. Words that begin like a
// no may be either, unless they follow "tell:".
func ReadStep(answer string) StepAnswer {
	answer = strings.TrimSpace(answer)
	end := strings.IndexFunc(answer, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(answer)
	}
	word, rest := strings.ToLower(answer[:end]), strings.TrimLeft(answer[end:], " \t\r\n:;,.!-")
	apart := rest == "" || strings.ContainsRune(":;,.!-", rune(answer[end]))
	switch {
	case apart && slices.Contains([]string{"", "n", "no", "skip", "reject", "rejected"}, word):
		return StepAnswer{Skip: true}
	case apart && slices.Contains([]string{"stop", "abort", "quit", "q"}, word):
		return StepAnswer{Stop: true}
	case apart && (Agrees(word) || word == "continue" || word == "go"):
		return StepAnswer{Tell: rest}
	case word == "tell" && rest != "":
		return StepAnswer{Tell: rest}
	case refuses(answer):
		return StepAnswer{Unclear: true}
	}
	return StepAnswer{Tell: answer}
}

// refuses reports whether an answer begins like a no.
func refuses(answer string) bool {
	words := strings.FieldsFunc(strings.ToLower(answer), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\'' && r != '\u2019'
	})
	if len(words) == 0 {
		return false
	}
	switch first := strings.NewReplacer("'", "", "\u2019", "").Replace(words[0]); first {
	case "n", "no", "nope", "nah", "not", "never", "skip", "stop", "abort", "quit", "q", "cancel", "reject", "rejected", "dont":
		return true
	default:
		return first == "do" && len(words) > 1 && words[1] == "not"
	}
}
