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

// Point is a point of a run.
type Point struct {
	Seq  int64             // the last event that holds
	Made *state.Checkpoint // that is there; nil where it is named by its number
}

// Name returns the checkpoint's name, empty for a point without one.
func (p Point) Name() string {
	if p.Made == nil {
		return ""
	}
	return p.Made.Name
}

// PointOf returns the point of a run that a name or the number of an event means; empty is
// the present.
func PointOf(s *state.State, name string) (Point, error) {
	if name == "" {
		return Point{Seq: s.Seq}, nil
	}
	if c := s.Checkpoint(name); c != nil {
		return Point{Seq: c.Seq, Made: c}, nil
	}
	seq, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		for _, c := range s.Checkpoints {
			if c.Name == name {
				return Point{}, NotFound("checkpoint", name, fmt.Sprintf("It was dropped: %s. Its event still is a point: %d.", c.Dropped, c.Seq))
			}
		}
		return Point{}, NotFound("checkpoint", name, "nexus checkpoint list shows them; the number of an event is a point, too: nexus logs --jsonl prints them as seq.")
	}
	for _, c := range s.Kept() {
		if c.Seq == seq {
			return Point{Seq: seq, Made: c}, nil
		}
	}
	return Point{Seq: seq}, nil
}

// Checkpoint gives the present point of a run that nobody conducts a name, and pins what is
// there.
func (a *App) Checkpoint(ctx context.Context, p *Place, id nexus.RunID, name, why, by string) (made *state.Checkpoint, err error) {
	err = p.held(ctx, a, id, func(s *state.State, lease *journal.Lease, trees *worktree.Store) error {
		if why := schedule.NameOf(s, name); why != "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: why,
				Hint: "Give another name, such as before-lunch; nexus checkpoint list shows the names that are taken.",
			}
		}
		f := nexus.CheckpointMade{Name: name, Reason: nexus.ByHand, Why: why, Tip: s.Tip, Trees: s.InProgress(), By: by}
		events, err := lease.Append(ctx, f)
		if err != nil {
			return err
		}
		if err := s.Apply(events[0]); err != nil {
			return err
		}
		made = s.Checkpoint(name)
		return trees.PinPoint(id, f.Name, f.Tip, f.Trees)
	})
	return made, err
}

// Pinned lists the commits that pin a checkpoint; see [worktree.Store.Pinned].
func (p *Place) Pinned(ctx context.Context, id nexus.RunID, name string) (pins map[string]string, err error) {
	trees, err := worktree.Open(ctx, p.Repo, p.State)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	return trees.Pinned(ctx, id, name)
}

// held does something with a run that nobody conducts, as the only process that does.
func (p *Place) held(ctx context.Context, a *App, id nexus.RunID, do func(*state.State, *journal.Lease, *worktree.Store) error) error {
	trees, err := worktree.Open(ctx, p.Repo, p.State)
	if err != nil {
		return err
	}
	trees.Now = a.Now
	lease, err := p.acquire(ctx, id)
	if err != nil {
		return errors.Join(err, trees.Close())
	}
	s, err := p.Replay(ctx, id)
	if err == nil {
		err = do(s, lease, trees)
	}
	return errors.Join(err, trees.Close(), lease.Release(context.WithoutCancel(ctx)))
}

// Rewind takes a run that nobody conducts back to a point. It is on record before anything
// moves, and whoever takes the run up moves what a killed process did not.
func (a *App) Rewind(ctx context.Context, p *Place, id nexus.RunID, to Point, by string) (s *state.State, err error) {
	err = p.held(ctx, a, id, func(is *state.State, lease *journal.Lease, trees *worktree.Store) error {
		s = is
		then, err := s.Before(to.Seq)
		if err != nil {
			return err
		}
		f := nexus.RunRewound{To: to.Seq, Checkpoint: to.Name(), Tip: then.Tip, From: s.Tip, By: by}
		if err := Whole(ctx, trees, then); err != nil {
			return err
		}
		if err := s.Admits(f); err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s cannot go back to event %d: %v", id, to.Seq, err),
				Hint: "nexus checkpoint list names points; nexus fork starts another run from one.", Cause: err,
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
				if err := trees.Drop(ctx, id, nexus.AttemptID(name)); err != nil {
					return err
				}
			}
		}
		return settleRefs(ctx, trees, s)
	})
	return s, err
}

