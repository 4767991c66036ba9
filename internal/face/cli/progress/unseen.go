package progress

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// unseen follows a run that nobody looks at: only hooks, plugins and issues hear of it.
type unseen struct{ *watcher }

// Unseen returns who follows a run that nobody looks at.
func Unseen(a *console.Console, p *app.Place) app.Watcher {
	quiet := a.Copy()
	quiet.Quiet, quiet.JSON = true, false
	return unseen{&watcher{a: quiet, place: p}}
}

// Finish implements [app.Watcher].
func (u unseen) Finish(ctx context.Context, final *state.State) {
	u.watcher.Finish(ctx, final)
	u.close()
}
