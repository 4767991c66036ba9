package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/blob"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// events is what the journal gives.
type events = iter.Seq2[nexus.Event, error]

// world builds what does the work of a run. What it returns second releases
// it all.
func world(ctx context.Context, a *frame.App, p *frame.Place, c config.Config, o Order) (run.World, func() error, error) {
	exe, err := os.Executable()
	if err != nil {
		exe = "" // builds are slower without it
	}
	return World(ctx, Parts{
		Run: o.Run, Repo: p.Repo, State: p.State, Config: c, Plan: o.Plan, Env: a.Env, Now: a.Now, Headless: o.Headless || !a.Live(a.Err), Exe: exe,
	})
}

// gates returns the names of the gates that judge the work, in their order.
func gates(p *frame.Place, c config.Config) ([]string, error) {
	all, err := gate.Detect(p.Repo.Work, c.Gates)
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = g.Name
	}
	return names, err
}

// Decompose lets the planner make a plan, and nothing else.
func Decompose(_ context.Context, _ *frame.App, _ *frame.Place, _ Order) (nexus.Plan, error) {
	return nexus.Plan{}, &nexus.Error{Code: nexus.CodeInternal, Message: "no planner is wired yet", Hint: "This is a build on its way."}
}

// keep stores a plan as a blob.
func keep(p *frame.Place, plan *nexus.Plan) (string, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(plan); err != nil {
		return "", &nexus.Error{Code: nexus.CodeInternal, Message: "encode the plan", Cause: err}
	}
	store, err := blob.Open(filepath.Join(p.State, "blobs"))
	if err != nil {
		return "", err
	}
	return store.Put(b.Bytes())
}

// newRun names a run by when it began, so that names sort by time.
func newRun(now time.Time) nexus.RunID {
	return nexus.RunID(now.UTC().Format("060102-150405-") + strings.ToLower(rand.Text()[:3]))
}
