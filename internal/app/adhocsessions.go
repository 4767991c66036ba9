package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/dailybudget"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/portslot"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/codenavigation"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// AdhocSessionResult is the result of an ad-hoc session.
type AdhocSessionResult struct {
	Outcome nexus.Outcome   `json:"outcome"`
	Why     string          `json:"why,omitzero"`
	Text    string          `json:"text"`
	Handin  json.RawMessage `json:"handin,omitempty"`
	Turns   int             `json:"turns"`
	Money   nexus.Money     `json:"money"`
	Usage   nexus.Usage     `json:"usage"`

	Model string `json:"-"` // that was used
}

// AdhocSessionRunner runs sessions outside of any run. It holds their common parts: the role, its models and
// one budget. Its sessions may run in parallel. Nothing of them is journaled, and their cost
// counts against the day.
type AdhocSessionRunner struct {
	app    *App
	config config.Config
	role   agent.RoleDefinition
	top    string // the repository's, whose rules apply
	models *provider.ModelPicker
	tap    provider.RecordingTransport
	box    *sandbox.Box
	till   *adhocSessionRecorder
	stop   context.CancelCauseFunc
}

// OpenAdhocSessions prepares sessions in a role. It fails where nothing may start. The returned context
// ends when the kill switch is on.
func (a *App) OpenAdhocSessions(ctx context.Context, c config.Config, name nexus.Role, traffic provider.TrafficRecordingOptions, heard func(nexus.Fact)) (*AdhocSessionRunner, context.Context, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, nil, err
	}
	halt := a.KillSwitch("")
	if p, err := a.OpenRepository(ctx, ReadAccess); err == nil {
		p.Close()
		halt = a.KillSwitch(p.State)
	}
	s := &AdhocSessionRunner{app: a, config: c, top: WorkTreeRoot(dir)}
	if err := errors.Join(halt.ErrIfActive(), CheckTrust(s.top, a.TrustStore())); err != nil {
		return nil, nil, err
	}
	roles, err := LoadRoleDefinitions(s.top, c)
	if err != nil {
		return nil, nil, err
	}
	role, ok := roles[name]
	if !ok {
		if role, err = a.claudeAgentRole(s.top, c, string(name), roles[nexus.Assistant]); err != nil {
			return nil, nil, err
		}
	}
	role.Tools = slices.DeleteFunc(slices.Clone(role.Tools), func(name string) bool { return name == "git" || name == tool.SubagentTool }) // the repository is the user's own, and this is no run
	role.Turns = 0                                                                                                                         // the limits set the number
	s.role = role
	if s.models, err = provider.NewModelPicker(c, a.Env, a.Now); err != nil {
		return nil, nil, err
	}
	if s.box, err = FindSandbox(ctx, c); err != nil {
		return nil, nil, err
	}
	s.till = &adhocSessionRecorder{heard: heard, day: c.Limits.DayMoney}
	s.till.ledger.SetCaps(c.Limits, 0)
	state := filepath.Join(a.StateHome(), "purse")
	if s.till.purse, err = dailybudget.OpenShare(state, fmt.Sprintf("agent/%d-%d", os.Getpid(), a.Now().UnixNano()), a.Now); err != nil {
		return nil, nil, err
	}
	if s.tap, err = traffic.Open(a.Mask.Mask); err != nil {
		return nil, nil, errors.Join(err, s.till.purse.Close())
	}
	s.models.UseKeysAndTransport(a.KeyStore(), s.tap)
	ctx, s.stop = context.WithCancelCause(ctx)
	go watchKillSwitch(ctx, s.stop, halt)
	return s, ctx, nil
}

// Close releases the resources of the sessions.
func (s *AdhocSessionRunner) Close(ctx context.Context) {
	s.stop(nil)
	s.till.close(context.WithoutCancel(ctx))
	s.app.closeRecording(s.tap)
}

// SpentMoney returns the cost of its sessions so far.
func (s *AdhocSessionRunner) SpentMoney() nexus.Money {
	s.till.mu.Lock()
	defer s.till.mu.Unlock()
	return s.till.ledger.SpentMoney()
}

// SetRecorder sets a function that records each call before it is made, and its cost. A call
// whose recording fails is not made.
func (s *AdhocSessionRunner) SetRecorder(keep func(facts ...nexus.Fact) error) { s.till.keep = keep }

// PickModel returns the role's model, or another one if that model is the failed one.
func (s *AdhocSessionRunner) PickModel(failed string) (worker.PricedModel, error) {
	if failed == "" {
		return s.models.PickModel(s.role.Name, s.role.Tier, "")
	}
	m, _, err := s.models.PickReviewerModel(s.role.Name, s.role.Tier, "", failed, failed)
	return m, err
}

