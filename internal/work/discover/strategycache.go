package discover

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// edition changes when strategies find something else in the same tree.
const edition = "7"

// mostKept limits the cached entries per strategy: enough for some branches.
const mostKept = 8

// cachedStrategyResult is the cached result of a strategy.
type cachedStrategyResult struct {
	StrategyResult
	At       time.Time         `json:"at"`
	Versions map[string]string `json:"versions"` // versions of the programs that it ran
}

func (s *SourceTree) cacheDirectory() string { return filepath.Join(s.o.State, "discover") }

// cacheKey returns the cache key of a strategy: two trees with the same key give the same result.
func (s *SourceTree) cacheKey(ctx context.Context, one DiscoveryStrategy) string {
	var h strings.Builder
	fmt.Fprintf(&h, "%s\n%s\n%s\n", edition, one.Name, s.o.Settings)
	if one.Reads.Runs {
		fmt.Fprintf(&h, "%s\n", s.o.RunsMark)
	}
	if one.Reads.Base {
		base, _, _ := s.comparisonBase(ctx) // without a base there is nothing to compare
		fmt.Fprintf(&h, "%s\n", base)
	}
	if one.Reads.Files != nil {
		for _, f := range slices.Concat(s.files, s.locks) {
			if one.Reads.Files(f.path) {
				fmt.Fprintf(&h, "%s %s\n", f.blob, f.path)
			}
		}
	}
	sum := sha256.Sum256([]byte(h.String()))
	return hex.EncodeToString(sum[:10])
}

// readCache returns the cached result of a strategy for the same inputs; nil if it has to run.
func (s *SourceTree) readCache(ctx context.Context, one DiscoveryStrategy) (*cachedStrategyResult, string) {
	if !one.Reads.isCacheable() {
		return nil, ""
	}
	key := s.cacheKey(ctx, one)
	if s.o.Fresh {
		return nil, key
	}
	data, err := os.ReadFile(filepath.Join(s.cacheDirectory(), one.Name, key+".json"))
	if err != nil {
		return nil, key
	}
	e, err := parseCacheEntry(data)
	if err != nil || s.o.Keep > 0 && s.o.Now.Sub(e.At) > s.o.Keep || e.At.After(s.o.Now) {
		return nil, key
	}
	for name, version := range e.Versions {
		if s.programVersion(name) != version {
			return nil, key
		}
	}
	return e, key
}

// parseCacheEntry parses an entry. An incomplete entry, or one of another edition, is invalid.
func parseCacheEntry(data []byte) (*cachedStrategyResult, error) {
	e := &cachedStrategyResult{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, err
	}
	if e.At.IsZero() {
		return nil, errors.New("it has no time")
	}
	for _, f := range e.Findings {
		if f.ID == "" || f.Strategy == "" || f.Title == "" {
			return nil, errors.New("a finding has no name")
		}
	}
	return e, nil
}

// writeCache writes the result of a strategy atomically, and deletes its oldest entries.
func (s *SourceTree) writeCache(one DiscoveryStrategy, key string, found StrategyResult) (*cachedStrategyResult, error) {
	e := &cachedStrategyResult{StrategyResult: found, At: s.o.Now, Versions: map[string]string{}}
	if !one.Reads.isCacheable() {
		return e, nil
	}
	for _, name := range found.Programs {
		e.Versions[name] = s.programVersion(name)
	}
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.cacheDirectory(), one.Name)
	if err := filewrite.ReplaceFile(filepath.Join(dir, key+".json"), data); err != nil {
		return nil, err
	}
	return e, pruneCache(dir, s.o.Now)
}

// pruneCache removes all but the newest entries, and incomplete files of processes that died.
func pruneCache(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return filewrite.WrapError("read what was found before", err)
	}
	type old struct {
		name string
		at   time.Time
	}
	var all []old
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // another process removed it
		}
		if strings.HasPrefix(e.Name(), ".new-") {
			if now.Sub(info.ModTime()) > time.Hour {
				_ = os.Remove(filepath.Join(dir, e.Name())) // the next run tries again
			}
			continue
		}
		all = append(all, old{e.Name(), info.ModTime()})
	}
	slices.SortStableFunc(all, func(a, b old) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	for _, o := range all[min(len(all), mostKept):] {
		if err := os.Remove(filepath.Join(dir, o.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return filewrite.WrapError("remove what was found before", err)
		}
	}
	return nil
}

// missing is the version of a missing program.
const missing = "none"

// programVersion returns a version mark of a program without running it: its path, its size, and its
// modification time.
func (s *SourceTree) programVersion(name string) string {
	dirs := filepath.SplitList(s.o.Path)
	if strings.ContainsRune(name, '/') {
		return missing // it is in the tree, whose files are compared
	}
	for _, dir := range dirs {
		file, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return fmt.Sprintf("%s %d %d", file, info.Size(), info.ModTime().UnixNano())
		}
	}
	return missing
}

