package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func agentCommand(a *console.Console) *cobra.Command {
	var s benchmarkFlags
	var rounds, files int
	var program string
	l := benchmarkLoop{app: a}
	c := a.Command("agent [flags]", "measure the overhead of an agent's turn", func(ctx context.Context, _ []string) error {
		if err := s.checkFlags(500); err != nil {
			return err
		}
		l.turns = s.n
		if l.kind != "" {
			return l.printCost(ctx)
		}
		f, err := measureAgent(ctx, a, s.n, max(1, rounds), max(smallTree+1, files), program)
		if err != nil {
			return err
		}
		return a.Answer(f, func(v view.OutputStyle) string { return drawAgent(v, f) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	s.addFlags(a, c, 40, "turns in a session")
	f := c.Flags()
	f.IntVar(&rounds, "rounds", 3, "repeat each measurement `TIMES` times and report the median")
	f.IntVar(&files, "files", 20_000, "`N`, files in the large tree")
	f.StringVar(&program, "nexus", "", "`PATH` of the program to measure; by default the one beside this program, or on PATH")
	f.StringVar(&l.kind, "loop", "", "run one loop and print what its turns took")
	f.StringVar(&l.url, "server", "", "where the scripted model is")
	f.StringVar(&l.dir, "dir", "", "where the loop works")
	f.IntVar(&l.sessions, "sessions", 1, "sessions at once")
	for _, name := range []string{"loop", "server", "dir", "sessions"} {
		_ = f.MarkHidden(name) // used by the processes that this command starts
	}
	return c
}

// AgentFigures is what `nexus-bench agent --json` prints. Durations are nanoseconds of
// one turn, the middle of all measured.
type AgentFigures struct {
	Turns  int           `json:"turns"`
	Rounds int           `json:"rounds"`
	Loops  []TurnCost    `json:"loops"`
	Large  LargeTreeCost `json:"large_tree"`
	Price  SandboxPrice  `json:"sandbox_price"`
	Sent   SentBytes     `json:"sent"`
	Start  StartCost     `json:"start"`
	Memory MemoryUse     `json:"memory"`
}

// TurnCost is the cost of one turn of a loop.
type TurnCost struct {
	Loop     string        `json:"loop"`
	Sandbox  string        `json:"sandbox"`
	Gap      time.Duration `json:"gap_ns"` // from an answer to the next request
	CPU      time.Duration `json:"cpu_ns"` // of the loop and its commands, not of the model
	Allocs   uint64        `json:"allocs"`
	Bytes    uint64        `json:"alloc_bytes"`
	GapRatio float64       `json:"gap_ratio"`        // relative to the bare loop
	CPURatio float64       `json:"cpu_ratio"`        // relative to the bare loop
	Prices   float64       `json:"prices,omitempty"` // extra gap over the bare loop, in sandbox prices
	CPUPrice float64       `json:"cpu_prices,omitempty"`
}

// LargeTreeCost is the cost of a turn of an attempt in a large tree.
type LargeTreeCost struct {
	Files int           `json:"files"`
	Gap   time.Duration `json:"gap_ns"`
	CPU   time.Duration `json:"cpu_ns"`
	More  time.Duration `json:"more_gap_ns"` // more than the same turn in a small tree, in the same rounds
}

// SandboxPrice is the cost of bubblewrap itself: plain `bwrap true` minus plain `true`.
type SandboxPrice struct {
	Wall time.Duration `json:"wall_ns"`
	CPU  time.Duration `json:"cpu_ns"`
}

// StartCost is the start-up time of this binary.
type StartCost struct {
	True    time.Duration `json:"true_ns"` // a process that does nothing
	Version time.Duration `json:"version_ns"`
	CPU     time.Duration `json:"version_cpu_ns"`
	Peak    int64         `json:"version_peak_bytes"`
	Request time.Duration `json:"first_request_ns"` // until the first request of `nexus agent -p`
}

// MemoryUse is the peak memory of one process that runs several sessions.
type MemoryUse struct {
	One     int64 `json:"one_bytes"`
	Further int64 `json:"further_bytes"` // for each further session
}

// benchmarkSetup is the environment of all measurements.
type benchmarkSetup struct {
	app    *console.Console
	exe    string // this program
	nexus  string // the program that is measured
	home   string
	turns  int
	rounds int
	files  int // in the large tree
	made   int
	sent   SentBytes
}

func measureAgent(ctx context.Context, a *console.Console, turns, rounds, files int, program string) (f AgentFigures, err error) {
	if turns < 3 {
		return f, &nexus.Error{Code: nexus.CodeInvalidInput, Message: "--n must be 3 or more", Hint: "The first turn is not measured."}
	}
	b := benchmarkSetup{app: a, turns: turns, rounds: rounds, files: files}
	if b.exe, err = os.Executable(); err != nil {
		return f, err
	}
	if b.nexus, err = findNexus(b.exe, program); err != nil {
		return f, err
	}
	// On the disk of the state, which is where a run syncs what it records.
	state := filepath.Join(a.XDGDirectory("XDG_STATE_HOME", ".local/state"), "nexus")
	if err = os.MkdirAll(state, 0o700); err == nil {
		b.home, err = os.MkdirTemp(state, "bench-")
	}
	if err != nil {
		return f, &nexus.Error{
			Code: nexus.CodeStorage, Message: "make a directory", Cause: err,
			Hint: "Set XDG_STATE_HOME to one that can be written.",
		}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.home)) }()
	f = AgentFigures{Turns: turns, Rounds: rounds}
	if f.Loops, f.Price, err = b.measureLoops(ctx, b.sandboxWorks(ctx)); err != nil {
		return f, err
	}
	f.Sent = b.sent
	if f.Large, err = b.measureLargeTree(ctx); err != nil {
		return f, err
	}
	if f.Start, err = b.measureStart(ctx); err != nil {
		return f, err
	}
	f.Memory, err = b.measureMemory(ctx)
	return f, err
}

// findNexus returns the path of the nexus to measure.
func findNexus(exe, program string) (string, error) {
	if program == "" {
		program = filepath.Join(filepath.Dir(exe), "nexus")
		if _, err := os.Stat(program); err != nil {
			program = "nexus"
		}
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the program to measure was not found", Cause: err,
			Hint: "Run make build, which puts it beside nexus-bench, or name it with --nexus.",
		}
	}
	return filepath.Abs(path)
}

// measureLoops measures every loop and the price of the sandbox, all of them once a
// round.
func (b *benchmarkSetup) measureLoops(ctx context.Context, confines bool) ([]TurnCost, SandboxPrice, error) {
	turns := []TurnCost{{Loop: bareLoop}, {Loop: ownLoop}, {Loop: durableLoop}, {Loop: attemptLoop}}
	for i := range turns {
		turns[i].Sandbox = string(sandbox.ModeOff)
	}
	if confines {
		turns = append(turns, TurnCost{Loop: ownLoop, Sandbox: string(sandbox.ModeBwrap)}, TurnCost{Loop: attemptLoop, Sandbox: string(sandbox.ModeBwrap)})
	}
	gaps, spent := make([][]time.Duration, len(turns)), make([][]LoopCost, len(turns))
	var prices []SandboxPrice
	for range b.rounds {
		if confines {
			p, err := b.measureSandboxPrice(ctx)
			if err != nil {
				return nil, p, err
			}
			prices = append(prices, p)
		}
		for i, t := range turns {
			s, g, _, err := b.runLoopProcess(ctx, t.Loop, t.Sandbox, 1)
			if err != nil {
				return nil, SandboxPrice{}, fmt.Errorf("loop %s, sandbox %s: %w", t.Loop, t.Sandbox, err)
			}
			gaps[i], spent[i] = append(gaps[i], g...), append(spent[i], s)
		}
	}
	p := medianBy(prices, func(p SandboxPrice) time.Duration { return p.Wall })
	for i := range turns {
		t := &turns[i]
		m := medianBy(spent[i], func(s LoopCost) time.Duration { return s.CPU })
		n := uint64(max(1, m.Turns))                                                                                 //nolint:gosec // above 0
		t.Gap, t.CPU, t.Allocs, t.Bytes = medianBy(gaps[i], identity), m.CPU/time.Duration(n), m.Allocs/n, m.Bytes/n //nolint:gosec // few
		floor := turns[0]
		t.GapRatio, t.CPURatio = durationRatio(t.Gap, floor.Gap), durationRatio(t.CPU, floor.CPU)
		if t.Sandbox == string(sandbox.ModeBwrap) {
			t.Prices, t.CPUPrice = durationRatio(t.Gap-floor.Gap, p.Wall), durationRatio(t.CPU-floor.CPU, p.CPU)
		}
	}
	return turns, p, nil
}

// smallTree is the number of files in the sample.
const smallTree = 20

// measureLargeTree measures the same turns in a small and in a large tree.
func (b *benchmarkSetup) measureLargeTree(ctx context.Context) (LargeTreeCost, error) {
	l := LargeTreeCost{Files: b.files}
	gaps, spent := map[int][]time.Duration{}, []LoopCost{}
	for range b.rounds {
		for _, files := range []int{smallTree, b.files} {
			s, g, _, err := b.runLoopProcessIn(ctx, files, attemptLoop, string(sandbox.ModeOff), 1)
			if err != nil {
				return l, fmt.Errorf("loop %s with %d files: %w", attemptLoop, files, err)
			}
			gaps[files] = append(gaps[files], g...)
			if files == b.files {
				spent = append(spent, s)
			}
		}
	}
	m := medianBy(spent, func(s LoopCost) time.Duration { return s.CPU })
	l.Gap, l.CPU = medianBy(gaps[b.files], identity), m.CPU/time.Duration(max(1, m.Turns))
	l.More = l.Gap - medianBy(gaps[smallTree], identity)
	return l, nil
}

func identity(d time.Duration) time.Duration { return d }

func durationRatio(x, y time.Duration) float64 { return float64(x) / float64(max(1, y)) }

// medianBy returns the median by a measure.
func medianBy[T any](all []T, by func(T) time.Duration) T {
	all = slices.SortedStableFunc(slices.Values(all), func(x, y T) int { return cmp.Compare(by(x), by(y)) })
	if len(all) == 0 {
		var none T
		return none
	}
	return all[len(all)/2]
}

// runLoopProcess runs one loop in a separate process, against a model server in this process.
func (b *benchmarkSetup) runLoopProcess(ctx context.Context, kind, box string, sessions int) (LoopCost, []time.Duration, processCost, error) {
	return b.runLoopProcessIn(ctx, smallTree, kind, box, sessions)
}

// runLoopProcessIn is like play, in a repository with the given number of files.
func (b *benchmarkSetup) runLoopProcessIn(ctx context.Context, files int, kind, box string, sessions int) (LoopCost, []time.Duration, processCost, error) {
	s, stop, err := startScriptedServer(ctx, b.app.Now, b.turns)
	if err != nil {
		return LoopCost{}, nil, processCost{}, err
	}
	defer stop()
	b.made++
	home := filepath.Join(b.home, fmt.Sprintf("%d", b.made))
	repo := filepath.Join(home, "repo")
	if err := createSampleRepo(ctx, repo, files); err != nil {
		return LoopCost{}, nil, processCost{}, err
	}
	dir := filepath.Join(home, "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return LoopCost{}, nil, processCost{}, err
	}
	e, err := runProcess(ctx, b.app.Now, repo, b.processEnv(home, s.url, box), b.exe, "agent",
		"--loop", kind, "--server", s.url, "--dir", dir, "--n", fmt.Sprint(b.turns), "--sessions", fmt.Sprint(sessions))
	if err != nil {
		return LoopCost{}, nil, processCost{}, err
	}
	var out LoopCost
	if err := json.Unmarshal(e.out, &out); err != nil || e.exit != 0 {
		return LoopCost{}, nil, processCost{}, fmt.Errorf("it ended with code %d and said: %s", e.exit, view.EscapeLinesForTerminal(string(e.out)))
	}
	if kind == attemptLoop && sessions == 1 {
		b.sent = s.measureSent()
	}
	return out, s.requestGaps(), e, os.RemoveAll(home)
}

// createSampleRepo creates a repository without gates. Above a few files, it puts twenty into each
// directory.
func createSampleRepo(ctx context.Context, dir string, files int) error {
	for i := range files {
		in := dir
		if i >= smallTree {
			in = filepath.Join(dir, fmt.Sprintf("part%d", i/400), fmt.Sprintf("dir%d", i/20))
		}
		if i%20 == 0 {
			if err := os.MkdirAll(in, 0o700); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("file%d.txt", i)), []byte("text\n"), 0o600); err != nil {
			return err
		}
	}
	return git.CreateRepo(ctx, dir, git.CommitIdentity{Name: "Ada", Email: "ada@example.com"}, "Begin")
}

// processEnv returns the environment of a measured process: a home directory of its own, and the
// scripted model instead of the providers.
func (b *benchmarkSetup) processEnv(home, url, box string) []string {
	return []string{
		"PATH=" + b.app.Env("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "TMPDIR=" + os.TempDir(),
		"ANTHROPIC_API_KEY=scripted", "ANTHROPIC_BASE_URL=" + url, "NEXUS_SANDBOX=" + box,
	}
}
