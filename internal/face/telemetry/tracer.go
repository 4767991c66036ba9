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
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// schema identifies the conventions for the names.
const schema = "https://opentelemetry.io/schemas/1.41.0"

// maxText limits the length of a text, in bytes.
const maxText = 1024

// Tracer derives spans from the events of one run. One goroutine owns it.
type Tracer struct {
	run      nexus.RunID
	contents bool
	mask     func(string) string
	tracer   trace.Tracer
	ids      *spanIDs
	ended    *endedSpans
	runs     int // times that the run ended
	open     map[string]trace.Span
	tasks    map[nexus.AttemptID]nexus.TaskID
}

// NewTracer returns the tracer of a run before its first event, for this version of Nexus. With
// contents, spans include the goal, commands and paths. All texts are masked.
func NewTracer(run nexus.RunID, version string, contents bool, mask func(string) string) *Tracer {
	sum := sha256.Sum256([]byte(run))
	t := &Tracer{
		run: run, contents: contents, mask: mask, ids: &spanIDs{trace: trace.TraceID(sum[:16])}, ended: &endedSpans{},
		open: map[string]trace.Span{}, tasks: map[nexus.AttemptID]nexus.TaskID{},
	}
	// Every option is given, so that no variable of the environment changes which spans are sent.
	t.ended.of = resource.NewSchemaless(t.text("service.name", "nexus"), t.text("service.version", version))
	t.tracer = sdktrace.NewTracerProvider(
		sdktrace.WithIDGenerator(t.ids), sdktrace.WithSpanProcessor(t.ended), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{AttributeValueLengthLimit: -1, AttributeCountLimit: -1}),
		sdktrace.WithResource(t.ended.of),
	).Tracer("nexus", trace.WithInstrumentationVersion(version), trace.WithSchemaURL(schema))
	return t
}

// spanIDs gives the next span the ID that was computed for it.
type spanIDs struct {
	trace trace.TraceID
	next  trace.SpanID
}

// NewIDs implements [sdktrace.IDGenerator].
func (g *spanIDs) NewIDs(context.Context) (trace.TraceID, trace.SpanID) { return g.trace, g.next }

// NewSpanID implements [sdktrace.IDGenerator].
func (g *spanIDs) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return g.next }

// endedSpans collects the spans that ended.
type endedSpans struct {
	of    *resource.Resource // of all spans
	spans []sdktrace.ReadOnlySpan
}

// ownSpan is a span with the resource that Nexus gives it. The library adds what
// OTEL_RESOURCE_ATTRIBUTES says, which is neither masked nor asked for.
type ownSpan struct {
	sdktrace.ReadOnlySpan
	of *resource.Resource
}

// Resource implements [sdktrace.ReadOnlySpan].
func (s ownSpan) Resource() *resource.Resource { return s.of }

// OnStart implements [sdktrace.SpanProcessor].
func (e *endedSpans) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements [sdktrace.SpanProcessor].
func (e *endedSpans) OnEnd(s sdktrace.ReadOnlySpan) { e.spans = append(e.spans, ownSpan{s, e.of}) }

// Shutdown implements [sdktrace.SpanProcessor].
func (e *endedSpans) Shutdown(context.Context) error { return nil }

// ForceFlush implements [sdktrace.SpanProcessor].
func (e *endedSpans) ForceFlush(context.Context) error { return nil }

// spanKey names a span within the trace, the same in every process.
func spanKey(parts ...string) string { return strings.Join(parts, "\x00") }

func (t *Tracer) spanID(key string) trace.SpanID {
	sum := sha256.Sum256([]byte(string(t.run) + "\x00" + key))
	return trace.SpanID(sum[:8])
}

func (t *Tracer) runKey() string { return spanKey("run", fmt.Sprint(t.runs)) }

// text returns an attribute with a text.
func (t *Tracer) text(key, value string) attribute.KeyValue {
	return attribute.String(key, t.cleanText(value))
}

// cleanText masks a text, and limits its length.
func (t *Tracer) cleanText(s string) string {
	s = strings.ToValidUTF8(t.mask(s), "?")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return s
}

// beginSpan opens a span, unless it is open.
func (t *Tracer) beginSpan(k, parent, name string, kind trace.SpanKind, at time.Time, attributes ...attribute.KeyValue) {
	t.beginRepeatedSpan(k, k, parent, name, kind, at, attributes...)
}

