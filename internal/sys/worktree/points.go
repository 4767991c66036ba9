package worktree

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// point begins the names of the refs that pin a checkpoint of a run.
func point(run nexus.RunID, name string) string {
	return "refs/nexus/" + string(run) + "/checkpoint/" + name + "/"
}

// PinPoint pins what a checkpoint needs: the tip of the run's branch, and the files of
// attempts. It is idempotent.
func (s *Store) PinPoint(run nexus.RunID, name, tip string, trees []nexus.PinnedTree) error {
	err := s.objects.Put(point(run, name)+"tip", tip)
	for _, t := range trees {
		err = errors.Join(err, s.objects.Put(point(run, name)+"tree/"+string(t.Attempt), t.Commit))
	}
	return disk.Fail("pin a checkpoint", err)
}

// Unpin removes the refs of a checkpoint. What else names a commit of it still pins that.
func (s *Store) Unpin(ctx context.Context, run nexus.RunID, name string) error {
	out, err := s.git.Run(ctx, "for-each-ref", "--format=%(refname)", point(run, name))
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

// Pinned lists the commits that pin a checkpoint, by the ends of the refs' names: "tip", and
// "tree/" with the name of an attempt.
func (s *Store) Pinned(ctx context.Context, run nexus.RunID, name string) (map[string]string, error) {
	out, err := s.git.Run(ctx, "for-each-ref", "--format=%(refname) %(objectname)", point(run, name))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(out) {
		ref, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[strings.TrimPrefix(ref, point(run, name))] = commit
	}
	return all, nil
}

// Points returns the names of the checkpoints of a run that something pins, each once.
func (s *Store) Points(ctx context.Context, run nexus.RunID) ([]string, error) {
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

// Whole returns those of the commits that are not in the private clone with all their files.
func (s *Store) Whole(ctx context.Context, commits []string) (broken []string, err error) {
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

// Return moves the run's branch to where it was, after the commit that it leaves got a name
// under which it stays. It is idempotent. Only the one who holds the run may call it.
func (s *Store) Return(ctx context.Context, run nexus.RunID, ref, name, to string) error {
	is, err := s.objects.Ref(ref)
	if err != nil || is == to {
		return err
	}
	if is == "" { // nothing landed, or git packed it
		out, err := s.git.Run(ctx, "for-each-ref", "--format=%(objectname)", ref)
		if is = strings.TrimSpace(out); err != nil || is == "" || is == to {
			return err
		}
	}
	if err := s.objects.Put("refs/nexus/"+string(run)+"/left/"+name+"-"+is[:12], is); err != nil {
		return disk.Fail("keep what the run leaves", err)
	}
	return s.Move(ctx, ref, to, is)
}
