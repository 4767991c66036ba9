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

// confines reports whether bubblewrap works here.
func (b *lab) confines(ctx context.Context) bool {
	if _, err := sandbox.Find(ctx, sandbox.Bwrap); err != nil {
		b.app.Say("no sandbox works here, so it is not measured; nexus doctor says how to get one")
		return false
	}
	return true
}

// price returns the current cost of bubblewrap. The price is the median of all rounds, because on
// a busy machine the cost varies in both directions.
func (b *lab) price(ctx context.Context) (Price, error) {
	bwrap := []string{
		"/usr/bin/bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr",
		"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--", "/usr/bin/true",
	}
	plain, confined, err := b.pairs(ctx, []string{"/usr/bin/true"}, bwrap)
	return Price{Wall: max(0, confined.wall-plain.wall), CPU: max(0, confined.cpu-plain.cpu)}, err
}

// pairs starts two programs alternately and returns the median of each.
func (b *lab) pairs(ctx context.Context, one, other []string) (ended, ended, error) {
	var all [2][]ended
	env := b.env(b.home, "http://127.0.0.1:1", "off")
	for range starts {
		for i, args := range [][]string{one, other} {
			e, err := launch(ctx, b.app.Now, b.home, env, args...)
			if err == nil && e.exit != 0 {
				err = fmt.Errorf("%s ended with code %d: %s", args[0], e.exit, e.out)
			}
			if err != nil {
				return ended{}, ended{}, err
			}
			all[i] = append(all[i], e)
		}
	}
	var out [2]ended
	for i := range all {
		out[i] = middle(all[i], func(e ended) time.Duration { return e.wall })
		out[i].cpu = middle(all[i], func(e ended) time.Duration { return e.cpu }).cpu
	}
	return out[0], out[1], nil
}

// start measures the start-up time of nexus.
func (b *lab) start(ctx context.Context) (Start, error) {
	plain, version, err := b.pairs(ctx, []string{"/usr/bin/true"}, []string{b.nexus, "version"})
	s := Start{True: plain.wall, Version: version.wall, CPU: version.cpu, Peak: version.peak}
	if err != nil {
		return s, err
	}
	var firsts []time.Duration
	for i := range starts {
		home := filepath.Join(b.home, fmt.Sprintf("start%d", i))
		if err := os.Mkdir(home, 0o700); err != nil {
			return s, err
		}
		d, err := b.first(ctx, home)
		if err != nil {
			return s, err
		}
		firsts = append(firsts, d)
	}
	s.Request = middle(firsts, same)
	return s, nil
}

// first returns the time until the first request of `nexus agent -p`.
func (b *lab) first(ctx context.Context, home string) (time.Duration, error) {
	server, stop, err := open(ctx, b.app.Now, 0)
	if err != nil {
		return 0, err
	}
	defer stop()
	began := b.app.Now()
	e, err := launch(ctx, b.app.Now, home, b.env(home, server.url, "off"), b.nexus, "agent", "-p", "Say that it is done.")
	if err == nil && (e.exit != 0 || server.first().IsZero()) {
		err = fmt.Errorf("nexus agent ended with code %d: %s", e.exit, e.out)
	}
	return server.first().Sub(began), err
}

// memory measures full attempts, one and several in one process.
func (b *lab) memory(ctx context.Context) (Memory, error) {
	var one, many []ended
	for range b.rounds {
		for _, n := range []int{1, 1 + further} {
			_, _, e, err := b.play(ctx, attemptLoop, string(sandbox.Off), n)
			if err != nil {
				return Memory{}, fmt.Errorf("%d sessions: %w", n, err)
			}
			if n == 1 {
				one = append(one, e)
			} else {
				many = append(many, e)
			}
		}
	}
	size := func(e ended) time.Duration { return time.Duration(e.peak) }
	m := Memory{One: middle(one, size).peak}
	m.Further = (middle(many, size).peak - m.One) / further
	return m, nil
}