// beginRepeatedSpan opens a span, unless it is open. Its ID is derived from id, because spans with the
// same key follow each other.
func (t *Tracer) beginRepeatedSpan(k, id, parent, name string, kind trace.SpanKind, at time.Time, attributes ...attribute.KeyValue) {
	if t.open[k] != nil {
		return
	}
	ctx := context.Background()
	if parent != "" {
		ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: t.ids.trace, SpanID: t.spanID(parent), TraceFlags: trace.FlagsSampled,
		}))
	}
	t.ids.next = t.spanID(id)
	_, t.open[k] = t.tracer.Start(ctx, t.cleanText(name), trace.WithTimestamp(at), trace.WithSpanKind(kind),
		trace.WithAttributes(t.text("nexus.run", string(t.run))), trace.WithAttributes(attributes...))
}

// endSpan closes an open span. An empty failed means that it succeeded, otherwise it is the cause of the
// failure in a word.
func (t *Tracer) endSpan(k string, at time.Time, failed string, attributes ...attribute.KeyValue) {
	s := t.open[k]
	if s == nil {
		return
	}
	delete(t.open, k)
	s.SetAttributes(attributes...)
	if failed != "" {
		s.SetAttributes(t.text("error.type", failed))
		s.SetStatus(codes.Error, t.cleanText(failed))
	}
	s.End(trace.WithTimestamp(at))
}

// Apply applies an event, and returns the spans that it ended.
func (t *Tracer) Apply(e nexus.Event) []sdktrace.ReadOnlySpan {
	t.ended.spans = nil
	t.applyRun(e)
	return t.ended.spans
}

// applyRun applies an event.
func (t *Tracer) applyRun(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.GoalAccepted:
		var more []attribute.KeyValue
		if t.contents {
			more = append(more, t.text("nexus.goal", f.Goal.Text))
		}
		t.beginSpan(t.runKey(), "", "invoke_workflow nexus", trace.SpanKindInternal, e.At, append(more, t.text("gen_ai.operation.name", "invoke_workflow"))...)
	case nexus.RunReopened:
		t.beginSpan(t.runKey(), "", "invoke_workflow nexus", trace.SpanKindInternal, e.At, t.text("gen_ai.operation.name", "invoke_workflow"))
	case nexus.RunEnded:
		t.endRun(e.At, f)
	case nexus.AttemptStarted:
		t.tasks[f.Attempt] = f.Task
		task := spanKey("task", fmt.Sprint(t.runs), string(f.Task))
		t.beginSpan(task, t.runKey(), "task "+string(f.Task), trace.SpanKindInternal, e.At, t.text("nexus.task", string(f.Task)))
		t.beginSpan(spanKey("attempt", string(f.Attempt)), task, "attempt "+string(f.Attempt), trace.SpanKindInternal, e.At, t.text("nexus.task", string(f.Task)),
			t.text("nexus.attempt", string(f.Attempt)), t.text("nexus.tier", string(f.Tier)), t.text("nexus.strategy", string(f.Strategy)))
	case nexus.AttemptEnded:
		failed := ""
		if f.Outcome != nexus.Accepted {
			failed = string(f.Outcome)
		}
		t.endSpan(spanKey("attempt", string(f.Attempt)), e.At, failed, t.text("nexus.outcome", string(f.Outcome)))
	case nexus.GateStarted, nexus.GateJudged:
		t.applyGate(e)
	case nexus.TrainDeparted:
		task := spanKey("task", fmt.Sprint(t.runs), string(f.Task))
		t.beginSpan(spanKey("land", string(f.Attempt)), task, "land "+string(f.Task), trace.SpanKindInternal, e.At, t.text("nexus.task", string(f.Task)))
	case nexus.TrainLanded:
		t.endSpan(spanKey("land", string(f.Attempt)), e.At, "", t.text("nexus.commit", f.Commit))
		t.endSpan(spanKey("task", fmt.Sprint(t.runs), string(f.Task)), e.At, "", t.text("nexus.commit", f.Commit))
	case nexus.TrainRefused:
		why := "refused"
		if f.Conflict {
			why = "conflict"
		}
		t.endSpan(spanKey("land", string(f.Attempt)), e.At, why)
	default:
		t.applySession(e)
	}
}

