package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/face/common/diffview"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/commandoutput"
	"github.com/nexus-ai-builder/nexus/internal/face/web/rerun"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/runreport"
)

// PlanText is the plan of a run in the form that people edit.
type PlanText struct {
	Markdown string `json:"markdown"`
}

// PlanChanges are the differences of an edited plan.
type PlanChanges struct {
	Goal    string                `json:"goal,omitempty"` // the new goal; empty: unchanged
	Changes []plandiff.TaskChange `json:"changes"`
}

// GateRun is a gate of a task to run again.
type GateRun struct {
	Task nexus.TaskID `json:"task"`
	Gate string       `json:"gate"`
}

// MemoryChange is a change of a memory entry.
type MemoryChange struct {
	ID     string `json:"id"`
	Action string `json:"action"` // approve or forget
}

// SettingChange is a setting to change.
type SettingChange struct {
	Key     string `json:"key"`
	Value   string `json:"value,omitempty"`   // as nexus config set accepts it
	Unset   bool   `json:"unset,omitempty"`   // remove it instead
	Project bool   `json:"project,omitempty"` // in the project's file, not in the user's
	Confirm bool   `json:"confirm,omitempty"` // agree to the access that it opens; needs the server's owner
}

// RunAt is a run in its state after an event.
type RunAt struct {
	projection.ReplayPoint

	Run   view.Run          `json:"run"`
	Tasks []projection.Card `json:"tasks"`
}

// maxPlan limits the size of a plan, in bytes.
const maxPlan = 1 << 20

// commandEndpoints returns the endpoints that run a command of the program.
func commandEndpoints() []endpoint {
	const run = "/api/v1/runs/{run}"
	compare := postEndpoint(run+"/plan/compare", "the differences of an edited plan, or its errors", access.Steer, (*API).comparePlan)
	approve := postEndpoint(run+"/plan", "approve an edited plan in place of the one that the run asks about", access.Steer, (*API).approvePlan)
	compare.limit, approve.limit = 2*maxPlan, 2*maxPlan
	return []endpoint{
		getEndpoint(run+"/tasks/{task}/diff", "the change of a task, the riskiest files first, with comments and drafts of the caller", nil,
			commandAnswer[diffview.Review](func(c apiCall) []string {
				return []string{"review", "--run", string(c.run()), "--json", "--", c.PathValue("task")}
			})),
		postEndpoint(run+"/tasks/{task}/diff", "review the change of a task: comment, resolve, apply suggestions and approve, all at once", access.Steer, (*API).submitReview),
		getEndpoint(run+"/plan/text", "the plan of a run as Markdown, as people edit it", nil, (*API).planText),
		compare, approve,
		getEndpoint(run+"/checks/again", "the gates that were run again since the server began, the latest first", paging, (*API).listReruns),
		postEndpoint(run+"/checks/again", "run one gate of a task again; it decides nothing in the run", access.Steer, (*API).rerunGate),
		getEndpoint(run+"/interview", "the questions about the goal, and their answers", nil,
			projectionAnswer(func(p *projection.Projection, c apiCall) (projection.Interview, error) {
				return p.Interview(c.now), nil
			})),
		getEndpoint(run+"/at/{seq}", "a run and its tasks as they were after an event", nil, (*API).runAtEvent),
		getEndpoint(run+"/report", "landed work with evidence, open work with reasons, money, time, graph and timeline", nil,
			commandAnswer[runreport.Report](func(c apiCall) []string { return []string{"status", "--report", "--json", "--", string(c.run())} })),
		getEndpoint("/api/v1/history", "figures over all runs of the repository", []queryParameter{{"since", "only runs since then: a date, or an age such as 7d"}},
			commandAnswer[history.HistoryFigures](func(c apiCall) []string {
				if since := c.get("since"); since != "" {
					return []string{"runs", "--stats", "--json", "--since", since}
				}
				return []string{"runs", "--stats", "--json"}
			})),
		getEndpoint("/api/v1/memory", "what was learned", nil, commandAnswer[commandoutput.Memory](constantArgs("memory", "--json"))),
		postEndpoint("/api/v1/memory", "approve or forget an episode", access.Admin, (*API).changeMemory),
		getEndpoint("/api/v1/rules", "the instructions that agents get for every path", nil, commandAnswer[commandoutput.Rules](constantArgs("rules", "--json"))),
		forAdmins(getEndpoint("/api/v1/doctor", "whether the requirements of Nexus are met", nil, commandAnswer[commandoutput.Doctor](constantArgs("doctor", "--json")))),
		forAdmins(getEndpoint("/api/v1/settings", "all settings, and where each comes from", nil, commandAnswer[commandoutput.Settings](constantArgs("config", "--json")))),
		forAdmins(getEndpoint("/api/v1/settings/{key}", "a setting, with what it means", nil,
			commandAnswer[commandoutput.Explained](func(c apiCall) []string { return []string{"config", "get", "--json", "--", c.PathValue("key")} }))),
		postEndpoint("/api/v1/settings", "set a setting, or remove it", access.Admin, (*API).changeSetting),
	}
}

