package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/network"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/pick"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/servers"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/purse"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/sys/slot"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/cast"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// Talk is one session outside of any run.
type Talk struct {
	Prompt string
	Role   nexus.Role
	Heard  func(nexus.Fact) // gets every fact; may be nil

	Traffic Traffic // where it is recorded to, or played from
}

// Spoken is what came of it.
type Spoken struct {
	Outcome nexus.Outcome   `json:"outcome"`
	Why     string          `json:"why,omitzero"`
	Text    string          `json:"text"`
	Handin  json.RawMessage `json:"handin,omitempty"`
	Turns   int             `json:"turns"`
	Money   nexus.Money     `json:"money"`
	Usage   nexus.Usage     `json:"usage"`
}

// Session lets an agent work in the working directory: no plan, no gates, no
// landing, and nothing is journaled.
func Session(ctx context.Context, a *frame.App, c config.Config, t Talk) (Spoken, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return Spoken{}, err
	}
	if err := agreed(frame.Top(dir), a.Trust()); err != nil {
		return Spoken{}, err
	}
	roles, _, err := casting(frame.Top(dir), c)
	if err != nil {
		return Spoken{}, err
	}
	role, ok := roles[t.Role]
	if !ok {
		return Spoken{}, frame.NotFound("role", string(t.Role), "Use planner, coder, tester, reviewer or merger.")
	}
	role.Tools = slices.DeleteFunc(slices.Clone(role.Tools), func(name string) bool { return name == "git" }) // the repository is the user's own
	role.Turns = 0                                                                                            // the limits say how many
	models, err := pick.NewModels(c, a.Env, a.Now)
	if err != nil {
		return Spoken{}, err
	}
	tap, err := t.Traffic.open(a.Mask.Mask)
	if err != nil {
		return Spoken{}, err
	}
	defer leave(a, tap)
	model, err := models.With(a.Keys(), tap).Pick(role.Name, role.Tier, "")
	if err != nil {
		return Spoken{}, err
	}
	box, err := sandbox.Find(ctx, sandbox.Mode(c.Sandbox))
	if err != nil {
		return Spoken{}, err
	}
	grant, err := network.Reachable(c.Network, frame.Top(dir), a.Trust(), a.Env, box)
	if err != nil {
		return Spoken{}, err
	}
	env, done, err := hands(a, c, role, dir, box)
	env.Net = grant.Role(string(role.Name))
	if err != nil {
		return Spoken{}, err
	}
	defer done()
	tools, err := tool.New(env, role.Tools...)
	if err != nil {
		return Spoken{}, err
	}
	defer tools.Close()
	foreign, err := servers.Open(a, frame.Top(dir))
	if err != nil {
		return Spoken{}, err
	}
	defer foreign.Join(ctx, tools, role.Name, env)()
	d := &desk{heard: t.Heard, day: c.Limits.DayMoney}
	d.ledger.Cap(c.Limits, 0)
	state := filepath.Join(a.Home("XDG_STATE_HOME", ".local/state"), "nexus", "purse")
	if d.purse, err = purse.Open(state, fmt.Sprintf("agent/%d-%d", os.Getpid(), a.Now().UnixNano()), a.Now); err != nil {
		return Spoken{}, err
	}
	defer d.close(context.WithoutCancel(ctx))
	id := "agent.1/" + nexus.SessionID(role.Name) + ".1"
	out, err := agent.Run(ctx, model.Model, tools, agent.Brief{
		Session: id, Attempt: "agent.1", Role: role, Model: model.Name,
		System: a.Mask.Text(prompt.System(role.Prompt, "", "")), Next: "Conversation: " + string(id) + "\n\n" + t.Prompt, Limits: c.Limits, Price: model.Price, Worst: model.Worst,
		Tokens: model.Tokens, Context: model.Context, Choices: model.Choices(), Retry: llm.Policy{Now: a.Now},
	}, d, &forgetful{mask: a.Mask}, nil)
	if err == nil {
		err = out.Refusal
	}
	return Spoken{out.Outcome, out.Why, out.Text, out.Handin, out.Turns, d.ledger.Spent(), out.Usage}, err
}

