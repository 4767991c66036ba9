package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// EventReporter sends events to a plugin, in one process until it breaks down. It must be used by one
// goroutine at a time.
type EventReporter struct {
	Plugin DeclaredPlugin
	Runner *usercmd.UserCommandRunner

	session *PluginSession // nil: started with the next event
	left    bool           // it broke down
}

// SendEvent sends an event to the plugin if it wants it, and returns the reason of a failure, or "". It
// returns an error only if ctx ended before; the plugin is dead then.
func (r *EventReporter) SendEvent(ctx context.Context, e hookcmd.HookEvent) (why string, err error) {
	err = r.sendOnce(ctx, e)
	failed, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return "", err
	case failed.State == nexus.PluginFailed:
		return string(failed.State) + ": " + failed.Why, nil
	}
	r.Close()
	r.left = true
	return fmt.Sprintf("%s: %s; it is left out until Nexus starts again, and then receives the rest", failed.State, failed.Why), nil
}

// HasFailed reports whether the plugin broke down. It gets no further events then: each could cost
// its timeout.
func (r *EventReporter) HasFailed() bool { return r.left }

func (r *EventReporter) sendOnce(ctx context.Context, e hookcmd.HookEvent) error {
	if r.session == nil {
		s, err := r.Plugin.StartSession(ctx, r.Runner)
		if err != nil {
			return err
		}
		r.session = s
	}
	if wants := r.session.Hello.Capabilities.Events; len(wants) > 0 && !slices.Contains(wants, e.Point) {
		return nil
	}
	e.Version, e.Hook, e.Dir = hookcmd.EventVersion, r.Plugin.Name, r.Runner.Dir
	return r.session.Ask(ctx, nexus.PluginReporter, e.Run, e, &EmptyReporterOutput{})
}

// Close ends the plugin.
func (r *EventReporter) Close() {
	if r.session != nil {
		r.session.Close()
		r.session = nil
	}
}
