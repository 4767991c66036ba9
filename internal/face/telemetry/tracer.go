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

// RunTracer derives spans from the events of one run. One goroutine owns it.
type RunTracer struct {
	run      nexus.RunID
	contents bool
	mask     func(string) string
	tracer   trace.Tracer
	ids      *spanIDGenerator
	ended    *endedSpanCollector
	runs     int // times that the run ended
	open     map[string]trace.Span
	tasks    map[nexus.AttemptID]nexus.TaskID
}

// NewTracer returns the tracer of a run before its first event, for this version of Nexus. With
// contents, spans include the goal, commands and paths. All texts are masked.
func NewTracer(run nexus.RunID, version string, contents bool, mask func(string) string) *RunTracer {
	sum := sha256.Sum256([]byte(run))
	t := &RunTracer{
		run: run, contents: contents, mask: mask, ids: &spanIDGenerator{trace: trace.TraceID(sum[:16])}, ended: &endedSpanCollector{},
		open: map[string]trace.Span{}, tasks: map[nexus.AttemptID]nexus.TaskID{},
	}
	// Every option is given, so that no variable of the environment changes which spans are sent.
	t.ended.of = resource.NewSchemaless(t.textAttribute("service.name", "nexus"), t.textAttribute("service.version", version))
	t.tracer = sdktrace.NewTracerProvider(
		sdktrace.WithIDGenerator(t.ids), sdktrace.WithSpanProcessor(t.ended), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{AttributeValueLengthLimit: -1, AttributeCountLimit: -1}),
		sdktrace.WithResource(t.ended.of),
	).Tracer("nexus", trace.WithInstrumentationVersion(version), trace.WithSchemaURL(schema))
	return t
}

// spanIDGenerator gives the next span the ID that was computed for it.
type spanIDGenerator struct {
	trace trace.TraceID
	next  trace.SpanID
}

// NewIDs implements [sdktrace.IDGenerator].
func (g *spanIDGenerator) NewIDs(context.Context) (trace.TraceID, trace.SpanID) {
	return g.trace, g.next
}

// NewSpanID implements [sdktrace.IDGenerator].
func (g *spanIDGenerator) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return g.next }

// endedSpanCollector collects the spans that ended.
type endedSpanCollector struct {
	of    *resource.Resource // of all spans
	spans []sdktrace.ReadOnlySpan
}

// spanWithResource is a span with the resource that Nexus gives it. The library adds what
// OTEL_RESOURCE_ATTRIBUTES says, which is neither masked nor asked for.
type spanWithResource struct {
	sdktrace.ReadOnlySpan
	of *resource.Resource
}

// Resource implements [sdktrace.ReadOnlySpan].
func (s spanWithResource) Resource() *resource.Resource { return s.of }

// OnStart implements [sdktrace.SpanProcessor].
func (e *endedSpanCollector) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements [sdktrace.SpanProcessor].
func (e *endedSpanCollector) OnEnd(s sdktrace.ReadOnlySpan) {
	e.spans = append(e.spans, spanWithResource{s, e.of})
}

// Shutdown implements [sdktrace.SpanProcessor].
func (e *endedSpanCollector) Shutdown(context.Context) error { return nil }

// ForceFlush implements [sdktrace.SpanProcessor].
func (e *endedSpanCollector) ForceFlush(context.Context) error { return nil }

// spanName names a span within the trace, the same in every process.
func spanName(parts ...string) string { return strings.Join(parts, "\x00") }

func (t *RunTracer) spanID(key string) trace.SpanID {
	sum := sha256.Sum256([]byte(string(t.run) + "\x00" + key))
	return trace.SpanID(sum[:8])
}

func (t *RunTracer) runKey() string { return spanName("run", fmt.Sprint(t.runs)) }

// textAttribute returns an attribute with a text.
func (t *RunTracer) textAttribute(key, value string) attribute.KeyValue {
	return attribute.String(key, t.cleanText(value))
}

// cleanText masks a text, and limits its length.
func (t *RunTracer) cleanText(s string) string {
	s = strings.ToValidUTF8(t.mask(s), "?")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return s
}

// beginSpan opens a span, unless it is open.
func (t *RunTracer) beginSpan(k, parent, name string, kind trace.SpanKind, at time.Time, attributes ...attribute.KeyValue) {
	t.beginRepeatedSpan(k, k, parent, name, kind, at, attributes...)
}

// beginRepeatedSpan opens a span, unless it is open. Its ID is derived from id, because spans with the
// same key follow each other.
func (t *RunTracer) beginRepeatedSpan(k, id, parent, name string, kind trace.SpanKind, at time.Time, attributes ...attribute.KeyValue) {
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
		trace.WithAttributes(t.textAttribute("nexus.run", string(t.run))), trace.WithAttributes(attributes...))
}

