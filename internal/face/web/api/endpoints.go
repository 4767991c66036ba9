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
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/face/view/transcript"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
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
	Run     nexus.RunID      `json:"run"`
	Goal    string           `json:"goal"`
	Tasks   []nexus.Task     `json:"tasks"`
	Cover   *nexus.PlanCover `json:"cover,omitempty"`   // its coverage check; absent: not checked
	Consent *view.Consent    `json:"consent,omitempty"` // reaction of people; absent: none
	Outlook projection.Plan  `json:"outlook"`           // its estimate and risks
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
	Seq     int64        `json:"seq"` // of its event
	At      time.Time    `json:"at"`
	Verb    nexus.Verb   `json:"verb"`
	Task    nexus.TaskID `json:"task,omitempty"`
	ID      string       `json:"id,omitempty"` // the question, criterion, branch or name
	Text    string       `json:"text,omitempty"`
	By      string       `json:"by,omitempty"`
	Settled bool         `json:"settled"` // the run has decided
	Granted bool         `json:"granted"`
	Why     string       `json:"why,omitempty"` // why it was refused
}

// Done is the result of a request.
type Done struct {
	Version int             `json:"version"`
	Text    string          `json:"text"`             // for people
	Result  json.RawMessage `json:"result,omitempty"` // the JSON output of the command
}

//nolint:gochecknoglobals // never written
var (
	ofTask = []param{{"task", "only those of this task"}}
	ofWhat = []param{{"task", "the task"}, {"item", "the item"}}
	ofLane = []param{{"lane", "only tasks in this state, such as needs-you or running"}}
)

// endpoints returns the endpoints of the API, besides its description and the stream.
func endpoints() []endpoint {
	const run = "/api/v1/runs/{run}"
	return append([]endpoint{
		reads("/api/v1/runs", "the runs of the repository, the latest first", paging, (*API).runs),
		changes("/api/v1/runs", "start a run in the background; it continues when the server ends", access.Admin, (*API).start),
		reads("/api/v1/inbox", "questions and notices of all runs", paging, (*API).inboxes),
		reads(run, "the status of a run", nil, seen(func(p *projection.Projection, c call) (view.Run, error) { return p.Run(c.now), nil })),
		reads(run+"/inbox", "what waits for a person in a run", paging, listed(inbox)),
		reads(run+"/tasks", "the tasks of a run, in the order of the plan", slices.Concat(paging, ofLane), listed(cards)),
		reads(run+"/tasks/{task}", "a task with its criteria, attempts, checks and what can be done with it", nil, seen(task)),
		reads(run+"/attempts", "the attempts at the tasks of a run", slices.Concat(paging, ofTask), listed(attempts)),
		reads(run+"/sessions", "the sessions of agents", slices.Concat(paging, ofTask), listed(sessions)),
		reads(run+"/sessions/{session...}", "the transcript of a session", nil, (*API).session),
		reads(run+"/plan", "the plan of a run", nil, seen(plan)),
		reads(run+"/evidence", "which criteria the landed work meets, with evidence", nil, (*API).evidence),
		reads(run+"/ledger", "what a run costs: by task, role, model, stage and day", nil, seen(ledger)),
		reads(run+"/graph", "the plan as a layered graph, with its critical path and collisions", nil, seen(graph)),
		reads(run+"/graph/without/{task}", "the effect of skipping a task", nil, seen(without)),
		reads(run+"/timeline", "the timeline of attempts", nil, seen(timeline)),
		reads(run+"/checks", "the result of each gate for each task", nil, seen(checks)),
		reads(run+"/log", "the events, one line each; cursor is the number of an event", paging, (*API).log),
		reads(run+"/actions", "the possible actions on a run, a task or an item of its inbox", ofWhat, seen(offer)),
		reads(run+"/requests", "the requests to a run, who made them, and their results; the oldest first", paging, (*API).requests),
		changes(run+"/requests", "perform an action that actions, inbox or a task lists", access.Answer, (*API).request),
	}, commanded()...)
}

// exists returns an error if there is no such run.
func (a *API) exists(c call) error {
	return a.Hub.View(c.run(), func(*projection.Projection) error { return nil })
}

func inbox(p *projection.Projection, c call) []projection.Item { return p.Inbox(c.now) }

func ledger(p *projection.Projection, c call) (projection.Cost, error) { return p.Cost(c.now), nil }

func graph(p *projection.Projection, c call) (projection.Graph, error) { return p.Graph(c.now), nil }

func timeline(p *projection.Projection, c call) (projection.Timeline, error) {
	return p.Timeline(c.now), nil
}

func checks(p *projection.Projection, _ call) (projection.Checks, error) { return p.Checks(), nil }

// seen turns a query of a projection into an endpoint.
func seen[T any](f func(*projection.Projection, call) (T, error)) func(*API, call) (T, error) {
	return func(a *API, c call) (v T, err error) {
		err = a.Hub.View(c.run(), func(p *projection.Projection) (err error) {
			v, err = f(p, c)
			return err
		})
		return v, err
	}
}

