package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/common/transcript"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// RunListRow is a run in a list.
type RunListRow struct {
	Run      nexus.RunID     `json:"run"`
	Goal     string          `json:"goal"`
	Status   nexus.RunStatus `json:"status"`
	Why      string          `json:"why,omitzero"`
	Started  time.Time       `json:"started,omitzero"`
	Ended    time.Time       `json:"ended,omitzero"`
	Seconds  float64         `json:"seconds"`
	Money    view.RunMoney   `json:"money"`
	Counts   view.TaskCounts `json:"counts"`
	NeedsYou int             `json:"needs_you"` // open questions
}

// TaskAttempt is an attempt with its task.
type TaskAttempt struct {
	Task nexus.TaskID `json:"task"`
	projection.AttemptView
}

// RunPlan is the plan of a run.
type RunPlan struct {
	Run     nexus.RunID                  `json:"run"`
	Goal    string                       `json:"goal"`
	Tasks   []nexus.Task                 `json:"tasks"`
	Cover   *nexus.PlanCoverage          `json:"cover,omitempty"`   // its coverage check; absent: not checked
	Consent *view.PlanReactionView       `json:"consent,omitempty"` // reaction of people; absent: none
	Outlook projection.PlanApprovalFacts `json:"outlook"`           // its estimate and risks
}

// AvailableActions lists the actions that are possible now.
type AvailableActions struct {
	Version int                       `json:"version"`
	Actions []projection.PersonAction `json:"actions"`
}

// StartRunRequest is a run to start.
type StartRunRequest struct {
	Goal     string      `json:"goal"`               // the state to reach
	Budget   nexus.Money `json:"budget,omitempty"`   // spending limit, in dollars
	MaxTime  string      `json:"max_time,omitempty"` // time limit, such as 90m
	Target   string      `json:"target,omitempty"`   // branch for the result; default: the checked-out one
	Land     bool        `json:"land,omitempty"`     // also move that branch at the end
	Approval string      `json:"approval,omitempty"` // approval level, such as supervised
}

// RunRequestRow is a request to a run.
type RunRequestRow struct {
	Seq     int64             `json:"seq"` // of its event
	At      time.Time         `json:"at"`
	Verb    nexus.RequestKind `json:"verb"`
	Task    nexus.TaskID      `json:"task,omitempty"`
	ID      string            `json:"id,omitempty"` // the question, criterion, branch or name
	Text    string            `json:"text,omitempty"`
	By      string            `json:"by,omitempty"`
	Settled bool              `json:"settled"` // the run has decided
	Granted bool              `json:"granted"`
	Why     string            `json:"why,omitempty"` // why it was refused
}

// RequestOutcome is the result of a request.
type RequestOutcome struct {
	Version int             `json:"version"`
	Text    string          `json:"text"`             // for people
	Result  json.RawMessage `json:"result,omitempty"` // the JSON output of the command
}

//nolint:gochecknoglobals // never written
var (
	ofTask = []queryParameter{{"task", "only those of this task"}}
	ofWhat = []queryParameter{{"task", "the task"}, {"item", "the item"}}
	ofLane = []queryParameter{{"lane", "only tasks in this state, such as needs-you or running"}}
)

