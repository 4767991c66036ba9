package memory

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// Limits of reading earlier runs: the newest, up to so many of them, and none with more
// events.
const (
	maxRuns   = 50
	maxEvents = 200_000
)

// RepositoryRunRecords gives access to the records of a repository's runs.
type RepositoryRunRecords struct {
	Journal *journal.Journal // nil: there are no runs
	Repo    git.Repo         // the user's repository
	Blobs   func() (*journal.BlobStore, error)
}

// forNewestRuns calls see with the newest runs, except those that skip selects, the oldest of them
// first. A run that cannot be replayed is skipped.
func forNewestRuns(ctx context.Context, j *journal.Journal, skip func(journal.RecordedRun) bool, see func(*state.State) error) error {
	runs, err := j.Runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs[max(0, len(runs)-maxRuns):] {
		if r.Events > maxEvents || skip(r) {
			continue
		}
		s, err := state.ReplayRun(r.ID, j.Events(ctx, r.ID, 0))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			continue // nexus journal verify reports its problem
		}
		if err := see(s); err != nil {
			return err
		}
	}
	return nil
}

// CountEntryUses returns how often sessions of the newest runs received each episode.
func (r RepositoryRunRecords) CountEntryUses(ctx context.Context) (map[string]memoryentry.EntryUsage, error) {
	all := map[string]memoryentry.EntryUsage{}
	if r.Journal == nil {
		return all, nil
	}
	every := func(journal.RecordedRun) bool { return false }
	return all, forNewestRuns(ctx, r.Journal, every, func(s *state.State) error {
		memoryentry.CountUses(all, s)
		return nil
	})
}

// LearnFromNewRuns writes the lessons of the newest runs as proposals. A run is processed once, and
// again if it has more events or a lesson could not be stored: the next call completes
// unfinished work.
func (b *MemoryEntryRetriever) LearnFromNewRuns(ctx context.Context) (err error) {
	if b.Record.Journal == nil || b.Tokens <= 0 {
		return nil
	}
	seen, next := b.readSeenRuns(), map[nexus.RunID]int64{}
	marks, ok := b.readTaskFailures()
	if !ok {
		seen = nil // data about several runs is counted anew
	}
	old := func(r journal.RecordedRun) bool {
		next[r.ID] = r.Events
		return seen[r.ID] == r.Events
	}
	var left []error
	var came []memoryentry.LandedTaskFailure
	var trees *worktree.Store
	defer func() {
		if trees != nil {
			err = errors.Join(err, trees.Close())
		}
	}()
	if err := forNewestRuns(ctx, b.Record.Journal, old, func(run *state.State) error {
		came = append(came, memoryentry.LandedTaskFailures(run)...)
		if len(memoryentry.ProposeEntries(run)) == 0 {
			return nil
		}
		blobs, err := b.Record.Blobs()
		if err != nil {
			return err
		}
		repo, ok := git.ClonedRepo(b.State)
		if !ok && trees == nil {
			if trees, err = worktree.OpenStore(ctx, b.Record.Repo, b.State); err != nil {
				return err
			}
			repo = trees.PrivateRepo()
		}
		if _, err := b.ProposeFromRun(ctx, ProposalSourceRun{State: run, Git: repo, Blob: blobs.Get}); err != nil {
			// for example, too many proposals wait
			if !slices.ContainsFunc(left, func(e error) bool { return e.Error() == err.Error() }) {
				left = append(left, err)
			}
			delete(next, run.Run)
		}
		return nil
	}); err != nil {
		return err
	}
	if len(came) > 0 || !ok {
		if err := b.proposeCommonFailures(ctx, memoryentry.MergeFailures(marks, came)); err != nil {
			return errors.Join(append(left, err)...)
		}
	}
	return errors.Join(append(left, b.writeSeenRuns(next))...)
}

// marksFile contains the failures of tasks of earlier runs. Without it the runs are processed
// again.
const marksFile = "memory-marks.json"

func (s MemoryEntryStore) readTaskFailures() (all []memoryentry.LandedTaskFailure, ok bool) {
	data, err := os.ReadFile(filepath.Join(s.State, marksFile))
	return all, err == nil && json.Unmarshal(data, &all) == nil
}

// proposeCommonFailures stores the failures of tasks, and proposes lessons from failures that many of them
// share. Failures in files that are hidden from agents do not count.
func (s MemoryEntryStore) proposeCommonFailures(ctx context.Context, marks []memoryentry.LandedTaskFailure) error {
	marks = slices.DeleteFunc(marks, func(m memoryentry.LandedTaskFailure) bool { return m.File != "" && s.hasHiddenFile(m.File) })
	data, err := json.Marshal(marks)
	if err == nil {
		err = filewrite.ReplaceFile(filepath.Join(s.State, marksFile), s.maskSecrets(data))
	}
	if err != nil {
		return err
	}
	made := memoryentry.CommonFailureEntries(marks)
	if len(made) == 0 {
		return nil
	}
	return s.withLockedEntries(ctx, func(all []StoredMemoryEntry) error {
		for _, e := range made {
			k, is, err := s.writeProposedEntry(all, e)
			if err != nil {
				return err
			}
			if is {
				all = append(all, k)
			}
		}
		return nil
	})
}

// seenFile contains the number of processed events of each run. Without it all runs are
// processed again, which changes nothing.
const seenFile = "memory-seen.json"

func (s MemoryEntryStore) readSeenRuns() map[nexus.RunID]int64 {
	var seen map[nexus.RunID]int64
	data, err := os.ReadFile(filepath.Join(s.State, seenFile))
	if err != nil || json.Unmarshal(data, &seen) != nil {
		return nil
	}
	return seen
}

func (s MemoryEntryStore) writeSeenRuns(seen map[nexus.RunID]int64) error {
	data, err := json.Marshal(seen)
	if err != nil {
		return err
	}
	return filewrite.ReplaceFile(filepath.Join(s.State, seenFile), data)
}
