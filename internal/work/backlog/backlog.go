// Package backlog stores a repository's backlog: one file per item ([workitem.Dir]), which
// people read, edit and commit. An item's result is read from the journal; its file repeats it
// for readers without the journal.
//
// Only commands of people write here, never a run.
package backlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// maxItems limits the number of files that are read.
const maxItems = 10_000

// ItemStore gives access to the items of a repository.
type ItemStore struct {
	Repo  string              // the user's checkout; empty: there is none
	State string              // directory of the repository's state, where the lock is
	Mask  func([]byte) []byte // masks keys in files that are written; may be nil
	Now   func() time.Time    // nil: no item counts as being started
}

// grace is how long an item may be in the starting state: after that, the process that started
// it is dead.
const grace = time.Minute

// isBeingStarted reports whether an item is being started: its file was written just now.
func (s ItemStore) isBeingStarted(id string) bool {
	info, err := os.Lstat(filepath.Join(s.Repo, filepath.FromSlash(backlogitem.BacklogItemPath(id))))
	return err == nil && s.Now != nil && s.Now().Sub(info.ModTime()).Abs() < grace
}

// ItemProblem is a file that is no valid item, with the reason.
type ItemProblem struct {
	File string `json:"file"` // path of the file, with the line
	Why  string `json:"why"`
	Hint string `json:"hint,omitzero"`

	Finding string `json:"finding,omitzero"` // the file's finding
}

// LoadItems reads all items in their order, and returns the invalid files as problems.
func (s ItemStore) LoadItems() (all []backlogitem.BacklogItem, wrong []ItemProblem, err error) {
	if s.Repo == "" {
		return nil, nil, nil
	}
	root, err := os.OpenRoot(s.Repo)
	if err != nil {
		return nil, nil, filewrite.WrapError("read the backlog", err)
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	if err := filewrite.CheckNoLinks(root, backlogitem.Dir+"/"); err != nil {
		return nil, []ItemProblem{newProblem(err)}, nil
	}
	entries, err := fs.ReadDir(root.FS(), backlogitem.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, filewrite.WrapError("read the backlog", err)
	}
	for _, e := range entries {
		file := path.Join(backlogitem.Dir, e.Name())
		if !strings.HasSuffix(file, ".md") || strings.EqualFold(e.Name(), "README.md") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if len(all) == maxItems {
			why := fmt.Sprintf("there are more than %d files; the rest are not read", maxItems)
			wrong = append(wrong, ItemProblem{File: backlogitem.Dir, Why: why, Hint: "Delete what is done."})
			break
		}
		data, err := readItemFile(root, file)
		var item backlogitem.BacklogItem
		if err == nil {
			item, err = backlogitem.ParseBacklogItem(file, data)
		}
		if err != nil {
			p := newProblem(err)
			p.Finding = backlogitem.FindingOfItemFile(data)
			wrong = append(wrong, p)
			continue
		}
		all = append(all, item)
	}
	backlogitem.SortItems(all)
	return all, wrong, nil
}

// readItemFile returns the start of a file, up to one byte more than an item's file may have.
func readItemFile(root *os.Root, file string) ([]byte, error) {
	if err := filewrite.CheckNoLinks(root, file); err != nil {
		return nil, err
	}
	f, err := root.Open(filepath.FromSlash(file))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, backlogitem.MaxFile+1))
	return data, errors.Join(err, f.Close())
}

func newProblem(err error) ItemProblem {
	p := ItemProblem{Why: err.Error()}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		p.Hint = e.Hint
	}
	if file, why, ok := strings.Cut(p.Why, ": "); ok {
		p.File, p.Why = file, why
	}
	return p
}

// FindItem returns the item with a name: its ID, or a part of it that is in no other.
func FindItem(all []backlogitem.BacklogItem, name string) (backlogitem.BacklogItem, error) {
	var found []backlogitem.BacklogItem
	for _, i := range all {
		if i.ID == name {
			return i, nil
		}
		if name != "" && strings.Contains(i.ID, name) {
			found = append(found, i)
		}
	}
	e := &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no item %q in the backlog", name),
		Hint: "nexus backlog lists them.",
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return backlogitem.BacklogItem{}, e
	}
	e.Code, e.Message = nexus.CodeInvalidInput, fmt.Sprintf("%d items have %q in their names", len(found), name)
	e.Hint = "Give more of the name; nexus backlog lists them."
	return backlogitem.BacklogItem{}, e
}