// AdhocSessionRequest describes one session.
type AdhocSessionRequest struct {
	Session nexus.SessionID // begins with the attempt that it is recorded under
	Dir     string          // where it works; empty: the working directory
	Text    string          // its first message
	Handin  json.RawMessage // JSON Schema of its submission; nil: a summary
	Failed  string          // model that is not used again if there is another
}

// maxRetryAfter is the longest wait that a provider may ask for while a person waits for the
// session.
const maxRetryAfter = 15 * time.Minute

// Ask runs a session.
func (s *AdhocSessionRunner) Ask(ctx context.Context, t AdhocSessionRequest) (AdhocSessionResult, error) {
	model, err := s.PickModel(t.Failed)
	if err != nil {
		return AdhocSessionResult{}, err
	}
	if t.Dir == "" {
		if t.Dir, err = s.app.WorkDir(); err != nil {
			return AdhocSessionResult{}, err
		}
	}
	grant, err := EnforceableEgressGrant(s.config.Network, s.top, s.app.TrustStore(), s.app.Env, s.box)
	if err != nil {
		return AdhocSessionResult{}, err
	}
	env, done, err := toolEnvironment(ctx, s.app, s.config, s.role, t.Dir, s.box)
	if err != nil {
		return AdhocSessionResult{}, err
	}
	defer done()
	env.Net, env.Handin = grant.GatewayForRole(string(s.role.Name)), t.Handin
	tools, err := tool.NewToolSet(env, s.role.Tools...)
	if err != nil {
		return AdhocSessionResult{}, err
	}
	defer tools.Close()
	servers, err := s.app.OpenMCPServers(s.top)
	if err != nil {
		return AdhocSessionResult{}, err
	}
	defer servers.AddTools(ctx, tools, s.role.Name, env)()
	defer (&codenavigation.AgentLanguageServers{Servers: codenavigation.ConfiguredServers(s.config.Languages)}).AddTool(ctx, tools, env)()
	of, _, _ := strings.Cut(string(t.Session), "/")
	said, err := s.app.AgentRules(s.top, s.config)
	if err != nil {
		return AdhocSessionResult{}, err
	}
	standing := append(said.AlwaysApplicable().PromptSections(), said.ApplicableTo(nil, t.Text).PromptSections()...)
	system := prompt.SystemPrompt(s.role.Prompt, standing, prompt.RoleEnvironment{})
	if s.role.Answers {
		system = prompt.StandaloneSystemPrompt(s.role.Prompt, standing)
	}
	out, err := agent.RunSession(ctx, model.Model, tools, agent.SessionStretchOptions{
		Session: t.Session, Attempt: nexus.AttemptID(of), Role: s.role, Model: model.Name, Schema: t.Handin,
		System: s.app.Mask.MaskText(system), Next: env.Hidden.RedactHidden(tools.AgentTree().Root, t.Text), Limits: s.config.Limits, Price: model.Price, Worst: model.Worst,
		Tokens: model.Tokens, Context: model.Context, Choices: model.SessionChoices(), Retry: llm.CallRetryPolicy{Now: s.app.Now, Jitter: rand.Float64, Asked: maxRetryAfter},
	}, s.till, &lastBlobStore{mask: s.app.Mask}, nil)
	if err == nil {
		err = out.Refusal
	}
	return AdhocSessionResult{out.Outcome, out.Why, out.Text, out.Handin, out.Turns, s.SpentMoney(), out.Usage, model.Name}, err
}

// RunSession lets an agent work in the working directory: no plan, no gates, no landing, and
// nothing is journaled.
func (a *App) RunSession(ctx context.Context, c config.Config, role nexus.Role, text string, traffic provider.TrafficRecordingOptions, heard func(nexus.Fact)) (AdhocSessionResult, error) {
	s, ctx, err := a.OpenAdhocSessions(ctx, c, role, traffic, heard)
	if err != nil {
		return AdhocSessionResult{}, err
	}
	defer s.Close(ctx)
	id := "agent.1/" + nexus.SessionID(role) + ".1"
	return s.Ask(ctx, AdhocSessionRequest{Session: id, Text: "Conversation: " + string(id) + "\n\n" + text})
}

