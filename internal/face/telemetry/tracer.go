// Package telemetry sends the activity of a run to an OpenTelemetry trace collector: OTLP over
// HTTP, in JSON. A run is a trace; its spans are tasks, attempts, sessions, model calls, tools,
// gates and landings, with the times from the journal and the names of the GenAI conventions
// (v1.41.0).
//
// It follows the journal with a cursor, so it never slows a run, and a process that continues a
// run sends what the previous one did not. Spans that are sent again have the same IDs. Texts of
// people and agents are sent only if that is turned on.
package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Kind is the kind of a span, as numbered by OTLP.
type Kind int

// The kinds that are used here.
const (
	Internal Kind = 1
	Client   Kind = 3
)

// TraceSpan is an operation with a duration.
type TraceSpan struct {
	Trace, ID, Parent string // in hexadecimal digits; Parent is empty for the run
	Name              string
	Kind              Kind
	Start, End        time.Time
	Attributes        []Attribute
	Failed            string // the cause of the failure in a word; empty: none
}

// Attribute is a name with a string, an int64, a float64 or a bool.
type Attribute struct {
	Key   string
	Value any
}

// Tracer derives spans from the events of one run. One goroutine owns it.
type Tracer struct {
	run      nexus.RunID
	contents bool
	trace    string
	runs     int // times that the run ended
	open     map[string]*TraceSpan
	tasks    map[nexus.AttemptID]nexus.TaskID
	attempts map[nexus.SessionID]nexus.AttemptID
	sessions map[string]nexus.SessionID // by the ID of a reservation
	models   map[nexus.SessionID]string
}

// New returns the tracer of a run before its first event. With contents, spans include the goal,
// commands and paths.
func New(run nexus.RunID, contents bool) *Tracer {
	sum := sha256.Sum256([]byte(run))
	return &Tracer{
		run: run, contents: contents, trace: hex.EncodeToString(sum[:16]), open: map[string]*TraceSpan{},
		tasks: map[nexus.AttemptID]nexus.TaskID{}, attempts: map[nexus.SessionID]nexus.AttemptID{},
		sessions: map[string]nexus.SessionID{}, models: map[nexus.SessionID]string{},
	}
}

// spanKey names a span within the trace, the same in every process.
func spanKey(parts ...string) string { return strings.Join(parts, "\x00") }

func (t *Tracer) spanID(key string) string {
	sum := sha256.Sum256([]byte(string(t.run) + "\x00" + key))
	return hex.EncodeToString(sum[:8])
}

func (t *Tracer) runKey() string { return spanKey("run", fmt.Sprint(t.runs)) }

// beginSpan opens a span, unless it is open.
func (t *Tracer) beginSpan(k, parent, name string, kind Kind, at time.Time, attributes ...Attribute) {
	if t.open[k] != nil {
		return
	}
	s := &TraceSpan{Trace: t.trace, ID: t.spanID(k), Name: name, Kind: kind, Start: at}
	s.Attributes = append([]Attribute{{"nexus.run", string(t.run)}}, attributes...)
	if parent != "" {
		s.Parent = t.spanID(parent)
	}
	t.open[k] = s
}

// endSpan closes an open span.
func (t *Tracer) endSpan(k string, at time.Time, failed string, attributes ...Attribute) []TraceSpan {
	s := t.open[k]
	if s == nil {
		return nil
	}
	delete(t.open, k)
	s.End, s.Failed, s.Attributes = at, failed, append(s.Attributes, attributes...)
	if failed != "" {
		s.Attributes = append(s.Attributes, Attribute{"error.type", failed})
	}
	return []TraceSpan{*s}
}