// endSpan closes an open span. An empty failed means that it succeeded, otherwise it is the cause of the
// failure in a word.
func (t *RunTracer) endSpan(k string, at time.Time, failed string, attributes ...attribute.KeyValue) {
	s := t.open[k]
	if s == nil {
		return
	}
	delete(t.open, k)
	s.SetAttributes(attributes...)
	if failed != "" {
		s.SetAttributes(t.textAttribute("error.type", failed))
		s.SetStatus(codes.Error, t.cleanText(failed))
	}
	s.End(trace.WithTimestamp(at))
}

// Apply applies an event, and returns the spans that it ended.
func (t *RunTracer) Apply(e nexus.Event) []sdktrace.ReadOnlySpan {
	t.ended.spans = nil
	t.applyRunEvent(e)
	return t.ended.spans
}

// applyRunEvent applies an event.
func (t *RunTracer) applyRunEvent(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.GoalAccepted:
		var more []attribute.KeyValue
		if t.contents {
			more = append(more, t.textAttribute("nexus.goal", f.Goal.Text))
		}
		t.beginSpan(t.runKey(), "", "invoke_workflow nexus", trace.SpanKindInternal, e.At, append(more, t.textAttribute("gen_ai.operation.name", "invoke_workflow"))...)
	case nexus.RunReopened:
		t.beginSpan(t.runKey(), "", "invoke_workflow nexus", trace.SpanKindInternal, e.At, t.textAttribute("gen_ai.operation.name", "invoke_workflow"))
	case nexus.RunEnded:
		t.endRunSpans(e.At, f)
	case nexus.AttemptStarted:
		t.tasks[f.Attempt] = f.Task
		task := spanName("task", fmt.Sprint(t.runs), string(f.Task))
		t.beginSpan(task, t.runKey(), "task "+string(f.Task), trace.SpanKindInternal, e.At, t.textAttribute("nexus.task", string(f.Task)))
		t.beginSpan(spanName("attempt", string(f.Attempt)), task, "attempt "+string(f.Attempt), trace.SpanKindInternal, e.At, t.textAttribute("nexus.task", string(f.Task)),
			t.textAttribute("nexus.attempt", string(f.Attempt)), t.textAttribute("nexus.tier", string(f.Tier)), t.textAttribute("nexus.strategy", string(f.Strategy)))
	case nexus.AttemptEnded:
		failed := ""
		if f.Outcome != nexus.Accepted {
			failed = string(f.Outcome)
		}
		t.endSpan(spanName("attempt", string(f.Attempt)), e.At, failed, t.textAttribute("nexus.outcome", string(f.Outcome)))
	case nexus.GateStarted, nexus.GateJudged:
		t.applyGateEvent(e)
	case nexus.LandingStarted:
		task := spanName("task", fmt.Sprint(t.runs), string(f.Task))
		t.beginSpan(spanName("land", string(f.Attempt)), task, "land "+string(f.Task), trace.SpanKindInternal, e.At, t.textAttribute("nexus.task", string(f.Task)))
	case nexus.LandingCompleted:
		t.endSpan(spanName("land", string(f.Attempt)), e.At, "", t.textAttribute("nexus.commit", f.Commit))
		t.endSpan(spanName("task", fmt.Sprint(t.runs), string(f.Task)), e.At, "", t.textAttribute("nexus.commit", f.Commit))
	case nexus.LandingRejected:
		why := "refused"
		if f.Conflict {
			why = "conflict"
		}
		t.endSpan(spanName("land", string(f.Attempt)), e.At, why)
	default:
		t.applySessionEvent(e)
	}
}

// endRunSpans ends a run, and all its open spans.
func (t *RunTracer) endRunSpans(at time.Time, f nexus.RunEnded) {
	failed := ""
	if f.Status != nexus.StatusDone {
		failed = string(f.Status)
	}
	for _, k := range slices.Sorted(maps.Keys(t.open)) {
		if k != t.runKey() {
			t.endSpan(k, at, "unfinished")
		}
	}
	t.endSpan(t.runKey(), at, failed, t.textAttribute("nexus.status", string(f.Status)))
	t.runs++
}

// parentKey returns the parent span for a part of an attempt.
func (t *RunTracer) parentKey(a nexus.AttemptID, task nexus.TaskID) string {
	switch {
	case a != "" && t.open[spanName("attempt", string(a))] != nil:
		return spanName("attempt", string(a))
	case task != "":
		return spanName("task", fmt.Sprint(t.runs), string(task))
	default:
		return t.runKey()
	}
}

