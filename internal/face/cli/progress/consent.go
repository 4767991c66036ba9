package progress

import (
	"context"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ConsentDialog shows a person at the terminal the plan that a run asks consent to, and lets them
// edit it.
type ConsentDialog interface {
	Offer(ctx context.Context, s *state.State) string // the text to agree to: the goal, the plan and its price
	Details(s *state.State) string
	Edit(s *state.State) (*nexus.Plan, error) // nil if it is unchanged
	Close() string                            // location of an edited plan that was not used; empty: none
}

// isAskingConsent reports whether the run waits for consent to its plan, and a person is asked
// for it here. The caller holds the lock.
func (s *runScreen) isAskingConsent() bool {
	q := s.state.PlanQuestion()
	return s.agree != nil && q != nil && q.By == "" && !q.Left && q.ID != s.sent && !s.state.Planned && !s.state.Status.HasEnded()
}

// showPlanQuestion shows a person the plan that the run asks about. The caller holds the lock.
func (s *runScreen) showPlanQuestion(ctx context.Context) {
	s.eraseBlock()
	if s.gone { // there will be no typed answer
		s.sendConsentReply(ctx, nexus.Request{Verb: nexus.VerbAnswer, Text: "no"})
		return
	}
	s.a.Ask(s.agree.Offer(ctx, s.state))
	s.draw()
}

// handleConsentLine handles a line typed at the question about the plan. A line that is not
// clearly another answer is a no. The caller holds the lock.
func (s *runScreen) handleConsentLine(ctx context.Context, line string) {
	s.drawn, s.asked = 0, false // the line stays
	word, rest, _ := strings.Cut(line, " ")
	wish := nexus.Request{Verb: nexus.VerbAnswer, Text: "no"}
	switch word = strings.ToLower(word); {
	case s.why:
		if s.why = false; line == "" {
			s.draw()
			return
		}
		wish.Text = "no: " + line
	case s.leave != nil && (line == "q" || line == "quit"):
		s.leave() // the run waits
		return
	case word == "d" || word == "details":
		s.a.Ask(s.agree.Details(s.state))
		s.draw()
		return
	case word == "e" || word == "edit":
		edited, err := s.agree.Edit(s.state)
		if edited == nil {
			if err != nil {
				s.a.ReportError(err)
			} else {
				s.a.Say("the plan is as it was")
			}
			s.draw()
			return
		}
		wish = nexus.Request{Verb: nexus.VerbAmend, Plan: edited}
	case (word == "r" || word == "refuse") && strings.TrimSpace(rest) == "":
		s.why = true
		s.draw()
		return
	case word == "r" || word == "refuse":
		wish.Text = "no: " + strings.TrimSpace(rest)
	case nexus.IsYes(line):
		wish.Text = "yes"
	case strings.HasPrefix(word, "no:"):
		wish.Text = line
	}
	s.sendConsentReply(ctx, wish)
}

// sendConsentReply requests the person's decision about the plan. The caller holds the lock.
func (s *runScreen) sendConsentReply(ctx context.Context, wish nexus.Request) {
	wish.ID = s.state.Consent.Question
	s.sent = wish.ID
	if err := s.wish(ctx, wish); err != nil {
		s.sent = ""
		s.a.ReportError(err)
		s.draw()
	}
}

// repeatsOwnInput reports whether a fact repeats the answer that the person at this terminal has just
// typed. The caller holds the lock.
func (s *runScreen) repeatsOwnInput(f nexus.Fact) bool {
	switch f := f.(type) {
	case nexus.RequestMade:
		return s.sent != "" && f.Request.ID == s.sent
	case nexus.QuestionAnswered:
		return s.sent != "" && f.ID == s.sent
	default:
		return false
	}
}

// consentPrompt returns the question that is shown while the run waits for consent.
func (s *runScreen) consentPrompt() string {
	if s.why {
		return "What should be different? "
	}
	return s.a.Style(s.a.Err).WrapWords("Start? [y/N], d for details, e to edit, r to refuse with a reason:", "") + " "
}
