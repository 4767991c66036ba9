package clarify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// StepKind is the kind of the next step.
type StepKind string

// Values of StepKind.
const (
	Wait  StepKind = "wait"  // for the open answer
	Pause StepKind = "pause" // a person continues later
	Talk  StepKind = "talk"  // with the interviewer
	Ask   StepKind = "ask"   // a person
	State StepKind = "state" // state assumptions or agreements as facts
	Over  StepKind = "over"
	Fail  StepKind = "fail"
)

// Step is the next step of an interview.
type Step struct {
	Do       StepKind
	Round    int          // for Talk
	Question Question     // for Ask
	Facts    []nexus.Fact // for State
}

// Next returns the next step. Alone means that no person answers.
func (i *Interview) Next(alone bool) Step {
	switch {
	case i.Failed != "":
		return Step{Do: Fail}
	case i.Paused:
		return Step{Do: Pause}
	case i.open != "":
		return Step{Do: Wait}
	case i.Rounds == 0:
		return Step{Do: Talk, Round: 1}
	}
	if fs := i.corrections(); len(fs) > 0 {
		return Step{Do: State, Facts: fs}
	}
	if len(i.queue) > 0 {
		return Step{Do: Ask, Question: i.queue[0]}
	}
	if fs := i.unstated(); len(fs) > 0 {
		return Step{Do: State, Facts: fs}
	}
	if i.Rounds >= MaxRounds { // there is no further round for the interviewer
		if fs := i.inWords(nil); len(fs) > 0 {
			return Step{Do: State, Facts: fs}
		}
	}
	told := slices.ContainsFunc(i.Exchanges, func(e Exchange) bool {
		return (e.Kind == Said || e.Kind == Denied) && !e.Heard && !e.settled()
	})
	switch {
	case told && i.Rounds < MaxRounds:
		return Step{Do: Talk, Round: i.Rounds + 1}
	case !alone && !i.Clear && !i.Ended && !i.locked && (len(i.unlocked()) > 0 || len(i.outcome()) > 0):
		return Step{Do: Ask, Question: i.lock()}
	default:
		return Step{Do: Over}
	}
}

// agrees reports whether it is the answer that all assumptions are right.
func (e Exchange) agrees() bool {
	return e.Key == LockKey && (len(e.Choices) > 0 && e.Answer == e.Choices[0] || nexus.Agrees(e.Answer))
}

// settled reports whether it is a choice about the assumptions, which the interviewer need
// not receive.
func (e Exchange) settled() bool {
	return e.Key == LockKey && (e.agrees() || slices.Contains(e.Choices, e.Answer))
}

// unstated returns the facts that follow from answers: unanswered questions become
// assumptions, and parts that a person agreed to are locked.
func (i *Interview) unstated() []nexus.Fact {
	var fs []nexus.Fact
	n := i.stated
	for _, e := range i.Exchanges {
		switch {
		case e.agrees():
			for _, a := range i.unlocked() {
				fs = append(fs, nexus.AssumptionLocked{Attempt: i.Attempt, ID: a.ID, By: e.By})
			}
		case e.Kind == Said || e.Kind == Denied || e.Key == LockKey || e.Default == "":
		case !slices.ContainsFunc(i.Assumptions, func(a Assumption) bool { return a.Question == e.Key }):
			n++
			fs = append(fs, nexus.AssumptionStated{Attempt: i.Attempt, ID: "A-" + strconv.Itoa(n), Text: e.Text + " " + e.Default, Question: e.Key})
		}
	}
	return fs
}

func (i *Interview) unlocked() []Assumption {
	return slices.DeleteFunc(slices.Clone(i.Assumptions), func(a Assumption) bool { return a.Locked })
}

