package nexus

import (
	"slices"
	"strings"
	"unicode"
)

// Facts about additions to a run after its plan, and questions before a task begins.
type (
	// AdditionPlanningStarted is recorded before tasks are made of an addition to the run.
	AdditionPlanningStarted struct {
		Attempt AttemptID `json:"attempt"` // "add.1": the sessions that make the tasks
		Request int64     `json:"request"` // the RequestMade that added it
	}
	// AdditionTasksProposed proposes tasks for an addition. They become part of the run with
	// TasksAdded; their names are the planner's.
	AdditionTasksProposed struct {
		Attempt AttemptID     `json:"attempt"`
		Tasks   []Task        `json:"tasks"`
		Cover   *PlanCoverage `json:"cover,omitempty"` // the result of the coverage check; nil: not checked
	}
	// AdditionPlanningFailed records why an addition produced no tasks.
	AdditionPlanningFailed struct {
		Request int64     `json:"request"`
		Attempt AttemptID `json:"attempt,omitzero"` // attempt that could not make tasks of it; empty: no attempt
		Why     string    `json:"why"`
		// person who withdrew it; empty: not withdrawn, no tasks could be made of it
		By string `json:"by,omitzero"`
	}
	// TasksAdded adds tasks to the run. They are planned before this fact.
	TasksAdded struct {
		Request int64    `json:"request"`
		Tasks   []TaskID `json:"tasks"`
		By      string   `json:"by"` // person who approved them
	}
)

// Triggers of questions about tasks.
const (
	AddTrigger  = "add"  // asks whether the tasks made of an addition may join the run
	StepTrigger = "step" // asks whether the next task may begin, in a run that works task by task
)

// NextTaskDecision is a person's decision about the task that is to begin next.
type NextTaskDecision struct {
	Skip, Stop bool   // skip the task; end the run
	Tell       string // guidance for its agent; empty: none
	Unclear    bool   // it starts like a no and adds words, so neither yes nor no applies
}

// ParseNextTaskDecision parses the answer to the question whether a task may begin. A yes, and words for
// its agent, let it begin; "skip" and a no skip it; "stop" ends the run. An answer that
// starts like a no and goes on is unclear, unless it follows "tell:".
func ParseNextTaskDecision(answer string) NextTaskDecision {
	answer = strings.TrimSpace(answer)
	end := strings.IndexFunc(answer, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(answer)
	}
	word, rest := strings.ToLower(answer[:end]), strings.TrimLeft(answer[end:], " \t\r\n:;,.!-")
	apart := rest == "" || strings.ContainsRune(":;,.!-", rune(answer[end]))
	switch {
	case apart && slices.Contains([]string{"", "n", "no", "skip", "reject", "rejected"}, word):
		return NextTaskDecision{Skip: true}
	case apart && slices.Contains([]string{"stop", "abort", "quit", "q"}, word):
		return NextTaskDecision{Stop: true}
	case apart && (IsYes(word) || word == "continue" || word == "go"):
		return NextTaskDecision{Tell: rest}
	case word == "tell" && rest != "":
		return NextTaskDecision{Tell: rest}
	case startsWithNo(answer):
		return NextTaskDecision{Unclear: true}
	}
	return NextTaskDecision{Tell: answer}
}

// startsWithNo reports whether an answer starts like a no.
func startsWithNo(answer string) bool {
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
