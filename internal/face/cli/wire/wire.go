// Package wire builds what a command needs from the configuration and the
// environment: the world of a run, and the loop that conducts it.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/regress"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/servers"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/local"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// events is what the journal gives.
type events = iter.Seq2[nexus.Event, error]

// world builds what does the work of a run. What it returns second releases
// it all.
func world(ctx context.Context, a *frame.Console, p *app.Place, c config.Config, o Order) (run.World, func() error, error) {
	exe, err := os.Executable()
	if err != nil {
		exe = "" // builds are slower without it
	}
	blobs, err := p.Blobs()
	if err != nil {
		return nil, nil, err
	}
	foreign, err := servers.Open(a, p.Repo.Work)
	if err != nil {
		return nil, nil, err
	}
	stands, err := stand(ctx, p, c, o)
	if err != nil {
		return nil, nil, err
	}
	w, release, err := World(ctx, Parts{
		Run: o.Run, Deputy: stands, Foreign: foreign, Repo: p.Repo, State: p.State, Blobs: blobs, Config: c, Plan: o.Plan, Env: a.Env, Keys: a.Keys(), Mask: a.Mask.Mask, Learn: a.Mask.Learn, Tap: o.tap, Trust: a.Trust(), Now: a.Now, Headless: o.Headless || !a.Live(a.Err) && len(c.Channels.Order) == 0, Exe: exe, Draw: o.draw,
		Deliver: o.deliver,
	})
	if here, ok := w.(*local.World); ok && err == nil {
		here.Regression.Sample, here.Regression.Time = c.Regression.Sample, c.Regression.Time
		here.Shop.Pace.Past = func(ctx context.Context) func(string) time.Duration {
			past, err := Past(ctx, p.Journal, o.Run)
			if err != nil {
				return func(string) time.Duration { return 0 } // work begins without it
			}
			return func(gate string) time.Duration { return past.Usual(&state.State{}, gate) }
		}
		here.Regression.Past = func(ctx context.Context) ([]regress.Earlier, error) { return earlier(ctx, p.Journal, o.Run) }
	}
	return w, release, err
}

// Ready refuses what could not work anyway, before anything is recorded: a
// model that nobody knows, a provider without a key.
func Ready(a *frame.Console, c config.Config, o Order) error {
	if o.deliver {
		return nil // as a rule it asks no model
	}
	models, err := provider.NewModels(c, a.Env, a.Now)
	if err != nil {
		return err
	}
	models.With(a.Keys(), o.tap)
	roles := []nexus.Role{nexus.Coder, nexus.Reviewer}
	if o.Run == "" && o.Plan == nil {
		roles = append(roles, nexus.Planner)
	}
	for _, role := range roles {
		if _, err := models.Pick(role, "", ""); err != nil {
			return err
		}
	}
	if o.Plan == nil {
		return nil
	}
	for _, t := range o.Plan.Tasks {
		if _, err := models.Pick(nexus.Coder, t.Tier, t.Model); err != nil {
			return err
		}
	}
	return nil
}

// gates returns the names of the gates that judge the work, in their order;
// those of submodules do not.
func gates(p *app.Place, c config.Config) ([]string, error) {
	all, err := detect.Gates(p.Repo.Work, c.Gates)
	all = slices.DeleteFunc(all, func(g gate.Gate) bool {
		for dir := filepath.Clean(g.Dir); filepath.IsLocal(dir) && dir != "."; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(filepath.Join(p.Repo.Work, dir, ".git")); err == nil {
				return true
			}
		}
		return false
	})
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = g.Name
	}
	return names, err
}

// keep stores a plan as a blob.
func keep(p *app.Place, made *nexus.Plan) (string, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(made); err != nil {
		return "", &nexus.Error{Code: nexus.CodeInternal, Message: "encode the plan", Cause: err}
	}
	store, err := p.Blobs()
	if err != nil {
		return "", err
	}
	return store.Put(b.Bytes())
}