// lock returns the question whether the assumptions are right, and whether corrections were
// understood.
func (i *Interview) lock() Question {
	var b strings.Builder
	if lines := i.outcome(); len(lines) > 0 {
		b.WriteString("Changes from your answer:")
		for _, l := range lines {
			b.WriteString("\n  " + l)
		}
		b.WriteByte('\n')
	}
	if all := i.unlocked(); len(all) > 0 {
		b.WriteString("These assumptions are used unless you correct them:")
		for _, a := range all {
			fmt.Fprintf(&b, "\n  %s: %s", a.ID, a.Text)
		}
		b.WriteString("\nDo they?")
	} else {
		b.WriteString("Is that right?")
	}
	return Question{InterviewQuestion: nexus.InterviewQuestion{
		Key: LockKey, Text: b.String(), Choices: []string{"yes, all of them", "leave them open"}, Default: "leave them open",
		Changes: "what the plan assumes; name what is wrong, and say what is right",
	}}
}

// Asked returns the fact that asks a question in the run.
func (i *Interview) Asked(q Question, id, trigger string) nexus.QuestionAsked {
	mark := q.Key
	if q.Asked > 0 {
		mark += "#" + strconv.Itoa(q.Asked+1)
	}
	return nexus.QuestionAsked{ID: id, Attempt: i.Attempt, Text: i.Text(q), Fallback: q.Default, Trigger: trigger, Mark: mark}
}

// Text returns a question as every channel shows it, with the answers that a person can
// change.
func (i *Interview) Text(q Question) string {
	var b strings.Builder
	if q.Note != "" {
		b.WriteString(q.Note + "\n")
	}
	b.WriteString(q.Text)
	for n, c := range q.Choices {
		fmt.Fprintf(&b, "\n  %d  %s", n+1, c)
		if c == q.Default {
			b.WriteString(" (default)")
		}
	}
	if q.Default != "" && !slices.Contains(q.Choices, q.Default) {
		b.WriteString("\n  default: " + q.Default)
	}
	if q.Changes != "" {
		b.WriteString("\nYour answer decides " + q.Changes + ".")
	}
	how := "your own words"
	if len(q.Choices) > 0 {
		how = "a number, or your own words"
	}
	b.WriteString("\nAnswer with " + how + "; or: skip, back, pause, end.")
	if before := i.before(); len(before) > 1 {
		b.WriteString("\n\"back " + i.Exchanges[0].ID + "\" goes back further: " + strings.Join(before, ", ") + ".")
	}
	return b.String()
}

// before returns the answered questions, with the IDs under which a person can go back to
// them.
func (i *Interview) before() (all []string) {
	for _, e := range i.Exchanges {
		answer := line(e.Answer)
		if r := []rune(answer); len(r) > maxBefore {
			answer = string(r[:maxBefore]) + "..."
		}
		all = append(all, e.ID+" ("+answer+")")
	}
	return all
}

// maxBefore limits the characters of an answer that a later question repeats.
const maxBefore = 30

// Command is a person's command instead of an answer.
type Command string

// Values of Command.
const (
	Skip  Command = "skip"  // skips the question: its default is assumed
	Back  Command = "back"  // changes the last answer, or that of the named question, such as "back q2"
	Hold  Command = "pause" // continues another day
	End   Command = "end"   // accepts the defaults for the rest
	Plain Command = ""      // an answer
)

// ParseCommand returns the command in an answer, or [Plain] if it is not a command.
func ParseCommand(text string) Command {
	switch c := Command(plain(text)); {
	case slices.Contains([]Command{Skip, Back, Hold, End}, c):
		return c
	case Target(text) != "":
		return Back
	default:
		return Plain
	}
}

// Target returns the ID of the question that a back command names, as in "back q2", or "" if
// it names none.
func Target(text string) string {
	name, ok := strings.CutPrefix(plain(text), string(Back)+" ")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "to "), "q")
	if n, err := strconv.ParseUint(name, 10, 16); ok && err == nil {
		return "q" + strconv.FormatUint(n, 10)
	}
	return ""
}

// plain returns an answer in the form in which commands are compared.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.Trim(strings.TrimSpace(text), ".!/"))), " ")
}

// Resolve returns the choice with that number or text, or the text itself.
func Resolve(choices []string, text string) string {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(strings.TrimRight(text, ".)")); err == nil && n >= 1 && n <= len(choices) {
		return choices[n-1]
	}
	for _, c := range choices {
		if strings.EqualFold(c, text) {
			return c
		}
	}
	return cmp.Or(text, "(nothing)")
}
