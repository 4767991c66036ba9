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

// Message returns the message with the known facts at the beginning of a round. Alone means
// that no person answers.
func Message(i *clarify.Interview, session nexus.SessionID, round int, alone bool) string {
	text, _ := prompt.Fit([]prompt.Section{
		{Body: fmt.Sprintf("Conversation: %s\nRound %d of the interview: %s questions.", prompt.Line(string(session)), round, i.Depth())},
		{Title: "Goal", Body: i.Goal},
		{Title: "The draft so far", Body: draft(i.Draft), Rank: 1, Lead: "You submitted this."},
		{Title: "Corrections", Body: corrections(i), Rank: 1, Lead: corrected},
		{Title: "Locked", Body: locked(i), Rank: 1, Lead: agreed},
		{Title: "Requirements so far", Body: requirements(i.Requirements), Rank: 1, Lead: "They count."},
		{Title: "Candidates", Body: requirements(i.Candidates), Rank: 2, Lead: "It was not certain that these are meant. Submit one again with its id once you are sure."},
		{Title: "Answers", Body: answers(i, true), Rank: 1, Lead: "What the person was asked, and said, since you last submitted."},
		{Title: "Earlier answers", Body: answers(i, false), Rank: 2},
		{Title: "Assumptions", Body: assumptions(i), Rank: 2},
		{Title: "Gaps", Body: strings.Join(i.Gaps(), ", "), Rank: 3, Lead: "These areas have not been discussed yet. Ask about one only if the plan depends on it."},
		{Body: how(i, round, alone)},
	}, maxTokens)
	return text
}

const (
	corrected = "What the person said about parts of the spec. It holds: never state again what is withdrawn."
	agreed    = "The person agreed to these. Leave them as they are. If an answer makes you doubt one, ask a question that names its id."
)

// how returns the instructions for this round's submission.
func how(i *clarify.Interview, round int, alone bool) string {
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

// draft returns the interviewer's latest draft of the spec besides its requirements.
func draft(d nexus.InterviewDraft) string {
	var b strings.Builder
	for _, f := range []struct{ name, text string }{{"title", d.Title}, {"problem", d.Problem}} {
		if f.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", f.name, prompt.Line(f.text))
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
			fmt.Fprintf(&b, "- %s\n", prompt.Line(text))
		}
	}
	return b.String()
}

func requirements(all []nexus.Requirement) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "- %s (%s, %s, %.1f", r.ID, r.Category, r.Priority, r.Confidence)
		if r.Area != "" {
			fmt.Fprintf(&b, ", %s", r.Area)
		}
		if r.Later {
			b.WriteString(", later")
		}
		fmt.Fprintf(&b, "): %s\n", prompt.Line(r.Text))
	}
	return b.String()
}

func answers(i *clarify.Interview, fresh bool) string {
	var b strings.Builder
	for _, e := range i.Exchanges {
		if e.Heard == fresh {
			continue
		}
		fmt.Fprintf(&b, "- %s\n  ", prompt.Line(e.Text))
		switch e.Kind {
		case clarify.Said:
			b.WriteString(prompt.Line(e.Answer))
		case clarify.Skipped:
			fmt.Fprintf(&b, "(left open; assumed: %s)", prompt.Line(e.Answer))
		case clarify.Denied:
			b.WriteString("(the default was called wrong, and no correction was given)")
		default:
			fmt.Fprintf(&b, "(not answered; assumed: %s)", prompt.Line(e.Answer))
		}
		if e.Before != "" && e.Before != e.Answer {
			fmt.Fprintf(&b, " (revised: it was %s)", prompt.Line(e.Before))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func assumptions(i *clarify.Interview) string {
	var b strings.Builder
	for _, a := range i.Assumptions {
		locked := ""
		if a.Locked {
			locked = " (the person agreed)"
		}
		fmt.Fprintf(&b, "- %s: %s%s\n", a.ID, prompt.Line(a.Text), locked)
	}
	return b.String()
}

// corrections returns people's corrections of parts of the spec. Of the corrections that the
// interviewer already received, only withdrawn ones are repeated.
func corrections(i *clarify.Interview) string {
	var b strings.Builder
	for _, c := range i.Corrections {
		for _, w := range c.Withdrawn {
			fmt.Fprintf(&b, "- %s is wrong, and withdrawn: %s\n", w.ID, prompt.Line(w.Text))
			if w.Instead != "" && !c.Heard {
				fmt.Fprintf(&b, "  Instead, in the person's words: %s\n", prompt.Line(w.Instead))
				fmt.Fprintf(&b, "  Submit what holds now as a requirement with instead_of %q.\n", w.ID)
			}
		}
		for _, u := range c.Unclear {
			if !c.Heard {
				fmt.Fprintf(&b, "- The person named %s: %s\n", u.ID, prompt.Line(u.Text))
				b.WriteString("  Withdraw or replace it if the answer says that it is wrong.\n")
			}
		}
	}
	return b.String()
}

func locked(i *clarify.Interview) string { return strings.Join(i.Locked(), ", ") }
