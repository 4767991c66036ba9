package clarify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// InterviewStepKind is the kind of the next step.
type InterviewStepKind string

// Values of InterviewStepKind.
const (
	Wait  InterviewStepKind = "wait"  // for the open answer
	Pause InterviewStepKind = "pause" // a person continues later
	Talk  InterviewStepKind = "talk"  // with the interviewer
	Ask   InterviewStepKind = "ask"   // a person
	State InterviewStepKind = "state" // state assumptions or agreements as facts
	Over  InterviewStepKind = "over"
	Fail  InterviewStepKind = "fail"
)

// InterviewStep is the next step of an interview.
type InterviewStep struct {
	Do       InterviewStepKind
	Round    int                    // for Talk
	Question AskedInterviewQuestion // for Ask
	Facts    []nexus.Fact           // for State
}

// NextStep returns the next step. Alone means that no person answers.
func (i *InterviewState) NextStep(alone bool) InterviewStep {
	switch {
	case i.Failed != "":
		return InterviewStep{Do: Fail}
	case i.Paused:
		return InterviewStep{Do: Pause}
	case i.open != "":
		return InterviewStep{Do: Wait}
	case i.Rounds == 0:
		return InterviewStep{Do: Talk, Round: 1}
	}
	if fs := i.correctionFacts(); len(fs) > 0 {
		return InterviewStep{Do: State, Facts: fs}
	}
	if len(i.queue) > 0 {
		return InterviewStep{Do: Ask, Question: i.queue[0]}
	}
	if fs := i.pendingFacts(); len(fs) > 0 {
		return InterviewStep{Do: State, Facts: fs}
	}
	if i.Rounds >= MaxRounds { // there is no further round for the interviewer
		if fs := i.requirementFactsInWords(nil); len(fs) > 0 {
			return InterviewStep{Do: State, Facts: fs}
		}
	}
	told := slices.ContainsFunc(i.Exchanges, func(e InterviewExchange) bool {
		return (e.Kind == Said || e.Kind == Denied) && !e.Heard && !e.isSettled()
	})
	switch {
	case told && i.Rounds < MaxRounds:
		return InterviewStep{Do: Talk, Round: i.Rounds + 1}
	case !alone && !i.Clear && !i.Ended && !i.locked && (len(i.unlockedAssumptions()) > 0 || len(i.correctionOutcomes()) > 0):
		return InterviewStep{Do: Ask, Question: i.lockQuestion()}
	default:
		return InterviewStep{Do: Over}
	}
}

// isAgreement reports whether it is the answer that all assumptions are right.
func (e InterviewExchange) isAgreement() bool {
	return e.Key == LockKey && (len(e.Choices) > 0 && e.Answer == e.Choices[0] || nexus.IsYes(e.Answer))
}

// isSettled reports whether it is a choice about the assumptions, which the interviewer need
// not receive.
func (e InterviewExchange) isSettled() bool {
	return e.Key == LockKey && (e.isAgreement() || slices.Contains(e.Choices, e.Answer))
}

// pendingFacts returns the facts that follow from answers: unanswered questions become
// assumptions, and parts that a person agreed to are locked.
func (i *InterviewState) pendingFacts() []nexus.Fact {
	var fs []nexus.Fact
	n := i.stated
	for _, e := range i.Exchanges {
		switch {
		case e.isAgreement():
			for _, a := range i.unlockedAssumptions() {
				fs = append(fs, nexus.AssumptionConfirmed{Attempt: i.Attempt, ID: a.ID, By: e.By})
			}
		case e.Kind == Said || e.Kind == Denied || e.Key == LockKey || e.Default == "":
		case !slices.ContainsFunc(i.Assumptions, func(a InterviewAssumption) bool { return a.Question == e.Key }):
			n++
			fs = append(fs, nexus.AssumptionStated{Attempt: i.Attempt, ID: "A-" + strconv.Itoa(n), Text: e.Text + " " + e.Default, Question: e.Key})
		}
	}
	return fs
}

func (i *InterviewState) unlockedAssumptions() []InterviewAssumption {
	return slices.DeleteFunc(slices.Clone(i.Assumptions), func(a InterviewAssumption) bool { return a.Locked })
}

