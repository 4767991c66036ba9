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
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// ActivityKind is a kind of work that a task waits for.
type ActivityKind string

// The activities.
const (
	DoingGate    ActivityKind = "gate"    // a gate runs on its tree
	DoingBase    ActivityKind = "base"    // a gate runs on its base
	DoingModel   ActivityKind = "model"   // a model answers
	DoingTool    ActivityKind = "tool"    // an agent's tools run
	DoingAccount ActivityKind = "account" // an account accepts no calls now
	DoingPerson  ActivityKind = "person"  // a person is asked
	DoingLanding ActivityKind = "landing" // it is being merged, or waits in the landing queue
	DoingSetup   ActivityKind = "setup"   // its worktree or a session is being prepared
)

// CurrentActivity is the work that a task waits for at this moment.
type CurrentActivity struct {
	What    ActivityKind `json:"what"`
	Of      string       `json:"of,omitzero"`   // the gate, model, tool call, account or question
	Role    nexus.Role   `json:"role,omitzero"` // role of the session
	Seconds float64      `json:"seconds,omitzero"`
	Usual   float64      `json:"usual_seconds,omitzero"` // usual duration of the gate; 0: unknown
	Asks    string       `json:"asks,omitzero"`          // text of the question, at most about 60 characters
}

// SecondsRange is a range of time, in seconds.
type SecondsRange struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// AddForecast adds estimates from earlier runs: the duration of gates, and the remaining time of the
// run and its tasks. A nil history adds none.
func (r *RunView) AddForecast(s *state.State, h *route.PastRunStatistics, now time.Time) {
	if s.Status.HasEnded() {
		return
	}
	run, tasks := h.RemainingTimes(s, now)
	r.Left = timeRangeOf(run)
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if left, ok := tasks[t.ID]; ok && t.Now != nil {
			t.Left = timeRangeOf(left)
		}
		if n := t.Now; n != nil && (n.What == DoingGate || n.What == DoingBase) {
			n.Usual = h.UsualGateTime(s, n.Of).Round(time.Millisecond).Seconds()
		}
	}
	if g := r.Now; g != nil && g.What == DoingGate {
		g.Usual = h.UsualGateTime(s, g.Of).Round(time.Millisecond).Seconds()
	}
}

func timeRangeOf(l route.RemainingTime) *SecondsRange {
	if l == (route.RemainingTime{}) {
		return nil
	}
	return &SecondsRange{l.Low.Round(time.Second).Seconds(), l.High.Round(time.Second).Seconds()}
}

// taskActivity returns the current activity of a task, nil if there is none.
func taskActivity(s *state.State, t *state.TaskState, status nexus.TaskStatus, now time.Time) *CurrentActivity {
	a := t.CurrentAttempt()
	if a == nil || t.IsPaused() && a.Stage != state.Working || s.Status.HasEnded() || s.Status == nexus.StatusPaused || status.HasEnded() || status == nexus.Pending || status == nexus.Blocked {
		return nil
	}
	for _, q := range s.Questions {
		if q.By == "" && q.Attempt == a.ID {
			return &CurrentActivity{What: DoingPerson, Of: q.ID, Asks: sanitize.TruncateText(strings.Join(strings.Fields(q.Text), " "), 60)}
		}
	}
	for _, g := range s.Gating {
		if g.Attempt == a.ID || g.Task == t.ID {
			return gateActivity(map[bool]ActivityKind{true: DoingBase, false: DoingGate}[g.Base], g, now)
		}
	}
	landing := s.CurrentLanding != nil && s.CurrentLanding.Task == t.ID
	if landing {
		a = s.CurrentLanding.Merge
	}
	if n := sessionActivity(s, a, now); n != nil {
		return n
	}
	switch {
	case landing:
		return &CurrentActivity{What: DoingLanding, Of: "merging"}
	case status == nexus.Boarding:
		return &CurrentActivity{What: DoingLanding, Of: "queued"}
	}
	for _, g := range s.Gating {
		if g.Base {
			return gateActivity(DoingBase, g, now)
		}
	}
	return &CurrentActivity{What: DoingSetup}
}

