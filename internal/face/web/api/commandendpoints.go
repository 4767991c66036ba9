package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/commandjson"
	"github.com/nexus-ai-builder/nexus/internal/face/web/gatererun"
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

// GateRerunRequest is a gate of a task to run again.
type GateRerunRequest struct {
	Task nexus.TaskID `json:"task"`
	Gate string       `json:"gate"`
}

// MemoryChangeRequest is a change of a memory entry.
type MemoryChangeRequest struct {
	ID     string `json:"id"`
	Action string `json:"action"` // approve or forget
}

// SettingChangeRequest is a setting to change.
type SettingChangeRequest struct {
	Key     string `json:"key"`
	Value   string `json:"value,omitempty"`   // as nexus config set accepts it
	Unset   bool   `json:"unset,omitempty"`   // remove it instead
	Project bool   `json:"project,omitempty"` // in the project's file, not in the user's
	Confirm bool   `json:"confirm,omitempty"` // agree to the access that it opens; needs the server's owner
}

// RunAtEvent is a run in its state after an event.
type RunAtEvent struct {
	projection.ReplayPoint

	Run   view.RunView          `json:"run"`
	Tasks []projection.TaskCard `json:"tasks"`
}

// maxPlan limits the size of a plan, in bytes.
const maxPlan = 1 << 20

// commandEndpoints returns the endpoints that run a command of the program.
func commandEndpoints() []apiEndpoint {
	const run = "/api/v1/runs/{run}"
	compare := postEndpoint(run+"/plan/compare", "the differences of an edited plan, or its errors", access.Steer, (*API).comparePlan)
	approve := postEndpoint(run+"/plan", "approve an edited plan in place of the one that the run asks about", access.Steer, (*API).approvePlan)
	compare.limit, approve.limit = 2*maxPlan, 2*maxPlan
	return []apiEndpoint{
		getEndpoint(run+"/tasks/{task}/diff", "the change of a task, the riskiest files first, with comments and drafts of the caller", nil,
			commandAnswerFunc[changereview.TaskChangeReview](func(c apiCall) []string {
				return []string{"review", "--run", string(c.runID()), "--json", "--", c.PathValue("task")}
			})),
		postEndpoint(run+"/tasks/{task}/diff", "review the change of a task: comment, resolve, apply suggestions and approve, all at once", access.Steer, (*API).submitReview),
		getEndpoint(run+"/plan/text", "the plan of a run as Markdown, as people edit it", nil, (*API).planText),
		compare, approve,
		getEndpoint(run+"/checks/again", "the gates that were run again since the server began, the latest first", paging, (*API).listReruns),
		postEndpoint(run+"/checks/again", "run one gate of a task again; it decides nothing in the run", access.Steer, (*API).rerunGate),
		getEndpoint(run+"/interview", "the questions about the goal, and their answers", nil,
			projectionAnswerFunc(func(p *projection.RunProjection, c apiCall) (projection.InterviewQuestions, error) {
				return p.InterviewQuestions(c.now), nil
			})),
		getEndpoint(run+"/at/{seq}", "a run and its tasks as they were after an event", nil, (*API).runStateAtEvent),
		getEndpoint(run+"/report", "landed work with evidence, open work with reasons, money, time, graph and timeline", nil,
			commandAnswerFunc[runreport.Report](func(c apiCall) []string { return []string{"status", "--report", "--json", "--", string(c.runID())} })),
		getEndpoint("/api/v1/history", "figures over all runs of the repository", []queryParameter{{"since", "only runs since then: a date, or an age such as 7d"}},
			commandAnswerFunc[runhistory.RunHistoryStatistics](func(c apiCall) []string {
				if since := c.queryValue("since"); since != "" {
					return []string{"runs", "--stats", "--json", "--since", since}
				}
				return []string{"runs", "--stats", "--json"}
			})),
		getEndpoint("/api/v1/memory", "what was learned", nil, commandAnswerFunc[commandjson.MemoryListOutput](constantArgs("memory", "--json"))),
		postEndpoint("/api/v1/memory", "approve or forget an episode", access.Admin, (*API).changeMemory),
		getEndpoint("/api/v1/rules", "the instructions that agents get for every path", nil, commandAnswerFunc[commandjson.RulesOutput](constantArgs("rules", "--json"))),
		restrictToAdmins(getEndpoint("/api/v1/doctor", "whether the requirements of Nexus are met", nil, commandAnswerFunc[commandjson.DoctorOutput](constantArgs("doctor", "--json")))),
		restrictToAdmins(getEndpoint("/api/v1/settings", "all settings, and where each comes from", nil, commandAnswerFunc[commandjson.ConfigOutput](constantArgs("config", "--json")))),
		restrictToAdmins(getEndpoint("/api/v1/settings/{key}", "a setting, with what it means", nil,
			commandAnswerFunc[commandjson.SettingExplanation](func(c apiCall) []string { return []string{"config", "get", "--json", "--", c.PathValue("key")} }))),
		postEndpoint("/api/v1/settings", "set a setting, or remove it", access.Admin, (*API).changeSetting),
	}
}

func restrictToAdmins(e apiEndpoint) apiEndpoint {
	e.role = access.Admin
	return e
}

func constantArgs(args ...string) func(apiCall) []string {
	return func(apiCall) []string { return args }
}