// readEndpoints returns the endpoints of the API, besides its description and the stream.
func readEndpoints() []apiEndpoint {
	const run = "/api/v1/runs/{run}"
	return append([]apiEndpoint{
		getEndpoint("/api/v1/runs", "the runs of the repository, the latest first", paging, (*API).listRuns),
		postEndpoint("/api/v1/runs", "start a run in the background; it continues when the server ends", access.Admin, (*API).startRun),
		getEndpoint("/api/v1/inbox", "questions and notices of all runs", paging, (*API).listInbox),
		getEndpoint(run, "the status of a run", nil, projectionAnswerFunc(func(p *projection.RunProjection, c apiCall) (view.RunView, error) { return p.Run(c.now), nil })),
		getEndpoint(run+"/inbox", "what waits for a person in a run", paging, projectionListFunc(runInbox)),
		getEndpoint(run+"/tasks", "the tasks of a run, in the order of the plan", slices.Concat(paging, ofLane), projectionListFunc(taskCards)),
		getEndpoint(run+"/tasks/{task}", "a task with its criteria, attempts, checks and what can be done with it", nil, projectionAnswerFunc(taskDetails)),
		getEndpoint(run+"/attempts", "the attempts at the tasks of a run", slices.Concat(paging, ofTask), projectionListFunc(taskAttempts)),
		getEndpoint(run+"/sessions", "the sessions of agents", slices.Concat(paging, ofTask), projectionListFunc(agentSessions)),
		getEndpoint(run+"/sessions/{session...}", "the transcript of a session", nil, (*API).readSession),
		getEndpoint(run+"/plan", "the plan of a run", nil, projectionAnswerFunc(runPlan)),
		getEndpoint(run+"/evidence", "which criteria the landed work meets, with evidence", nil, (*API).criteriaTable),
		getEndpoint(run+"/ledger", "what a run costs: by task, role, model, stage and day", nil, projectionAnswerFunc(runCost)),
		getEndpoint(run+"/graph", "the plan as a layered graph, with its critical path and collisions", nil, projectionAnswerFunc(runGraph)),
		getEndpoint(run+"/graph/without/{task}", "the effect of skipping a task", nil, projectionAnswerFunc(withoutTask)),
		getEndpoint(run+"/timeline", "the timeline of attempts", nil, projectionAnswerFunc(runTimeline)),
		getEndpoint(run+"/checks", "the result of each gate for each task", nil, projectionAnswerFunc(runChecks)),
		getEndpoint(run+"/log", "the events, one line each; cursor is the number of an event", paging, (*API).readLog),
		getEndpoint(run+"/actions", "the possible actions on a run, a task or an item of its inbox", ofWhat, projectionAnswerFunc(availableActions)),
		getEndpoint(run+"/requests", "the requests to a run, who made them, and their results; the oldest first", paging, (*API).listRequests),
		postEndpoint(run+"/requests", "perform an action that actions, inbox or a task lists", access.Answer, (*API).performRequest),
	}, commandEndpoints()...)
}

// checkRunExists returns an error if there is no such run.
func (a *API) checkRunExists(c apiCall) error {
	return a.Hub.WithProjection(c.runID(), func(*projection.RunProjection) error { return nil })
}

func runInbox(p *projection.RunProjection, c apiCall) []projection.InboxItem {
	return p.InboxItems(c.now)
}

func runCost(p *projection.RunProjection, c apiCall) (projection.RunCostView, error) {
	return p.Cost(c.now), nil
}

func runGraph(p *projection.RunProjection, c apiCall) (projection.PlanGraph, error) {
	return p.PlanGraph(c.now), nil
}

func runTimeline(p *projection.RunProjection, c apiCall) (projection.RunTimeline, error) {
	return p.Timeline(c.now), nil
}

func runChecks(p *projection.RunProjection, _ apiCall) (projection.GateResultTable, error) {
	return p.GateResults(), nil
}

// projectionAnswerFunc turns a query of a projection into an endpoint.
func projectionAnswerFunc[T any](f func(*projection.RunProjection, apiCall) (T, error)) func(*API, apiCall) (T, error) {
	return func(a *API, c apiCall) (v T, err error) {
		err = a.Hub.WithProjection(c.runID(), func(p *projection.RunProjection) (err error) {
			v, err = f(p, c)
			return err
		})
		return v, err
	}
}

// projectionListFunc turns a list of a projection into an endpoint.
func projectionListFunc[T any](f func(*projection.RunProjection, apiCall) []T) func(*API, apiCall) (ListPage[T], error) {
	return projectionAnswerFunc(func(p *projection.RunProjection, c apiCall) (ListPage[T], error) { return pageOfList(c, f(p, c)) })
}