// applyGateEvent applies the start or the result of a gate.
func (t *RunTracer) applyGateEvent(e nexus.Event) {
	name := func(a nexus.AttemptID, task nexus.TaskID, base bool, gate string) string {
		return spanName("gate", string(a), string(task), fmt.Sprint(base), gate)
	}
	if f, ok := e.Fact.(nexus.GateStarted); ok {
		k := name(f.Attempt, f.Task, f.Base, f.Gate)
		id := spanName(k, fmt.Sprint(e.Seq)) // it may run again
		t.beginRepeatedSpan(k, id, t.parentKey(f.Attempt, f.Task), "gate "+f.Gate, trace.SpanKindInternal, e.At, t.textAttribute("nexus.gate", f.Gate))
		return
	}
	f, ok := e.Fact.(nexus.GateJudged)
	if !ok || f.Cached {
		return
	}
	k := name(f.Attempt, f.Task, f.Base, f.Evidence.Gate)
	if t.open[k] == nil {
		start := e.At.Add(-f.Evidence.Duration)
		id := spanName(k, fmt.Sprint(e.Seq))
		t.beginRepeatedSpan(k, id, t.parentKey(f.Attempt, f.Task), "gate "+f.Evidence.Gate, trace.SpanKindInternal, start, t.textAttribute("nexus.gate", f.Evidence.Gate))
	}
	failed := ""
	if f.Evidence.State != nexus.Pass {
		failed = string(f.Evidence.State)
	}
	t.endSpan(k, e.At, failed, t.textAttribute("nexus.gate.state", string(f.Evidence.State)),
		attribute.Int("nexus.gate.findings", len(f.Evidence.Findings)))
}

// applySessionEvent applies the events of sessions, models and tools.
func (t *RunTracer) applySessionEvent(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.SessionStarted:
		maker, model := splitModelName(f.Model)
		t.beginSpan(spanName("session", string(f.Session)), t.parentKey(f.Attempt, t.tasks[f.Attempt]), "invoke_agent "+string(f.Role), trace.SpanKindInternal, e.At,
			t.textAttribute("gen_ai.operation.name", "invoke_agent"),
			t.textAttribute("gen_ai.agent.name", string(f.Role)), t.textAttribute("gen_ai.agent.id", string(f.Session)),
			t.textAttribute("gen_ai.conversation.id", string(f.Session)),
			t.textAttribute("gen_ai.provider.name", maker), t.textAttribute("gen_ai.request.model", model))
	case nexus.SessionEnded:
		failed := ""
		if f.Outcome != nexus.Accepted {
			failed = string(f.Outcome)
		}
		t.endSpan(spanName("session", string(f.Session)), e.At, failed, t.textAttribute("nexus.outcome", string(f.Outcome)))
	case nexus.BudgetReserved:
		if f.Session == "" {
			return
		}
		maker, model := splitModelName(f.Model)
		t.beginSpan(spanName("call", f.ID), spanName("session", string(f.Session)), "chat "+model, trace.SpanKindClient, e.At,
			t.textAttribute("gen_ai.operation.name", "chat"), t.textAttribute("gen_ai.provider.name", maker), t.textAttribute("gen_ai.request.model", model),
			t.textAttribute("gen_ai.conversation.id", string(f.Session)))
	case nexus.BudgetSettled:
		t.endSpan(spanName("call", f.ID), e.At, "", usageAttributes(f)...)
	case nexus.ToolCallStarted:
		attributes := []attribute.KeyValue{
			t.textAttribute("gen_ai.operation.name", "execute_tool"),
			t.textAttribute("gen_ai.tool.name", f.Tool),
			t.textAttribute("gen_ai.tool.call.id", f.Call),
			t.textAttribute("gen_ai.tool.type", "function"),
		}
		if t.contents {
			attributes = append(attributes, t.textAttribute("nexus.tool.about", f.About))
		}
		t.beginSpan(spanName("tool", string(f.Session), f.Call), spanName("session", string(f.Session)), "execute_tool "+f.Tool, trace.SpanKindInternal, e.At, attributes...)
	case nexus.ToolCallEnded:
		failed := ""
		if f.Failed {
			failed = "tool_failed"
		}
		t.endSpan(spanName("tool", string(f.Session), f.Call), e.At, failed)
	default:
	}
}

// usageAttributes returns the usage of a model call. Cached tokens are part of the input.
func usageAttributes(f nexus.BudgetSettled) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int64("gen_ai.usage.input_tokens", f.Usage.PromptTokens()),
		attribute.Int64("gen_ai.usage.output_tokens", f.Usage.Output),
		attribute.Int64("gen_ai.usage.cache_read.input_tokens", f.Usage.CacheRead),
		attribute.Int64("gen_ai.usage.cache_creation.input_tokens", f.Usage.CacheWrite),
		attribute.Float64("nexus.cost.usd", f.Money.Dollars()),
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
