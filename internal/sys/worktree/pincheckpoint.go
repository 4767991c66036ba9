package worktree

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// checkpointPrefix returns the prefix of the refs that pin a checkpoint of a run.
func checkpointPrefix(run nexus.RunID, name string) string {
	return "refs/nexus/" + string(run) + "/checkpoint/" + name + "/"
}

// PinCheckpoint pins the commits of a checkpoint: the tip of the run's branch, and the files of
// attempts. It is idempotent.
func (s *Store) PinCheckpoint(run nexus.RunID, name, tip string, trees []nexus.PinnedAttemptTree) error {
	err := s.objects.ForceRef(checkpointPrefix(run, name)+"tip", tip)
	for _, t := range trees {
		err = errors.Join(err, s.objects.ForceRef(checkpointPrefix(run, name)+"tree/"+string(t.Attempt), t.Commit))
	}
	return filewrite.WrapError("pin a checkpoint", err)
}

// UnpinCheckpoint removes the refs of a checkpoint. Its commits remain if other refs pin them.
func (s *Store) UnpinCheckpoint(ctx context.Context, run nexus.RunID, name string) error {
	out, err := s.git.Run(ctx, "for-each-ref", "--format=%(refname)", checkpointPrefix(run, name))
	if err != nil {
		return err
	}
	for ref := range strings.Lines(out) {
		if _, err := s.git.Run(ctx, "update-ref", "--no-deref", "-d", "--end-of-options", strings.TrimSpace(ref)); err != nil {
			return err
		}
	}
	return nil
}

// CheckpointPins lists the commits that pin a checkpoint, by the ends of the refs' names: "tip",
// and "tree/" with the name of an attempt.
func (s *Store) CheckpointPins(ctx context.Context, run nexus.RunID, name string) (map[string]string, error) {
	out, err := s.git.Run(ctx, "for-each-ref", "--format=%(refname) %(objectname)", checkpointPrefix(run, name))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(out) {
		ref, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[strings.TrimPrefix(ref, checkpointPrefix(run, name))] = commit
	}
	return all, nil
}

// PinnedCheckpoints returns the names of the pinned checkpoints of a run, each once.
func (s *Store) PinnedCheckpoints(ctx context.Context, run nexus.RunID) ([]string, error) {
	all := "refs/nexus/" + string(run) + "/checkpoint/"
	out, err := s.git.Run(ctx, "for-each-ref", "--format=%(refname)", all)
	if err != nil {
		return nil, err
	}
	var names []string
	for ref := range strings.Lines(out) {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(ref), all), "/")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// IncompleteCommits returns those of the commits that are not in the private clone with all their
// files.
func (s *Store) IncompleteCommits(ctx context.Context, commits []string) (broken []string, err error) {
	for _, c := range commits {
		if _, err := s.git.Run(ctx, "rev-list", "--objects", "--no-walk", "--quiet", "--end-of-options", c); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			broken = append(broken, c)
		}
	}
	return broken, nil
}

// RestoreRunBranch moves the run's branch back to an earlier commit, after it stored its current
// commit under another ref. It is idempotent. Only the process that holds the run may call it.
func (s *Store) RestoreRunBranch(ctx context.Context, run nexus.RunID, ref, name, to string) error {
	is, err := s.objects.ReadRef(ref)
	if err != nil || is == to {
		return err
	}
	if is == "" { // nothing landed, or git packed the ref
		out, err := s.git.Run(ctx, "for-each-ref", "--format=%(objectname)", ref)
		if is = strings.TrimSpace(out); err != nil || is == "" || is == to {
			return err
		}
	}
	if err := s.objects.ForceRef("refs/nexus/"+string(run)+"/left/"+name+"-"+is[:12], is); err != nil {
		return filewrite.WrapError("keep what the run leaves", err)
	}
	return s.MoveRef(ctx, ref, to, is)
}