// lockQuestion returns the question whether the assumptions are right, and whether corrections were
// understood.
func (i *InterviewState) lockQuestion() AskedInterviewQuestion {
	var b strings.Builder
	if lines := i.correctionOutcomes(); len(lines) > 0 {
		b.WriteString("Changes from your answer:")
		for _, l := range lines {
			b.WriteString("\n  " + l)
		}
		b.WriteByte('\n')
	}
	if all := i.unlockedAssumptions(); len(all) > 0 {
		b.WriteString("These assumptions are used unless you correct them:")
		for _, a := range all {
			fmt.Fprintf(&b, "\n  %s: %s", a.ID, a.Text)
		}
		b.WriteString("\nDo they?")
	} else {
		b.WriteString("Is that right?")
	}
	return AskedInterviewQuestion{InterviewQuestion: nexus.InterviewQuestion{
		Key: LockKey, Text: b.String(), Choices: []string{"yes, all of them", "leave them open"}, Default: "leave them open",
		Changes: "what the plan assumes; name what is wrong, and say what is right",
	}}
}

// QuestionFact returns the fact that asks a question in the run.
func (i *InterviewState) QuestionFact(q AskedInterviewQuestion, id, trigger string) nexus.QuestionAsked {
	mark := q.Key
	if q.Asked > 0 {
		mark += "#" + strconv.Itoa(q.Asked+1)
	}
	return nexus.QuestionAsked{ID: id, Attempt: i.Attempt, Text: i.QuestionText(q), Fallback: q.Default, Trigger: trigger, Mark: mark}
}

// QuestionText returns a question as every channel shows it, with the answers that a person can
// change.
func (i *InterviewState) QuestionText(q AskedInterviewQuestion) string {
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
	if before := i.earlierQuestions(); len(before) > 1 {
		b.WriteString("\n\"back " + i.Exchanges[0].ID + "\" goes back further: " + strings.Join(before, ", ") + ".")
	}
	return b.String()
}

// earlierQuestions returns the answered questions, with the IDs under which a person can go back to
// them.
func (i *InterviewState) earlierQuestions() (all []string) {
	for _, e := range i.Exchanges {
		answer := boundedLine(e.Answer)
		if r := []rune(answer); len(r) > maxBefore {
			answer = string(r[:maxBefore]) + "..."
		}
		all = append(all, e.ID+" ("+answer+")")
	}
	return all
}

// maxBefore limits the characters of an answer that a later question repeats.
const maxBefore = 30

// InterviewAnswerCommand is a person's command instead of an answer.
type InterviewAnswerCommand string

// Values of Command.
const (
	Skip  InterviewAnswerCommand = "skip"  // skips the question: its default is assumed
	Back  InterviewAnswerCommand = "back"  // changes the last answer, or that of the named question, such as "back q2"
	Hold  InterviewAnswerCommand = "pause" // continues another day
	End   InterviewAnswerCommand = "end"   // accepts the defaults for the rest
	Plain InterviewAnswerCommand = ""      // an answer
)

// ParseAnswerCommand returns the command in an answer, or [Plain] if it is not a command.
func ParseAnswerCommand(text string) InterviewAnswerCommand {
	switch c := InterviewAnswerCommand(normalizeCommand(text)); {
	case slices.Contains([]InterviewAnswerCommand{Skip, Back, Hold, End}, c):
		return c
	case BackTarget(text) != "":
		return Back
	default:
		return Plain
	}
}

// BackTarget returns the ID of the question that a back command names, as in "back q2", or "" if
// it names none.
func BackTarget(text string) string {
	name, ok := strings.CutPrefix(normalizeCommand(text), string(Back)+" ")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "to "), "q")
	if n, err := strconv.ParseUint(name, 10, 16); ok && err == nil {
		return "q" + strconv.FormatUint(n, 10)
	}
	return ""
}

// normalizeCommand returns an answer in the form in which commands are compared.
func normalizeCommand(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.Trim(strings.TrimSpace(text), ".!/"))), " ")
}

// ResolveChoice returns the choice with that number or text, or the text itself.
func ResolveChoice(choices []string, text string) string {
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