// cachedFileRanking is the cached data about a commit's files.
type cachedFileRanking struct {
	Commit  string                                      `json:"commit"`
	Changes map[string]discoveredwork.FileChangeHistory `json:"changes"`
	// numbers of dependents of the requested files
	Dependants map[string]int `json:"dependants"`
}

// mostAsked limits for how many files the dependents are counted.
const mostAsked = 200

// recentFileChanges returns the files changed by the last commits.
func (s *SourceTree) recentFileChanges(ctx context.Context) (map[string]discoveredwork.FileChangeHistory, error) {
	if s.churned != nil {
		return s.churned, nil
	}
	past, err := s.o.Repo.CommitHistory(ctx, s.o.Commit, discoveredwork.HistoryCommits)
	if err != nil {
		return nil, err
	}
	s.churned, s.late = countFileChanges(past), map[string]bool{}
	for _, p := range past {
		s.late[p.ID] = true
	}
	return s.churned, nil
}

func countFileChanges(past []git.HistoryCommit) map[string]discoveredwork.FileChangeHistory {
	all := map[string]discoveredwork.FileChangeHistory{}
	for _, p := range past {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(p.Files))) {
			t := all[name]
			t.Times++
			if p.Time.After(t.Last) {
				t.Last = p.Time
			}
			all[name] = t
		}
	}
	return all
}

// loadRankingInput returns the data for ranking the files of findings, and when each finding was
// first seen.
func (s *SourceTree) loadRankingInput(ctx context.Context, all []discoveredwork.WorkFinding, looked []DiscoveryStrategy) (discoveredwork.RankingInput, error) {
	w := discoveredwork.RankingInput{Now: s.o.Now}
	name := filepath.Join(s.cacheDirectory(), "files.json")
	var r cachedFileRanking
	if data, err := os.ReadFile(name); err != nil || json.Unmarshal(data, &r) != nil || r.Commit != s.o.Commit || r.Dependants == nil {
		r = cachedFileRanking{Commit: s.o.Commit, Dependants: map[string]int{}}
	}
	var missing []string
	for _, f := range all {
		for _, file := range f.FilePaths() {
			if _, ok := r.Dependants[file]; !ok && f.IsOpen() && !slices.Contains(missing, file) && len(missing) < mostAsked {
				missing = append(missing, file)
			}
		}
	}
	if r.Changes == nil || len(missing) > 0 {
		var err error
		if r.Changes, err = s.recentFileChanges(ctx); err != nil {
			return w, err
		}
		if err := s.countDependents(ctx, missing, r.Dependants); err != nil {
			return w, err
		}
		data, err := json.Marshal(r)
		if err == nil {
			err = filewrite.ReplaceFile(name, data)
		}
		if err != nil {
			return w, err
		}
	}
	w.Changes, w.Dependants = r.Changes, r.Dependants
	var err error
	if s.o.Past != nil {
		if w.Past, err = s.o.Past(ctx); err != nil {
			return w, err
		}
	}
	w.Since, err = s.findingFirstSeenTimes(ctx, all, looked)
	return w, err
}

// countDependents counts the dependents of files.
func (s *SourceTree) countDependents(ctx context.Context, files []string, into map[string]int) error {
	if len(files) == 0 {
		return nil
	}
	survey, err := codemap.SurveyCommit(ctx, s.o.Repo, s.o.Commit, nil)
	if err != nil {
		return err
	}
	var there []string
	for _, name := range files {
		// not a file yet to be written, nor one hidden from agents
		if into[name] = 0; survey.BlobID(name) != "" {
			there = append(there, name)
		}
	}
	on, err := survey.DependentsOf(ctx, there)
	for name, all := range on {
		into[name] = len(all)
	}
	return err
}

// findingFirstSeenTimes returns when findings were first seen, and stores the new ones. Findings that a
// strategy looked for and no longer finds are deleted.
func (s *SourceTree) findingFirstSeenTimes(ctx context.Context, all []discoveredwork.WorkFinding, looked []DiscoveryStrategy) (map[string]time.Time, error) {
	name := filepath.Join(s.cacheDirectory(), "since.json")
	known := map[string]time.Time{}
	err := filewrite.WithLock(ctx, filepath.Join(s.o.State, "discover.lock"), func(context.Context) error {
		if data, err := os.ReadFile(name); err == nil && json.Unmarshal(data, &known) != nil { //nolint:gosec // a file of ours
			known = map[string]time.Time{}
		}
		changed := false
		for id := range known {
			gone := slices.ContainsFunc(looked, func(one DiscoveryStrategy) bool { return strings.HasPrefix(id, one.Name+"/") }) &&
				!slices.ContainsFunc(all, func(f discoveredwork.WorkFinding) bool { return f.ID == id })
			if gone {
				delete(known, id)
				changed = true
			}
		}
		for _, f := range all {
			if _, ok := known[f.ID]; !ok && f.IsOpen() {
				known[f.ID], changed = s.o.Now, true
			}
		}
		if !changed {
			return nil
		}
		data, err := json.Marshal(known)
		if err != nil {
			return err
		}
		return filewrite.ReplaceFile(name, data)
	})
	return known, err
}
