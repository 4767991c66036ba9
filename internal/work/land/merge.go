package land

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/look"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/shop"
)

// settle returns the merged tree. A conflict goes to the merger, once.
func (l *landing) settle(ctx context.Context) (string, *nexus.TrainRefused, error) {
	if len(l.made.Conflicts) == 0 {
		return l.made.Tree, nil, nil
	}
	if err := l.place(ctx, l.made.Tree); err != nil {
		return "", nil, err
	}
	session := nexus.SessionID(fmt.Sprintf("%s/%s.1", l.m.ID, nexus.Merger))
	old := l.m.Session(session)
	if old == nil || !old.Over || old.Outcome == nexus.Refused || old.Outcome == nexus.Stopped {
		if err := l.merge(ctx, session, old); err != nil {
			return "", nil, err
		}
		old = l.m.Session(session)
	}
	if old.Outcome != nexus.Accepted {
		return "", l.conflict("the merger did not finish: " + old.Why), nil
	}
	snap, err := l.snapshot(ctx)
	if err != nil {
		return "", nil, err
	}
	why, err := l.unsolved(ctx, old, snap.Tree)
	if err != nil {
		return "", nil, err
	}
	if why != "" {
		return "", l.conflict(why), nil
	}
	return snap.Tree, nil, nil
}

func (l *landing) conflict(why string) *nexus.TrainRefused {
	return &nexus.TrainRefused{
		Task: l.a.Task, Attempt: l.a.ID, Onto: l.view.Tip, Conflict: true,
		Why: fmt.Sprintf("%s conflict with what landed meanwhile, and %s", strings.Join(l.made.Conflicts, ", "), why),
	}
}

// merge lets the merger resolve the conflict in the tree that holds it.
func (l *landing) merge(ctx context.Context, session nexus.SessionID, old *state.Session) error {
	next := ""
	if old == nil || len(old.Messages) == 0 {
		change, err := l.tree.Diff(ctx, l.a.Base, l.a.Commit)
		if err != nil {
			return err
		}
		next = prompt.Brief{
			Session: session, Task: l.view.Task.Task, Conflicts: l.made.Conflicts, Diff: change,
			Meanwhile: l.view.Meanwhile,
		}.Text()
	}
	o, err := l.Converse(ctx, shop.Talk{
		Attempt: l.m, Session: session, Task: l.view.Task.Task, Role: nexus.Merger, Tier: l.a.Tier, Tree: l.tree, Base: l.view.Goal.Base,
		Next: next, Why: "brief", Limits: l.view.Limits, Record: l.record, Snap: l.snapshot,
	}, l.desk)
	if err == nil && o.Outcome == nexus.Refused {
		err = shop.NoMoney(o.Why)
	}
	return err
}

// unsolved says which conflict the merger left, empty for none. A file that is
// deleted on one side, or binary, has no markers and holds one side: unless
// the merger changed it, or names it in its summary, it decided nothing.
func (l *landing) unsolved(ctx context.Context, merger *state.Session, tree string) (string, error) {
	summary, err := l.summary(merger)
	if err != nil {
		return "", err
	}
	for _, file := range l.made.Conflicts {
		if look.Marked(l.tree.Dir, file) {
			return file + " still has conflict markers", nil
		}
		was, err := l.entry(ctx, l.made.Tree, file)
		if err != nil {
			return "", err
		}
		is, err := l.entry(ctx, tree, file)
		if err != nil {
			return "", err
		}
		if was == is && !strings.Contains(summary, file) {
			return file + " is as it was, and the merger does not say why it should stay so", nil
		}
	}
	return "", nil
}

// entry returns what a tree has at a path, empty for nothing.
func (l *landing) entry(ctx context.Context, tree, file string) (string, error) {
	return l.Trees.Git().Run(ctx, "ls-tree", "-z", "--full-tree", tree, "--", file)
}

// summary returns what the merger said when it handed in.
func (l *landing) summary(s *state.Session) (string, error) {
	if s.Result == "" {
		return "", nil
	}
	data, err := l.Blobs.Get(s.Result)
	if err != nil {
		return "", err
	}
	var said struct {
		Summary string `json:"summary"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return "", fmt.Errorf("read what %s handed in: %w", s.Session, err)
	}
	return said.Summary, nil
}

// review lets a reviewer read, once and in a conversation of its own, what
// the merger made of the two changes. Rejected, or not reviewed, it is left
// to a person.
func (l *landing) review(ctx context.Context, hash string) (*nexus.TrainRefused, error) {
	if len(l.made.Conflicts) == 0 {
		return nil, nil
	}
	session := nexus.SessionID(fmt.Sprintf("%s/%s.1", l.m.ID, nexus.Reviewer))
	old := l.m.Session(session)
	if old == nil || !old.Over {
		next := ""
		if old == nil || len(old.Messages) == 0 {
			diff, err := l.tree.Diff(ctx, l.view.Tip, hash)
			if err != nil {
				return nil, err
			}
			next = prompt.Brief{
				Session: session, Task: l.view.Task.Task, Diff: diff, Meanwhile: l.view.Meanwhile,
			}.Text()
		}
		if _, err := l.Converse(ctx, shop.Talk{
			Attempt: l.m, Session: session, Task: l.view.Task.Task, Role: nexus.Reviewer, Tier: l.a.Tier, Author: l.m.Author(nexus.Merger), Readers: l.view.Readers, Tree: l.tree, Base: l.view.Goal.Base,
			Next: next, Why: "brief", Handin: review.Schema(), Limits: l.view.Limits, Record: l.record,
		}, l.desk); err != nil {
			return nil, err
		}
		old = l.m.Session(session)
	}
	given, err := l.Opinion(ctx, l.tree, l.view.Tip, old)
	if err != nil {
		return nil, err
	}
	given.Attempt, given.Tree = l.m.ID, hash
	if err := l.record(ctx, given); err != nil {
		return nil, err
	}
	switch {
	case !given.Reviewed:
		return l.conflict("what the merger made of it is not reviewed: " + given.Summary), nil
	case repair.Rejects(given, l.view.Limits.MajorsBlock):
		why := "the reviewer rejects what the merger made of it: " + given.Summary
		for _, f := range given.Findings {
			why += fmt.Sprintf("; %s %s: %s", cmp.Or(f.File, "the change"), cmp.Or(f.Severity, nexus.Major), f.Message)
		}
		return l.conflict(why), nil
	}
	return nil, nil
}
