package mcpcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// consentQuestion returns the question to a person before a call; empty if none is needed. The error
// otherwise is the refusal for a client that cannot ask the user; without a question, it is the
// reason why the call fails. The configuration is read for each call, so that the user can
// withdraw permissions.
func (s *toolServer) consentQuestion(ctx context.Context, t commandTool, c mcpserver.ClientToolCall) (question string, otherwise error) {
	settings, _, err := s.Console.LoadSettings()
	if err != nil {
		return "", err
	}
	all := neededConsents(t, c.Input)
	var again resumedRun
	if t.name == "resume" {
		if again, err = s.resolveResumedRun(ctx, c.Input); err != nil {
			return "", err
		}
		if again.price.Land {
			all = append(all, "land") // it was started with --land
		}
	}
	yes, lands, err := s.yesEffect(ctx, t, c.Input)
	if err != nil {
		return "", err
	}
	if lands {
		all = append(all, "land")
	}
	missing := slices.DeleteFunc(all, func(name string) bool { return slices.Contains(settings.Allowed, name) })
	dear := exceedsBudget(settings, c.Input)
	if len(missing) == 0 && !dear {
		return "", nil
	}
	what, err := s.callQuestion(ctx, t, c, settings, again)
	if err != nil {
		return "", err
	}
	asks, err := s.RequestIntro(c.Client, "")
	if err != nil {
		return "", err
	}
	return asks + what + yes, s.consentError(t.name, missing, dear)
}

// neededConsents returns the permissions that a call needs.
func neededConsents(t commandTool, in map[string]any) []string {
	run, _ := in["run"].(string)
	if t.name == "plan" && (in["plan"] != nil || run != "") {
		return nil // no model is called
	}
	all := []string{t.consent}
	if in["land"] == true {
		all = append(all, "land")
	}
	return all
}

// exceedsBudget reports whether a call may spend more than the user's limit.
func exceedsBudget(c config.Config, in map[string]any) bool {
	dollars, given := in["budget"].(float64)
	return given && dollars > c.Limits.RunMoney.Dollars()
}

// consentError returns the reason why a call is refused if the client cannot ask the user.
func (s *toolServer) consentError(name string, missing []string, dear bool) error {
	hint := ""
	if len(missing) > 0 {
		hint = s.PreapprovalHint("mcp.serve.allow", missing) + " "
	}
	if dear {
		hint += "The budget is above the user's budget.run: ask for less, or let the user raise that."
	}
	return &nexus.Error{
		Code: nexus.CodeNeedsPerson, Hint: strings.TrimSpace(hint),
		Message: name + " needs the user's consent, and this client cannot ask for it (it does not support elicitation); nothing was done",
	}
}

// yesEffect describes the possible consequences of a yes to a question that only a person decides, and
// reports whether it lands changes: publishing moves the branch that the run was to move.
func (s *toolServer) yesEffect(ctx context.Context, t commandTool, in map[string]any) (text string, lands bool, err error) {
	word, _ := in["text"].(string)
	if t.name != "approve" && t.name != "answer" || t.name == "answer" && host.IsRefusal(word) {
		return "", false, nil
	}
	id, _ := in["id"].(string)
	run, _ := in["run"].(string)
	err = s.Console.WithRunForReading(ctx, run, func(_ *app.Repository, r journal.RecordedRun, st *state.State) error {
		if q := st.QuestionByID(id); q != nil && humaninput.StaysOpenAfterDeadline(q.Trigger) {
			text = "\n" + host.YesEffect(st, r.Holder != nil)
			lands = q.AsksToPublish() && host.RemainingPrice(st).Land
		}
		return nil
	})
	return text, lands, err
}

// resumedRun is a run that is continued.
type resumedRun struct {
	goal  string
	price host.WorkPrice // in total
}

// resolveResumedRun returns the run that a call continues, and puts its ID into the call, so that a run that
// begins while the person decides is not continued instead as the latest.
func (s *toolServer) resolveResumedRun(ctx context.Context, in map[string]any) (r resumedRun, err error) {
	name, _ := in["run"].(string)
	err = s.Console.WithRunForReading(ctx, name, func(_ *app.Repository, run journal.RecordedRun, st *state.State) error {
		in["run"] = string(run.ID)
		r = resumedRun{st.Goal.Goal.Text, host.TotalPrice(st)}
		return nil
	})
	return r, err
}

