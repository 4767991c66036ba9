package progress

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// backgroundWatcher follows a run that nobody watches: it serves only hooks, plugins, issues and
// the status file. It prints the reasons for delays.
type backgroundWatcher struct {
	*consoleWatcher
	say    func(format string, args ...any)
	signal func() string // the signal that ended the work; empty: none
}

// NewBackgroundWatcher returns the watcher of a run that nobody watches, until ctx ends.
func NewBackgroundWatcher(ctx context.Context, a *console.Console, p *app.Repository, c config.Config) app.RunWatcher {
	quiet := a.Copy()
	quiet.Quiet, quiet.JSON = true, false
	return backgroundWatcher{&consoleWatcher{a: quiet, place: p, file: statusFileOptions(a, c)}, a.Say, func() string { return app.SignalName(ctx) }}
}

// Follow implements [app.RunWatcher].
func (u backgroundWatcher) Follow(ctx, work context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	run, after := u.shown.state.Run, u.shown.state.Seq
	all.Go(func() { u.reportDelays(work, run, after) })
	u.consoleWatcher.Follow(ctx, work)
}

// delayReportInterval is the minimum time between two messages about delays.
const delayReportInterval = 10 * time.Minute

// reportDelays prints when a run waits for a provider, until ctx ends.
func (u backgroundWatcher) reportDelays(ctx context.Context, run nexus.RunID, after int64) {
	var last time.Time
	for e, err := range u.place.Journal.Follow(ctx, run, after) {
		if err != nil {
			return // the conductor reports the error
		}
		_, delay := e.Fact.(nexus.ModelCallDelayed)
		if !isDelay(e.Fact) || delay && e.At.Sub(last) < delayReportInterval {
			continue
		}
		if delay {
			last = e.At
		}
		about, text := view.DescribeFact(e.Fact)
		u.say("%s: %s", run, view.EscapeForTerminal(strings.TrimSpace(about+" "+text)))
	}
}

// isDelay reports whether a fact means that a run waits for a provider.
func isDelay(f nexus.Fact) bool {
	_, hit := f.(nexus.QuotaExhausted)
	_, held := f.(nexus.QuotaNearlyExhausted)
	d, delayed := f.(nexus.ModelCallDelayed)
	return hit || held || delayed && (d.Wait == 0 || d.Wait >= 5*time.Second)
}

// Finish implements [app.RunWatcher].
func (u backgroundWatcher) Finish(ctx context.Context, final *state.State) {
	u.consoleWatcher.Finish(ctx, final)
	u.close()
	if final == nil {
		return
	}
	if err := u.writeStatusFile(final, !final.Status.HasEnded(), u.signal()); err != nil {
		u.a.ReportError(err)
	}
}
