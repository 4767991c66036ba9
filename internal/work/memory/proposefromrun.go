package memory

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// maxProposals limits the proposals that wait for a person. Further ones are not written until
// some of those are approved or forgotten.
const maxProposals = 500

// ProposalSourceRun is the source of a run's proposals.
type ProposalSourceRun struct {
	State *state.State
	Git   git.Repo                          // has the run's commits
	Blob  func(hash string) ([]byte, error) // returns the blobs of its facts
}

// ProposeFromRun writes the lessons of a run as proposals, and returns how many are new. It can be
// repeated at any time, and then writes nothing: a proposal has the same name each time, and
// episodes that people approved or forgot stay unchanged.
//
// A lesson about a file that is hidden from agents is not stored, as its text may quote it. A
// lesson that cannot be made a proposal is skipped, and the error contains the reason.
func (s MemoryEntryStore) ProposeFromRun(ctx context.Context, r ProposalSourceRun) (fresh int, err error) {
	seeds := memoryentry.ProposeEntries(r.State)
	if len(seeds) == 0 {
		return 0, nil
	}
	var made []memoryentry.MemoryEntry
	var left []error
	for _, seed := range seeds {
		grown, err := s.entriesFromSeed(ctx, r, seed)
		if err != nil {
			left = append(left, fmt.Errorf("learn from run %s: %w", r.State.Run, err))
			continue
		}
		made = append(made, grown...)
	}
	err = s.withLockedEntries(ctx, func(all []StoredMemoryEntry) error {
		for _, e := range made {
			k, is, err := s.writeProposedEntry(all, e)
			if err != nil {
				return err
			}
			if is {
				fresh++
				all = append(all, k)
			}
		}
		return nil
	})
	return fresh, errors.Join(append(left, err)...)
}

// entriesFromSeed returns the episodes for a seed.
func (s MemoryEntryStore) entriesFromSeed(ctx context.Context, r ProposalSourceRun, seed memoryentry.EntryProposal) ([]memoryentry.MemoryEntry, error) {
	made := []memoryentry.MemoryEntry{seed.MemoryEntry}
	switch {
	case seed.Handin != "":
		data, err := r.Blob(seed.Handin)
		if err != nil {
			return nil, nil //nolint:nilerr // nexus journal verify says that it is gone
		}
		made = memoryentry.ParseSubmission(data)
		for i := range made {
			made[i].From, made[i].Learned = seed.MemoryEntry.From, seed.Learned
		}
	case seed.To != "":
		if err := s.addEndingChange(ctx, r.Git, &seed); err != nil {
			return nil, err
		}
		made[0] = seed.MemoryEntry
	}
	var visible []memoryentry.MemoryEntry
	for _, e := range made {
		if s.hasHiddenFile(e.FilePaths()...) {
			continue
		}
		if err := pinFileBlobs(ctx, r.Git, &e); err != nil {
			return nil, err
		}
		visible = append(visible, e)
	}
	return visible, nil
}

// addEndingChange adds the change that ended a failure, as far as agents may see it. A missing commit
// adds nothing.
func (s MemoryEntryStore) addEndingChange(ctx context.Context, repo git.Repo, seed *memoryentry.EntryProposal) error {
	changed, err := repo.ChangedFiles(ctx, seed.From, seed.To)
	if err != nil {
		return ctx.Err()
	}
	var paths []string
	for _, c := range changed {
		if !s.hasHiddenFile(c.Path) {
			paths = append(paths, c.Path)
		}
	}
	diff, err := repo.DiffLimitedToFiles(ctx, seed.From, seed.To, paths)
	if err != nil {
		return ctx.Err()
	}
	seed.AddFix(paths, diff)
	return nil
}

// pinFileBlobs sets the blobs of an episode's files to those of its commit, and removes missing files.
// A decision is not about the contents of a file, and has none.
func pinFileBlobs(ctx context.Context, repo git.Repo, e *memoryentry.MemoryEntry) error {
	if len(e.From) == 0 || len(e.Files) == 0 {
		return nil
	}
	blobs, err := BlobIDsOfPaths(ctx, repo, e.From[len(e.From)-1].Commit, e.FilePaths())
	if err != nil {
		return err
	}
	var files []memoryentry.SubjectFile
	for _, f := range e.Files {
		is := blobs[f.Path]
		if is == "" {
			continue
		}
		if e.Kind != memoryentry.Decision {
			f.Blob = is
		}
		files = append(files, f)
	}
	e.Files = files
	return nil
}

// writeProposedEntry writes an episode as a proposal, unless an equal one exists. An episode that could not
// be read back is not written.
func (s MemoryEntryStore) writeProposedEntry(all []StoredMemoryEntry, e memoryentry.MemoryEntry) (k StoredMemoryEntry, fresh bool, err error) {
	e.Text = string(s.maskSecrets([]byte(e.Text)))
	waiting := 0
	for i := range all {
		old := &all[i]
		if old.State == memoryentry.Proposed {
			waiting++
		}
		if old.ID != e.ID && !memoryentry.IsSameEntry(old.MemoryEntry, e) {
			continue
		}
		if old.State != memoryentry.Proposed || old.Shared || !old.MergeOrigins(e) {
			return *old, false, nil
		}
		return *old, false, s.writeFile(s.State, path.Join("memory", old.ID+".md"), []byte(old.String()), 0o700, 0o600)
	}
	if _, err := memoryentry.ParseEntry(e.ID, s.maskSecrets([]byte(e.String()))); err != nil {
		return k, false, nil //nolint:nilerr // it is too long, or its head looks like a key
	}
	if waiting >= maxProposals {
		return k, false, &nexus.Error{
			Code: nexus.CodeLimit, Message: fmt.Sprintf("%d proposals wait for a person; further ones are not written", waiting),
			Hint: "Decide about some with nexus memory approve or forget; the others are written then.",
		}
	}
	k = StoredMemoryEntry{MemoryEntry: e, Path: path.Join(s.entryDirectory(), e.ID+".md")}
	return k, true, s.writeFile(s.State, path.Join("memory", e.ID+".md"), []byte(e.String()), 0o700, 0o600)
}

// BlobIDsOfPaths returns the git objects of paths in a commit, without missing ones. The path of a
// directory has the object of its tree.
func BlobIDsOfPaths(ctx context.Context, repo git.Repo, commit string, paths []string) (map[string]string, error) {
	all := map[string]string{}
	if commit == "" || len(paths) == 0 {
		return all, nil
	}
	for chunk := range slices.Chunk(paths, maxPaths) {
		args := []string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", "--end-of-options", commit, "--"}
		out, err := repo.Run(ctx, append(args, chunk...)...)
		if err != nil {
			return all, errors.Join(err, ctx.Err())
		}
		parseTreeListing(out, all)
	}
	return all, nil
}