// callQuestion describes a call for the person who is to agree to it.
func (s *toolServer) callQuestion(ctx context.Context, t commandTool, c mcpserver.ClientToolCall, settings config.Config, again resumedRun) (string, error) {
	in := func(name string) string {
		v, _ := c.Input[name].(string)
		return host.ShownText(v)
	}
	switch t.name {
	case "answer":
		word, _ := c.Input["text"].(string)
		text, err := host.FullText("the answer", word)
		if err != nil {
			return "", err
		}
		return s.describeQuestion(ctx, in("run"), in("id"), !host.IsRefusal(word), func(run, asked string) string {
			return fmt.Sprintf("answer for you, in run %s.\nQuestion %s: %s\nAnswer: %s", run, in("id"), asked, text)
		})
	case "approve":
		return s.describeQuestion(ctx, in("run"), in("id"), true, func(run, asked string) string {
			if asked == "" {
				return fmt.Sprintf("waive criterion %s of run %s: %s", in("id"), run, in("why"))
			}
			return fmt.Sprintf("say yes for you, in run %s.\nQuestion %s: %s", run, in("id"), asked)
		})
	}
	cost := host.WorkPrice{Most: settings.Limits.RunMoney, Model: in("model"), Land: c.Input["land"] == true, Target: in("target")}
	if dollars, given := c.Input["budget"].(float64); given {
		cost.Most = nexus.MoneyFromDollars(dollars)
	}
	what := ""
	switch t.name {
	case "plan":
		what = "plan: " + in("goal")
	case "add":
		what = "add to the run that is in progress: " + in("text")
		check, err := s.checkText(c.Input)
		if err != nil {
			return "", err
		}
		return what + check + "\nIt is paid from the budget of that run.", nil
	case "resume":
		cost.Land, cost.Target, cost.All = again.price.Land, again.price.Target, true
		if _, given := c.Input["budget"]; !given {
			cost.Most = again.price.Most
		}
		what = "continue run " + in("run") + ": " + host.ShownText(again.goal)
	case "quick":
		check, err := s.checkText(c.Input)
		if err != nil {
			return "", err
		}
		what = "do this task: " + in("task") + check
	default:
		what = "work on this goal: " + in("goal")
		if p, given := c.Input["plan"].(map[string]any); given {
			outlined, err := planOutline(p, in("goal"), settings.Limits.Size)
			if err != nil {
				return "", err
			}
			what = "carry out this plan: " + outlined
		}
	}
	return what + "\n" + cost.String(), nil
}

// checkText returns the command that verifies the work; empty for none.
func (s *toolServer) checkText(in map[string]any) (string, error) {
	word, _ := in["check"].(string)
	check, err := host.FullText("the check", word)
	if err != nil || check == "" {
		return "", err
	}
	return "\nIt is done when this passes: " + check, nil
}

// describeQuestion adds the run and the question of a call, empty for a criterion. A yes to a question that
// only a person decides covers all of its text, which is therefore shown in full or refused.
func (s *toolServer) describeQuestion(ctx context.Context, run, id string, yes bool, text func(run, asked string) string) (what string, err error) {
	err = s.Console.WithRunForReading(ctx, run, func(_ *app.Repository, r journal.RecordedRun, st *state.State) error {
		q := st.QuestionByID(id)
		if _, _, criterion := accept.ParseID(id); criterion && q == nil {
			what = text(string(r.ID), "")
			return nil
		}
		if q == nil {
			return app.NotFoundError("question", id, "status lists those of run "+string(r.ID)+".")
		}
		asked := host.ShownText(q.Text)
		if yes && humaninput.StaysOpenAfterDeadline(q.Trigger) {
			if asked, err = host.FullText("the question", q.Text); err != nil {
				return &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: err.Error(),
					Hint: "Let the user answer it in a terminal: nexus answer " + q.ID + " --run " + string(r.ID) + ".",
				}
			}
		}
		what = text(string(r.ID), asked)
		return nil
	})
	return what, err
}

// planOutline describes a client's plan for a person. A plan that would be refused later is refused
// before a person is asked.
func planOutline(p map[string]any, goal string, most nexus.TaskSizeLimits) (string, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	sent, err := plan.LoadPlan(data, most)
	if err != nil {
		return "", err
	}
	return host.PlanOutline(cmp.Or(goal, sent.Goal), sent.Tasks)
}
