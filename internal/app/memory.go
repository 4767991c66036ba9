package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/decide/episode"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// Memory returns the memory of the repository.
func (p *Place) Memory(c config.Config) memory.Store {
	return memory.Store{Repo: p.Repo.Work, State: p.State, Mask: p.mask, Show: c.Policy.Show}
}

// book returns what a run's sessions are told of the memory from.
func (a *App) book(p *Place, c config.Config) *memory.Book {
	return &memory.Book{
		Store: p.Memory(c), Tokens: int64(c.Memory.Tokens), Auto: c.Memory.Approve == "auto", Now: a.Now,
		Uses: onceUses(p),
	}
}

// onceUses counts how often agents were told of each episode when somebody first
// wants to know: in most repositories nobody does.
func onceUses(p *Place) func(context.Context) (map[string]episode.Use, error) {
	var mu sync.Mutex // guards all
	var all map[string]episode.Use
	return func(ctx context.Context) (map[string]episode.Use, error) {
		mu.Lock()
		defer mu.Unlock()
		if all != nil {
			return all, nil
		}
		found, err := p.MemoryUses(ctx)
		if err == nil {
			all = found
		}
		return found, err
	}
}

// MemoryUses returns how often agents were told of each episode in the newest
// runs.
func (p *Place) MemoryUses(ctx context.Context) (map[string]episode.Use, error) {
	all := map[string]episode.Use{}
	if p.Journal == nil {
		return all, nil
	}
	return all, newest(ctx, p.Journal, func(s *state.State) { episode.CountUses(all, s) })
}

// remember writes the proposals of the runs so far. A run does not fail for want
// of them.
func (a *App) remember(ctx context.Context, p *Place, c config.Config) {
	_, err := a.Learn(ctx, p, c)
	a.complain(err)
}

// Learn writes what the newest runs show to be worth keeping as proposals, and
// returns how many are new. A run is looked at once, and again when it has
// more events: whoever comes next does what a process that died left undone.
func (a *App) Learn(ctx context.Context, p *Place, c config.Config) (fresh int, err error) {
	if p.Journal == nil || c.Memory.Tokens <= 0 {
		return 0, nil
	}
	seen := readSeen(p.State)
	runs, err := p.Journal.Runs(ctx)
	if err != nil {
		return 0, err
	}
	runs = runs[max(0, len(runs)-pastRuns):]
	var trees *worktree.Store
	next := map[nexus.RunID]int64{}
	for _, r := range runs {
		if next[r.ID] = r.Events; seen[r.ID] == r.Events || r.Events > pastEvents {
			continue
		}
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			if ctx.Err() != nil {
				return fresh, context.Cause(ctx)
			}
			continue // nexus journal verify says what is wrong with it
		}
		if len(episode.Propose(s)) == 0 {
			continue
		}
		if trees == nil {
			if trees, err = worktree.Open(ctx, p.Repo, p.State); err != nil {
				return fresh, err
			}
			defer func() { err = errors.Join(err, trees.Close()) }()
		}
		n, err := a.learn(ctx, p, c, s, trees.Git())
		if fresh += n; err != nil {
			return fresh, err
		}
	}
	return fresh, writeSeen(p.State, next)
}

func (a *App) learn(ctx context.Context, p *Place, c config.Config, s *state.State, repo git.Repo) (int, error) {
	blobs, err := p.Blobs()
	if err != nil {
		return 0, err
	}
	return p.Memory(c).Learn(ctx, memory.Run{State: s, Git: repo, Blob: blobs.Get})
}

// seenFile says how many events the runs had that were looked at. Without it
// all of them are looked at again, which changes nothing.
const seenFile = "memory-seen.json"

func readSeen(dir string) map[nexus.RunID]int64 {
	var seen map[nexus.RunID]int64
	data, err := os.ReadFile(filepath.Join(dir, seenFile))
	if err != nil || json.Unmarshal(data, &seen) != nil {
		return nil
	}
	return seen
}

func writeSeen(dir string, seen map[nexus.RunID]int64) error {
	data, err := json.Marshal(seen)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, seenFile)
	if err = os.WriteFile(name+".new", data, 0o600); err == nil {
		err = os.Rename(name+".new", name)
	}
	return disk.Fail("write "+name, err)
}
