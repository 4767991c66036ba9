package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/textindex"
)

const (
	maxPaths  = 200 // paths per call of git
	maxFound  = 50  // episodes found by words
	maxSearch = 200 // words of a task that are searched for
)

// parseTreeListing parses the output of ls-tree: a mode, a type, an object and a path.
func parseTreeListing(out string, into map[string]string) {
	for entry := range strings.SplitSeq(out, "\x00") {
		head, name, ok := strings.Cut(entry, "\t")
		if words := strings.Fields(head); ok && len(words) == 3 {
			into[name] = words[2]
		}
	}
}

// MemoryEntryRetriever finds the relevant episodes for a task. The memory is read again for each session,
// so that a person's approval or removal takes effect at once.
type MemoryEntryRetriever struct {
	MemoryEntryStore

	Record RepositoryRunRecords // runs to learn from, and to count uses in
	Tokens int64                // limit of the episodes for a session; 0: none are used or proposed
	Auto   bool                 // proposals are used, too, without approval
	Now    func() time.Time
	Means  *EmbeddingIndex // searches by meaning, too; nil: by files, symbols and words only

	mu   sync.Mutex // guards uses
	uses map[string]memoryentry.EntryUsage
}

// entryUses returns how often sessions of other runs received each episode. It is computed on first
// use: in most repositories it is never needed.
func (b *MemoryEntryRetriever) entryUses(ctx context.Context) (map[string]memoryentry.EntryUsage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.uses != nil {
		return b.uses, nil
	}
	all, err := b.Record.CountEntryUses(ctx)
	if err == nil {
		b.uses = all
	}
	return all, err
}

// FindRelevantEntries returns the relevant episodes for a task, the best first: those for its session, and
// those that are omitted for lack of space. Episodes about other versions of files than those
// of the commit are not used.
func (b *MemoryEntryRetriever) FindRelevantEntries(
	ctx context.Context, repo git.Repo, commit string, w memoryentry.MemoryTaskQuery, cost func(memoryentry.MemoryEntry) int64,
) ([]memoryentry.EntryDecision, error) {
	if b == nil || b.Tokens <= 0 {
		return nil, nil
	}
	all, _, err := b.LoadEntries()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(k StoredMemoryEntry) bool {
		told := k.State == memoryentry.Approved || b.Auto && k.State == memoryentry.Proposed && !k.Shared
		return !told || b.hasHiddenFile(k.FilePaths()...)
	})
	if all, err = withUnchangedFiles(ctx, repo, commit, all); err != nil || len(all) == 0 {
		return nil, err
	}
	match, err := wordSimilarities(ctx, all, w.Text)
	if err != nil {
		return nil, err
	}
	uses, err := b.entryUses(ctx)
	if err != nil {
		return nil, err
	}
	near := b.Means.entrySimilarities(ctx, all, string(b.maskSecrets([]byte(w.Text))))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	candidates := make([]memoryentry.EntryCandidate, len(all))
	for i, k := range all {
		candidates[i] = memoryentry.EntryCandidate{
			MemoryEntry: k.MemoryEntry, Match: match[k.ID], Near: near[k.ID], Hits: uses[k.ID].Hits, Used: uses[k.ID].Last,
		}
	}
	return memoryentry.ChooseEntries(candidates, w, b.Now(), b.Tokens, cost), nil
}

// withUnchangedFiles removes episodes about files that changed or were deleted.
func withUnchangedFiles(ctx context.Context, repo git.Repo, commit string, all []StoredMemoryEntry) ([]StoredMemoryEntry, error) {
	now, err := FileBlobsAt(ctx, repo, commit, all)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(k StoredMemoryEntry) bool {
		s, _ := k.CheckFreshness(now)
		return s != memoryentry.Fresh
	}), nil
}

// FileBlobsAt returns a function for the git object of each file of some episodes in a commit.
func FileBlobsAt(ctx context.Context, repo git.Repo, commit string, all []StoredMemoryEntry) (func(path string) string, error) {
	var paths []string
	for _, k := range all {
		paths = append(paths, k.FilePaths()...)
	}
	slices.Sort(paths)
	blobs, err := BlobIDsOfPaths(ctx, repo, commit, slices.Compact(paths))
	if err != nil {
		return nil, fmt.Errorf("look at the files of the memory: %w", err)
	}
	return func(path string) string { return blobs[path] }, nil
}

// wordSimilarities returns how well the words of episodes match those of a text.
func wordSimilarities(ctx context.Context, all []StoredMemoryEntry, text string) (found map[string]float64, err error) {
	texts := make([]textindex.IndexedText, len(all))
	for i, k := range all {
		texts[i] = textindex.IndexedText{Name: k.ID, Body: k.Text, Tags: strings.Join(append(k.FilePaths(), k.Symbols...), " ")}
	}
	x, err := textindex.NewTextIndex(ctx, texts)
	if err != nil {
		return nil, err
	}
	defer func() { _ = x.Close() }() // it is in memory
	words := memoryentry.LowerCaseWords(text)
	hits, err := x.Search(ctx, words[:min(len(words), maxSearch)], maxFound)
	found = map[string]float64{}
	for _, h := range hits {
		found[h.Name] = h.Match
	}
	return found, err
}
