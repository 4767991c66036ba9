package host

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

const (
	// maxShown is the most of a text of a client that is in a question, in bytes.
	maxShown = 1500
	// maxOutline is the most that the tasks of a plan may have there.
	maxOutline = 256 << 10
)

// Shown makes a text of a client harmless, on one line of bounded length. Who agrees to
// a longer one is told how much of it they do not see.
func Shown(text string) string {
	text = view.Clean(text)
	if len(text) <= maxShown {
		return text
	}
	return sanitize.Cut(text, maxShown) + " (cut here; it has " + view.Number(int64(len(text))) + " bytes)"
}

// Whole is [Shown] for what nobody can agree to without its end, such as a command: it
// refuses what is too long to be shown.
func Whole(what, text string) (string, error) {
	text = view.Clean(text)
	if len(text) > maxShown {
		return "", unshown(fmt.Sprintf("%s has %d bytes, more than %d", what, len(text), maxShown))
	}
	return text, nil
}

// Price says what work may cost, and what else it takes.
type Price struct {
	Most   nexus.Money
	All    bool   // Most counts what is spent already
	Model  string // instead of the configured ones; empty: those
	Land   bool   // it moves a branch at the end
	Target string // that branch; empty: the one that is checked out
}

// String implements [fmt.Stringer].
func (p Price) String() string {
	text := fmt.Sprintf("It may spend up to $%.2f", p.Most.Float())
	if p.All {
		text += " in all"
	}
	if p.Model != "" {
		text += ", with the model " + Shown(p.Model)
	}
	if p.Land {
		text += ", and moves " + cmp.Or(Shown(p.Target), "your branch") + " to the result"
	}
	return text + "."
}

// PriceOf says what a run that there is may still cost, and which branch it moves:
// also where that was only asked for.
func PriceOf(s *state.State) Price {
	p := Price{Most: max(s.Ledger.Limit()-s.Ledger.Spent(), 0), Land: s.Goal.Land, Target: s.Goal.Target}
	for _, r := range s.Requests {
		if r.Verb == nexus.VerbLand {
			p.Land, p.Target = true, r.ID
		}
	}
	return p
}

// LimitOf is [PriceOf] with the limit of the whole run in place of what is left of it: a
// question says the same for as long as the limit does, while the run spends.
func LimitOf(s *state.State) Price {
	p := PriceOf(s)
	p.Most, p.All = s.Ledger.Limit(), true
	return p
}

// Refuses reports whether an answer is a plain no, with or without a reason.
func Refuses(text string) bool {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ":")
	return word == "no" || word == "skip"
}

// YesTakes says what may follow from a yes to what a run asks, which somebody conducts
// or not.
func YesTakes(s *state.State, held bool) string {
	text := "The run continues, within the limits that were agreed to. "
	if !held {
		text = "The run is not in progress. "
		if app.CanDeliver(s) {
			text = "Landed work is published now; a model resolves conflicts. "
		}
	}
	return text + LimitOf(s).String()
}

// Outline lists the tasks of a plan that comes from a client or a model, and the
// commands that it has them checked by. All of them: a plan with more than can be
// shown is refused, as nobody could agree to it.
func Outline(goal string, tasks []nexus.Task) (string, error) {
	var b strings.Builder
	b.WriteString(Shown(goal))
	for _, t := range tasks {
		b.WriteString("\n- " + Shown(string(t.ID)) + " " + Shown(t.Title))
		for _, c := range t.Criteria {
			if c.Check == "" {
				continue
			}
			check, err := Whole("a check of "+Shown(string(t.ID)), c.Check)
			if err != nil {
				return "", err
			}
			b.WriteString("\n  checked by: " + check)
		}
	}
	if b.Len() > maxOutline {
		return "", unshown(fmt.Sprintf("the plan's tasks have %d bytes, more than %d", b.Len(), maxOutline))
	}
	return b.String() + fmt.Sprintf("\n(%s)", view.Count(len(tasks), "task")), nil
}

// unshown refuses what cannot be shown to the one who is to agree to it.
func unshown(why string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "it cannot be shown for consent: " + why,
		Hint: "Make it smaller, or put long commands into a script or a gate.",
	}
}

// Asks returns who asks for something, and where.
func (h Host) Asks(client, dir string) (string, error) {
	at := h.Console.App
	at.Dir = cmp.Or(dir, at.Dir)
	top, err := at.WorkDir()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s asks Nexus, in %s, to ", client, view.Clean(app.WorkTreeRoot(top))), nil
}

// Beforehand says how a person agrees to something beforehand: in which file, by
// which key of the configuration.
func (h Host) Beforehand(key string, names []string) string {
	file := filepath.Join(h.Console.Home("XDG_CONFIG_HOME", ".config"), "nexus", "config.toml")
	return "The user can allow it beforehand in " + file + ": " + key + ` = ["` + strings.Join(names, `", "`) + `"].`
}
