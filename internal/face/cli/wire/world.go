package wire

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/network"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/provide"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/local"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/key"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/depend"
	"github.com/nexus-ai-builder/nexus/internal/work/deputy"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/shop"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/code"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/mcptools"
)

// Parts are what the world of a run is built from.
type Parts struct {
	Run      nexus.RunID
	Repo     git.Repo // the user's
	State    string   // directory of the repository's state
	Blobs    *journal.BlobStore
	Config   config.Config
	Plan     *nexus.Plan // what is to be done, where that is known; nil otherwise
	Env      func(string) string
	Now      func() time.Time
	Keys     key.Store           // where keys come from
	Mask     func([]byte) []byte // takes keys out of what agents see; may be nil
	Learn    func(string)        // makes Mask know another; may be nil
	Tap      provider.Tap
	Trust    *trust.Book         // what people agreed to; nil: nothing
	Foreign  *mcptools.Servers   // whose tools agents may use; nil: none
	Deputy   *deputy.Deputy      // answers in the place of people; nil: nobody does
	Headless bool                // nobody answers questions
	Deliver  bool                // nothing but what landed is delivered, so models may be missing
	Draw     func(string) uint64 // what is drawn; nil draws at random
	Exe      string              // this program, which builds call for their cache; empty for none
}

// World builds what does the work of a run: the private clone, the sandbox,
// the roles and the models. What it returns second releases it all.
func World(ctx context.Context, p Parts) (run.World, func() error, error) {
	box, err := sandbox.Find(ctx, sandbox.Mode(p.Config.Sandbox))
	if err != nil {
		return nil, nil, err
	}
	if err := Agreed(p.Repo.Work, p.Trust); err != nil {
		return nil, nil, err
	}
	grant, err := network.Reachable(p.Config.Network, p.Repo.Work, p.Trust, p.Env, box)
	if err != nil {
		return nil, nil, err
	}
	roles, rules, err := Casting(p.Repo.Work, p.Config)
	if err != nil {
		return nil, nil, err
	}
	models, err := provider.NewModels(p.Config, p.Env, p.Now)
	if err != nil {
		return nil, nil, err
	}
	models.With(p.Keys, p.Tap)
	if err := models.Ready(p.Plan); err != nil && !p.Deliver {
		return nil, nil, err
	}
	trees, err := worktree.Open(ctx, p.Repo, p.State)
	if err != nil {
		return nil, nil, err
	}
	shop := &shop.Shop{
		Run: p.Run, Trees: trees, Blobs: p.Blobs, Box: box, Net: grant, Roles: roles, Pick: models.Pick, PickReader: models.PickReader, Readers: &shop.Readers{}, Rules: rules, Pace: &shop.Pace{}, Maps: &codemap.Maps{Tokens: p.Config.MapTokens},
		Gates: func(dir string) ([]gate.Gate, error) {
			all, err := detect.Gates(dir, p.Config.Gates)
			return depend.Own(dir, all), err
		},
		Related: shop.Related(p.Config.Gates.Related), Autofix: p.Config.Gates.Fix == "changed", Checks: p.Config.Checks,
		Alone: p.Headless, Patience: p.Config.Patience, Now: p.Now, Exe: p.Exe, Bases: &shop.Bases{}, State: p.State,
		May:    func(r nexus.Role) policy.Rules { return Rules(p.Config, r) },
		Caches: provide.Builds(p.Env), GateTime: p.Config.Limits.GateTime, Versions: &gate.ToolVersions{},
		Hurry: hurry(ctx),
		Retry: llm.Policy{Now: p.Now, Jitter: rand.Float64}, Draw: p.Draw, Mask: p.Mask, Learn: p.Learn, Foreign: p.Foreign, Code: &code.Kit{Servers: code.Servers(p.Config.Languages)},
	}
	if p.Deputy != nil {
		shop.Stands(p.Deputy)
	}
	shop.Faults = mutate.Check(p.Config.Mutation)
	if shop.Personas, err = review.PersonasNamed(p.Config.Personas); err != nil {
		return nil, nil, errors.Join(err, trees.Close())
	}
	shop.Fetched, shop.Meter = provide.Fetched(p.Env), provide.Meter(p.Config, p.Env)
	shop.Meter.Get, shop.Checkout = p.Blobs.Get, p.Repo.Work
	if shop.Kit, err = provide.Kit(provide.Parts{
		Run: p.Run, Checkout: p.Repo.Work, State: p.State, Clone: trees.Git(), Box: box, Net: shop.Net, Config: p.Config, Env: p.Env, Mask: p.Mask, Learn: p.Learn, Now: p.Now,
	}); err != nil {
		return nil, nil, errors.Join(err, trees.Close())
	}
	if line, set := p.Config.Gates.Commands[leak.Gate]; !set || line != "" {
		shop.Leaks = &leak.Finder{}
	}
	release := func() error { return errors.Join(shop.Bases.Close(context.WithoutCancel(ctx)), trees.Close()) }
	return &local.World{Shop: shop, Notes: p.Config.Notes, Shields: p.Config.Protected}, release, nil
}

// Rules returns what people add to the policy for a role.
func Rules(c config.Config, role nexus.Role) policy.Rules {
	p := c.PolicyOf(role)
	return policy.Rules{Allow: p.Allow, Ask: p.Ask, Deny: p.Deny, Show: c.Policy.Show}
}
