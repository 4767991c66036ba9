package app

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/local"
	"github.com/nexus-ai-builder/nexus/internal/sys/apikey"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/codedoc"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/codenavigation"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/mcptools"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// earlierSample is the number of criteria of earlier runs that are checked again before a run: enough to notice
// a base that is broken, and done long before the planner is.
const earlierSample = 3

// earlierCheckTime limits all repeated checks of earlier runs together. The planner works meanwhile, for
// longer than a minute.
const earlierCheckTime = time.Minute

// buildMachine builds the machine that does the work of a run, from the run's options and the
// journal's history. The second result releases it.
func (a *App) buildMachine(ctx context.Context, p *Repository, c config.Config, o RunOptions) (*local.LocalExecutor, func() error, error) {
	exe, err := os.Executable()
	if err != nil {
		exe = "" // builds are slower without it
	}
	blobs, err := p.OpenBlobStore()
	if err != nil {
		return nil, nil, err
	}
	foreign, err := a.OpenMCPServers(p.Repo.Work)
	if err != nil {
		return nil, nil, err
	}
	if !o.deliver {
		if c, err = a.ConfigWithAgentsIfNoModel(c, o.tap); err != nil {
			return nil, nil, err
		}
	}
	auto, err := newAutoAnswer(ctx, p, c, o)
	if err != nil {
		return nil, nil, err
	}
	m, release, err := NewLocalExecutor(ctx, LocalExecutorOptions{
		Run: o.Run, Deputy: auto, Foreign: foreign, Repo: p.Repo, State: p.State, Blobs: blobs, Config: c, Plan: o.Plan,
		Env: a.Env, Keys: a.KeyStore(), Mask: a.Mask.Mask, Learn: a.Mask.AddSecret, Tap: o.tap, Trust: a.TrustStore(), Now: a.Now,
		Headless: o.isUnattended(c), Exe: exe, Draw: o.draw, Deliver: o.deliver, Say: a.reportText,
	})
	if err != nil {
		return nil, nil, err
	}
	if m.Hooks, m.Runner, err = a.refusingHooks(ctx, p, o.Run); err != nil {
		return nil, nil, errors.Join(err, release())
	}
	if !o.deliver {
		if m.Worker.Site.Plugins, err = a.pluginHost(ctx, p, o.Run); err != nil {
			return nil, nil, errors.Join(err, release())
		}
	}
	m.Worker.Sessions.Memory, m.Worker.Judge.Yours = a.MemoryRetriever(p, c), o.Yours
	m.Worker.Sessions.Docs = codedoc.DocStore{Top: p.Repo.Work, Show: c.Policy.Show, Tokens: int64(c.Docs)}
	m.Regression.Sample, m.Regression.Time = earlierSample, earlierCheckTime
	m.Worker.Sessions.Pace.Past = func(ctx context.Context) func(string) time.Duration {
		past, err := RecentRunStatistics(ctx, p.Journal, o.Run)
		if err != nil {
			return func(string) time.Duration { return 0 } // work begins without it
		}
		return func(gate string) time.Duration { return past.UsualGateTime(&state.State{}, gate) }
	}
	m.Regression.Past = func(ctx context.Context) ([]accept.EarlierRunCheck, error) {
		return earlierChecks(ctx, p.Journal, o.Run)
	}
	return m, release, nil
}

// LocalExecutorOptions are the dependencies of a run's world.
type LocalExecutorOptions struct {
	Run      nexus.RunID
	Repo     git.Repo // the user's
	State    string   // directory of the repository's state
	Blobs    *journal.BlobStore
	Config   config.Config
	Plan     *nexus.Plan // the plan of the run, if it is known; nil otherwise
	Env      func(string) string
	Now      func() time.Time
	Keys     apikey.KeyStore     // store of the keys
	Mask     func([]byte) []byte // removes keys from everything that agents read; may be nil
	Learn    func(string)        // adds another one to Mask; may be nil
	Tap      provider.RecordingTransport
	Trust    *trust.Store                 // people's consent; nil: none
	Foreign  *mcptools.RunMCPServers      // whose tools agents may use; nil: none
	Deputy   *worker.QuestionAutoAnswerer // answers in the place of people; nil: off
	Say      func(string)                 // reports to people which rules are omitted; may be nil
	Headless bool                         // no person answers questions
	Deliver  bool                         // only the landed work is delivered, so models may be missing
	Draw     func(string) uint64          // draws numbers; nil draws at random
	Exe      string                       // this program, which builds call for their cache; empty for none
}

