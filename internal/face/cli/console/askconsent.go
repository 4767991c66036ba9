package console

import (
	"context"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AskConsent shows a person an action, and asks whether to do it.
func (a *Console) AskConsent(ctx context.Context, text, question string) (bool, error) {
	a.Ask(text)
	if !a.HasPerson() || a.JSON {
		return false, &nexus.Error{
			Code: nexus.CodeNeedsPerson, Message: "nothing was changed: it needs your consent, and there is no terminal",
			Hint: "Run it again with --yes.",
		}
	}
	answer, err := a.Keyboard().AskLine(ctx, question)
	if err != nil {
		return false, err
	}
	if !nexus.IsYes(strings.TrimSpace(answer)) {
		a.Say("nothing was changed")
		return false, nil
	}
	return true, nil
}
