package projection

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// gap is the shortest idle time that a timeline shows.
const gap = time.Second

// Timeline returns the activities over time: a row for each attempt, in the order in which they
// began, after a row for the run itself.
func (p *RunProjection) Timeline(now time.Time) RunTimeline {
	now = p.currentOrInterruptedTime(now)
	line := RunTimeline{From: p.state.Accepted, To: cmp.Or(p.state.Ended, now), Rows: []TimelineRow{}}
	if line.To.Before(p.state.Updated) {
		line.To = p.state.Updated
	}
	ids := slices.Clone(p.trail.order)
	slices.SortStableFunc(ids, func(a, b nexus.AttemptID) int {
		if (a == "") != (b == "") {
			return len(a) - len(b)
		}
		return cmp.Compare(p.trail.rows[a].spans[0].from, p.trail.rows[b].spans[0].from)
	})
	for _, id := range ids {
		line.Rows = append(line.Rows, p.timeRow(id, now))
	}
	return line
}

func (p *RunProjection) timeRow(id nexus.AttemptID, now time.Time) TimelineRow {
	row := TimelineRow{Attempt: id, Label: string(id), Spans: []TimelineSpan{}}
	spans := slices.Clone(p.trail.rows[id].spans)
	slices.SortStableFunc(spans, func(a, b activitySpan) int { return cmp.Compare(a.from, b.from) })
	var covered int64
	if a := p.state.AttemptByID(id); a != nil {
		row.Task, covered = a.Task, a.Began.UnixNano()
		if a.Began.IsZero() {
			covered = 0
		}
	} else {
		row.Label = cmp.Or(row.Label, "run")
	}
	for n, s := range spans {
		if id != "" && covered != 0 && s.from-covered >= int64(gap) {
			stage := "idle"
			if n == 0 {
				stage = "setup"
			}
			row.Spans = append(row.Spans, TimelineSpan{Stage: stage, From: unixTime(covered), To: unixTime(s.from)})
		}
		row.Spans = append(row.Spans, TimelineSpan{
			Stage: s.stage.String(), From: unixTime(s.from), To: unixTime(s.to), Label: s.subject(), State: string(gateStates[s.state]),
		})
		covered = max(covered, s.to)
		if s.to == 0 {
			covered = max(covered, now.UnixNano())
		}
	}
	return row
}

// subject names the subject of a span: the role of a session, the gate, the account.
func (s activitySpan) subject() string {
	if s.stage == inGate || s.stage == forPerson || s.stage == forQuota {
		return s.label
	}
	_, rest, ok := strings.Cut(s.label, "/")
	if !ok {
		return s.label
	}
	role, _, _ := strings.Cut(rest, ".")
	return role
}
