package projection

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// activityLog is the part of a projection besides the state: the times of activities for the
// timeline, the costs by day, and the last events.
type activityLog struct {
	talks   map[nexus.SessionID]*sessionTimes
	rows    map[nexus.AttemptID]*attemptActivitySpans
	order   []nexus.AttemptID // of rows, by their first span
	days    map[string]*budget.CostTotal
	waivers map[string]accept.CriterionWaiver
	keep    int
	last    []nexus.Event // up to twice keep, the newest last
	from    int64         // events up to this number are missing in last
	latest  time.Time
}

// sessionTimes are the times of a session's events, in nanoseconds since 1970; 0 is never.
type sessionTimes struct{ began, ended, heard int64 }

// attemptActivitySpans are the activities of an attempt.
type attemptActivitySpans struct {
	spans []activitySpan
	open  []int // indexes of the open spans
}

// activitySpan is a period of time. It is small because there are many.
type activitySpan struct {
	label    string
	from, to int64 // nanoseconds since 1970; 0: open
	stage    activityStage
	state    compactGateState
	cached   bool
}

// activityStage is the activity in a span.
type activityStage uint8

// The stages.
const (
	inWork activityStage = iota
	inPlan
	inGate
	inReview
	inLand
	forPerson
	forQuota
	stopped
)

func (s activityStage) String() string {
	return [...]string{"work", "plan", "gate", "review", "land", "person", "quota", "idle"}[s]
}

// compactGateState is a [nexus.GateState] in a byte.
type compactGateState uint8

var gateStates = [...]nexus.GateState{ //nolint:gochecknoglobals // never written
	"", nexus.NotRun, nexus.Pass, nexus.Fail, nexus.Environmental, nexus.Timeout, nexus.MissingAsset, nexus.Flaky,
	nexus.Unverifiable, nexus.Exceeded,
}

func compactState(s nexus.GateState) compactGateState {
	return compactGateState(max(0, slices.Index(gateStates[:], s))) //nolint:gosec // there are ten
}

func newActivityLog(keep int) activityLog {
	return activityLog{
		talks: map[nexus.SessionID]*sessionTimes{}, rows: map[nexus.AttemptID]*attemptActivitySpans{}, days: map[string]*budget.CostTotal{},
		waivers: map[string]accept.CriterionWaiver{}, keep: keep,
	}
}

// applyEvent applies an event that the state accepted. Booked means that it settles a call.
func (t *activityLog) applyEvent(e nexus.Event, booked bool) {
	t.keepEvent(e)
	at := e.At.UnixNano()
	switch f := e.Fact.(type) {
	case nexus.BudgetSettled:
		if booked {
			t.addSpend(f, e.At)
		}
	case nexus.RequestMade:
		t.applyWaiver(e, f.Request)
	case nexus.GateStarted, nexus.GateJudged, nexus.CriterionCommandTried:
		t.applyGate(f, at)
	case nexus.QuestionAsked:
		t.beginSpan(f.Attempt, forPerson, f.ID, at)
	case nexus.QuestionAnswered:
		t.endAll(forPerson, f.ID, at)
	case nexus.QuestionExpired:
		t.endAll(forPerson, f.ID, at)
	case nexus.RunPaused:
		t.beginSpan("", forPerson, "paused", at)
	case nexus.RunResumed:
		t.endSpan("", forPerson, "paused", at)
	case nexus.RunRecovered:
		t.markInterrupted(at)
	case nexus.RunEnded:
		t.endAllAttempts(at)
	case nexus.LandingStarted:
		t.beginSpan(f.Attempt, inLand, "land", at)
	case nexus.LandingCompleted:
		t.endSpan(f.Attempt, inLand, "land", at)
		t.trimSpans(f.Attempt)
	case nexus.LandingRejected:
		t.endSpan(f.Attempt, inLand, "land", at)
	case nexus.AttemptEnded:
		t.endAttempt(f.Attempt, at)
	case nexus.AttemptLost:
		t.endAttempt(f.Attempt, at)
	case nexus.AttemptInfrastructureFailed:
		t.endAttempt(f.Attempt, at)
	default:
		t.applySession(f, at)
	}
	t.latest = e.At
}

// keepEvent stores the last events.
func (t *activityLog) keepEvent(e nexus.Event) {
	e.Hash = ""
	if len(t.last) >= 2*t.keep {
		cut := len(t.last) - t.keep
		t.from = t.last[cut-1].Seq
		t.last = append(make([]nexus.Event, 0, 2*t.keep), t.last[cut:]...)
	}
	t.last = append(t.last, e)
}