// Intact refuses a point whose commits are missing or damaged, before anything is changed.
func (p *Place) Intact(ctx context.Context, s *state.State, to Point) (err error) {
	then, err := s.Before(to.Seq)
	if err != nil {
		return err
	}
	trees, err := worktree.Open(ctx, p.Repo, p.State)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	return Whole(ctx, trees, then)
}

// Whole says which commits are missing, or damaged, that the state at a point needs.
func Whole(ctx context.Context, trees *worktree.Store, then *state.State) error {
	commits := []string{then.Tip}
	for _, l := range then.Landings {
		commits = append(commits, l.Commit)
	}
	for _, t := range then.InProgress() {
		commits = append(commits, t.Commit)
	}
	broken, err := trees.Whole(ctx, slices.Compact(commits))
	if err != nil || len(broken) == 0 {
		return err
	}
	return &nexus.Error{
		Code: nexus.CodeStorage, Message: fmt.Sprintf("the private clone has not all files of %s, which the run had at that point", nexus.Join(broken)),
		Hint: "Nothing was changed. Restore " + trees.Git().Dir + " from a backup, or go back to another point.",
	}
}

// settleRefs makes the refs of a run what its journal says: its branch where a rewind or a fork put
// it, and those that pin its checkpoints. It does again what a killed process may not have got to.
func settleRefs(ctx context.Context, trees *worktree.Store, s *state.State) error {
	if n := len(s.Rewinds); n > 0 && !grown(s, s.Rewinds[n-1].Seq) {
		if err := trees.Return(ctx, s.Run, land.Ref(s.Run), "event-"+strconv.FormatInt(s.Rewinds[n-1].Seq, 10), s.Tip); err != nil {
			return err
		}
	}
	if f := s.Goal.Fork; f != nil {
		_, err := trees.Git().Resolve(ctx, land.Ref(s.Run))
		if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			err = trees.Move(ctx, land.Ref(s.Run), s.Tip, "")
		}
		if err != nil {
			return err
		}
	}
	for _, c := range s.Kept() {
		if err := trees.PinPoint(s.Run, c.Name, c.Tip, c.Trees); err != nil {
			return err
		}
	}
	left, err := leftPinned(ctx, trees, s)
	for _, name := range left {
		err = errors.Join(err, trees.Unpin(ctx, s.Run, name))
	}
	return err
}

// leftPinned returns the checkpoints that are dropped and still pinned: a process was killed in
// between.
func leftPinned(ctx context.Context, trees *worktree.Store, s *state.State) ([]string, error) {
	var dropped []string
	for _, c := range s.Checkpoints {
		if c.Dropped != "" {
			dropped = append(dropped, c.Name)
		}
	}
	if len(dropped) == 0 {
		return nil, nil
	}
	names, err := trees.Points(ctx, s.Run)
	return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(dropped, name) }), err
}

// pins returns what makes the refs of checkpoints follow the facts.
func (a *App) pins(trees *worktree.Store, id nexus.RunID) func(context.Context, nexus.Fact) {
	return func(ctx context.Context, f nexus.Fact) {
		switch f := f.(type) {
		case nexus.CheckpointMade:
			a.complain(trees.PinPoint(id, f.Name, f.Tip, f.Trees))
		case nexus.CheckpointDropped:
			a.complain(trees.Unpin(ctx, id, f.Name))
		default:
		}
	}
}

// settle does that for a run that this process holds.
func (a *App) settle(ctx context.Context, p *Place, trees *worktree.Store, id nexus.RunID) error {
	s, err := p.Replay(ctx, id)
	if err != nil || len(s.Rewinds)+len(s.Checkpoints) == 0 && s.Goal.Fork == nil {
		return err
	}
	return settleRefs(ctx, trees, s)
}

// grown reports whether the run's branch grew after an event.
func grown(s *state.State, seq int64) bool {
	return slices.ContainsFunc(s.Landings, func(l *state.Landing) bool { return l.Seq > seq }) || s.Aboard != nil || s.Undo.Open()
}