// Apply applies an event, and returns the spans that it ended.
func (t *Tracer) Apply(e nexus.Event) []TraceSpan {
	switch f := e.Fact.(type) {
	case nexus.GoalAccepted:
		var more []Attribute
		if t.contents {
			more = append(more, Attribute{"nexus.goal", f.Goal.Text})
		}
		t.beginSpan(t.runKey(), "", "invoke_workflow nexus", Internal, e.At, append(more, Attribute{"gen_ai.operation.name", "invoke_workflow"})...)
	case nexus.RunReopened:
		t.beginSpan(t.runKey(), "", "invoke_workflow nexus", Internal, e.At, Attribute{"gen_ai.operation.name", "invoke_workflow"})
	case nexus.RunEnded:
		return t.endRun(e.At, f)
	case nexus.AttemptStarted:
		t.tasks[f.Attempt] = f.Task
		task := spanKey("task", fmt.Sprint(t.runs), string(f.Task))
		t.beginSpan(task, t.runKey(), "task "+string(f.Task), Internal, e.At, Attribute{"nexus.task", string(f.Task)})
		t.beginSpan(spanKey("attempt", string(f.Attempt)), task, "attempt "+string(f.Attempt), Internal, e.At, Attribute{"nexus.task", string(f.Task)},
			Attribute{"nexus.attempt", string(f.Attempt)}, Attribute{"nexus.tier", string(f.Tier)}, Attribute{"nexus.strategy", string(f.Strategy)})
	case nexus.AttemptEnded:
		failed := ""
		if f.Outcome != nexus.Accepted {
			failed = string(f.Outcome)
		}
		return t.endSpan(spanKey("attempt", string(f.Attempt)), e.At, failed, Attribute{"nexus.outcome", string(f.Outcome)})
	case nexus.GateStarted, nexus.GateJudged:
		return t.applyGate(e)
	case nexus.TrainDeparted:
		task := spanKey("task", fmt.Sprint(t.runs), string(f.Task))
		t.beginSpan(spanKey("land", string(f.Attempt)), task, "land "+string(f.Task), Internal, e.At, Attribute{"nexus.task", string(f.Task)})
	case nexus.TrainLanded:
		landed := t.endSpan(spanKey("land", string(f.Attempt)), e.At, "", Attribute{"nexus.commit", f.Commit})
		return append(landed, t.endSpan(spanKey("task", fmt.Sprint(t.runs), string(f.Task)), e.At, "", Attribute{"nexus.commit", f.Commit})...)
	case nexus.TrainRefused:
		why := "refused"
		if f.Conflict {
			why = "conflict"
		}
		return t.endSpan(spanKey("land", string(f.Attempt)), e.At, why)
	default:
		return t.applySession(e)
	}
	return nil
}

// endRun ends a run, and all its open spans.
func (t *Tracer) endRun(at time.Time, f nexus.RunEnded) (all []TraceSpan) {
	failed := ""
	if f.Status != nexus.StatusDone {
		failed = string(f.Status)
	}
	for _, k := range slices.Sorted(maps.Keys(t.open)) {
		if k != t.runKey() {
			all = append(all, t.endSpan(k, at, "unfinished")...)
		}
	}
	all = append(all, t.endSpan(t.runKey(), at, failed, Attribute{"nexus.status", string(f.Status)})...)
	t.runs++
	return all
}

// parentKey returns the parent span for a part of an attempt.
func (t *Tracer) parentKey(a nexus.AttemptID, task nexus.TaskID) string {
	switch {
	case a != "" && t.open[spanKey("attempt", string(a))] != nil:
		return spanKey("attempt", string(a))
	case task != "":
		return spanKey("task", fmt.Sprint(t.runs), string(task))
	default:
		return t.runKey()
	}
}

// applyGate applies the start or the result of a gate.
func (t *Tracer) applyGate(e nexus.Event) []TraceSpan {
	name := func(a nexus.AttemptID, task nexus.TaskID, base bool, gate string) string {
		return spanKey("gate", string(a), string(task), fmt.Sprint(base), gate)
	}
	if f, ok := e.Fact.(nexus.GateStarted); ok {
		k := name(f.Attempt, f.Task, f.Base, f.Gate)
		t.beginSpan(k, t.parentKey(f.Attempt, f.Task), "gate "+f.Gate, Internal, e.At, Attribute{"nexus.gate", f.Gate})
		t.open[k].ID = t.spanID(spanKey(k, fmt.Sprint(e.Seq))) // it may run again
		return nil
	}
	f, ok := e.Fact.(nexus.GateJudged)
	if !ok || f.Cached {
		return nil
	}
	k := name(f.Attempt, f.Task, f.Base, f.Evidence.Gate)
	if t.open[k] == nil {
		start := e.At.Add(-f.Evidence.Duration)
		t.beginSpan(k, t.parentKey(f.Attempt, f.Task), "gate "+f.Evidence.Gate, Internal, start, Attribute{"nexus.gate", f.Evidence.Gate})
		t.open[k].ID = t.spanID(spanKey(k, fmt.Sprint(e.Seq)))
	}
	failed := ""
	if f.Evidence.State != nexus.Pass {
		failed = string(f.Evidence.State)
	}
	return t.endSpan(k, e.At, failed, Attribute{"nexus.gate.state", string(f.Evidence.State)},
		Attribute{"nexus.gate.findings", int64(len(f.Evidence.Findings))})
}

