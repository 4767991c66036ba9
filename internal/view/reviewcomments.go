package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// describeComments describes the results of people's comments on changes.
func describeComments(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.WorkReturnedToAuthor:
		return string(f.Task), WithReason("goes back to "+string(f.Attempt), f.Why)
	case nexus.SuggestionsApplied:
		var parts []string
		if len(f.Applied) > 0 {
			parts = append(parts, "applied "+nexus.JoinWords(f.Applied))
		}
		for _, r := range f.Refused {
			parts = append(parts, fmt.Sprintf("did not apply %s: %s", r.Comment, r.Why))
		}
		return string(f.Task), strings.Join(partsOrNone(parts, "no suggestion to apply"), "; ")
	case nexus.CommentsAnswered:
		var parts []string
		for _, a := range f.Answers {
			parts = append(parts, WithReason(a.Comment+" "+ReplyText(a), nexus.OneLine(a.Why)))
		}
		return string(f.Task), strings.Join(partsOrNone(parts, "no comment answered"), "; ")
	case nexus.ChangeRiskRated:
		if len(f.Risky) == 0 {
			return string(f.Attempt), "nothing in it is risky"
		}
		return string(f.Attempt), "it is risky: " + strings.Join(f.Risky, "; ")
	default:
		return "", ""
	}
}

// partsOrNone returns the parts, or none if there are no parts.
func partsOrNone(parts []string, none string) []string {
	if len(parts) == 0 {
		return []string{none}
	}
	return parts
}

// ReplyText describes an agent's answer to a comment, compared with the change.
func ReplyText(a nexus.CommentAnswer) string {
	if a.Reply == nexus.CommentFixed && !a.Changed {
		return "says fixed, nothing changed there"
	}
	return string(a.Reply)
}
