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

// Row is a run in a list.
type Row struct {
	Run      nexus.RunID     `json:"run"`
	Goal     string          `json:"goal"`
	Status   nexus.RunStatus `json:"status"`
	Why      string          `json:"why,omitzero"`
	Started  time.Time       `json:"started,omitzero"`
	Ended    time.Time       `json:"ended,omitzero"`
	Seconds  float64         `json:"seconds"`
	Money    view.Money      `json:"money"`
	Counts   view.Counts     `json:"counts"`
	NeedsYou int             `json:"needs_you"` // open questions
}

// Tried is an attempt with its task.
type Tried struct {
	Task nexus.TaskID `json:"task"`
	projection.Attempt
}

// Plan is the plan of a run.
type Plan struct {
	Run     nexus.RunID        `json:"run"`
	Goal    string             `json:"goal"`
	Tasks   []nexus.Task       `json:"tasks"`
	Cover   *nexus.PlanCover   `json:"cover,omitempty"`   // its coverage check; absent: not checked
	Consent *view.PlanReaction `json:"consent,omitempty"` // reaction of people; absent: none
	Outlook projection.Plan    `json:"outlook"`           // its estimate and risks
}

// Offer lists the actions that are possible now.
type Offer struct {
	Version int                 `json:"version"`
	Actions []projection.Action `json:"actions"`
}

// Start is a run to start.
type Start struct {
	Goal     string      `json:"goal"`               // the state to reach
	Budget   nexus.Money `json:"budget,omitempty"`   // spending limit, in dollars
	MaxTime  string      `json:"max_time,omitempty"` // time limit, such as 90m
	Target   string      `json:"target,omitempty"`   // branch for the result; default: the checked-out one
	Land     bool        `json:"land,omitempty"`     // also move that branch at the end
	Approval string      `json:"approval,omitempty"` // approval level, such as supervised
}

// Asked is a request to a run.
type Asked struct {
	Seq     int64             `json:"seq"` // of its event
	At      time.Time         `json:"at"`
	Verb    nexus.RequestVerb `json:"verb"`
	Task    nexus.TaskID      `json:"task,omitempty"`
	ID      string            `json:"id,omitempty"` // the question, criterion, branch or name
	Text    string            `json:"text,omitempty"`
	By      string            `json:"by,omitempty"`
	Settled bool              `json:"settled"` // the run has decided
	Granted bool              `json:"granted"`
	Why     string            `json:"why,omitempty"` // why it was refused
}