// runActivity returns the activity that belongs to no task: planning, routing, or judging the
// landed changes. Nil if there is none.
func runActivity(s *state.State, now time.Time) *CurrentActivity {
	if s.Status.HasEnded() || s.Status == nexus.StatusPaused {
		return nil
	}
	for _, g := range s.Gating {
		if g.Attempt == "" && g.Task == "" {
			return gateActivity(map[bool]ActivityKind{true: DoingBase, false: DoingGate}[g.Base], g, now)
		}
	}
	for _, a := range []*state.AttemptState{s.Planning, s.Judging, s.Mending} {
		if a == nil || a.Stage != state.Working {
			continue
		}
		for _, g := range s.Gating {
			if g.Attempt == a.ID {
				return gateActivity(DoingGate, g, now)
			}
		}
		if n := sessionActivity(s, a, now); n != nil {
			return n
		}
		return &CurrentActivity{What: DoingSetup}
	}
	return nil
}

func gateActivity(what ActivityKind, g state.RunningGate, now time.Time) *CurrentActivity {
	return &CurrentActivity{What: what, Of: g.Gate, Seconds: SecondsBetween(g.At, time.Time{}, now)}
}

// sessionActivity returns the current activity of an attempt's open session.
func sessionActivity(s *state.State, a *state.AttemptState, now time.Time) *CurrentActivity {
	for _, c := range slices.Backward(a.Sessions) {
		if c.Over || c.Role == nexus.Scout {
			continue
		}
		if p, ok := s.PausedAccountFor(c.Model); ok && p.Until.After(now) {
			return &CurrentActivity{What: DoingAccount, Role: c.Role, Of: fmt.Sprintf("waits for %s, which is out of quota", p.Account)}
		}
		if p, ok := s.AccountClosedToNewSessions(c.Model); ok && p.Until.After(now) && c.Turns == 0 {
			return &CurrentActivity{What: DoingAccount, Role: c.Role, Of: fmt.Sprintf("waits for %s: %s", p.Account, p.Why)}
		}
		if strings.HasPrefix(c.Doing, "waits ") {
			return &CurrentActivity{What: DoingAccount, Role: c.Role, Of: c.Doing}
		}
		switch what, since := c.CurrentStep(); what {
		case "model":
			return &CurrentActivity{What: DoingModel, Role: c.Role, Of: c.Model, Seconds: SecondsBetween(since, time.Time{}, now)}
		case "tools":
			return &CurrentActivity{What: DoingTool, Role: c.Role, Of: c.Doing, Seconds: SecondsBetween(since, time.Time{}, now)}
		}
		return &CurrentActivity{What: DoingSetup, Role: c.Role}
	}
	return nil
}

// Text describes the activity in a few words.
func (n CurrentActivity) Text() string {
	role := ""
	if n.Role != "" {
		role = string(n.Role) + ": "
	}
	switch n.What {
	case DoingGate:
		return n.gateText()
	case DoingBase:
		return "base: " + n.gateText()
	case DoingModel:
		_, model, _ := strings.Cut(n.Of, "/")
		return fmt.Sprintf("%s %s: waits for %s", n.Role, FormatSeconds(n.Seconds), EscapeForTerminal(cmp.Or(model, n.Of)))
	case DoingTool:
		return fmt.Sprintf("%s %s: %s", n.Role, FormatSeconds(n.Seconds), EscapeForTerminal(n.Of))
	case DoingAccount:
		return role + EscapeForTerminal(n.Of)
	case DoingPerson:
		if n.Asks != "" {
			return EscapeForTerminal(n.Of + ": " + n.Asks)
		}
		return "waiting for you: " + EscapeForTerminal(n.Of)
	case DoingLanding:
		return map[string]string{"queued": "waiting to land", "merging": "landing"}[n.Of]
	default:
		return role + "preparing"
	}
}

// gateText describes how long a gate has been running, and how long it usually takes.
func (n CurrentActivity) gateText() string {
	text := EscapeForTerminal(n.Of) + " " + FormatSeconds(n.Seconds)
	if n.Usual >= 1 {
		text += ", usually " + FormatSeconds(n.Usual)
	}
	return text
}

// FormatSeconds formats seconds without fractions, so that a redrawn line does not flicker.
func FormatSeconds(f float64) string {
	d := secondsToDuration(f).Truncate(time.Second)
	if d < 10*time.Second {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return FormatDuration(d)
}

// FormatRange formats a range of time, rounded to its precision. An upper end that is far above the lower
// one says nothing, and is left out.
func (s OutputStyle) FormatRange(l SecondsRange) string {
	dash := "\u2013"
	if s.ASCII || s.Plain {
		dash = "-"
	}
	unit, div := "s", 1.0
	switch {
	case l.High >= 3*60*60 && l.Low >= 60*60:
		unit, div = "h", 60*60
	case l.High >= 90:
		unit, div = "min", 60
	}
	if l.High > 20*l.Low && l.Low >= 60 {
		return "at least " + FormatDuration(time.Duration(l.Low/60)*time.Minute)
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
