package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/land"
)

// RunHistoryPoint is a point of a run.
type RunHistoryPoint struct {
	Seq  int64                // the last event up to the point
	Made *state.RunCheckpoint // the checkpoint at the point; nil if the point was given by its number
}

// CheckpointName returns the checkpoint's name, "" for a point without one.
func (p RunHistoryPoint) CheckpointName() string {
	if p.Made == nil {
		return ""
	}
	return p.Made.Name
}

// ParseRunPoint returns the point of a run with a name or an event number; "" is the present.
func ParseRunPoint(s *state.State, name string) (RunHistoryPoint, error) {
	if name == "" {
		return RunHistoryPoint{Seq: s.Seq}, nil
	}
	if c := s.CheckpointByName(name); c != nil {
		return RunHistoryPoint{Seq: c.Seq, Made: c}, nil
	}
	seq, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		for _, c := range s.Checkpoints {
			if c.Name == name {
				return RunHistoryPoint{}, NotFoundError("checkpoint", name, fmt.Sprintf("It was dropped: %s. Its event still is a point: %d.", c.Dropped, c.Seq))
			}
		}
		return RunHistoryPoint{}, NotFoundError("checkpoint", name, "nexus checkpoint list shows them; the number of an event is a point, too: nexus logs --jsonl prints them as seq.")
	}
	for _, c := range s.ActiveCheckpoints() {
		if c.Seq == seq {
			return RunHistoryPoint{Seq: seq, Made: c}, nil
		}
	}
	return RunHistoryPoint{Seq: seq}, nil
}

// MakeCheckpoint gives a name to the present point of a run that is not running, and pins its
// commits.
func (a *App) MakeCheckpoint(ctx context.Context, p *Repository, id nexus.RunID, name, why, by string) (made *state.RunCheckpoint, err error) {
	err = p.withLease(ctx, a, id, func(s *state.State, lease *journal.Lease, trees *worktree.Store) error {
		if why := schedule.CheckpointNameProblem(s, name); why != "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: why,
				Hint: "Give another name, such as before-lunch; nexus checkpoint list shows the names that are taken.",
			}
		}
		f := nexus.CheckpointMade{Name: name, Reason: nexus.ByHand, Why: why, Tip: s.Tip, Trees: s.UnlandedSnapshots(), By: by}
		events, err := lease.Append(ctx, f)
		if err != nil {
			return err
		}
		if err := s.Apply(events[0]); err != nil {
			return err
		}
		made = s.CheckpointByName(name)
		return trees.PinCheckpoint(id, f.Name, f.Tip, f.Trees)
	})
	return made, err
}

// PinnedCommits returns the commits that pin a checkpoint; see [worktree.Store.CheckpointPins].
func (p *Repository) PinnedCommits(ctx context.Context, id nexus.RunID, name string) (pins map[string]string, err error) {
	trees, err := worktree.OpenStore(ctx, p.Repo, p.State)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	return trees.CheckpointPins(ctx, id, name)
}

// withLease calls do for a run that is not running, while this process holds its lease.
func (p *Repository) withLease(ctx context.Context, a *App, id nexus.RunID, do func(*state.State, *journal.Lease, *worktree.Store) error) error {
	trees, err := worktree.OpenStore(ctx, p.Repo, p.State)
	if err != nil {
		return err
	}
	trees.Now = a.Now
	lease, err := p.acquireLease(ctx, id)
	if err != nil {
		return errors.Join(err, trees.Close())
	}
	s, err := p.Replay(ctx, id)
	if err == nil {
		err = do(s, lease, trees)
	}
	return errors.Join(err, trees.Close(), lease.Release(context.WithoutCancel(ctx)))
}

// Rewind takes a run that is not running back to a point. It is recorded before any ref moves.
// If the process is killed in between, the process that resumes the run moves the refs.
func (a *App) Rewind(ctx context.Context, p *Repository, id nexus.RunID, to RunHistoryPoint, by string) (s *state.State, err error) {
	err = p.withLease(ctx, a, id, func(is *state.State, lease *journal.Lease, trees *worktree.Store) error {
		s = is
		then, err := s.StateAt(to.Seq)
		if err != nil {
			return err
		}
		f := nexus.RunRewound{To: to.Seq, Checkpoint: to.CheckpointName(), Tip: then.Tip, From: s.Tip, By: by}
		if err := CheckCommits(ctx, trees, then); err != nil {
			return err
		}
		if err := s.CheckFacts(f); err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s cannot go back to event %d: %v", id, to.Seq, err),
				Hint: "nexus checkpoint list names points; nexus checkpoint fork starts another run from one.", Cause: err,
			}
		}
		events, err := lease.Append(ctx, f)
		if err != nil {
			return err
		}
		if err := s.Apply(events[0]); err != nil {
			return err
		}
		homes, _ := filepath.Glob(filepath.Join(p.State, "trees", string(id), "*"))
		for _, home := range homes {
			if name := filepath.Base(home); !strings.HasPrefix(name, ".") {
				if err := trees.DropTree(ctx, id, nexus.AttemptID(name)); err != nil {
					return err
				}
			}
		}
		return syncRefs(ctx, trees, s)
	})
	return s, err
}