// Done is the result of a request.
type Done struct {
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

// endpoints returns the endpoints of the API, besides its description and the stream.
func endpoints() []endpoint {
	const run = "/api/v1/runs/{run}"
	return append([]endpoint{
		getEndpoint("/api/v1/runs", "the runs of the repository, the latest first", paging, (*API).listRuns),
		postEndpoint("/api/v1/runs", "start a run in the background; it continues when the server ends", access.Admin, (*API).startRun),
		getEndpoint("/api/v1/inbox", "questions and notices of all runs", paging, (*API).listInbox),
		getEndpoint(run, "the status of a run", nil, projectionAnswer(func(p *projection.Projection, c apiCall) (view.Run, error) { return p.Run(c.now), nil })),
		getEndpoint(run+"/inbox", "what waits for a person in a run", paging, projectionList(runInbox)),
		getEndpoint(run+"/tasks", "the tasks of a run, in the order of the plan", slices.Concat(paging, ofLane), projectionList(taskCards)),
		getEndpoint(run+"/tasks/{task}", "a task with its criteria, attempts, checks and what can be done with it", nil, projectionAnswer(taskDetails)),
		getEndpoint(run+"/attempts", "the attempts at the tasks of a run", slices.Concat(paging, ofTask), projectionList(taskAttempts)),
		getEndpoint(run+"/sessions", "the sessions of agents", slices.Concat(paging, ofTask), projectionList(agentSessions)),
		getEndpoint(run+"/sessions/{session...}", "the transcript of a session", nil, (*API).readSession),
		getEndpoint(run+"/plan", "the plan of a run", nil, projectionAnswer(runPlan)),
		getEndpoint(run+"/evidence", "which criteria the landed work meets, with evidence", nil, (*API).criteriaTable),
		getEndpoint(run+"/ledger", "what a run costs: by task, role, model, stage and day", nil, projectionAnswer(runCost)),
		getEndpoint(run+"/graph", "the plan as a layered graph, with its critical path and collisions", nil, projectionAnswer(runGraph)),
		getEndpoint(run+"/graph/without/{task}", "the effect of skipping a task", nil, projectionAnswer(withoutTask)),
		getEndpoint(run+"/timeline", "the timeline of attempts", nil, projectionAnswer(runTimeline)),
		getEndpoint(run+"/checks", "the result of each gate for each task", nil, projectionAnswer(runChecks)),
		getEndpoint(run+"/log", "the events, one line each; cursor is the number of an event", paging, (*API).readLog),
		getEndpoint(run+"/actions", "the possible actions on a run, a task or an item of its inbox", ofWhat, projectionAnswer(availableActions)),
		getEndpoint(run+"/requests", "the requests to a run, who made them, and their results; the oldest first", paging, (*API).listRequests),
		postEndpoint(run+"/requests", "perform an action that actions, inbox or a task lists", access.Answer, (*API).performRequest),
	}, commandEndpoints()...)
}

// checkRunExists returns an error if there is no such run.
func (a *API) checkRunExists(c apiCall) error {
	return a.Hub.View(c.run(), func(*projection.Projection) error { return nil })
}

func runInbox(p *projection.Projection, c apiCall) []projection.Item { return p.Inbox(c.now) }

func runCost(p *projection.Projection, c apiCall) (projection.Cost, error) { return p.Cost(c.now), nil }

func runGraph(p *projection.Projection, c apiCall) (projection.Graph, error) {
	return p.Graph(c.now), nil
}

func runTimeline(p *projection.Projection, c apiCall) (projection.Timeline, error) {
	return p.Timeline(c.now), nil
}

func runChecks(p *projection.Projection, _ apiCall) (projection.Checks, error) {
	return p.Checks(), nil
}

// projectionAnswer turns a query of a projection into an endpoint.
func projectionAnswer[T any](f func(*projection.Projection, apiCall) (T, error)) func(*API, apiCall) (T, error) {
	return func(a *API, c apiCall) (v T, err error) {
		err = a.Hub.View(c.run(), func(p *projection.Projection) (err error) {
			v, err = f(p, c)
			return err
		})
		return v, err
	}
}

// projectionList turns a list of a projection into an endpoint.
func projectionList[T any](f func(*projection.Projection, apiCall) []T) func(*API, apiCall) (Page[T], error) {
	return projectionAnswer(func(p *projection.Projection, c apiCall) (Page[T], error) { return pageOf(c, f(p, c)) })
}

func (a *API) listRuns(c apiCall) (Page[Row], error) {
	ids, err := pageOf(c, a.Hub.IDs())
	if err != nil {
		return Page[Row]{}, err
	}
	rows := Page[Row]{Version: 1, Total: ids.Total, Next: ids.Next, Items: []Row{}}
	for _, id := range ids.Items {
		err := a.Hub.View(id, func(p *projection.Projection) error {
			r := p.Run(c.now)
			rows.Items = append(rows.Items, Row{
				r.ID, r.Goal, r.Status, r.Why, r.Started, r.Ended, r.Seconds, r.Money, r.Counts, projection.CountWaiting(p.Inbox(c.now)),
			})
			return nil
		})
		if err != nil {
			return Page[Row]{}, err
		}
	}
	return rows, nil
}

func (a *API) listInbox(c apiCall) (Page[projection.Item], error) {
	all, err := a.Hub.Inbox(c.now)
	if err != nil {
		return Page[projection.Item]{}, err
	}
	return pageOf(c, all)
}

func taskCards(p *projection.Projection, c apiCall) []projection.Card {
	lane := projection.Lane(c.get("lane"))
	return slices.DeleteFunc(p.Cards(c.now), func(k projection.Card) bool { return lane != "" && k.Lane != lane })
}

func notFound(what, name string) error {
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: "there is no " + what + " " + view.Quote(name), Hint: "See /api/v1/runs and the lists of a run.",
	}
}

func taskDetails(p *projection.Projection, c apiCall) (projection.Task, error) {
	t, ok := p.Task(nexus.TaskID(c.PathValue("task")), c.now)
	if !ok {
		return t, notFound("task", c.PathValue("task"))
	}
	return t, nil
}

func withoutTask(p *projection.Projection, c apiCall) (projection.WhatIf, error) {
	w, ok := p.WithoutTask(nexus.TaskID(c.PathValue("task")), c.now)
	if !ok {
		return w, notFound("task that can be skipped", c.PathValue("task"))
	}
	return w, nil
}

func taskAttempts(p *projection.Projection, c apiCall) []Tried {
	all := []Tried{}
	for _, card := range p.Cards(c.now) {
		if only := c.get("task"); only != "" && only != string(card.ID) {
			continue
		}
		t, _ := p.Task(card.ID, c.now)
		for _, try := range t.Tries {
			all = append(all, Tried{card.ID, try})
		}
	}
	return all
}

func agentSessions(p *projection.Projection, c apiCall) []projection.Session {
	only := nexus.TaskID(c.get("task"))
	return slices.DeleteFunc(p.Sessions(c.now), func(s projection.Session) bool { return only != "" && s.Task != only })
}