func (a *API) listRuns(c apiCall) (ListPage[RunListRow], error) {
	ids, err := pageOfList(c, a.Hub.RunIDs())
	if err != nil {
		return ListPage[RunListRow]{}, err
	}
	rows := ListPage[RunListRow]{Version: 1, Total: ids.Total, Next: ids.Next, Items: []RunListRow{}}
	for _, id := range ids.Items {
		err := a.Hub.WithProjection(id, func(p *projection.RunProjection) error {
			r := p.Run(c.now)
			rows.Items = append(rows.Items, RunListRow{
				r.ID, r.Goal, r.Status, r.Why, r.Started, r.Ended, r.Seconds, r.Money, r.Counts, projection.CountWaiting(p.InboxItems(c.now)),
			})
			return nil
		})
		if err != nil {
			return ListPage[RunListRow]{}, err
		}
	}
	return rows, nil
}

func (a *API) listInbox(c apiCall) (ListPage[projection.InboxItem], error) {
	all, err := a.Hub.Inbox(c.now)
	if err != nil {
		return ListPage[projection.InboxItem]{}, err
	}
	return pageOfList(c, all)
}

func taskCards(p *projection.RunProjection, c apiCall) []projection.TaskCard {
	lane := projection.BoardLane(c.queryValue("lane"))
	return slices.DeleteFunc(p.TaskCards(c.now), func(k projection.TaskCard) bool { return lane != "" && k.Lane != lane })
}

func notFound(what, name string) error {
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: "there is no " + what + " " + view.QuoteForTerminal(name), Hint: "See /api/v1/runs and the lists of a run.",
	}
}

func taskDetails(p *projection.RunProjection, c apiCall) (projection.TaskDetailView, error) {
	t, ok := p.TaskDetailView(nexus.TaskID(c.PathValue("task")), c.now)
	if !ok {
		return t, notFound("task", c.PathValue("task"))
	}
	return t, nil
}

func withoutTask(p *projection.RunProjection, c apiCall) (projection.TaskRemovalForecast, error) {
	w, ok := p.ForecastWithoutTask(nexus.TaskID(c.PathValue("task")), c.now)
	if !ok {
		return w, notFound("task that can be skipped", c.PathValue("task"))
	}
	return w, nil
}

func taskAttempts(p *projection.RunProjection, c apiCall) []TaskAttempt {
	all := []TaskAttempt{}
	for _, card := range p.TaskCards(c.now) {
		if only := c.queryValue("task"); only != "" && only != string(card.ID) {
			continue
		}
		t, _ := p.TaskDetailView(card.ID, c.now)
		for _, try := range t.Tries {
			all = append(all, TaskAttempt{card.ID, try})
		}
	}
	return all
}

func agentSessions(p *projection.RunProjection, c apiCall) []projection.SessionView {
	only := nexus.TaskID(c.queryValue("task"))
	return slices.DeleteFunc(p.Sessions(c.now), func(s projection.SessionView) bool { return only != "" && s.Task != only })
}

func (a *API) readSession(c apiCall) (transcript.ConversationTranscript, error) {
	id := c.PathValue("session")
	if err := a.checkRunExists(c); err != nil {
		return transcript.ConversationTranscript{}, err
	}
	t, ok, err := transcript.ReadConversation(nexus.SessionID(id), a.Journal.Events(c.Context(), c.runID(), 0), a.Blob)
	if err == nil && !ok {
		err = notFound("session", id)
	}
	return t, err
}

func runPlan(p *projection.RunProjection, c apiCall) (RunPlan, error) {
	s, r := p.State(), p.Run(c.now)
	out := RunPlan{Run: s.Run, Goal: s.Goal.Goal.Text, Tasks: []nexus.Task{}, Cover: r.Cover, Consent: r.Consent, Outlook: p.PlanApprovalFacts()}
	for _, card := range p.TaskCards(c.now) {
		if t := s.TaskByID(card.ID); t != nil {
			out.Tasks = append(out.Tasks, t.Task)
		}
	}
	return out, nil
}

func (a *API) criteriaTable(c apiCall) (accept.CriteriaTable, error) {
	var made []nexus.Event
	for e, err := range a.Journal.Events(c.Context(), c.runID(), 0) {
		if err != nil {
			return accept.CriteriaTable{}, err
		}
		if _, ok := e.Fact.(nexus.RequestMade); ok {
			made = append(made, e)
		}
	}
	return projectionAnswerFunc(func(p *projection.RunProjection, _ apiCall) (accept.CriteriaTable, error) {
		return accept.BuildCriteriaTable(p.State(), accept.WaiversFrom(made)), nil
	})(a, c)
}

