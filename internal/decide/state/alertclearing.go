package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ActiveAlerts returns the alerts whose cause still exists, in the order in which they were raised.
func (b *RunAlertWatch) ActiveAlerts() []RaisedAlert {
	var all []RaisedAlert
	for _, r := range b.Raised {
		if r.Cleared.IsZero() {
			all = append(all, r)
		}
	}
	return all
}

// clearAlert records that the cause of an alert is gone.
func (b *RunAlertWatch) clearAlert(f nexus.AlertCleared, at time.Time) {
	for i := range b.Raised {
		if r := &b.Raised[i]; r.Cleared.IsZero() && r.Kind == f.Kind && r.Of == f.Of {
			r.Cleared, r.Calm = at, f.Why
		}
	}
}

// AlertsToClear returns the alerts that are to be cleared. A count per minute must stay below
// half of its threshold for a minute, and tokens ten percent below theirs. Otherwise an alert
// whose value is close to its threshold would be raised and cleared again and again.
func (b *RunAlertWatch) AlertsToClear(l nexus.Limits, now time.Time) []nexus.AlertCleared {
	var all []nexus.AlertCleared
	for _, r := range b.ActiveAlerts() {
		if why := b.clearReason(r, l, now); why != "" {
			all = append(all, nexus.AlertCleared{Kind: r.Kind, Of: r.Of, Why: why})
		}
	}
	return all
}

// clearReason returns why an alert may be cleared, or "" if it may not.
func (b *RunAlertWatch) clearReason(r RaisedAlert, l nexus.Limits, now time.Time) string {
	switch r.Kind {
	case nexus.AlertDenials, nexus.AlertFailures:
		if due, most, what := b.calmTime(r, l); !now.Before(due) {
			return fmt.Sprintf("at most %d %s within a minute", most, what)
		}
	case nexus.AlertStuck:
		switch w := b.findWorker(r.Of); {
		case w == nil:
			return "it is over"
		case !w.told:
			return "it responds again"
		}
	case nexus.AlertTokens:
		return b.tokenClearReason(r.Of, l)
	case nexus.AlertRounds:
		if slices.Contains(b.landed, nexus.TaskID(r.Of)) {
			return "it has landed"
		}
	case nexus.AlertHangs, nexus.AlertMemory, nexus.AlertDisk:
		// the base does not change, and the component that measures memory and disk clears their alerts
	}
	return ""
}

// calmTime returns the time at which a count has been low for a minute if nothing more
// happens, its threshold, and its name.
func (b *RunAlertWatch) calmTime(r RaisedAlert, l nexus.Limits) (at time.Time, most int, what string) {
	since, bound, what := b.failed, l.Alerts.Failures, "failures"
	if r.Kind == nexus.AlertDenials {
		since, bound, what = b.denied, l.Alerts.Denials, "refusals"
	}
	if bound == 0 {
		return r.At, 0, what // the alert is disabled now
	}
	at, most = r.At.Add(window), bound/2
	if over := len(since) - 1 - most; over >= 0 && since[over].Add(window).After(at) {
		at = since[over].Add(window)
	}
	return at, most, what
}

// tokenClearReason returns why a token budget is no longer nearly used up, or "".
func (b *RunAlertWatch) tokenClearReason(of string, l nexus.Limits) string {
	const room = 10 // percent
	limit := l.RunTokens
	if of != "" {
		limit = l.SessionTokens
		if !slices.ContainsFunc(b.work, func(w watchedWorker) bool { return strings.HasPrefix(of, w.id+"/") }) {
			return "the session is over"
		}
	}
	used := b.usage[of]
	if limit == 0 || l.Alerts.Tokens == 0 || used < limit/100*int64(max(l.Alerts.Tokens-room, 0)) {
		return fmt.Sprintf("%d of %d tokens are used", used, limit)
	}
	return ""
}

// NextClearTime returns the time at which an alert is cleared if nothing happens until then,
// or zero for never.
func (b *RunAlertWatch) NextClearTime(l nexus.Limits) time.Time {
	var first time.Time
	for _, r := range b.ActiveAlerts() {
		if r.Kind != nexus.AlertDenials && r.Kind != nexus.AlertFailures {
			continue
		}
		if at, _, _ := b.calmTime(r, l); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// WorkerHeartbeat is the time of a worker's last sign of life.
type WorkerHeartbeat struct {
	ID    string
	At    time.Time
	Doing string // gate or person, if it waits for one
}

// WorkerHeartbeats returns the active workers, in the order in which they began.
func (b *RunAlertWatch) WorkerHeartbeats() []WorkerHeartbeat {
	var all []WorkerHeartbeat
	for _, w := range b.work {
		beat := WorkerHeartbeat{ID: w.id, At: w.at}
		switch {
		case w.waits != "":
			beat.Doing = "person"
		case w.gates:
			beat.Doing = "gate"
		}
		all = append(all, beat)
	}
	return all
}