// addSpend adds the cost of a call to its day.
func (t *activityLog) addSpend(f nexus.BudgetSettled, at time.Time) {
	day := at.UTC().Format(time.DateOnly)
	d := t.days[day]
	if d == nil {
		d = &budget.CostTotal{}
		t.days[day] = d
	}
	d.Calls++
	d.Money += f.Money
	d.Usage = d.Usage.Add(f.Usage)
	if f.Estimated {
		d.Estimated += f.Money
	}
}

// applyWaiver stores the last decision about a criterion, as [accept.WaiversFrom] does.
func (t *activityLog) applyWaiver(e nexus.Event, r nexus.Request) {
	if _, _, ok := accept.ParseID(r.ID); !ok {
		return
	}
	if r.Verb == nexus.VerbRevise {
		delete(t.waivers, r.ID)
	}
	for id, w := range accept.WaiversFrom([]nexus.Event{e}) {
		t.waivers[id] = w
	}
}

// applyGate applies a gate event. A gate of a landing belongs to the row of the landing attempt.
func (t *activityLog) applyGate(f nexus.Fact, at int64) {
	switch f := f.(type) {
	case nexus.GateStarted:
		id := cmp.Or(f.Attempt, t.landingAttempt(f.Task))
		t.endSpan(id, inGate, "", at)
		t.beginSpan(id, inGate, gateLabel(f.Gate, f.Base), at)
	case nexus.CriterionCommandTried:
		t.endSpan(f.Attempt, inGate, gateLabel(f.Evidence.Gate, true), at)
	case nexus.GateJudged:
		if f.Base { // it runs on the base tree, for all tasks that wait for it
			for id := range t.rows {
				if s := t.endSpan(id, inGate, gateLabel(f.Evidence.Gate, true), at); s != nil {
					s.state, s.cached = compactState(f.Evidence.State), f.Cached
				}
			}
			return
		}
		id := cmp.Or(f.Attempt, t.landingAttempt(f.Task))
		s := t.endSpan(id, inGate, f.Evidence.Gate, at)
		if s == nil {
			s = t.addSpan(id, activitySpan{stage: inGate, label: f.Evidence.Gate, from: at - int64(f.Evidence.Duration), to: at})
			if f.Cached {
				s.from = at
			}
		}
		s.state, s.cached = compactState(f.Evidence.State), f.Cached
	default:
	}
}

// gateLabel names a gate in a row, with a mark if it runs on the base.
func gateLabel(gate string, base bool) string {
	if base {
		return "base: " + gate
	}
	return gate
}

// landingAttempt returns the attempt of a task that is landing, empty if there is none.
func (t *activityLog) landingAttempt(task nexus.TaskID) nexus.AttemptID {
	if task == "" {
		return ""
	}
	for _, id := range slices.Backward(t.order) {
		of, _, _ := strings.Cut(string(id), ".")
		if nexus.TaskID(of) == task && !strings.Contains(string(id), "-merge") {
			return id
		}
	}
	return ""
}

// applySession applies a fact of a session.
func (t *activityLog) applySession(f nexus.Fact, at int64) {
	id := sessionOf(f)
	if id == "" {
		return
	}
	attempt := attemptOf(id)
	c := t.talks[id]
	if c == nil {
		c = &sessionTimes{began: at}
		t.talks[id] = c
	}
	c.heard = at
	switch f := f.(type) {
	case nexus.SessionStarted, nexus.PromptSent, nexus.ModelTurnRecorded:
		if c.ended = 0; t.findOpenSpan(attempt, stageOf(id), string(id)) < 0 {
			t.endSpan(attempt, inGate, gateLabel(nexus.WarmUpGate, true), at) // the baseline check has no result
			t.beginSpan(attempt, stageOf(id), string(id), at)
		}
	case nexus.SessionEnded:
		c.ended = at
		t.endSpan(attempt, forQuota, "", at)
		t.endSpan(attempt, stageOf(id), string(id), at)
	case nexus.QuotaExhausted:
		t.addWait(attempt, f.Account, at, f.Until.UnixNano())
	case nexus.ModelCallDelayed:
		until := int64(0)
		if f.Wait > 0 {
			until = at + int64(f.Wait)
		}
		t.addWait(attempt, f.Model, at, until)
	case nexus.BudgetReserved:
		t.endSpan(attempt, forQuota, "", at)
		if r := t.rows[attempt]; r != nil && len(r.spans) > 0 { // it was tried again early
			for i := range r.spans {
				if s := &r.spans[i]; s.stage == forQuota && s.to > at {
					s.to = at
				}
			}
		}
	default:
	}
}

// addWait adds a wait for a provider; until is 0 if unknown.
func (t *activityLog) addWait(id nexus.AttemptID, of string, at, until int64) {
	t.endSpan(id, forQuota, "", at)
	if until == 0 {
		t.beginSpan(id, forQuota, of, at)
		return
	}
	t.addSpan(id, activitySpan{stage: forQuota, label: of, from: at, to: max(at, until)})
}