func (a *API) readLog(c apiCall) (ListPage[projection.EventLogLine], error) {
	limit, err := parseIntInRange(c.queryValue("limit"), usualPage, 1, mostPage, "limit")
	if err != nil {
		return ListPage[projection.EventLogLine]{}, err
	}
	after, err := parseIntInRange(c.queryValue("cursor"), 0, 0, 1<<53, "cursor")
	if err != nil {
		return ListPage[projection.EventLogLine]{}, err
	}
	out := ListPage[projection.EventLogLine]{Version: 1, Items: []projection.EventLogLine{}}
	err = a.Hub.WithProjection(c.runID(), func(p *projection.RunProjection) error {
		lines, err := p.EventLog(int64(after), limit)
		out.Items, out.Total = append(out.Items, lines...), len(lines)
		if n := len(lines); n > 0 && lines[n-1].Seq < p.LastSeq() {
			out.Next = strconv.FormatInt(lines[n-1].Seq, 10)
		}
		return err
	})
	return out, err
}

func availableActions(p *projection.RunProjection, c apiCall) (AvailableActions, error) {
	out := AvailableActions{Version: 1}
	switch item, id := c.queryValue("item"), c.queryValue("task"); {
	case item != "":
		out.Actions = p.ItemActions(item, c.now)
	case id != "":
		out.Actions = p.TaskActions(nexus.TaskID(id))
	default:
		out.Actions = p.RunActions()
	}
	return out, nil
}

// listRequests lists the requests to a run.
func (a *API) listRequests(c apiCall) (ListPage[RunRequestRow], error) {
	if err := a.checkRunExists(c); err != nil {
		return ListPage[RunRequestRow]{}, err
	}
	all, at := []RunRequestRow{}, map[int64]int{}
	for e, err := range a.Journal.Events(c.Context(), c.runID(), 0) {
		if err != nil {
			return ListPage[RunRequestRow]{}, err
		}
		if f, made := e.Fact.(nexus.RequestMade); made {
			at[e.Seq] = len(all)
			r := f.Request
			all = append(all, RunRequestRow{Seq: e.Seq, At: e.At, Verb: r.Verb, Task: r.Task, ID: r.ID, Text: r.Text, By: r.By})
		}
		if f, settled := e.Fact.(nexus.RequestSettled); settled {
			if i, known := at[f.Seq]; known {
				all[i].Settled, all[i].Granted, all[i].Why = true, f.Granted, f.Why
			}
		}
	}
	return pageOfList(c, all)
}

func (a *API) performRequest(c apiCall, ask access.ActionRequest) (RequestOutcome, int, error) {
	ask.Run = c.runID()
	r, err := a.PerformAction(c.Context(), c.caller(), ask)
	if err != nil {
		return RequestOutcome{}, 0, err
	}
	return requestOutcome(r, http.StatusOK)
}

func requestOutcome(r access.CommandLineResult, status int) (RequestOutcome, int, error) {
	if err := commandError(r); err != nil {
		return RequestOutcome{}, 0, err
	}
	return RequestOutcome{Version: 1, Text: strings.TrimSpace(r.Text), Result: r.Data}, status, nil
}

func (a *API) startRun(c apiCall, s StartRunRequest) (RequestOutcome, int, error) {
	args := []string{"run", "--detach", "--json"}
	flag := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	if s.Budget > 0 {
		flag("budget", strconv.FormatFloat(s.Budget.Dollars(), 'f', -1, 64))
	}
	flag("max-time", s.MaxTime)
	flag("target", s.Target)
	flag("approval", s.Approval)
	if s.Land {
		args = append(args, "--land")
	}
	if strings.TrimSpace(s.Goal) == "" {
		return RequestOutcome{}, 0, invalidInput("the goal is empty", "Describe in goal what must be true afterwards.")
	}
	order := access.CommandInput{Args: append(args, "--", s.Goal)}
	return requestOutcome(a.Act(context.WithoutCancel(c.Context()), c.caller(), order), http.StatusAccepted)
}
