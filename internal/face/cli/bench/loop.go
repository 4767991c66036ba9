package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// The measured loops. Each adds something to the one before.
const (
	bareLoop    = "floor"   // a bare loop
	ownLoop     = "loop"    // our loop, with everything in memory
	durableLoop = "durable" // with a conductor, journal and blobs
	attemptLoop = "attempt" // a full attempt of a run, with snapshots of its worktree
)

// gateName is the gate of the sample, which passes: work without a passed gate does not land.
const gateName = "check"

// loop is the configuration of a loop process.
type loop struct {
	app      *console.Console
	kind     string
	url      string
	dir      string // working directory; a repository for attempts
	turns    int
	sessions int // concurrent sessions
	box      *sandbox.Box
	config   config.Config
	role     agent.Role
}

// run runs the loop and returns the cost of its turns.
func (l *loop) run(ctx context.Context) (Spent, error) {
	settings, _, err := l.app.Settings()
	if err != nil {
		return Spent{}, err
	}
	l.config = settings
	l.config.Gates.Commands = map[string]string{gateName: "true"}
	l.config.Limits = nexus.DefaultLimits()
	l.config.Limits.Turns, l.config.Limits.Parallel = l.turns+10, l.sessions
	l.config.Limits.RunMoney, l.config.Limits.DayMoney = 10_000*nexus.Dollar, 10_000*nexus.Dollar
	roles, err := agent.Roles(nil)
	if err != nil {
		return Spent{}, err
	}
	l.role = roles[nexus.Coder]
	l.role.Turns = 0
	if l.box, err = sandbox.Find(ctx, sandbox.Mode(settings.Sandbox)); err != nil {
		return Spent{}, err
	}
	switch l.kind {
	case bareLoop:
		tools, err := l.tools(l.dir, nil)
		if err != nil {
			return Spent{}, err
		}
		defer tools.Close()
		return l.floor(ctx, prompt.System(l.role.Prompt, nil, prompt.Environment{}), tools.Specs())
	case ownLoop:
		return l.inMemory(ctx)
	case durableLoop, attemptLoop:
		return l.conducted(ctx)
	default:
		return Spent{}, fmt.Errorf("there is no loop %q", l.kind)
	}
}

func (l *loop) meter() *meter { return &meter{now: l.app.Now, last: l.turns + 1} }

// brief returns the first message of a conversation.
func (l *loop) brief(s nexus.SessionID) string {
	return prompt.Brief{Session: s, Task: l.task(1)}.Text()
}

func (l *loop) task(n int) nexus.Task {
	return nexus.Task{
		ID: nexus.TaskID(fmt.Sprintf("T%d", n)), Title: "Take notes", Brief: "Add lines to notes.txt.", Kind: nexus.DocsTask,
		Files: []string{fmt.Sprintf("notes%d.txt", n)}, Minutes: 5,
	}
}

func (l *loop) tools(dir string, s tool.Store) (*tool.Set, error) {
	e := tool.Env{Dir: dir, Box: l.box, Blob: s, Now: l.app.Now, Writes: true}
	if !l.box.HidesHost() {
		e.Tmp = dir + ".tmp" // as in an attempt
	}
	// Tier fast has no subagents.
	return tool.New(e, slices.DeleteFunc(slices.Clone(l.role.Tools), func(name string) bool { return name == tool.SubagentTool })...)
}

// model returns the scripted model, with a meter on the first session.
func (l *loop) model(m *meter) (worker.Model, error) {
	models, err := provider.NewModels(l.config, l.app.Env, l.app.Now)
	if err != nil {
		return worker.Model{}, err
	}
	return l.picked(models, m)
}

func (l *loop) picked(models *provider.Models, m *meter) (worker.Model, error) {
	model, err := models.Pick(nexus.Coder, "", "")
	if err == nil && m != nil {
		model.Model = metered{model.Model, m}
	}
	return model, err
}

// inMemory runs sessions that write nothing to disk.
func (l *loop) inMemory(ctx context.Context) (Spent, error) {
	m := l.meter()
	errs := make([]error, l.sessions)
	var all sync.WaitGroup
	for i := range l.sessions {
		all.Go(func() {
			dir := filepath.Join(l.dir, fmt.Sprintf("session%d", i+1))
			if errs[i] = os.Mkdir(dir, 0o700); errs[i] != nil {
				return
			}
			mine := m
			if i > 0 {
				mine = nil
			}
			id := nexus.AttemptID(fmt.Sprintf("T%d.1", i+1))
			errs[i] = l.session(ctx, id, dir, mine, noDesk{}, &memory{blobs: map[int][]byte{}})
		})
	}
	all.Wait()
	return m.result(), errors.Join(errs...)
}

// session runs one session of the coder.
func (l *loop) session(ctx context.Context, id nexus.AttemptID, dir string, m *meter, d agent.Recorder, s agent.Store) error {
	model, err := l.model(m)
	if err != nil {
		return err
	}
	tools, err := l.tools(dir, s)
	if err != nil {
		return err
	}
	defer tools.Close()
	name := nexus.SessionID(id) + "/coder.1"
	out, err := agent.Run(ctx, model.Model, tools, agent.Brief{
		Session: name, Attempt: id, Role: l.role, Model: model.Name, System: prompt.System(l.role.Prompt, nil, prompt.Environment{}),
		Next: l.brief(name), Limits: l.config.Limits, Price: model.Price, Worst: model.Worst,
		Tokens: model.Tokens, Context: model.Context, Choices: model.Choices(), Retry: llm.Policy{Now: l.app.Now, Jitter: rand.Float64},
	}, d, s, nil)
	if err == nil && out.Outcome != nexus.Accepted {
		err = fmt.Errorf("session %s ended as %s: %s", name, out.Outcome, out.Why)
	}
	return err
}

// noDesk accepts every record and stores nothing.
type noDesk struct{}

// Record implements [agent.Recorder].
func (noDesk) Record(context.Context, ...nexus.Fact) error { return nil }

// Reserve implements [agent.Recorder].
func (noDesk) Reserve(context.Context, nexus.BudgetReserved, ...nexus.Fact) ([]agent.Guidance, error) {
	return nil, nil
}

// memory is an in-memory store of one session.
type memory struct{ blobs map[int][]byte }

// Put implements [agent.Store].
func (m *memory) Put(data []byte) (string, error) {
	n := len(m.blobs)
	m.blobs[n] = data
	return strconv.Itoa(n), nil
}

// Get implements [agent.Store].
func (m *memory) Get(hash string) ([]byte, error) {
	n, err := strconv.Atoi(hash)
	if data, ok := m.blobs[n]; err == nil && ok {
		return data, nil
	}
	return nil, fmt.Errorf("no blob %s", hash)
}

// print runs the loop and prints its cost as JSON, for the parent process.
func (l *loop) print(ctx context.Context) error {
	s, err := l.run(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(l.app.Out).Encode(s)
}

// alarm returns a channel that fires at the given time.
func alarm(now, at time.Time) <-chan time.Time { return time.After(at.Sub(now)) }