func (a *API) readSession(c apiCall) (transcript.Conversation, error) {
	id := c.PathValue("session")
	if err := a.checkRunExists(c); err != nil {
		return transcript.Conversation{}, err
	}
	t, ok, err := transcript.ConversationOf(nexus.SessionID(id), a.Journal.Events(c.Context(), c.run(), 0), a.Blob)
	if err == nil && !ok {
		err = notFound("session", id)
	}
	return t, err
}

func runPlan(p *projection.Projection, c apiCall) (Plan, error) {
	s, r := p.State(), p.Run(c.now)
	out := Plan{Run: s.Run, Goal: s.Goal.Goal.Text, Tasks: []nexus.Task{}, Cover: r.Cover, Consent: r.Consent, Outlook: p.Plan()}
	for _, card := range p.Cards(c.now) {
		if t := s.TaskByID(card.ID); t != nil {
			out.Tasks = append(out.Tasks, t.Task)
		}
	}
	return out, nil
}

func (a *API) criteriaTable(c apiCall) (accept.CriteriaTable, error) {
	var made []nexus.Event
	for e, err := range a.Journal.Events(c.Context(), c.run(), 0) {
		if err != nil {
			return accept.CriteriaTable{}, err
		}
		if _, ok := e.Fact.(nexus.RequestMade); ok {
			made = append(made, e)
		}
	}
	return projectionAnswer(func(p *projection.Projection, _ apiCall) (accept.CriteriaTable, error) {
		return accept.TableOf(p.State(), accept.WaiversFrom(made)), nil
	})(a, c)
}

func (a *API) readLog(c apiCall) (Page[projection.LogLine], error) {
	limit, err := parseIntInRange(c.get("limit"), usualPage, 1, mostPage, "limit")
	if err != nil {
		return Page[projection.LogLine]{}, err
	}
	after, err := parseIntInRange(c.get("cursor"), 0, 0, 1<<53, "cursor")
	if err != nil {
		return Page[projection.LogLine]{}, err
	}
	out := Page[projection.LogLine]{Version: 1, Items: []projection.LogLine{}}
	err = a.Hub.View(c.run(), func(p *projection.Projection) error {
		lines, err := p.Log(int64(after), limit)
		out.Items, out.Total = append(out.Items, lines...), len(lines)
		if n := len(lines); n > 0 && lines[n-1].Seq < p.LastSeq() {
			out.Next = strconv.FormatInt(lines[n-1].Seq, 10)
		}
		return err
	})
	return out, err
}

func availableActions(p *projection.Projection, c apiCall) (Offer, error) {
	out := Offer{Version: 1}
	switch item, id := c.get("item"), c.get("task"); {
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
func (a *API) listRequests(c apiCall) (Page[Asked], error) {
	if err := a.checkRunExists(c); err != nil {
		return Page[Asked]{}, err
	}
	all, at := []Asked{}, map[int64]int{}
	for e, err := range a.Journal.Events(c.Context(), c.run(), 0) {
		if err != nil {
			return Page[Asked]{}, err
		}
		if f, made := e.Fact.(nexus.RequestMade); made {
			at[e.Seq] = len(all)
			r := f.Request
			all = append(all, Asked{Seq: e.Seq, At: e.At, Verb: r.Verb, Task: r.Task, ID: r.ID, Text: r.Text, By: r.By})
		}
		if f, settled := e.Fact.(nexus.RequestSettled); settled {
			if i, known := at[f.Seq]; known {
				all[i].Settled, all[i].Granted, all[i].Why = true, f.Granted, f.Why
			}
		}
	}
	return pageOf(c, all)
}

func (a *API) performRequest(c apiCall, ask access.Ask) (Done, int, error) {
	ask.Run = c.run()
	r, err := a.PerformAction(c.Context(), c.caller(), ask)
	if err != nil {
		return Done{}, 0, err
	}
	return commandDone(r, http.StatusOK)
}

func commandDone(r access.Result, status int) (Done, int, error) {
	if err := commandError(r); err != nil {
		return Done{}, 0, err
	}
	return Done{Version: 1, Text: strings.TrimSpace(r.Text), Result: r.Data}, status, nil
}

func (a *API) startRun(c apiCall, s Start) (Done, int, error) {
	args := []string{"run", "--detach", "--json"}
	flag := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	if s.Budget > 0 {
		flag("budget", strconv.FormatFloat(s.Budget.Float(), 'f', -1, 64))
	}
	flag("max-time", s.MaxTime)
	flag("target", s.Target)
	flag("approval", s.Approval)
	if s.Land {
		args = append(args, "--land")
	}
	if strings.TrimSpace(s.Goal) == "" {
		return Done{}, 0, invalidInput("the goal is empty", "Describe in goal what must be true afterwards.")
	}
	order := access.CommandInput{Args: append(args, "--", s.Goal)}
	return commandDone(a.Act(context.WithoutCancel(c.Context()), c.caller(), order), http.StatusAccepted)
}