// markInterrupted marks the time without a process, and ends its activities.
func (t *activityLog) markInterrupted(at int64) {
	lost := t.latest.UnixNano()
	t.endAllAttempts(lost)
	t.addSpan("", activitySpan{stage: stopped, label: "interrupted", from: lost, to: at})
}

// endAllAttempts ends all open spans.
func (t *activityLog) endAllAttempts(at int64) {
	for id := range t.rows {
		t.endAttempt(id, at)
	}
}

// endAttempt ends the open spans of an attempt.
func (t *activityLog) endAttempt(id nexus.AttemptID, at int64) {
	if r := t.rows[id]; r != nil {
		for _, i := range r.open {
			r.spans[i].to = at
		}
		r.open = nil
	}
}

// trimSpans frees unused capacity of a row, because little is added to it from now on.
func (t *activityLog) trimSpans(id nexus.AttemptID) {
	if r := t.rows[id]; r != nil {
		r.spans = slices.Clone(slices.Clip(r.spans))
		if len(r.open) == 0 {
			r.open = nil
		}
	}
}

func (t *activityLog) addSpan(id nexus.AttemptID, s activitySpan) *activitySpan {
	r := t.rows[id]
	if r == nil {
		r = &attemptActivitySpans{}
		t.rows[id] = r
		t.order = append(t.order, id)
	}
	r.spans = append(r.spans, s)
	return &r.spans[len(r.spans)-1]
}

func (t *activityLog) beginSpan(id nexus.AttemptID, what activityStage, label string, at int64) {
	t.addSpan(id, activitySpan{stage: what, label: label, from: at})
	r := t.rows[id]
	r.open = append(r.open, len(r.spans)-1)
}

// findOpenSpan returns the index of a span among an attempt's open spans, -1 if there is none. An empty
// label matches any.
func (t *activityLog) findOpenSpan(id nexus.AttemptID, what activityStage, label string) int {
	r := t.rows[id]
	if r == nil {
		return -1
	}
	return slices.IndexFunc(r.open, func(i int) bool {
		return r.spans[i].stage == what && (label == "" || r.spans[i].label == label)
	})
}

// endSpan ends an open span, and returns it; nil if there is none.
func (t *activityLog) endSpan(id nexus.AttemptID, what activityStage, label string, at int64) *activitySpan {
	n := t.findOpenSpan(id, what, label)
	if n < 0 {
		return nil
	}
	r := t.rows[id]
	s := &r.spans[r.open[n]]
	s.to = at
	r.open = slices.Delete(r.open, n, n+1)
	return s
}

// endAll ends an open span of any attempt.
func (t *activityLog) endAll(what activityStage, label string, at int64) {
	for id := range t.rows {
		t.endSpan(id, what, label, at)
	}
}

// sessionOf returns the session of a fact, empty for other facts.
func sessionOf(f nexus.Fact) nexus.SessionID {
	switch f := f.(type) {
	case nexus.SessionStarted:
		return f.Session
	case nexus.PromptSent:
		return f.Session
	case nexus.ModelTurnRecorded:
		return f.Session
	case nexus.ToolCallStarted:
		return f.Session
	case nexus.ToolCallEnded:
		return f.Session
	case nexus.ToolResultsSent:
		return f.Session
	case nexus.SessionCompacted:
		return f.Session
	case nexus.SessionEnded:
		return f.Session
	case nexus.AgentConversationOpened:
		return f.Session
	case nexus.AgentProgramEnded:
		return f.Session
	case nexus.BudgetReserved:
		return f.Session
	case nexus.ModelCallDelayed:
		return f.Session
	case nexus.QuotaExhausted:
		return f.Session
	case nexus.SessionModelSwitched:
		return f.Session
	default:
		return ""
	}
}

func attemptOf(id nexus.SessionID) nexus.AttemptID {
	attempt, _, _ := strings.Cut(string(id), "/")
	return nexus.AttemptID(attempt)
}

// stageOf returns the activity of a session, by its role.
func stageOf(id nexus.SessionID) activityStage {
	_, rest, _ := strings.Cut(string(id), "/")
	role, _, _ := strings.Cut(rest, ".")
	return roleStage(nexus.Role(role))
}

func roleStage(r nexus.Role) activityStage {
	switch r {
	case nexus.Planner, nexus.Router, nexus.Checker, nexus.Specifier, nexus.Researcher, nexus.Interviewer:
		return inPlan
	case nexus.Reviewer, nexus.Verifier:
		return inReview
	case nexus.Merger:
		return inLand
	default:
		return inWork
	}
}

// unixTime converts nanoseconds to a time; 0 is the zero time.
func unixTime(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.Unix(0, at).UTC()
}
