package progress

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// unseen follows a run that nobody looks at: only hooks, plugins and issues hear of it,
// and the status file has it.
type unseen struct {
	*watcher
	signal func() string // that ended the work; empty: none did
}

// Unseen returns who follows a run that nobody looks at, for as long as ctx.
func Unseen(ctx context.Context, a *console.Console, p *app.Place, c config.Config) app.Watcher {
	quiet := a.Copy()
	quiet.Quiet, quiet.JSON = true, false
	return unseen{&watcher{a: quiet, place: p, file: fileOf(a, c)}, func() string { return app.SignalName(ctx) }}
}

// Finish implements [app.Watcher].
func (u unseen) Finish(ctx context.Context, final *state.State) {
	u.watcher.Finish(ctx, final)
	u.close()
	if final == nil {
		return
	}
	if err := u.leave(final, !final.Status.Ended(), u.signal()); err != nil {
		u.a.Complain(err)
	}
}
