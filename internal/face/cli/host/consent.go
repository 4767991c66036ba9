package host

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

const (
	// maxShown limits a client's text in a question, in bytes.
	maxShown = 1500
	// maxOutline limits the tasks of a plan in a question, in bytes.
	maxOutline = 256 << 10
)

// ShownText makes a client's text safe to show: one line of limited length. For a longer text, it
// adds how much of it is hidden.
func ShownText(text string) string {
	text = view.EscapeForTerminal(text)
	if len(text) <= maxShown {
		return text
	}
	return sanitize.TruncateText(text, maxShown) + " (cut here; it has " + view.FormatNumber(int64(len(text))) + " bytes)"
}

// FullText is [ShownText] for a text that a person must see in full to agree to it, such as a command:
// it refuses a text that is too long.
func FullText(what, text string) (string, error) {
	text = view.EscapeForTerminal(text)
	if len(text) > maxShown {
		return "", notShownError(fmt.Sprintf("%s has %d bytes, more than %d", what, len(text), maxShown))
	}
	return text, nil
}

// WorkPrice describes the cost of work and its other effects.
type WorkPrice struct {
	Most   nexus.Money
	All    bool   // Most includes the money already spent
	Model  string // instead of the configured models; empty: those
	Land   bool   // it moves a branch at the end
	Target string // that branch; empty: the checked-out one
}

// String implements [fmt.Stringer].
func (p WorkPrice) String() string {
	text := fmt.Sprintf("It may spend up to %s", p.Most)
	if p.All {
		text += " in all"
	}
	if p.Model != "" {
		text += ", with the model " + ShownText(p.Model)
	}
	if p.Land {
		text += ", and moves " + cmp.Or(ShownText(p.Target), "your branch") + " to the result"
	}
	return text + "."
}

// RemainingPrice returns the remaining possible cost of an existing run, and the branch that it moves,
// even if that was only requested.
func RemainingPrice(s *state.State) WorkPrice {
	p := WorkPrice{Most: max(s.Ledger.RunLimit()-s.Ledger.SpentMoney(), 0), Land: s.Goal.Land, Target: s.Goal.Target}
	for _, r := range s.Requests {
		if r.Verb == nexus.VerbLand {
			p.Land, p.Target = true, r.ID
		}
	}
	return p
}

// TotalPrice is [RemainingPrice] with the limit of the whole run instead of the rest: the text of a
// question then stays the same while the run spends.
func TotalPrice(s *state.State) WorkPrice {
	p := RemainingPrice(s)
	p.Most, p.All = s.Ledger.RunLimit(), true
	return p
}

// IsRefusal reports whether an answer is a plain no, with or without a reason.
func IsRefusal(text string) bool {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ":")
	return word == "no" || word == "skip"
}

// YesEffect describes the possible consequences of a yes to a run's question, with or without a
// conductor.
func YesEffect(s *state.State, held bool) string {
	text := "The run continues, within the limits that were agreed to. "
	if !held {
		text = "The run is not in progress. "
		if app.CanDeliver(s) {
			text = "Landed work is published now; a model resolves conflicts. "
		}
	}
	return text + TotalPrice(s).String()
}

// PlanOutline lists the tasks of a plan from a client or a model, with their check commands. It
// refuses a plan that is too long to be shown in full, because a person could not agree to it.
func PlanOutline(goal string, tasks []nexus.Task) (string, error) {
	var b strings.Builder
	b.WriteString(ShownText(goal))
	for _, t := range tasks {
		b.WriteString("\n- " + ShownText(string(t.ID)) + " " + ShownText(t.Title))
		for _, c := range t.Criteria {
			if c.Check == "" {
				continue
			}
			check, err := FullText("a check of "+ShownText(string(t.ID)), c.Check)
			if err != nil {
				return "", err
			}
			b.WriteString("\n  checked by: " + check)
		}
	}
	if b.Len() > maxOutline {
		return "", notShownError(fmt.Sprintf("the plan's tasks have %d bytes, more than %d", b.Len(), maxOutline))
	}
	return b.String() + fmt.Sprintf("\n(%s)", view.CountWithNoun(len(tasks), "task")), nil
}

// notShownError refuses a text that cannot be shown to the person who is to agree to it.
func notShownError(why string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "it cannot be shown for consent: " + why,
		Hint: "Make it smaller, or put long commands into a script or a gate.",
	}
}

// RequestIntro returns who makes a request, and where.
func (h Host) RequestIntro(client, dir string) (string, error) {
	at := h.Console.App
	at.Dir = cmp.Or(dir, at.Dir)
	top, err := at.WorkDir()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s asks Nexus, in %s, to ", client, view.EscapeForTerminal(app.WorkTreeRoot(top))), nil
}

// PreapprovalHint describes how a person agrees in advance: the file and the key of the configuration.
func (h Host) PreapprovalHint(key string, names []string) string {
	file := filepath.Join(h.Console.XDGDirectory("XDG_CONFIG_HOME", ".config"), "nexus", "config.toml")
	return "The user can allow it beforehand in " + file + ": " + key + ` = ["` + strings.Join(names, `", "`) + `"].`
}