// ChangeItems calls change with the items as they are, while no other process changes them, and
// writes the items that it returns.
func (s ItemStore) ChangeItems(ctx context.Context, change func(all []backlogitem.BacklogItem) ([]backlogitem.BacklogItem, error)) error {
	if s.Repo == "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "there is no checkout to keep the backlog in",
			Hint: "Work in a checkout of the repository.",
		}
	}
	return filewrite.WithLock(ctx, filepath.Join(s.State, "backlog.lock"), func(context.Context) error {
		all, _, err := s.LoadItems()
		if err != nil {
			return err
		}
		changed, err := change(all)
		if err != nil {
			return err
		}
		root, err := os.OpenRoot(s.Repo)
		if err != nil {
			return filewrite.WrapError("write the backlog", err)
		}
		defer func() { _ = root.Close() }() // each file was closed on its own
		for _, i := range changed {
			data := []byte(i.String())
			if s.Mask != nil {
				data = s.Mask(data)
			}
			if _, err := backlogitem.ParseBacklogItem(backlogitem.BacklogItemPath(i.ID), data); err != nil {
				return err
			}
			if err := filewrite.WriteBelowRoot(root, backlogitem.BacklogItemPath(i.ID), data, 0o755, 0o644); err != nil {
				return filewrite.WrapError("write "+backlogitem.BacklogItemPath(i.ID), err)
			}
		}
		return nil
	})
}

// AddItem names and writes a new item. If an item of the same finding exists, it stays and is
// returned. An item that a person rejected is not added again.
func (s ItemStore) AddItem(ctx context.Context, item backlogitem.BacklogItem) (backlogitem.BacklogItem, error) {
	err := s.ChangeItems(ctx, func(all []backlogitem.BacklogItem) ([]backlogitem.BacklogItem, error) {
		same := func(i backlogitem.BacklogItem) bool { return i.Finding == item.Finding }
		if at := slices.IndexFunc(all, same); item.Finding != "" && at >= 0 {
			item = all[at]
			return nil, nil
		}
		if err := checkNotRejected(all, item); err != nil {
			return nil, err
		}
		item.ID = backlogitem.NewItemID(item.Title, func(id string) bool {
			// also finds an unreadable file
			_, err := os.Lstat(filepath.Join(s.Repo, filepath.FromSlash(backlogitem.BacklogItemPath(id))))
			return err == nil || slices.ContainsFunc(all, func(i backlogitem.BacklogItem) bool { return i.ID == id })
		})
		return []backlogitem.BacklogItem{item}, nil
	})
	return item, err
}

// checkNotRejected returns an error if a rejected item has the same text.
func checkNotRejected(all []backlogitem.BacklogItem, item backlogitem.BacklogItem) error {
	if item.Finding != "" { // a finding is rejected by its ID
		return nil
	}
	for _, i := range all {
		if i.State == backlogitem.Rejected && isSameText(i.Title, item.Title) && (item.Text == "" || isSameText(i.Text, item.Text)) {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("it is in the backlog as %s, which was rejected: %s", i.ID, i.Reason),
				Hint: fmt.Sprintf("nexus backlog edit %s --again reopens it.", i.ID),
			}
		}
	}
	return nil
}

