package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

// Activity is a kind of thing that a task waits for.
type Activity string

// The activities.
const (
	DoingGate    Activity = "gate"    // a gate judges its tree
	DoingBase    Activity = "base"    // a gate judges the tree that it starts from
	DoingModel   Activity = "model"   // a model answers
	DoingTool    Activity = "tool"    // an agent's tools run
	DoingAccount Activity = "account" // an account takes no call now
	DoingPerson  Activity = "person"  // somebody is asked
	DoingLanding Activity = "landing" // it is merged, or waits until others are
	DoingSetup   Activity = "setup"   // its worktree is made ready, or a session is
)

// Now is what a task waits for at this moment.
type Now struct {
	What    Activity   `json:"what"`
	Of      string     `json:"of,omitzero"`   // the gate, model, tool call, account or question
	Role    nexus.Role `json:"role,omitzero"` // whose session it is
	Seconds float64    `json:"seconds,omitzero"`
	Usual   float64    `json:"usual_seconds,omitzero"` // what the gate takes otherwise; 0: unknown
	Asks    string     `json:"asks,omitzero"`          // what the question says, at most some 60 characters
}

// Left is a range of time, in seconds.
type Left struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Expect adds what only earlier runs can tell: how long gates take, and how
// long the run and its tasks will still take. A nil history knows of none.
func (r *Run) Expect(s *state.State, h *route.Stats, now time.Time) {
	if s.Status.Ended() {
		return
	}
	run, tasks := h.Left(s, now)
	r.Left = leftOf(run)
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if left, ok := tasks[t.ID]; ok && t.Now != nil {
			t.Left = leftOf(left)
		}
		if n := t.Now; n != nil && (n.What == DoingGate || n.What == DoingBase) {
			n.Usual = h.Usual(s, n.Of).Round(time.Millisecond).Seconds()
		}
	}
	if g := r.Now; g != nil && g.What == DoingGate {
		g.Usual = h.Usual(s, g.Of).Round(time.Millisecond).Seconds()
	}
}

func leftOf(l route.Remaining) *Left {
	if l == (route.Remaining{}) {
		return nil
	}
	return &Left{l.Low.Round(time.Second).Seconds(), l.High.Round(time.Second).Seconds()}
}

// nowOf returns what a task waits for, nil where nothing is done for it.
func nowOf(s *state.State, t *state.Task, status nexus.TaskStatus, now time.Time) *Now {
	a := t.Current()
	if a == nil || t.Withheld() && a.Stage != state.Working || s.Status.Ended() || s.Status == nexus.StatusPaused || status.Ended() || status == nexus.Pending || status == nexus.Blocked {
		return nil
	}
	for _, q := range s.Questions {
		if q.By == "" && q.Attempt == a.ID {
			return &Now{What: DoingPerson, Of: q.ID, Asks: legible.Cut(strings.Join(strings.Fields(q.Text), " "), 60)}
		}
	}
	for _, g := range s.Gating {
		if g.Attempt == a.ID || g.Task == t.ID {
			return gateNow(map[bool]Activity{true: DoingBase, false: DoingGate}[g.Base], g, now)
		}
	}
	landing := s.Aboard != nil && s.Aboard.Task == t.ID
	if landing {
		a = s.Aboard.Merge
	}
	if n := sessionNow(s, a, now); n != nil {
		return n
	}
	switch {
	case landing:
		return &Now{What: DoingLanding, Of: "merging"}
	case status == nexus.Boarding:
		return &Now{What: DoingLanding, Of: "queued"}
	}
	for _, g := range s.Gating {
		if g.Base {
			return gateNow(DoingBase, g, now)
		}
	}
	return &Now{What: DoingSetup}
}

// runNow returns what is done for no task: a plan is made, tasks are routed,
// what landed is judged. Nil where nothing is.
func runNow(s *state.State, now time.Time) *Now {
	if s.Status.Ended() || s.Status == nexus.StatusPaused {
		return nil
	}
	for _, g := range s.Gating {
		if g.Attempt == "" && g.Task == "" {
			return gateNow(map[bool]Activity{true: DoingBase, false: DoingGate}[g.Base], g, now)
		}
	}
	for _, a := range []*state.Attempt{s.Planning, s.Judging, s.Mending} {
		if a == nil || a.Stage != state.Working {
			continue
		}
		for _, g := range s.Gating {
			if g.Attempt == a.ID {
				return gateNow(DoingGate, g, now)
			}
		}
		if n := sessionNow(s, a, now); n != nil {
			return n
		}
		return &Now{What: DoingSetup}
	}
	return nil
}

