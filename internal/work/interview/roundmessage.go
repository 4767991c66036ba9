package interview

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// maxTokens limits the message to the interviewer in a round.
const maxTokens = 24_000

// RoundMessage returns the message with the known facts at the beginning of a round. Alone means
// that no person answers.
func RoundMessage(i *clarify.InterviewState, session nexus.SessionID, round int, alone bool) string {
	text, _ := prompt.FitSections([]prompt.PromptSection{
		{Body: fmt.Sprintf("Conversation: %s\nRound %d of the interview: %s questions.", prompt.SingleLine(string(session)), round, i.QuestionDepth())},
		{Title: "Goal", Body: i.Goal},
		{Title: "The draft so far", Body: formatDraft(i.Draft), Rank: 1, Lead: "You submitted this."},
		{Title: "Corrections", Body: formatCorrections(i), Rank: 1, Lead: corrected},
		{Title: "Locked", Body: joinUnchangeableParts(i), Rank: 1, Lead: agreed},
		{Title: "Requirements so far", Body: formatRequirements(i.Requirements), Rank: 1, Lead: "They count."},
		{Title: "Candidates", Body: formatRequirements(i.Candidates), Rank: 2, Lead: "It was not certain that these are meant. Submit one again with its id once you are sure."},
		{Title: "Answers", Body: formatAnswers(i, true), Rank: 1, Lead: "What the person was asked, and said, since you last submitted."},
		{Title: "Earlier answers", Body: formatAnswers(i, false), Rank: 2},
		{Title: "Assumptions", Body: formatAssumptions(i), Rank: 2},
		{Title: "Gaps", Body: strings.Join(i.UnexploredAreas(), ", "), Rank: 3, Lead: "These areas have not been discussed yet. Ask about one only if the plan depends on it."},
		{Body: submissionInstruction(i, round, alone)},
	}, maxTokens)
	return text
}

const (
	corrected = "What the person said about parts of the spec. It holds: never state again what is withdrawn."
	agreed    = "The person agreed to these. Leave them as they are. If an answer makes you doubt one, ask a question that names its id."
)

// submissionInstruction returns the instructions for this round's submission.
func submissionInstruction(i *clarify.InterviewState, round int, alone bool) string {
	switch {
	case i.Ended:
		return "The person ended the interview. Ask nothing more: submit what follows from the answers."
	case round >= clarify.MaxRounds:
		return "This is the last round. Ask nothing more: submit what follows from the answers."
	case alone:
		return "No person can be asked. Still submit the questions that change the plan: their defaults become assumptions."
	default:
		return ""
	}
}

// formatDraft returns the interviewer's latest draft of the spec besides its requirements.
func formatDraft(d nexus.InterviewSpecDraft) string {
	var b strings.Builder
	for _, f := range []struct{ name, text string }{{"title", d.Title}, {"problem", d.Problem}} {
		if f.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", f.name, prompt.SingleLine(f.text))
		}
	}
	var criteria []string
	for _, c := range d.Criteria {
		text := c.Text
		if c.ID != "" {
			text = c.ID + ": " + text
		}
		if len(c.Of) > 0 {
			text += fmt.Sprintf(" (of: %s)", strings.Join(c.Of, "; "))
		}
		if c.Check != "" {
			text += fmt.Sprintf(" (check: `%s`)", c.Check)
		}
		criteria = append(criteria, text)
	}
	for _, f := range []struct {
		name  string
		items []string
	}{{"criteria", criteria}, {"notes", d.Notes}, {"out_of_scope", d.OutOfScope}, {"critique", d.Critique}} {
		if len(f.items) > 0 {
			fmt.Fprintf(&b, "%s:\n", f.name)
		}
		for _, text := range f.items {
			fmt.Fprintf(&b, "- %s\n", prompt.SingleLine(text))
		}
	}
	return b.String()
}

func formatRequirements(all []nexus.Requirement) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "- %s (%s, %s, %.1f", r.ID, r.Category, r.Priority, r.Confidence)
		if r.Area != "" {
			fmt.Fprintf(&b, ", %s", r.Area)
		}
		if r.Later {
			b.WriteString(", later")
		}
		fmt.Fprintf(&b, "): %s\n", prompt.SingleLine(r.Text))
	}
	return b.String()
}

func formatAnswers(i *clarify.InterviewState, fresh bool) string {
	var b strings.Builder
	for _, e := range i.Exchanges {
		if e.Heard == fresh {
			continue
		}
		fmt.Fprintf(&b, "- %s\n  ", prompt.SingleLine(e.Text))
		switch e.Kind {
		case clarify.Said:
			b.WriteString(prompt.SingleLine(e.Answer))
		case clarify.Skipped:
			fmt.Fprintf(&b, "(left open; assumed: %s)", prompt.SingleLine(e.Answer))
		case clarify.Denied:
			b.WriteString("(the default was called wrong, and no correction was given)")
		default:
			fmt.Fprintf(&b, "(not answered; assumed: %s)", prompt.SingleLine(e.Answer))
		}
		if e.Before != "" && e.Before != e.Answer {
			fmt.Fprintf(&b, " (revised: it was %s)", prompt.SingleLine(e.Before))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func formatAssumptions(i *clarify.InterviewState) string {
	var b strings.Builder
	for _, a := range i.Assumptions {
		locked := ""
		if a.Locked {
			locked = " (the person agreed)"
		}
		fmt.Fprintf(&b, "- %s: %s%s\n", a.ID, prompt.SingleLine(a.Text), locked)
	}
	return b.String()
}

// formatCorrections returns people's corrections of parts of the spec. Of the corrections that the
// interviewer already received, only withdrawn ones are repeated.
func formatCorrections(i *clarify.InterviewState) string {
	var b strings.Builder
	for _, c := range i.Corrections {
		for _, w := range c.Withdrawn {
			fmt.Fprintf(&b, "- %s is wrong, and withdrawn: %s\n", w.ID, prompt.SingleLine(w.Text))
			if w.Instead != "" && !c.Heard {
				fmt.Fprintf(&b, "  Instead, in the person's words: %s\n", prompt.SingleLine(w.Instead))
				fmt.Fprintf(&b, "  Submit what holds now as a requirement with instead_of %q.\n", w.ID)
			}
		}
		for _, u := range c.Unclear {
			if !c.Heard {
				fmt.Fprintf(&b, "- The person named %s: %s\n", u.ID, prompt.SingleLine(u.Text))
				b.WriteString("  Withdraw or replace it if the answer says that it is wrong.\n")
			}
		}
	}
	return b.String()
}

func joinUnchangeableParts(i *clarify.InterviewState) string {
	return strings.Join(i.UnchangeableParts(), ", ")
}