// endRun ends a run, and all its open spans.
func (t *Tracer) endRun(at time.Time, f nexus.RunEnded) {
	failed := ""
	if f.Status != nexus.StatusDone {
		failed = string(f.Status)
	}
	for _, k := range slices.Sorted(maps.Keys(t.open)) {
		if k != t.runKey() {
			t.endSpan(k, at, "unfinished")
		}
	}
	t.endSpan(t.runKey(), at, failed, t.text("nexus.status", string(f.Status)))
	t.runs++
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
func (t *Tracer) applyGate(e nexus.Event) {
	name := func(a nexus.AttemptID, task nexus.TaskID, base bool, gate string) string {
		return spanKey("gate", string(a), string(task), fmt.Sprint(base), gate)
	}
	if f, ok := e.Fact.(nexus.GateStarted); ok {
		k := name(f.Attempt, f.Task, f.Base, f.Gate)
		id := spanKey(k, fmt.Sprint(e.Seq)) // it may run again
		t.beginRepeatedSpan(k, id, t.parentKey(f.Attempt, f.Task), "gate "+f.Gate, trace.SpanKindInternal, e.At, t.text("nexus.gate", f.Gate))
		return
	}
	f, ok := e.Fact.(nexus.GateJudged)
	if !ok || f.Cached {
		return
	}
	k := name(f.Attempt, f.Task, f.Base, f.Evidence.Gate)
	if t.open[k] == nil {
		start := e.At.Add(-f.Evidence.Duration)
		id := spanKey(k, fmt.Sprint(e.Seq))
		t.beginRepeatedSpan(k, id, t.parentKey(f.Attempt, f.Task), "gate "+f.Evidence.Gate, trace.SpanKindInternal, start, t.text("nexus.gate", f.Evidence.Gate))
	}
	failed := ""
	if f.Evidence.State != nexus.Pass {
		failed = string(f.Evidence.State)
	}
	t.endSpan(k, e.At, failed, t.text("nexus.gate.state", string(f.Evidence.State)),
		attribute.Int("nexus.gate.findings", len(f.Evidence.Findings)))
}

// applySession applies the events of sessions, models and tools.
func (t *Tracer) applySession(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.SessionStarted:
		maker, model := splitModelName(f.Model)
		t.beginSpan(spanKey("session", string(f.Session)), t.parentKey(f.Attempt, t.tasks[f.Attempt]), "invoke_agent "+string(f.Role), trace.SpanKindInternal, e.At,
			t.text("gen_ai.operation.name", "invoke_agent"),
			t.text("gen_ai.agent.name", string(f.Role)), t.text("gen_ai.agent.id", string(f.Session)),
			t.text("gen_ai.conversation.id", string(f.Session)),
			t.text("gen_ai.provider.name", maker), t.text("gen_ai.request.model", model))
	case nexus.SessionEnded:
		failed := ""
		if f.Outcome != nexus.Accepted {
			failed = string(f.Outcome)
		}
		t.endSpan(spanKey("session", string(f.Session)), e.At, failed, t.text("nexus.outcome", string(f.Outcome)))
	case nexus.BudgetReserved:
		if f.Session == "" {
			return
		}
		maker, model := splitModelName(f.Model)
		t.beginSpan(spanKey("call", f.ID), spanKey("session", string(f.Session)), "chat "+model, trace.SpanKindClient, e.At,
			t.text("gen_ai.operation.name", "chat"), t.text("gen_ai.provider.name", maker), t.text("gen_ai.request.model", model),
			t.text("gen_ai.conversation.id", string(f.Session)))
	case nexus.BudgetSpent:
		t.endSpan(spanKey("call", f.ID), e.At, "", usageAttributes(f)...)
	case nexus.ToolCalled:
		attributes := []attribute.KeyValue{
			t.text("gen_ai.operation.name", "execute_tool"),
			t.text("gen_ai.tool.name", f.Tool),
			t.text("gen_ai.tool.call.id", f.Call),
			t.text("gen_ai.tool.type", "function"),
		}
		if t.contents {
			attributes = append(attributes, t.text("nexus.tool.about", f.About))
		}
		t.beginSpan(spanKey("tool", string(f.Session), f.Call), spanKey("session", string(f.Session)), "execute_tool "+f.Tool, trace.SpanKindInternal, e.At, attributes...)
	case nexus.ToolAnswered:
		failed := ""
		if f.Failed {
			failed = "tool_failed"
		}
		t.endSpan(spanKey("tool", string(f.Session), f.Call), e.At, failed)
	default:
	}
}

// usageAttributes returns the usage of a model call. Cached tokens are part of the input.
func usageAttributes(f nexus.BudgetSpent) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int64("gen_ai.usage.input_tokens", f.Usage.Prompt()),
		attribute.Int64("gen_ai.usage.output_tokens", f.Usage.Output),
		attribute.Int64("gen_ai.usage.cache_read.input_tokens", f.Usage.CacheRead),
		attribute.Int64("gen_ai.usage.cache_creation.input_tokens", f.Usage.CacheWrite),
		attribute.Float64("nexus.cost.usd", f.Money.Float()),
		attribute.Bool("nexus.cost.estimated", f.Estimated),
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
