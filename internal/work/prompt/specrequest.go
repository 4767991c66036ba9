package prompt

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// ResearchRequest is the first message of the conversation with a researcher.
type ResearchRequest struct {
	Session nexus.SessionID
	Goal    string
	Topic   string
	Limit   int64 // most tokens; 0 means 24,000
}

// FirstMessage returns the first message of the researcher's conversation.
func (r ResearchRequest) FirstMessage() string {
	text, _ := FitSections([]PromptSection{
		{Body: conversationHeader(r.Session, "spec", "Report on one topic")},
		{Title: "Goal", Body: r.Goal},
		{Title: "Topic", Body: r.Topic},
	}, tokenLimitOrDefault(r.Limit))
	return text
}

// SpecRequest is the first message of the conversation with a specifier.
type SpecRequest struct {
	Session nexus.SessionID
	Goal    string
	Reports []PromptSection // reports of researchers
	Draft   string          // the spec so far, to be criticized or corrected
	Wrong   []string        // problems of the draft; empty: it is to be criticized
	Limit   int64           // most tokens; 0 means 24,000
}

// FirstMessage returns the first message of the specifier's conversation.
func (s SpecRequest) FirstMessage() string {
	title, ask := "Write a spec of the goal", ""
	switch {
	case len(s.Wrong) > 0:
		title = "Correct a spec of the goal"
		ask = "The spec below cannot be used. Fix what is wrong with it, and submit all of it:\n" + bulletList(s.Wrong)
	case s.Draft != "":
		title = "Criticize a spec of the goal"
		ask = "Look for what is missing, vague, contradictory or cannot be checked in the spec below. Fix it, " +
			"submit all of the spec, and say in critique what you found and what became of it."
	}
	all := []PromptSection{
		{Body: conversationHeader(s.Session, "spec", title)},
		{Title: "What to do", Body: ask},
		{Title: "Goal", Body: s.Goal},
		{Title: "The spec so far", Body: s.Draft, Fence: "markdown"},
	}
	for _, r := range s.Reports {
		r.Rank = 1
		all = append(all, r)
	}
	text, _ := FitSections(all, tokenLimitOrDefault(s.Limit))
	return text
}