// CheckCommitsAt returns an error if commits of a point are missing or damaged, before anything
// is changed.
func (p *Repository) CheckCommitsAt(ctx context.Context, s *state.State, to RunHistoryPoint) (err error) {
	then, err := s.StateAt(to.Seq)
	if err != nil {
		return err
	}
	trees, err := worktree.OpenStore(ctx, p.Repo, p.State)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	return CheckCommits(ctx, trees, then)
}

// CheckCommits returns an error with the missing or damaged commits that the state at a point
// needs.
func CheckCommits(ctx context.Context, trees *worktree.Store, then *state.State) error {
	commits := []string{then.Tip}
	for _, l := range then.Landings {
		commits = append(commits, l.Commit)
	}
	for _, t := range then.UnlandedSnapshots() {
		commits = append(commits, t.Commit)
	}
	broken, err := trees.IncompleteCommits(ctx, slices.Compact(commits))
	if err != nil || len(broken) == 0 {
		return err
	}
	return &nexus.Error{
		Code: nexus.CodeStorage, Message: fmt.Sprintf("the private clone has not all files of %s, which the run had at that point", nexus.JoinWords(broken)),
		Hint: "Nothing was changed. Restore " + trees.PrivateRepo().Dir + " from a backup, or go back to another point.",
	}
}

// syncRefs sets the refs of a run to the state in its journal: its branch after a rewind or a
// fork, and those that pin its checkpoints. It repeats steps that a killed process may have
// missed.
func syncRefs(ctx context.Context, trees *worktree.Store, s *state.State) error {
	if n := len(s.Rewinds); n > 0 && !hasGrownAfter(s, s.Rewinds[n-1].Seq) {
		if err := trees.RestoreRunBranch(ctx, s.Run, land.RunBranchRef(s.Run), "event-"+strconv.FormatInt(s.Rewinds[n-1].Seq, 10), s.Tip); err != nil {
			return err
		}
	}
	if f := s.Goal.Fork; f != nil {
		_, err := trees.PrivateRepo().Resolve(ctx, land.RunBranchRef(s.Run))
		if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			err = trees.MoveRef(ctx, land.RunBranchRef(s.Run), s.Tip, "")
		}
		if err != nil {
			return err
		}
	}
	for _, c := range s.ActiveCheckpoints() {
		if err := trees.PinCheckpoint(s.Run, c.Name, c.Tip, c.Trees); err != nil {
			return err
		}
	}
	left, err := droppedButPinnedCheckpoints(ctx, trees, s)
	for _, name := range left {
		err = errors.Join(err, trees.UnpinCheckpoint(ctx, s.Run, name))
	}
	return err
}

// droppedButPinnedCheckpoints returns the checkpoints that are dropped and still pinned: a process was killed
// in between.
func droppedButPinnedCheckpoints(ctx context.Context, trees *worktree.Store, s *state.State) ([]string, error) {
	var dropped []string
	for _, c := range s.Checkpoints {
		if c.Dropped != "" {
			dropped = append(dropped, c.Name)
		}
	}
	if len(dropped) == 0 {
		return nil, nil
	}
	names, err := trees.PinnedCheckpoints(ctx, s.Run)
	return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(dropped, name) }), err
}

// checkpointRefUpdater returns a function that updates the refs of checkpoints after each fact.
func (a *App) checkpointRefUpdater(trees *worktree.Store, id nexus.RunID) func(context.Context, nexus.Fact) {
	return func(ctx context.Context, f nexus.Fact) {
		switch f := f.(type) {
		case nexus.CheckpointMade:
			a.reportError(trees.PinCheckpoint(id, f.Name, f.Tip, f.Trees))
		case nexus.CheckpointDropped:
			a.reportError(trees.UnpinCheckpoint(ctx, id, f.Name))
		default:
		}
	}
}

// syncRunRefs calls syncRefs for a run whose lease this process holds.
func (a *App) syncRunRefs(ctx context.Context, p *Repository, trees *worktree.Store, id nexus.RunID) error {
	s, err := p.Replay(ctx, id)
	if err != nil || len(s.Rewinds)+len(s.Checkpoints) == 0 && s.Goal.Fork == nil {
		return err
	}
	return syncRefs(ctx, trees, s)
}

// hasGrownAfter reports whether the run's branch grew after an event.
func hasGrownAfter(s *state.State, seq int64) bool {
	return slices.ContainsFunc(s.Landings, func(l *state.CompletedLanding) bool { return l.Seq > seq }) || s.CurrentLanding != nil || s.Undo.IsOpen()
}

