package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

const (
	further = 8  // sessions beyond the first
	starts  = 15 // processes started of each kind
)

// sandboxWorks reports whether bubblewrap works here.
func (b *benchmarkSetup) sandboxWorks(ctx context.Context) bool {
	if _, err := sandbox.FindSandbox(ctx, sandbox.ModeBwrap); err != nil {
		b.app.Say("no sandbox works here, so its cost is not measured; nexus doctor tells how to get one")
		return false
	}
	return true
}

// measureSandboxPrice returns the current cost of bubblewrap. The price is the median of all rounds, because on
// a busy machine the cost varies in both directions.
func (b *benchmarkSetup) measureSandboxPrice(ctx context.Context) (SandboxPrice, error) {
	bwrap := []string{
		"/usr/bin/bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr",
		"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--", "/usr/bin/true",
	}
	plain, confined, err := b.measurePairs(ctx, []string{"/usr/bin/true"}, bwrap)
	return SandboxPrice{Wall: max(0, confined.wall-plain.wall), CPU: max(0, confined.cpu-plain.cpu)}, err
}

// measurePairs starts two programs alternately and returns the median of each.
func (b *benchmarkSetup) measurePairs(ctx context.Context, one, other []string) (processCost, processCost, error) {
	var all [2][]processCost
	env := b.processEnv(b.home, "http://127.0.0.1:1", "off")
	for range starts {
		for i, args := range [][]string{one, other} {
			e, err := runProcess(ctx, b.app.Now, b.home, env, args...)
			if err == nil && e.exit != 0 {
				err = fmt.Errorf("%s ended with code %d: %s", args[0], e.exit, e.out)
			}
			if err != nil {
				return processCost{}, processCost{}, err
			}
			all[i] = append(all[i], e)
		}
	}
	var out [2]processCost
	for i := range all {
		out[i] = medianBy(all[i], func(e processCost) time.Duration { return e.wall })
		out[i].cpu = medianBy(all[i], func(e processCost) time.Duration { return e.cpu }).cpu
	}
	return out[0], out[1], nil
}

// measureStart measures the start-up time of nexus.
func (b *benchmarkSetup) measureStart(ctx context.Context) (StartCost, error) {
	plain, version, err := b.measurePairs(ctx, []string{"/usr/bin/true"}, []string{b.nexus, "version"})
	s := StartCost{True: plain.wall, Version: version.wall, CPU: version.cpu, Peak: version.peak}
	if err != nil {
		return s, err
	}
	var firsts []time.Duration
	for i := range starts {
		home := filepath.Join(b.home, fmt.Sprintf("start%d", i))
		if err := os.Mkdir(home, 0o700); err != nil {
			return s, err
		}
		d, err := b.measureFirstRequest(ctx, home)
		if err != nil {
			return s, err
		}
		firsts = append(firsts, d)
	}
	s.Request = medianBy(firsts, identity)
	return s, nil
}

// measureFirstRequest returns the time until the first request of `nexus agent -p`.
func (b *benchmarkSetup) measureFirstRequest(ctx context.Context, home string) (time.Duration, error) {
	server, stop, err := startScriptedServer(ctx, b.app.Now, 0)
	if err != nil {
		return 0, err
	}
	defer stop()
	began := b.app.Now()
	e, err := runProcess(ctx, b.app.Now, home, b.processEnv(home, server.url, "off"), b.nexus, "agent", "-p", "Say that it is done.")
	if err == nil && (e.exit != 0 || server.firstRequestTime().IsZero()) {
		err = fmt.Errorf("nexus agent ended with code %d: %s", e.exit, e.out)
	}
	return server.firstRequestTime().Sub(began), err
}

// measureMemory measures full attempts, one and several in one process.
func (b *benchmarkSetup) measureMemory(ctx context.Context) (MemoryUse, error) {
	var one, many []processCost
	for range b.rounds {
		for _, n := range []int{1, 1 + further} {
			_, _, e, err := b.runLoopProcess(ctx, attemptLoop, string(sandbox.ModeOff), n)
			if err != nil {
				return MemoryUse{}, fmt.Errorf("%d sessions: %w", n, err)
			}
			if n == 1 {
				one = append(one, e)
			} else {
				many = append(many, e)
			}
		}
	}
	size := func(e processCost) time.Duration { return time.Duration(e.peak) }
	m := MemoryUse{One: medianBy(one, size).peak}
	m.Further = (medianBy(many, size).peak - m.One) / further
	return m, nil
}