// toolEnvironment returns the tools' environment for an agent in a directory of the user, and a
// function that releases it.
func toolEnvironment(ctx context.Context, a *App, c config.Config, role agent.RoleDefinition, dir string, box *sandbox.Box) (tool.AgentToolEnvironment, func(), error) {
	env := tool.AgentToolEnvironment{
		Dir: dir, Box: box, Now: a.Now, Theirs: true, Writes: role.Writes != agent.WriteNothing, Rule: role.Writes.MakeWriteCheck(), Mask: a.Mask.Mask, Learn: a.Mask.AddSecret, Rules: CommandPolicyContext(c, role.Name), Hidden: files.HiddenPathRules{Show: c.Policy.Show},
	}
	own, err := portslot.AcquirePortSlot(filepath.Join(a.StateHome(), "slots"), dir)
	if err != nil {
		return env, nil, err
	}
	undo := func(context.Context) ([]string, error) { return nil, nil }
	if role.Writes == agent.WriteAll {
		guard, err := tool.NewCheckoutGuard(dir, box.HidesHost())
		if err != nil {
			return env, nil, errors.Join(&nexus.Error{
				Code: nexus.CodeStorage, Message: "read the configuration of agents and editors in " + dir, Cause: err,
				Hint: "Make it readable: it is put back if a command changes it.",
			}, own.Release())
		}
		undo, env.Rule = guard.Undo, tool.CombineWriteRules(env.Rule, tool.ProtectedFileReason)
		if env.Undo = undo; box.HidesHost() {
			env.Readable = guard.ReadOnlyPaths()
		}
	}
	env.Vars = sandbox.AgentCommandEnv(own.EnvironmentVariables("agent/"+filepath.Base(dir), box.HidesHost())...)
	if !box.HidesHost() {
		if env.Tmp, err = os.MkdirTemp("", "nexus-agent-"); err != nil {
			return env, nil, errors.Join(&nexus.Error{
				Code: nexus.CodeStorage, Message: "make a directory", Cause: err,
				Hint: "Set TMPDIR to a writable directory.",
			}, own.Release())
		}
	}
	return env, func() {
		_, _ = undo(context.WithoutCancel(ctx)) // what background commands wrote since the last command
		_ = own.Release()
		if env.Tmp != "" {
			_ = os.RemoveAll(env.Tmp) // a temporary directory
		}
	}, nil
}

// lastBlobStore stores only the last blob: a session outside of any run is never resumed. One
// goroutine owns it.
type lastBlobStore struct {
	mask *secret.Masker
	hash string
	last []byte
}

// Put implements [agent.MessageStore].
func (f *lastBlobStore) Put(data []byte) (string, error) {
	f.last = f.mask.Mask(data)
	sum := sha256.Sum256(f.last)
	f.hash = hex.EncodeToString(sum[:])
	return f.hash, nil
}

// Get implements [agent.MessageStore].
func (f *lastBlobStore) Get(hash string) ([]byte, error) {
	if hash == f.hash {
		return f.last, nil
	}
	return nil, NotFoundError("blob", hash, "A session outside a run keeps none.")
}

// adhocSessionRecorder is the [agent.SessionRecorder] of sessions outside of any run.
type adhocSessionRecorder struct {
	heard func(nexus.Fact)
	keep  func(facts ...nexus.Fact) error // records calls and their costs; nil: they are not recorded
	purse *dailybudget.RunBudgetShare
	day   nexus.Money // the cap that all runs share

	mu     sync.Mutex // guards the ledger and the daily budget
	ledger budget.MoneyLedger
}

// Record implements [agent.SessionRecorder].
func (d *adhocSessionRecorder) Record(_ context.Context, facts ...nexus.Fact) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.record(facts)
}

func (d *adhocSessionRecorder) record(facts []nexus.Fact) error {
	for _, f := range facts {
		if f, ok := f.(nexus.BudgetSettled); ok {
			d.ledger.SettleCall(f)
			if d.keep != nil {
				if err := d.keep(f); err != nil {
					return err
				}
			}
		}
		if d.heard != nil {
			d.heard(f)
		}
	}
	return nil
}

// Reserve implements [agent.SessionRecorder].
func (d *adhocSessionRecorder) Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]agent.Guidance, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.record(done); err != nil {
		return nil, err
	}
	if d.day > 0 {
		own, grace := d.ledger.DayBudgetClaim(r)
		shared, _, err := d.purse.Claim(ctx, own, d.day+grace)
		if err != nil {
			return nil, err
		}
		d.ledger.SetOthersSpent(shared)
	}
	if no, refused := d.ledger.Check(r); refused {
		return nil, &nexus.Error{
			Code: nexus.CodeBudget, Message: schedule.ReachedCapText(no),
			Hint: "Raise the limit: --budget for one session, budget.day for the whole day.",
		}
	}
	if d.keep != nil {
		if err := d.keep(r); err != nil {
			return nil, err
		}
	}
	d.ledger.Reserve(r)
	return nil, nil
}

// close records the final spending of the session in the daily budget.
func (d *adhocSessionRecorder) close(ctx context.Context) {
	own, _ := d.ledger.DayBudgetClaim(nexus.BudgetReserved{})
	_, _, _ = d.purse.Claim(ctx, own, 0) // the reservation is at least as large
	_ = d.purse.Close()                  // only a lock
}