// isSameText reports whether two texts are equal except for case and spaces.
func isSameText(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// EditItem changes one item.
func (s ItemStore) EditItem(ctx context.Context, id string, edit func(*backlogitem.BacklogItem) error) (item backlogitem.BacklogItem, err error) {
	err = s.ChangeItems(ctx, func(all []backlogitem.BacklogItem) ([]backlogitem.BacklogItem, error) {
		if item, err = FindItem(all, id); err != nil {
			return nil, err
		}
		if err := edit(&item); err != nil {
			return nil, err
		}
		return []backlogitem.BacklogItem{item}, nil
	})
	return item, err
}

// MarkDone marks waiting items as done with a commit on which their checks pass, and returns
// all items.
func (s ItemStore) MarkDone(ctx context.Context, ids []string, commit string) ([]backlogitem.BacklogItem, error) {
	for _, id := range ids {
		_, err := s.EditItem(ctx, id, func(i *backlogitem.BacklogItem) error {
			if i.State == backlogitem.Waiting {
				i.State, i.Commit, i.Reason = backlogitem.Done, commit, ""
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	all, _, err := s.LoadItems()
	return all, err
}

// RecordedRunSource gives access to the recorded runs.
type RecordedRunSource interface {
	// Runs returns the runs of the repository, the latest last.
	Runs(ctx context.Context) ([]nexus.RunID, error)
	// Replay returns the state of a run, nil for one that is not here.
	Replay(ctx context.Context, run nexus.RunID) (*state.State, error)
}

// SyncItems writes the results of the items that runs work on, or worked on last, and returns all
// items as they are now. An item that was being started when a process died is linked to its
// run, or waits again. An item of a run that is not here stays unchanged.
func (s ItemStore) SyncItems(ctx context.Context, r RecordedRunSource) (all []backlogitem.BacklogItem, wrong []ItemProblem, err error) {
	known := map[nexus.RunID]*state.State{}
	stale := func(all []backlogitem.BacklogItem) (changed []backlogitem.BacklogItem, err error) {
		for n, i := range all {
			now, err := s.itemWithRunOutcome(ctx, r, known, i)
			if err != nil {
				return nil, err
			}
			if now.State != i.State || now.Reason != i.Reason || now.Commit != i.Commit || now.Run != i.Run {
				all[n] = now
				changed = append(changed, now)
			}
		}
		return changed, nil
	}
	if all, wrong, err = s.LoadItems(); err != nil {
		return nil, nil, err
	}
	if changed, err := stale(all); err != nil || len(changed) == 0 {
		return all, wrong, err
	}
	err = s.ChangeItems(ctx, func(fresh []backlogitem.BacklogItem) ([]backlogitem.BacklogItem, error) {
		changed, err := stale(fresh)
		all = fresh
		return changed, err
	})
	backlogitem.SortItems(all)
	return all, wrong, err
}

// itemWithRunOutcome returns an item with its result in its run. Replayed runs are cached in
// known.
func (s ItemStore) itemWithRunOutcome(ctx context.Context, r RecordedRunSource, known map[nexus.RunID]*state.State, i backlogitem.BacklogItem) (backlogitem.BacklogItem, error) {
	if i.State == backlogitem.Done || i.State == backlogitem.Rejected || i.State == backlogitem.Waiting && i.Run == "" {
		return i, nil
	}
	if i.Run == "" {
		return s.adoptStartedRun(ctx, r, i)
	}
	st, ok := known[i.Run]
	if !ok {
		var err error
		if st, err = r.Replay(ctx, i.Run); err != nil {
			return i, err
		}
		known[i.Run] = st
	}
	if st == nil {
		return i, nil
	}
	now := i.WithRunState(st)
	switch {
	case i.State != backlogitem.Waiting && st.BacklogAddition(i.ID) == nil && s.isBeingStarted(i.ID):
		return i, nil
	case i.State == backlogitem.Waiting && now.State == backlogitem.Waiting:
		return i, nil // later edits by people stay
	}
	return now, nil
}

// adoptStartedRun finds the run of an item that was being started.
func (s ItemStore) adoptStartedRun(ctx context.Context, r RecordedRunSource, i backlogitem.BacklogItem) (backlogitem.BacklogItem, error) {
	runs, err := r.Runs(ctx)
	if err != nil {
		return i, err
	}
	for _, id := range slices.Backward(runs) {
		st, err := r.Replay(ctx, id)
		if err != nil {
			return i, err
		}
		if st != nil && st.BacklogAddition(i.ID) != nil {
			i.Run = id
			return i.WithRunState(st), nil
		}
	}
	if !s.isBeingStarted(i.ID) {
		i.State = backlogitem.Waiting
	}
	return i, nil
}
