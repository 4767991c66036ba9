package mcpcmd

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
)

// maxShown is the most of a text of the client that is in a question, in bytes.
const maxShown = 1500

// asks returns what a person has to agree to before a call, and why it is
// refused where nobody can be asked, or without a question. The configuration is
// read for each call, so that the user can take back what it allows.
func (s *server) asks(ctx context.Context, t tool, c mcpserver.Call) (question string, otherwise error) {
	settings, _, err := s.a.Settings()
	if err != nil {
		return "", err
	}
	missing := slices.DeleteFunc(needs(t, c.Input), func(name string) bool { return slices.Contains(settings.Allowed, name) })
	dear := raises(settings, c.Input)
	if len(missing) == 0 && !dear {
		return "", nil
	}
	what, err := s.question(ctx, t, c, settings)
	if err != nil {
		return "", err
	}
	dir, err := s.a.WorkDir()
	if err != nil {
		return "", err
	}
	question = fmt.Sprintf("%s asks Nexus, in %s, to %s", c.Client, view.Clean(app.Top(dir)), what)
	return question, s.refusal(t.name, missing, dear)
}

// needs returns what a call needs consent for.
func needs(t tool, in map[string]any) []string {
	run, _ := in["run"].(string)
	if t.name == "plan" && (in["plan"] != nil || run != "") {
		return nil // no model is asked
	}
	all := []string{t.consent}
	if in["land"] == true {
		all = append(all, "land")
	}
	return all
}

// raises reports whether a call may spend more than the user's limit.
func raises(c config.Config, in map[string]any) bool {
	dollars, given := in["budget"].(float64)
	return given && dollars > c.Limits.RunMoney.Float()
}

// refusal says why a call is refused where the client cannot ask the user.
func (s *server) refusal(name string, missing []string, dear bool) error {
	hint := ""
	if len(missing) > 0 {
		file := filepath.Join(s.a.Home("XDG_CONFIG_HOME", ".config"), "nexus", "config.toml")
		hint = "The user can allow it beforehand in " + file + `: mcp.serve.allow = ["` + strings.Join(missing, `", "`) + `"]. `
	}
	if dear {
		hint += "The budget is above the user's budget.run: ask for less, or let the user raise that."
	}
	return &nexus.Error{
		Code: nexus.CodeNeedsPerson, Hint: strings.TrimSpace(hint),
		Message: name + " needs the user's consent, and this client cannot ask for it (it does not support elicitation); nothing was done",
	}
}

// question says what a call does, for the person who is to agree to it.
func (s *server) question(ctx context.Context, t tool, c mcpserver.Call, settings config.Config) (string, error) {
	in := func(name string) string {
		v, _ := c.Input[name].(string)
		return shown(v)
	}
	switch t.name {
	case "answer":
		return s.about(ctx, in("run"), in("id"), func(run, asked string) string {
			return fmt.Sprintf("answer for you, in run %s.\nQuestion %s: %s\nAnswer: %s", run, in("id"), asked, in("text"))
		})
	case "approve":
		return s.about(ctx, in("run"), in("id"), func(run, asked string) string {
			if asked == "" {
				return fmt.Sprintf("waive criterion %s of run %s: %s", in("id"), run, in("why"))
			}
			return fmt.Sprintf("say yes for you, in run %s.\nQuestion %s: %s", run, in("id"), asked)
		})
	}
	cost := fmt.Sprintf("It may spend up to $%.2f", settings.Limits.RunMoney.Float())
	if dollars, given := c.Input["budget"].(float64); given {
		cost = fmt.Sprintf("It may spend up to $%.2f", dollars)
	}
	if model := in("model"); model != "" {
		cost += ", with the model " + model
	}
	if c.Input["land"] == true {
		cost += ", and moves " + cmp.Or(in("target"), "your branch") + " to the result"
	}
	what := ""
	switch t.name {
	case "plan":
		what = "plan: " + in("goal")
	case "resume":
		what = "continue run " + cmp.Or(in("run"), "(the latest)")
	case "quick":
		what = "do this task: " + in("task")
		if check := in("check"); check != "" {
			what += "\nIt is done when this passes: " + check
		}
	default:
		what = "work on this goal: " + in("goal")
		if p, given := c.Input["plan"].(map[string]any); given {
			what = "carry out this plan: " + outline(p, in("goal"))
		}
	}
	return what + "\n" + cost + ".", nil
}

// about fills in which run and which question a call is about, empty where it
// is about a criterion.
func (s *server) about(ctx context.Context, run, id string, text func(run, asked string) string) (what string, err error) {
	err = s.a.Look(ctx, run, func(_ *app.Place, r journal.Run, st *state.State) error {
		q := st.Question(id)
		if _, _, criterion := accept.ParseID(id); criterion && q == nil {
			what = text(string(r.ID), "")
			return nil
		}
		if q == nil {
			return app.NotFound("question", id, "status lists those of run "+string(r.ID)+".")
		}
		what = text(string(r.ID), shown(q.Text))
		return nil
	})
	return what, err
}

// outline lists the tasks of a plan that a client sends. What is no plan is
// refused later.
func outline(p map[string]any, goal string) string {
	own, _ := p["goal"].(string)
	text := cmp.Or(goal, shown(own))
	tasks, _ := p["tasks"].([]any)
	for _, one := range tasks {
		task, _ := one.(map[string]any)
		id, _ := task["id"].(string)
		title, _ := task["title"].(string)
		text += "\n- " + shown(id) + " " + shown(title)
		criteria, _ := task["criteria"].([]any)
		for _, one := range criteria {
			criterion, _ := one.(map[string]any)
			if check, _ := criterion["check"].(string); check != "" {
				text += "\n  checked by: " + shown(check)
			}
		}
	}
	return legible.Cut(text, 2*maxShown) + fmt.Sprintf("\n(%s)", view.Count(len(tasks), "task"))
}

// shown makes a text of the client harmless, on one line of bounded length.
func shown(text string) string { return legible.Cut(view.Clean(text), maxShown) }