// commandAnswerFunc turns a command that prints an object into an endpoint with that answer.
func commandAnswerFunc[T any](args func(apiCall) []string) func(*API, apiCall) (T, error) {
	return objectCommand[T]{args}.answer
}

// objectCommand is a command that prints an object.
type objectCommand[T any] struct{ args func(apiCall) []string }

func (p objectCommand[T]) answer(a *API, c apiCall) (v T, err error) {
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
func commandError(r access.CommandLineResult) error {
	if r.Code == "" {
		return nil
	}
	return &nexus.Error{Code: nexus.ErrorCode(r.Code), Message: r.Text, Hint: r.Hint}
}

// runChange runs a command that changes something.
func (a *API) runChange(c apiCall, o access.CommandInput) (RequestOutcome, int, error) {
	return requestOutcome(a.Act(context.WithoutCancel(c.Context()), c.caller(), o), http.StatusOK)
}

func (a *API) submitReview(c apiCall, said nexus.ChangeReview) (RequestOutcome, int, error) {
	data, err := access.EncodeSafeJSON(said)
	if err != nil {
		return RequestOutcome{}, 0, err
	}
	args := []string{"review", "--run", string(c.runID()), "--json", "--batch", "-", "--", c.PathValue("task")}
	return a.runChange(c, access.CommandInput{Args: args, Stdin: string(data)})
}

func (a *API) planText(c apiCall) (PlanText, error) {
	args := []string{"plan", "--run", string(c.runID()), "--markdown"}
	r := a.Act(context.WithoutCancel(c.Context()), c.caller(), access.CommandInput{Args: args})
	return PlanText{r.Text}, commandError(r)
}

func (a *API) comparePlan(c apiCall, edited PlanText) (PlanChanges, int, error) {
	args := []string{"plan", "--run", string(c.runID()), "--json", "--diff", "--edited", "-"}
	changes := PlanChanges{Changes: []plandiff.TaskChange{}}
	err := a.readCommandOutput(c, access.CommandInput{Args: args, Stdin: edited.Markdown}, &changes)
	return changes, http.StatusOK, err
}

func (a *API) approvePlan(c apiCall, edited PlanText) (RequestOutcome, int, error) {
	question := ""
	err := a.Hub.WithProjection(c.runID(), func(p *projection.RunProjection) error {
		for _, i := range p.InboxItems(c.now) {
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
		return RequestOutcome{}, 0, err
	}
	args := []string{"approve", "--run", string(c.runID()), "--plan", "-", "--", question}
	return a.runChange(c, access.CommandInput{Args: args, Stdin: edited.Markdown})
}

func (a *API) listReruns(c apiCall) (ListPage[gatererun.GateRerun], error) {
	if err := a.checkRunExists(c); err != nil {
		return ListPage[gatererun.GateRerun]{}, err
	}
	return pageOfList(c, a.Gates.RerunsOf(c.runID()))
}

func (a *API) rerunGate(c apiCall, again GateRerunRequest) (gatererun.GateRerun, int, error) {
	err := a.Hub.WithProjection(c.runID(), func(p *projection.RunProjection) error {
		if _, ok := p.TaskDetailView(again.Task, c.now); !ok {
			return notFound("task", string(again.Task))
		}
		return nil
	})
	if err != nil {
		return gatererun.GateRerun{}, 0, err
	}
	one, err := a.Gates.Start(c.Context(), a.WebBackend, gatererun.GateRerun{Run: c.runID(), Task: again.Task, Gate: again.Gate})
	return one, http.StatusAccepted, err
}

func (a *API) runStateAtEvent(c apiCall) (RunAtEvent, error) {
	number, err := strconv.ParseInt(c.PathValue("seq"), 10, 64)
	if err != nil || number < 1 {
		return RunAtEvent{}, invalidInput("the number of an event is a whole number from 1", "See the log of the run.")
	}
	var last int64
	if err := a.Hub.WithProjection(c.runID(), func(p *projection.RunProjection) error { last = p.LastSeq(); return nil }); err != nil {
		return RunAtEvent{}, err
	}
	p, at, err := projection.ReplayUntil(c.runID(), a.Journal.Events(c.Context(), c.runID(), 0), number, last)
	if err != nil {
		return RunAtEvent{}, err
	}
	return RunAtEvent{at, p.Run(at.Time), p.TaskCards(at.Time)}, nil
}

func (a *API) changeMemory(c apiCall, l MemoryChangeRequest) (RequestOutcome, int, error) {
	if !slices.Contains([]string{"approve", "forget"}, l.Action) || strings.TrimSpace(l.ID) == "" {
		return RequestOutcome{}, 0, invalidInput("id and action are required; action is approve or forget", "See /api/v1/memory.")
	}
	return a.runChange(c, access.CommandInput{Args: []string{"memory", l.Action, "--json", "--", l.ID}})
}

func (a *API) changeSetting(c apiCall, s SettingChangeRequest) (RequestOutcome, int, error) {
	if strings.TrimSpace(s.Key) == "" || s.Unset && s.Value != "" {
		return RequestOutcome{}, 0, invalidInput("a key is required, and a value or unset", "See /api/v1/settings.")
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
			return RequestOutcome{}, 0, &nexus.Error{
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