// DropExpiredCheckpoints drops automatic checkpoints of runs that are not running, if they are
// older than their settings allow. It returns them as "run/name".
func (a *App) DropExpiredCheckpoints(ctx context.Context, p *Repository, dry bool) (names []string, err error) {
	names = []string{}
	runs, err := p.Runs(ctx)
	for _, r := range runs {
		if err != nil {
			break
		}
		if r.Holder == nil {
			err = a.dropExpiredCheckpoints(ctx, p, r.ID, dry, func(name string) { names = append(names, string(r.ID)+"/"+name) })
		}
	}
	return names, err
}

func (a *App) dropExpiredCheckpoints(ctx context.Context, p *Repository, id nexus.RunID, dry bool, told func(string)) error {
	s, err := p.Replay(ctx, id)
	if err != nil {
		return err
	}
	old := expiredCheckpoints(s, a.Now())
	if len(s.Checkpoints) > len(s.ActiveCheckpoints()) {
		left, err := p.droppedPins(ctx, s)
		if err != nil {
			return err
		}
		old = append(old, left...)
	}
	if dry {
		for _, name := range old {
			told(name)
		}
	}
	if len(old) == 0 || dry {
		return nil
	}
	return p.withLease(ctx, a, id, func(s *state.State, lease *journal.Lease, trees *worktree.Store) error {
		left, err := droppedButPinnedCheckpoints(ctx, trees, s)
		if err != nil {
			return err
		}
		for _, name := range left {
			if err := trees.UnpinCheckpoint(ctx, id, name); err != nil {
				return err
			}
			told(name)
		}
		for _, name := range expiredCheckpoints(s, a.Now()) {
			f := nexus.CheckpointDropped{Name: name, Why: fmt.Sprintf("older than %s", s.Limits.Points.Age)}
			if _, err := lease.Append(ctx, f); err != nil {
				return err
			}
			if err := trees.UnpinCheckpoint(ctx, id, name); err != nil {
				return err
			}
			told(name)
		}
		return nil
	})
}

// droppedButPinnedCheckpoints is the same for a run whose lease this process does not hold.
func (p *Repository) droppedPins(ctx context.Context, s *state.State) (names []string, err error) {
	trees, err := worktree.OpenStore(ctx, p.Repo, p.State)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	return droppedButPinnedCheckpoints(ctx, trees, s)
}

func expiredCheckpoints(s *state.State, now time.Time) []string {
	var old []string
	for _, c := range s.ActiveCheckpoints() {
		if age := s.Limits.Points.Age; age > 0 && c.Reason != nexus.ByHand && now.Sub(c.At) > age {
			old = append(old, c.Name)
		}
	}
	return old
}

// ForkRun creates another run from a point of one, under a name of its own, and with the present
// settings. It does not start it.
func (a *App) ForkRun(ctx context.Context, p *Repository, s *state.State, from RunHistoryPoint, by string) (nexus.RunID, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return "", err
	}
	then, err := s.StateAt(from.Seq)
	if err != nil {
		return "", err
	}
	if !then.Planned {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s had no plan at event %d that another run could take over", s.Run, from.Seq),
			Hint: "Name a later point, or start a run from the goal: nexus run GOAL.",
		}
	}
	goal := then.Goal
	goal.Goal.Origin, goal.Limits, goal.Planning, goal.Consent = a.Origin, settings.Limits, 0, nexus.PlanApprovalRule{Given: by}
	goal.Fork = &nexus.ForkOrigin{Run: s.Run, Seq: from.Seq, Checkpoint: from.CheckpointName(), Tip: then.Tip, By: by}
	facts := []nexus.Fact{goal}
	made := &nexus.Plan{Version: 1, Goal: goal.Goal.Text}
	for _, t := range then.Tasks {
		made.Tasks = append(made.Tasks, t.Task)
	}
	offer, err := planFacts(p, made)
	if err != nil {
		return "", err
	}
	facts = append(append(facts, offer...), then.InheritableFacts()...)
	id, err := unusedRunID(ctx, p, a.Now(), nil)
	if err != nil {
		return "", err
	}
	trees, err := worktree.OpenStore(ctx, p.Repo, p.State)
	if err != nil {
		return "", err
	}
	defer trees.Close() //nolint:errcheck // nothing was made in it
	if err := CheckCommits(ctx, trees, then); err != nil {
		return "", err
	}
	begun := state.NewState(id)
	if err := foldUnrecordedFacts(begun, facts, a.Now()); err != nil {
		return "", err
	}
	lease, err := p.acquireLease(ctx, id)
	if err != nil {
		return "", err
	}
	if _, err = lease.Append(ctx, facts...); err == nil {
		err = syncRefs(ctx, trees, begun)
	}
	return id, errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
}

// foldUnrecordedFacts folds facts that are not recorded yet.
func foldUnrecordedFacts(s *state.State, facts []nexus.Fact, now time.Time) error {
	for i, f := range facts {
		if err := s.Apply(nexus.Event{Seq: int64(i + 1), Run: s.Run, At: now, Fact: f}); err != nil {
			return err
		}
	}
	return nil
}
