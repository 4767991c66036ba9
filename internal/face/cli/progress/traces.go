package progress

import (
	"context"
	"iter"
	"path/filepath"
	"runtime/debug"

	"github.com/nexus-ai-builder/nexus/internal/face/telemetry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// startTraces sends the activity of a run to a trace collector, if one is configured. The returned
// function sends the rest.
func (w *consoleWatcher) startTraces(ctx context.Context, id nexus.RunID) (end func()) {
	if w.trace.Endpoint == "" {
		return func() {}
	}
	x := telemetry.SpanExporter{
		Endpoint: w.trace.Endpoint, Contents: w.trace.Contents, Mask: w.a.Mask.MaskText,
		Cursor: filepath.Join(w.place.State, "telemetry", string(id)),
		Say:    func(err error) { w.shown.printMessage("%s", view.EscapeForTerminal(w.a.Mask.MaskText(err.Error()))) },
	}
	x.Headers = telemetry.ParseHeaders(w.a.Env("OTEL_EXPORTER_OTLP_HEADERS")) // the standard's name
	for _, v := range x.Headers {
		w.a.Mask.AddSecret(v)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		x.Version = info.Main.Version
	}
	live := func(ctx context.Context, after int64) iter.Seq2[nexus.Event, error] {
		return w.place.Journal.Follow(ctx, id, after)
	}
	left := func(ctx context.Context, after int64) iter.Seq2[nexus.Event, error] {
		return w.place.Journal.Events(ctx, id, after)
	}
	return x.Follow(ctx, id, live, left)
}
