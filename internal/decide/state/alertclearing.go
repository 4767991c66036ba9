package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Active returns the alerts whose cause is not gone, in the order in which they
// were raised.
func (b *Alerts) Active() []RaisedAlert {
	var all []RaisedAlert
	for _, r := range b.Raised {
		if r.Cleared.IsZero() {
			all = append(all, r)
		}
	}
	return all
}

// ClearedText says in a line which alert is over, and why.
func ClearedText(f nexus.AlertCleared) string {
	return AlertText(nexus.AlertRaised(f))
}

// clear notes that the cause of an alert is gone.
func (b *Alerts) clear(f nexus.AlertCleared, at time.Time) {
	for i := range b.Raised {
		if r := &b.Raised[i]; r.Cleared.IsZero() && r.Kind == f.Kind && r.Of == f.Of {
			r.Cleared, r.Calm = at, f.Why
		}
	}
}

// AlertsToClear returns the alerts that are to be cleared. What is counted within a
// minute has to stay at half of its bound for a minute, and tokens ten percent
// below theirs: an alert that only just fell below its bound would come and go.
func (b *Alerts) AlertsToClear(l nexus.Limits, now time.Time) []nexus.AlertCleared {
	var all []nexus.AlertCleared
	for _, r := range b.Active() {
		if why := b.clearReason(r, l, now); why != "" {
			all = append(all, nexus.AlertCleared{Kind: r.Kind, Of: r.Of, Why: why})
		}
	}
	return all
}

// clearReason says why an alert may be cleared, empty while it may not.
func (b *Alerts) clearReason(r RaisedAlert, l nexus.Limits, now time.Time) string {
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
	case nexus.AlertHangs, nexus.AlertMemory, nexus.AlertDisk: // the base does not change, and whoever measures clears
	}
	return ""
}

// calmTime returns when something that is counted has been calm for a minute, if
// nothing more happens, and what that is.
func (b *Alerts) calmTime(r RaisedAlert, l nexus.Limits) (at time.Time, most int, what string) {
	since, bound, what := b.failed, l.Alerts.Failures, "failures"
	if r.Kind == nexus.AlertDenials {
		since, bound, what = b.denied, l.Alerts.Denials, "refusals"
	}
	if bound == 0 {
		return r.At, 0, what // nobody wants to know any more
	}
	at, most = r.At.Add(window), bound/2
	if over := len(since) - 1 - most; over >= 0 && since[over].Add(window).After(at) {
		at = since[over].Add(window)
	}
	return at, most, what
}

// tokenClearReason says why a budget of tokens is no longer nearly used up.
func (b *Alerts) tokenClearReason(of string, l nexus.Limits) string {
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

// NextClearTime returns when an alert will be cleared if nothing happens until then,
// zero for never.
func (b *Alerts) NextClearTime(l nexus.Limits) time.Time {
	var first time.Time
	for _, r := range b.Active() {
		if r.Kind != nexus.AlertDenials && r.Kind != nexus.AlertFailures {
			continue
		}
		if at, _, _ := b.calmTime(r, l); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// WorkerHeartbeat says when somebody who works was last heard of.
type WorkerHeartbeat struct {
	ID    string
	At    time.Time
	Doing string // gate or person, where it waits for one
}

// Heartbeats returns who works, in the order in which they began.
func (b *Alerts) Heartbeats() []WorkerHeartbeat {
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