// hands returns what an agent works with in a directory that is the user's
// own, and what gives it back.
func hands(a *frame.App, c config.Config, role cast.Role, dir string, box *sandbox.Box) (tool.Env, func(), error) {
	env := tool.Env{
		Dir: dir, Box: box, Now: a.Now, Writes: role.Writes != cast.Nothing, Rule: role.Writes.Rule(), Mask: a.Mask.Mask, Rules: Rules(c, role.Name),
	}
	own, err := slot.Take(filepath.Join(a.Home("XDG_STATE_HOME", ".local/state"), "nexus", "slots"), dir)
	if err != nil {
		return env, nil, err
	}
	env.Vars = sandbox.Env(own.Env("agent/"+filepath.Base(dir), box.Hides())...)
	if !box.Hides() {
		if env.Tmp, err = os.MkdirTemp("", "nexus-agent-"); err != nil {
			return env, nil, errors.Join(&nexus.Error{Code: nexus.CodeStorage, Message: "make a directory", Cause: err, Hint: "Set TMPDIR to one that can be written."}, own.Release())
		}
	}
	return env, func() {
		_ = own.Release()
		if env.Tmp != "" {
			_ = os.RemoveAll(env.Tmp) // a temporary directory
		}
	}, nil
}

// forgetful keeps nothing but what was put last: a session outside of any run
// is never taken up again. One goroutine owns it.
type forgetful struct {
	mask *secret.Masker
	hash string
	last []byte
}

// Put implements [agent.Store].
func (f *forgetful) Put(data []byte) (string, error) {
	f.last = f.mask.Mask(data)
	sum := sha256.Sum256(f.last)
	f.hash = hex.EncodeToString(sum[:])
	return f.hash, nil
}

// Get implements [agent.Store].
func (f *forgetful) Get(hash string) ([]byte, error) {
	if hash == f.hash {
		return f.last, nil
	}
	return nil, frame.NotFound("blob", hash, "A session outside of any run keeps none.")
}

// desk is where a session outside of any run asks leave to spend.
type desk struct {
	heard func(nexus.Fact)
	purse *purse.Purse
	day   nexus.Money // the cap that all runs share

	mu     sync.Mutex // guards the ledger and the purse
	ledger budget.Ledger
}

// Record implements [agent.Desk].
func (d *desk) Record(_ context.Context, facts ...nexus.Fact) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record(facts)
	return nil
}

func (d *desk) record(facts []nexus.Fact) {
	for _, f := range facts {
		if f, ok := f.(nexus.BudgetSpent); ok {
			d.ledger.Settle(f)
		}
		if d.heard != nil {
			d.heard(f)
		}
	}
}

// Reserve implements [agent.Desk].
func (d *desk) Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]agent.Guidance, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record(done)
	if d.day > 0 {
		own, grace := d.ledger.Claim(r)
		shared, _, err := d.purse.Claim(ctx, own, d.day+grace)
		if err != nil {
			return nil, err
		}
		d.ledger.Share(shared)
	}
	if no, refused := d.ledger.Check(r); refused {
		return nil, &nexus.Error{Code: nexus.CodeBudget, Message: schedule.OverCap(no), Hint: "Raise the limit: --budget for one session, budget.day for all of a day."}
	}
	d.ledger.Reserve(r)
	return nil, nil
}

// close tells the purse what the session used in the end.
func (d *desk) close(ctx context.Context) {
	own, _ := d.ledger.Claim(nexus.BudgetReserved{})
	_, _, _ = d.purse.Claim(ctx, own, 0) // it holds at least as much
	_ = d.purse.Close()                  // only a lock
}