// DropAged drops the checkpoints which runs that nobody conducts made by themselves and that are
// older than their settings say. It returns them as "run/name".
func (a *App) DropAged(ctx context.Context, p *Place, dry bool) (names []string, err error) {
	names = []string{}
	runs, err := p.Runs(ctx)
	for _, r := range runs {
		if err != nil {
			break
		}
		if r.Holder == nil {
			err = a.dropAged(ctx, p, r.ID, dry, func(name string) { names = append(names, string(r.ID)+"/"+name) })
		}
	}
	return names, err
}

func (a *App) dropAged(ctx context.Context, p *Place, id nexus.RunID, dry bool, told func(string)) error {
	s, err := p.Replay(ctx, id)
	if err != nil {
		return err
	}
	old := aged(s, a.Now())
	if len(s.Checkpoints) > len(s.Kept()) {
		left, err := p.leftPinned(ctx, s)
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
	return p.held(ctx, a, id, func(s *state.State, lease *journal.Lease, trees *worktree.Store) error {
		left, err := leftPinned(ctx, trees, s)
		if err != nil {
			return err
		}
		for _, name := range left {
			if err := trees.Unpin(ctx, id, name); err != nil {
				return err
			}
			told(name)
		}
		for _, name := range aged(s, a.Now()) {
			f := nexus.CheckpointDropped{Name: name, Why: fmt.Sprintf("older than %s (setting checkpoint.age)", s.Limits.Points.Age)}
			if _, err := lease.Append(ctx, f); err != nil {
				return err
			}
			if err := trees.Unpin(ctx, id, name); err != nil {
				return err
			}
			told(name)
		}
		return nil
	})
}

// leftPinned is that for a run that this process does not hold.
func (p *Place) leftPinned(ctx context.Context, s *state.State) (names []string, err error) {
	trees, err := worktree.Open(ctx, p.Repo, p.State)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	return leftPinned(ctx, trees, s)
}

func aged(s *state.State, now time.Time) []string {
	var old []string
	for _, c := range s.Kept() {
		if age := s.Limits.Points.Age; age > 0 && c.Reason != nexus.ByHand && now.Sub(c.At) > age {
			old = append(old, c.Name)
		}
	}
	return old
}

// Fork begins another run from a point of one, under a name of its own, and with the settings that hold
// now. Nobody conducts it yet.
func (a *App) Fork(ctx context.Context, p *Place, s *state.State, from Point, by string) (nexus.RunID, error) {
	settings, _, err := a.Settings()
	if err != nil {
		return "", err
	}
	then, err := s.Before(from.Seq)
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
	goal.Goal.Origin, goal.Limits, goal.Planning, goal.Consent = a.Origin, settings.Limits, 0, nexus.Consent{Given: by}
	goal.Fork = &nexus.Fork{Run: s.Run, Seq: from.Seq, Checkpoint: from.Name(), Tip: then.Tip, By: by}
	facts := []nexus.Fact{goal}
	made := &nexus.Plan{Version: 1, Goal: goal.Goal.Text}
	for _, t := range then.Tasks {
		made.Tasks = append(made.Tasks, t.Task)
	}
	offer, err := offered(p, made)
	if err != nil {
		return "", err
	}
	facts = append(append(facts, offer...), then.Bequeathed()...)
	id, err := unused(ctx, p, a.Now(), nil)
	if err != nil {
		return "", err
	}
	trees, err := worktree.Open(ctx, p.Repo, p.State)
	if err != nil {
		return "", err
	}
	defer trees.Close() //nolint:errcheck // nothing was made in it
	if err := Whole(ctx, trees, then); err != nil {
		return "", err
	}
	begun := state.New(id)
	if err := admit(begun, facts, a.Now()); err != nil {
		return "", err
	}
	lease, err := p.acquire(ctx, id)
	if err != nil {
		return "", err
	}
	if _, err = lease.Append(ctx, facts...); err == nil {
		err = settleRefs(ctx, trees, begun)
	}
	return id, errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
}

// admit folds facts that are not recorded yet.
func admit(s *state.State, facts []nexus.Fact, now time.Time) error {
	for i, f := range facts {
		if err := s.Apply(nexus.Event{Seq: int64(i + 1), Run: s.Run, At: now, Fact: f}); err != nil {
			return err
		}
	}
	return nil
}