func gateNow(what Activity, g state.Underway, now time.Time) *Now {
	return &Now{What: what, Of: g.Gate, Seconds: Between(g.At, time.Time{}, now)}
}

// sessionNow returns what the open session of an attempt waits for.
func sessionNow(s *state.State, a *state.Attempt, now time.Time) *Now {
	for _, c := range slices.Backward(a.Sessions) {
		if c.Over || c.Role == nexus.Scout {
			continue
		}
		if p, ok := s.ParkedFor(c.Model); ok && p.Until.After(now) {
			return &Now{What: DoingAccount, Role: c.Role, Of: fmt.Sprintf("waits for %s, which is out of quota", p.Account)}
		}
		if p, ok := s.HeldFor(c.Model); ok && p.Until.After(now) && c.Turns == 0 {
			return &Now{What: DoingAccount, Role: c.Role, Of: fmt.Sprintf("waits for %s: %s", p.Account, p.Why)}
		}
		if strings.HasPrefix(c.Doing, "waits ") {
			return &Now{What: DoingAccount, Role: c.Role, Of: c.Doing}
		}
		switch what, since := c.Step(); what {
		case "model":
			return &Now{What: DoingModel, Role: c.Role, Of: c.Model, Seconds: Between(since, time.Time{}, now)}
		case "tools":
			return &Now{What: DoingTool, Role: c.Role, Of: c.Doing, Seconds: Between(since, time.Time{}, now)}
		}
		return &Now{What: DoingSetup, Role: c.Role}
	}
	return nil
}

// Text says it in a few words.
func (n Now) Text() string {
	role := ""
	if n.Role != "" {
		role = string(n.Role) + ": "
	}
	switch n.What {
	case DoingGate:
		return n.gate()
	case DoingBase:
		return "base: " + n.gate()
	case DoingModel:
		_, model, _ := strings.Cut(n.Of, "/")
		return fmt.Sprintf("%s %s: waits for %s", n.Role, Clock(n.Seconds), Clean(cmp.Or(model, n.Of)))
	case DoingTool:
		return fmt.Sprintf("%s %s: %s", n.Role, Clock(n.Seconds), Clean(n.Of))
	case DoingAccount:
		return role + Clean(n.Of)
	case DoingPerson:
		if n.Asks != "" {
			return Clean(n.Of + ": " + n.Asks)
		}
		return "waiting for you: " + Clean(n.Of)
	case DoingLanding:
		return map[string]string{"queued": "waiting to land", "merging": "landing"}[n.Of]
	default:
		return role + "preparing"
	}
}

// gate says how long a gate takes, and how long it usually does.
func (n Now) gate() string {
	text := Clean(n.Of) + " " + Clock(n.Seconds)
	if n.Usual >= 1 {
		text += ", usually " + Clock(n.Usual)
	}
	return text
}

// Clock writes seconds without fractions, so that a line that is redrawn
// does not flicker.
func Clock(f float64) string {
	d := seconds(f).Truncate(time.Second)
	if d < 10*time.Second {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return Duration(d)
}

// words says a range of time, rounded to what it can know.
func (l Left) words(s Style) string {
	dash := "\u2013"
	if s.ASCII || s.Plain {
		dash = "-"
	}
	unit, div := "s", 1.0
	if l.High >= 90 {
		unit, div = "min", 60
	}
	low, high := int(l.Low/div), int(l.High/div+0.999)
	if unit == "s" {
		low, high = low/5*5, (high+4)/5*5
	}
	if low <= 0 {
		return fmt.Sprintf("up to %d %s", high, unit)
	}
	if low == high {
		return fmt.Sprintf("about %d %s", high, unit)
	}
	return fmt.Sprintf("%d%s%d %s", low, dash, high, unit)
}