func forAdmins(e endpoint) endpoint {
	e.role = access.Admin
	return e
}

func constantArgs(args ...string) func(apiCall) []string {
	return func(apiCall) []string { return args }
}

// commandAnswer turns a command that prints an object into an endpoint with that answer.
func commandAnswer[T any](args func(apiCall) []string) func(*API, apiCall) (T, error) {
	return commandPrinter[T]{args}.answer
}

// commandPrinter is a command that prints an object.
type commandPrinter[T any] struct{ args func(apiCall) []string }

func (p commandPrinter[T]) answer(a *API, c apiCall) (v T, err error) {
	err = a.readCommandOutput(c, access.CommandInput{Args: p.args(c)}, &v)
	return v, err
}

// readCommandOutput decodes the output of a command.
func (a *API) readCommandOutput(c apiCall, o access.CommandInput, to any) error {
	r := a.Act(context.WithoutCancel(c.Context()), c.caller(), o)
	if err := commandError(r); err != nil {
		return err
	}
	if why := r.Read(to); why != "" {
		return &nexus.Error{Code: nexus.CodeInternal, Message: why}
	}
	return nil
}

// commandError returns the error of a command; nil if it succeeded.
func commandError(r access.Result) error {
	if r.Code == "" {
		return nil
	}
	return &nexus.Error{Code: nexus.Code(r.Code), Message: r.Text, Hint: r.Hint}
}

// runChange runs a command that changes something.
func (a *API) runChange(c apiCall, o access.CommandInput) (Done, int, error) {
	return commandDone(a.Act(context.WithoutCancel(c.Context()), c.caller(), o), http.StatusOK)
}

func (a *API) submitReview(c apiCall, said nexus.ChangeReview) (Done, int, error) {
	data, err := access.Encode(said)
	if err != nil {
		return Done{}, 0, err
	}
	args := []string{"review", "--run", string(c.run()), "--json", "--batch", "-", "--", c.PathValue("task")}
	return a.runChange(c, access.CommandInput{Args: args, Stdin: string(data)})
}

func (a *API) planText(c apiCall) (PlanText, error) {
	args := []string{"plan", "--run", string(c.run()), "--markdown"}
	r := a.Act(context.WithoutCancel(c.Context()), c.caller(), access.CommandInput{Args: args})
	return PlanText{r.Text}, commandError(r)
}

func (a *API) comparePlan(c apiCall, edited PlanText) (PlanChanges, int, error) {
	args := []string{"plan", "--run", string(c.run()), "--json", "--diff", "--edited", "-"}
	changes := PlanChanges{Changes: []plandiff.TaskChange{}}
	err := a.readCommandOutput(c, access.CommandInput{Args: args, Stdin: edited.Markdown}, &changes)
	return changes, http.StatusOK, err
}