// listed turns a list of a projection into an endpoint.
func listed[T any](f func(*projection.Projection, call) []T) func(*API, call) (Page[T], error) {
	return seen(func(p *projection.Projection, c call) (Page[T], error) { return page(c, f(p, c)) })
}

func (a *API) runs(c call) (Page[Row], error) {
	ids, err := page(c, a.Hub.IDs())
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

func (a *API) inboxes(c call) (Page[projection.Item], error) {
	all, err := a.Hub.Inbox(c.now)
	if err != nil {
		return Page[projection.Item]{}, err
	}
	return page(c, all)
}

func cards(p *projection.Projection, c call) []projection.Card {
	lane := projection.Lane(c.get("lane"))
	return slices.DeleteFunc(p.Cards(c.now), func(k projection.Card) bool { return lane != "" && k.Lane != lane })
}

func notFound(what, name string) error {
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: "there is no " + what + " " + view.Quote(name), Hint: "See /api/v1/runs and the lists of a run.",
	}
}

func task(p *projection.Projection, c call) (projection.Task, error) {
	t, ok := p.Task(nexus.TaskID(c.PathValue("task")), c.now)
	if !ok {
		return t, notFound("task", c.PathValue("task"))
	}
	return t, nil
}

func without(p *projection.Projection, c call) (projection.WhatIf, error) {
	w, ok := p.WithoutTask(nexus.TaskID(c.PathValue("task")), c.now)
	if !ok {
		return w, notFound("task that can be skipped", c.PathValue("task"))
	}
	return w, nil
}

func attempts(p *projection.Projection, c call) []Tried {
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

func sessions(p *projection.Projection, c call) []projection.Session {
	only := nexus.TaskID(c.get("task"))
	return slices.DeleteFunc(p.Sessions(c.now), func(s projection.Session) bool { return only != "" && s.Task != only })
}

func (a *API) session(c call) (transcript.Conversation, error) {
	id := c.PathValue("session")
	if err := a.exists(c); err != nil {
		return transcript.Conversation{}, err
	}
	t, ok, err := transcript.Of(nexus.SessionID(id), a.Journal.Events(c.Context(), c.run(), 0), a.Blob)
	if err == nil && !ok {
		err = notFound("session", id)
	}
	return t, err
}

func plan(p *projection.Projection, c call) (Plan, error) {
	s, r := p.State(), p.Run(c.now)
	out := Plan{Run: s.Run, Goal: s.Goal.Goal.Text, Tasks: []nexus.Task{}, Cover: r.Cover, Consent: r.Consent, Outlook: p.Plan()}
	for _, card := range p.Cards(c.now) {
		if t := s.Task(card.ID); t != nil {
			out.Tasks = append(out.Tasks, t.Task)
		}
	}
	return out, nil
}

func (a *API) evidence(c call) (accept.Table, error) {
	var made []nexus.Event
	for e, err := range a.Journal.Events(c.Context(), c.run(), 0) {
		if err != nil {
			return accept.Table{}, err
		}
		if _, ok := e.Fact.(nexus.RequestMade); ok {
			made = append(made, e)
		}
	}
	return seen(func(p *projection.Projection, _ call) (accept.Table, error) {
		return accept.TableOf(p.State(), accept.Waivers(made)), nil
	})(a, c)
}

func (a *API) log(c call) (Page[projection.LogLine], error) {
	limit, err := number(c.get("limit"), usualPage, 1, mostPage, "limit")
	if err != nil {
		return Page[projection.LogLine]{}, err
	}
	after, err := number(c.get("cursor"), 0, 0, 1<<53, "cursor")
	if err != nil {
		return Page[projection.LogLine]{}, err
	}
	out := Page[projection.LogLine]{Version: 1, Items: []projection.LogLine{}}
	err = a.Hub.View(c.run(), func(p *projection.Projection) error {
		lines, err := p.Log(int64(after), limit)
		out.Items, out.Total = append(out.Items, lines...), len(lines)
		if n := len(lines); n > 0 && lines[n-1].Seq < p.Seq() {
			out.Next = strconv.FormatInt(lines[n-1].Seq, 10)
		}
		return err
	})
	return out, err
}

func offer(p *projection.Projection, c call) (Offer, error) {
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

// requests lists the requests to a run.
func (a *API) requests(c call) (Page[Asked], error) {
	if err := a.exists(c); err != nil {
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
	return page(c, all)
}

func (a *API) request(c call, ask access.Ask) (Done, int, error) {
	ask.Run = c.run()
	r, err := a.Do(c.Context(), c.by(), ask)
	if err != nil {
		return Done{}, 0, err
	}
	return done(r, http.StatusOK)
}

func done(r access.Result, status int) (Done, int, error) {
	if err := failure(r); err != nil {
		return Done{}, 0, err
	}
	return Done{Version: 1, Text: strings.TrimSpace(r.Text), Result: r.Data}, status, nil
}

func (a *API) start(c call, s Start) (Done, int, error) {
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
		return Done{}, 0, invalid("the goal is empty", "Describe in goal what must be true afterwards.")
	}
	order := access.Order{Args: append(args, "--", s.Goal)}
	return done(a.Act(context.WithoutCancel(c.Context()), c.by(), order), http.StatusAccepted)
}
