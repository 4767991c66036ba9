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

// benchmarkLoop is the configuration of a loop process.
type benchmarkLoop struct {
	app      *console.Console
	kind     string
	url      string
	dir      string // working directory; a repository for attempts
	turns    int
	sessions int // concurrent sessions
	box      *sandbox.Box
	config   config.Config
	role     agent.RoleDefinition
}

// runLoop runs the loop and returns the cost of its turns.
func (l *benchmarkLoop) runLoop(ctx context.Context) (LoopCost, error) {
	settings, _, err := l.app.LoadSettings()
	if err != nil {
		return LoopCost{}, err
	}
	l.config = settings
	l.config.Gates.Commands = map[string]string{gateName: "true"}
	l.config.Limits = nexus.DefaultLimits()
	l.config.Limits.Turns, l.config.Limits.Parallel = l.turns+10, l.sessions
	l.config.Limits.RunMoney, l.config.Limits.DayMoney = 10_000*nexus.Dollar, 10_000*nexus.Dollar
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		return LoopCost{}, err
	}
	l.role = roles[nexus.Coder]
	l.role.Turns = 0
	if l.box, err = sandbox.FindSandbox(ctx, sandbox.ConfinementMode(settings.Sandbox)); err != nil {
		return LoopCost{}, err
	}
	switch l.kind {
	case bareLoop:
		tools, err := l.newTools(l.dir, nil)
		if err != nil {
			return LoopCost{}, err
		}
		defer tools.Close()
		return l.runFloor(ctx, prompt.SystemPrompt(l.role.Prompt, nil, prompt.RoleEnvironment{}), tools.Specs())
	case ownLoop:
		return l.runInMemory(ctx)
	case durableLoop, attemptLoop:
		return l.runConducted(ctx)
	default:
		return LoopCost{}, fmt.Errorf("there is no loop %q", l.kind)
	}
}

func (l *benchmarkLoop) newMeter() *turnMeter { return &turnMeter{now: l.app.Now, last: l.turns + 1} }

// firstMessage returns the first message of a conversation.
func (l *benchmarkLoop) firstMessage(s nexus.SessionID) string {
	return prompt.TaskBrief{Session: s, Task: l.noteTask(1)}.Text()
}

func (l *benchmarkLoop) noteTask(n int) nexus.Task {
	return nexus.Task{
		ID: nexus.TaskID(fmt.Sprintf("T%d", n)), Title: "Take notes", Brief: "Add lines to notes.txt.", Kind: nexus.DocsTask,
		Files: []string{fmt.Sprintf("notes%d.txt", n)}, Minutes: 5,
	}
}

func (l *benchmarkLoop) newTools(dir string, s tool.ResultStore) (*tool.ToolSet, error) {
	e := tool.AgentToolEnvironment{Dir: dir, Box: l.box, Blob: s, Now: l.app.Now, Writes: true}
	if !l.box.HidesHost() {
		e.Tmp = dir + ".tmp" // as in an attempt
	}
	// Tier fast has no subagents.
	return tool.NewToolSet(e, slices.DeleteFunc(slices.Clone(l.role.Tools), func(name string) bool { return name == tool.SubagentTool })...)
}

// newModel returns the scripted model, with a meter on the first session.
func (l *benchmarkLoop) newModel(m *turnMeter) (worker.PricedModel, error) {
	models, err := provider.NewModelPicker(l.config, l.app.Env, l.app.Now)
	if err != nil {
		return worker.PricedModel{}, err
	}
	return l.pickModel(models, m)
}

func (l *benchmarkLoop) pickModel(models *provider.ModelPicker, m *turnMeter) (worker.PricedModel, error) {
	model, err := models.PickModel(nexus.Coder, "", "")
	if err == nil && m != nil {
		model.Model = meteredModel{model.Model, m}
	}
	return model, err
}

// runInMemory runs sessions that write nothing to disk.
func (l *benchmarkLoop) runInMemory(ctx context.Context) (LoopCost, error) {
	m := l.newMeter()
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
			errs[i] = l.runSession(ctx, id, dir, mine, discardingRecorder{}, &memoryStore{blobs: map[int][]byte{}})
		})
	}
	all.Wait()
	return m.loopCost(), errors.Join(errs...)
}

// runSession runs one session of the coder.
func (l *benchmarkLoop) runSession(ctx context.Context, id nexus.AttemptID, dir string, m *turnMeter, d agent.SessionRecorder, s agent.MessageStore) error {
	model, err := l.newModel(m)
	if err != nil {
		return err
	}
	tools, err := l.newTools(dir, s)
	if err != nil {
		return err
	}
	defer tools.Close()
	name := nexus.SessionID(id) + "/coder.1"
	out, err := agent.RunSession(ctx, model.Model, tools, agent.SessionStretchOptions{
		Session: name, Attempt: id, Role: l.role, Model: model.Name, System: prompt.SystemPrompt(l.role.Prompt, nil, prompt.RoleEnvironment{}),
		Next: l.firstMessage(name), Limits: l.config.Limits, Price: model.Price, Worst: model.Worst,
		Tokens: model.Tokens, Context: model.Context, Choices: model.SessionChoices(), Retry: llm.CallRetryPolicy{Now: l.app.Now, Jitter: rand.Float64},
	}, d, s, nil)
	if err == nil && out.Outcome != nexus.Accepted {
		err = fmt.Errorf("session %s ended as %s: %s", name, out.Outcome, out.Why)
	}
	return err
}

// discardingRecorder accepts every record and stores nothing.
type discardingRecorder struct{}

// Record implements [agent.SessionRecorder].
func (discardingRecorder) Record(context.Context, ...nexus.Fact) error { return nil }

// Reserve implements [agent.SessionRecorder].
func (discardingRecorder) Reserve(context.Context, nexus.BudgetReserved, ...nexus.Fact) ([]agent.Guidance, error) {
	return nil, nil
}

// memoryStore is an in-memory store of one session.
type memoryStore struct{ blobs map[int][]byte }

// Put implements [agent.MessageStore].
func (m *memoryStore) Put(data []byte) (string, error) {
	n := len(m.blobs)
	m.blobs[n] = data
	return strconv.Itoa(n), nil
}

// Get implements [agent.MessageStore].
func (m *memoryStore) Get(hash string) ([]byte, error) {
	n, err := strconv.Atoi(hash)
	if data, ok := m.blobs[n]; err == nil && ok {
		return data, nil
	}
	return nil, fmt.Errorf("no blob %s", hash)
}

// printCost runs the loop and prints its cost as JSON, for the parent process.
func (l *benchmarkLoop) printCost(ctx context.Context) error {
	s, err := l.runLoop(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(l.app.Out).Encode(s)
}

// afterTime returns a channel that fires at the given time.
func afterTime(now, at time.Time) <-chan time.Time { return time.After(at.Sub(now)) }