// applySession applies the events of sessions, models and tools.
func (t *Tracer) applySession(e nexus.Event) []TraceSpan {
	switch f := e.Fact.(type) {
	case nexus.SessionStarted:
		t.attempts[f.Session], t.models[f.Session] = f.Attempt, f.Model
		maker, model := splitModelName(f.Model)
		t.beginSpan(spanKey("session", string(f.Session)), t.parentKey(f.Attempt, t.tasks[f.Attempt]), "invoke_agent "+string(f.Role), Internal, e.At,
			Attribute{"gen_ai.operation.name", "invoke_agent"},
			Attribute{"gen_ai.agent.name", string(f.Role)}, Attribute{"gen_ai.agent.id", string(f.Session)},
			Attribute{"gen_ai.conversation.id", string(f.Session)},
			Attribute{"gen_ai.provider.name", maker}, Attribute{"gen_ai.request.model", model})
	case nexus.SessionEnded:
		failed := ""
		if f.Outcome != nexus.Accepted {
			failed = string(f.Outcome)
		}
		return t.endSpan(spanKey("session", string(f.Session)), e.At, failed, Attribute{"nexus.outcome", string(f.Outcome)})
	case nexus.BudgetReserved:
		if f.Session == "" {
			return nil
		}
		maker, model := splitModelName(f.Model)
		t.beginSpan(spanKey("call", f.ID), spanKey("session", string(f.Session)), "chat "+model, Client, e.At,
			Attribute{"gen_ai.operation.name", "chat"}, Attribute{"gen_ai.provider.name", maker}, Attribute{"gen_ai.request.model", model},
			Attribute{"gen_ai.conversation.id", string(f.Session)})
	case nexus.BudgetSpent:
		return t.endSpan(spanKey("call", f.ID), e.At, "", usageAttributes(f)...)
	case nexus.ToolCalled:
		attributes := []Attribute{
			{"gen_ai.operation.name", "execute_tool"},
			{"gen_ai.tool.name", f.Tool},
			{"gen_ai.tool.call.id", f.Call},
			{"gen_ai.tool.type", "function"},
		}
		if t.contents {
			attributes = append(attributes, Attribute{"nexus.tool.about", f.About})
		}
		t.beginSpan(spanKey("tool", string(f.Session), f.Call), spanKey("session", string(f.Session)), "execute_tool "+f.Tool, Internal, e.At, attributes...)
	case nexus.ToolAnswered:
		failed := ""
		if f.Failed {
			failed = "tool_failed"
		}
		return t.endSpan(spanKey("tool", string(f.Session), f.Call), e.At, failed)
	default:
	}
	return nil
}

// usageAttributes returns the usage of a model call. Cached tokens are part of the input.
func usageAttributes(f nexus.BudgetSpent) []Attribute {
	return []Attribute{
		{"gen_ai.usage.input_tokens", f.Usage.Prompt()},
		{"gen_ai.usage.output_tokens", f.Usage.Output},
		{"gen_ai.usage.cache_read.input_tokens", f.Usage.CacheRead},
		{"gen_ai.usage.cache_creation.input_tokens", f.Usage.CacheWrite},
		{"nexus.cost.usd", f.Money.Float()},
		{"nexus.cost.estimated", f.Estimated},
	}
}

// splitModelName returns the maker of a model as the conventions name it, and the model's own name.
func splitModelName(name string) (maker, model string) {
	maker, model, ok := strings.Cut(name, "/")
	if !ok {
		return "unknown", name
	}
	switch maker {
	case "gemini", "google":
		return "gcp.gemini", model
	case "mistral":
		return "mistral_ai", model
	case "xai":
		return "x_ai", model
	case "moonshot":
		return "moonshot_ai", model
	default:
		return maker, model
	}
}