func (a *API) approvePlan(c apiCall, edited PlanText) (Done, int, error) {
	question := ""
	err := a.Hub.View(c.run(), func(p *projection.Projection) error {
		for _, i := range p.Inbox(c.now) {
			if i.Trigger == nexus.PlanTrigger {
				question = i.ID
			}
		}
		return nil
	})
	if err == nil && question == "" {
		err = &nexus.Error{Code: nexus.CodeTransition, Message: "no plan of the run waits for approval", Hint: "See its inbox."}
	}
	if err != nil {
		return Done{}, 0, err
	}
	args := []string{"approve", "--run", string(c.run()), "--plan", "-", "--", question}
	return a.runChange(c, access.CommandInput{Args: args, Stdin: edited.Markdown})
}

func (a *API) listReruns(c apiCall) (Page[rerun.Rerun], error) {
	if err := a.checkRunExists(c); err != nil {
		return Page[rerun.Rerun]{}, err
	}
	return pageOf(c, a.Gates.RerunsOf(c.run()))
}

func (a *API) rerunGate(c apiCall, again GateRun) (rerun.Rerun, int, error) {
	err := a.Hub.View(c.run(), func(p *projection.Projection) error {
		if _, ok := p.Task(again.Task, c.now); !ok {
			return notFound("task", string(again.Task))
		}
		return nil
	})
	if err != nil {
		return rerun.Rerun{}, 0, err
	}
	one, err := a.Gates.Start(c.Context(), a.Backend, rerun.Rerun{Run: c.run(), Task: again.Task, Gate: again.Gate})
	return one, http.StatusAccepted, err
}

func (a *API) runAtEvent(c apiCall) (RunAt, error) {
	number, err := strconv.ParseInt(c.PathValue("seq"), 10, 64)
	if err != nil || number < 1 {
		return RunAt{}, invalidInput("the number of an event is a whole number from 1", "See the log of the run.")
	}
	var last int64
	if err := a.Hub.View(c.run(), func(p *projection.Projection) error { last = p.LastSeq(); return nil }); err != nil {
		return RunAt{}, err
	}
	p, at, err := projection.ReplayUntil(c.run(), a.Journal.Events(c.Context(), c.run(), 0), number, last)
	if err != nil {
		return RunAt{}, err
	}
	return RunAt{at, p.Run(at.Time), p.Cards(at.Time)}, nil
}

func (a *API) changeMemory(c apiCall, l MemoryChange) (Done, int, error) {
	if !slices.Contains([]string{"approve", "forget"}, l.Action) || strings.TrimSpace(l.ID) == "" {
		return Done{}, 0, invalidInput("id and action are required; action is approve or forget", "See /api/v1/memory.")
	}
	return a.runChange(c, access.CommandInput{Args: []string{"memory", l.Action, "--json", "--", l.ID}})
}

func (a *API) changeSetting(c apiCall, s SettingChange) (Done, int, error) {
	if strings.TrimSpace(s.Key) == "" || s.Unset && s.Value != "" {
		return Done{}, 0, invalidInput("a key is required, and a value or unset", "See /api/v1/settings.")
	}
	args := []string{"config", "set"}
	if s.Unset {
		args = []string{"config", "unset"}
	}
	if s.Project {
		args = append(args, "--project")
	}
	if s.Confirm {
		if c.caller().Name != access.Owner {
			return Done{}, 0, &nexus.Error{
				Code: access.CodeRole, Message: "only the person who started the server may agree to a setting that allows more",
				Hint: "Ask them to run nexus config set.",
			}
		}
		args = append(args, "--yes")
	}
	if args = append(args, "--", s.Key); !s.Unset {
		args = append(args, s.Value)
	}
	return a.runChange(c, access.CommandInput{Args: args})
}