// NewLocalExecutor builds the machine that does the work of a run: the private clone, the sandbox,
// the roles and the models. The second result releases it.
func NewLocalExecutor(ctx context.Context, p LocalExecutorOptions) (*local.LocalExecutor, func() error, error) {
	box, err := FindSandbox(ctx, p.Config)
	if err != nil {
		return nil, nil, err
	}
	if err := CheckTrust(p.Repo.Work, p.Trust); err != nil {
		return nil, nil, err
	}
	grant, err := EnforceableEgressGrant(p.Config.Network, p.Repo.Work, p.Trust, p.Env, box)
	if err != nil {
		return nil, nil, err
	}
	said, err := loadAgentRules(p.Repo.Work, p.Config, p.Env, p.Trust)
	if err != nil {
		return nil, nil, err
	}
	cast, err := trustedPipeline(p.Repo.Work, p.Config, said)
	if err != nil {
		return nil, nil, err
	}
	if err := CheckAgentRules(said, p.Say); err != nil {
		return nil, nil, err
	}
	models, err := provider.NewModelPicker(p.Config, p.Env, p.Now)
	if err != nil {
		return nil, nil, err
	}
	models.UseKeysAndTransport(p.Keys, p.Tap)
	if err := models.CheckAllRoles(p.Plan); err != nil && !p.Deliver {
		return nil, nil, err
	}
	external, err := newExternalAgentPickFunc(p, models)
	if err != nil {
		return nil, nil, err
	}
	trees, err := worktree.OpenStore(ctx, p.Repo, p.State)
	if err != nil {
		return nil, nil, err
	}
	trees.Hides, trees.Prefix = HiddenFilesRule(), p.Config.Prefix
	meter := NewChangeMeasurer(p.Config, p.Env)
	meter.Get = p.Blobs.Get
	judge := worker.TreeJudge{
		Gates: func(dir string) ([]gate.QualityGate, error) {
			all, err := detect.DetectGates(dir, p.Config.Gates)
			return dependencies.WithoutSubmoduleGates(dir, all), err
		},
		Steps: cast.steps, Related: worker.RelatedTestsMode(p.Config.Gates.Related), Packages: p.Config.Gates.Packages, Everywhere: p.Config.Gates.Related == string(worker.RelatedOff), Autofix: p.Config.Gates.Fix == "changed", Bases: &worker.BaseCommitJudge{},
		Faults: mutate.MutationCheckSettings(p.Config.Mutation), Meter: meter, Checkout: p.Repo.Work, Fetched: toolCacheUser(p.Env),
		Caches: userGoBuildCache(p.Env), Exe: p.Exe, GateTime: p.Config.Limits.GateTime, CI: true, Versions: &gate.ToolVersionCache{},
	}
	if judge.Kit, err = newProvisioner(provisionerOptions{
		Run: p.Run, Checkout: p.Repo.Work, State: p.State, Clone: trees.PrivateRepo(), Box: box, Net: grant, Config: p.Config, Env: p.Env, Mask: p.Mask, Learn: p.Learn, Now: p.Now,
	}); err != nil {
		return nil, nil, errors.Join(err, trees.Close())
	}
	if line, set := p.Config.Gates.Commands[leak.GateName]; !set || line != "" {
		judge.Leaks = &leak.SecretLeakFinder{}
	}
	sessions := worker.AgentSessions{
		Roles: cast.roles, Pick: models.PickModel, PickReader: newReviewerModelPickFunc(p, models), External: external, Windows: &worker.AccountLimitReports{}, Readers: &worker.RecordedReviewerPairs{}, Checks: p.Config.Checks, Independent: p.Config.Independent, Rules: said,
		Pace: &worker.GateForecast{}, Maps: &codemap.RepositoryMapper{Tokens: p.Config.MapTokens, Commits: codemap.SurveyedCommits}, Foreign: p.Foreign, Code: &codenavigation.AgentLanguageServers{Servers: codenavigation.ConfiguredServers(p.Config.Languages)},
		Alone: p.Headless, Patience: p.Config.Patience, Hurry: endOnSIGTERM(ctx), Retry: llm.CallRetryPolicy{Now: p.Now, Jitter: rand.Float64}, Draw: p.Draw,
	}
	if sessions.Personas, err = review.PersonasNamed(p.Config.Personas); err != nil {
		return nil, nil, errors.Join(err, trees.Close())
	}
	w := worker.NewAttemptWorker(worker.RunEnvironment{
		Run: p.Run, Now: p.Now, Blobs: p.Blobs, Box: box, Net: grant, State: p.State, Mask: p.Mask, Learn: p.Learn,
		May: func(r nexus.Role) policy.CommandPolicyContext { return CommandPolicyContext(p.Config, r) },
	}, trees, judge, sessions)
	if p.Deputy != nil {
		w.Sessions.SetAutoAnswer(p.Deputy)
	}
	release := func() error { return errors.Join(w.Judge.Bases.Close(context.WithoutCancel(ctx)), trees.Close()) }
	return &local.LocalExecutor{Worker: w, Shields: p.Config.Protected}, release, nil
}

// CommandPolicyContext returns the additions of people to the policy of a role.
func CommandPolicyContext(c config.Config, role nexus.Role) policy.CommandPolicyContext {
	p := c.RolePolicy(role)
	return policy.CommandPolicyContext{Allow: p.Allow, Ask: p.Ask, Deny: p.Deny, Show: c.Policy.Show}
}

// HiddenFilesRule returns the files that agents' own git does not show.
func HiddenFilesRule() worktree.HiddenFileRules {
	return worktree.HiddenFileRules{File: ignore.File, Rules: func(texts map[string]string) (func(string) bool, error) {
		s, err := ignore.NewIgnoreSet(texts)
		return s.IsIgnored, err
	}}
}
