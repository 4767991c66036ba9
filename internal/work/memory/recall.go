package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/episode"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/textindex"
)

const (
	maxPaths  = 200 // of a call of git
	maxFound  = 50  // episodes that words find
	maxSearch = 200 // words of a task that are looked for
)

// parseTree reads what ls-tree prints: a mode, a type, an object and a path.
func parseTree(out string, into map[string]string) {
	for entry := range strings.SplitSeq(out, "\x00") {
		head, name, ok := strings.Cut(entry, "\t")
		if words := strings.Fields(head); ok && len(words) == 3 {
			into[name] = words[2]
		}
	}
}

// Book finds what a task needs of a memory. It is read anew for each session, so
// that what a person approves or forgets counts at once.
type Book struct {
	Store

	Record Record // of the runs that it learns from, and that were told
	Tokens int64  // that a session may be told; 0: nothing is told or proposed
	Auto   bool   // proposals are told, too, though nobody approved them
	Now    func() time.Time
	Means  *Meaning // finds by what texts mean, too; nil: by files, symbols and words only

	mu   sync.Mutex // guards uses
	uses map[string]episode.Use
}

// used returns how often agents were told of each episode by other runs. It is
// counted when somebody first wants to know: in most repositories nobody does.
func (b *Book) used(ctx context.Context) (map[string]episode.Use, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.uses != nil {
		return b.uses, nil
	}
	all, err := b.Record.Uses(ctx)
	if err == nil {
		b.uses = all
	}
	return all, err
}

// Recall returns what has to do with a task, the best first: what its session is
// told, and what is left out for want of room. Of what is about other files
// than those of the commit, nothing is told.
func (b *Book) Recall(
	ctx context.Context, repo git.Repo, commit string, w episode.Wanted, cost func(episode.Episode) int64,
) ([]episode.Choice, error) {
	if b == nil || b.Tokens <= 0 {
		return nil, nil
	}
	all, _, err := b.Load()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(k Kept) bool {
		told := k.State == episode.Approved || b.Auto && k.State == episode.Proposed && !k.Shared
		return !told || b.hides(k.Paths()...)
	})
	if all, err = fresh(ctx, repo, commit, all); err != nil || len(all) == 0 {
		return nil, err
	}
	match, err := matches(ctx, all, w.Text)
	if err != nil {
		return nil, err
	}
	uses, err := b.used(ctx)
	if err != nil {
		return nil, err
	}
	near := b.Means.near(ctx, all, string(b.masked([]byte(w.Text))))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	candidates := make([]episode.Candidate, len(all))
	for i, k := range all {
		candidates[i] = episode.Candidate{
			Episode: k.Episode, Match: match[k.ID], Near: near[k.ID], Hits: uses[k.ID].Hits, Used: uses[k.ID].Last,
		}
	}
	return episode.Choose(candidates, w, b.Now(), b.Tokens, cost), nil
}

// fresh leaves out what is about files that changed or are gone.
func fresh(ctx context.Context, repo git.Repo, commit string, all []Kept) ([]Kept, error) {
	now, err := At(ctx, repo, commit, all)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(k Kept) bool {
		s, _ := k.Stand(now)
		return s != episode.Fresh
	}), nil
}

// At returns what says which git object each file of some episodes is in a
// commit.
func At(ctx context.Context, repo git.Repo, commit string, all []Kept) (func(path string) string, error) {
	var paths []string
	for _, k := range all {
		paths = append(paths, k.Paths()...)
	}
	slices.Sort(paths)
	blobs, err := Blobs(ctx, repo, commit, slices.Compact(paths))
	if err != nil {
		return nil, fmt.Errorf("look at the files of the memory: %w", err)
	}
	return func(path string) string { return blobs[path] }, nil
}

// matches returns how well the words of episodes match those of a text.
func matches(ctx context.Context, all []Kept, text string) (found map[string]float64, err error) {
	texts := make([]textindex.Text, len(all))
	for i, k := range all {
		texts[i] = textindex.Text{Name: k.ID, Body: k.Text, Tags: strings.Join(append(k.Paths(), k.Symbols...), " ")}
	}
	x, err := textindex.New(ctx, texts)
	if err != nil {
		return nil, err
	}
	defer func() { _ = x.Close() }() // it is in memory
	words := episode.Words(text)
	hits, err := x.Search(ctx, words[:min(len(words), maxSearch)], maxFound)
	found = map[string]float64{}
	for _, h := range hits {
		found[h.Name] = h.Match
	}
	return found, err
}
