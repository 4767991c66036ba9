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

	"github.com/nexus-ai-builder/nexus/internal/decide/finding"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// edition changes when strategies find something else in the same tree.
const edition = "7"

// mostKept is how many entries of one strategy are kept: for some branches.
const mostKept = 8

// entry is what a strategy found, as it is kept.
type entry struct {
	StrategyResult
	At       time.Time         `json:"at"`
	Versions map[string]string `json:"versions"` // of the programs that it ran
}

func (s *SourceTree) dir() string { return filepath.Join(s.o.State, "discover") }

// key names what a strategy would find: two trees with the same key lead to the same.
func (s *SourceTree) key(ctx context.Context, one Strategy) string {
	var h strings.Builder
	fmt.Fprintf(&h, "%s\n%s\n%s\n", edition, one.Name, s.o.Settings)
	if one.Reads.Runs {
		fmt.Fprintf(&h, "%s\n", s.o.RunsMark)
	}
	if one.Reads.Base {
		base, _, _ := s.base(ctx) // without one there is nothing to compare
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

// readCache returns what a strategy found when it last looked at the same; nil where it has to look.
func (s *SourceTree) readCache(ctx context.Context, one Strategy) (*entry, string) {
	if !one.Reads.keeps() {
		return nil, ""
	}
	key := s.key(ctx, one)
	if s.o.Fresh {
		return nil, key
	}
	data, err := os.ReadFile(filepath.Join(s.dir(), one.Name, key+".json"))
	if err != nil {
		return nil, key
	}
	e, err := parseEntry(data)
	if err != nil || s.o.Keep > 0 && s.o.Now.Sub(e.At) > s.o.Keep || e.At.After(s.o.Now) {
		return nil, key
	}
	for name, version := range e.Versions {
		if s.version(name) != version {
			return nil, key
		}
	}
	return e, key
}

// parseEntry reads an entry. One that is not whole, or that another edition wrote, is none.
func parseEntry(data []byte) (*entry, error) {
	e := &entry{}
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

// writeCache writes what a strategy found, whole or not at all, and forgets the oldest of what is kept of it.
func (s *SourceTree) writeCache(one Strategy, key string, found StrategyResult) (*entry, error) {
	e := &entry{StrategyResult: found, At: s.o.Now, Versions: map[string]string{}}
	if !one.Reads.keeps() {
		return e, nil
	}
	for _, name := range found.Programs {
		e.Versions[name] = s.version(name)
	}
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir(), one.Name)
	if err := disk.Replace(filepath.Join(dir, key+".json"), data); err != nil {
		return nil, err
	}
	return e, tidy(dir, s.o.Now)
}

// tidy removes all but the newest entries, and what a process that died left half written.
func tidy(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return disk.WrapError("read what was found before", err)
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
				_ = os.Remove(filepath.Join(dir, e.Name())) // the next one tries again
			}
			continue
		}
		all = append(all, old{e.Name(), info.ModTime()})
	}
	slices.SortStableFunc(all, func(a, b old) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	for _, o := range all[min(len(all), mostKept):] {
		if err := os.Remove(filepath.Join(dir, o.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return disk.WrapError("remove what was found before", err)
		}
	}
	return nil
}

// missing is the version of a program that is not there.
const missing = "none"

// version tells one version of a program from another without running it: by which file
// it is, how large, and since when.
func (s *SourceTree) version(name string) string {
	dirs := filepath.SplitList(s.o.Path)
	if strings.ContainsRune(name, '/') {
		return missing // of the tree, whose files are compared
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

// ranking is what is known of a commit's files, as it is kept.
type ranking struct {
	Commit     string                         `json:"commit"`
	Changes    map[string]finding.FileChanges `json:"changes"`
	Dependants map[string]int                 `json:"dependants"` // of the files that were asked about
}

// mostAsked is how many files are asked for those that rely on them.
const mostAsked = 200

// churn returns what the last commits changed.
func (s *SourceTree) churn(ctx context.Context) (map[string]finding.FileChanges, error) {
	if s.churned != nil {
		return s.churned, nil
	}
	past, err := s.o.Repo.History(ctx, s.o.Commit, finding.HistoryCommits)
	if err != nil {
		return nil, err
	}
	s.churned, s.late = touched(past), map[string]bool{}
	for _, p := range past {
		s.late[p.ID] = true
	}
	return s.churned, nil
}

func touched(past []git.HistoryCommit) map[string]finding.FileChanges {
	all := map[string]finding.FileChanges{}
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

// loadKnown returns what is known of the files of findings, and since when they are known.
func (s *SourceTree) loadKnown(ctx context.Context, all []finding.Finding, looked []Strategy) (finding.RankFacts, error) {
	w := finding.RankFacts{Now: s.o.Now}
	name := filepath.Join(s.dir(), "files.json")
	var r ranking
	if data, err := os.ReadFile(name); err != nil || json.Unmarshal(data, &r) != nil || r.Commit != s.o.Commit || r.Dependants == nil {
		r = ranking{Commit: s.o.Commit, Dependants: map[string]int{}}
	}
	var missing []string
	for _, f := range all {
		for _, file := range f.Files() {
			if _, ok := r.Dependants[file]; !ok && f.Open() && !slices.Contains(missing, file) && len(missing) < mostAsked {
				missing = append(missing, file)
			}
		}
	}
	if r.Changes == nil || len(missing) > 0 {
		var err error
		if r.Changes, err = s.churn(ctx); err != nil {
			return w, err
		}
		if err := s.countDependents(ctx, missing, r.Dependants); err != nil {
			return w, err
		}
		data, err := json.Marshal(r)
		if err == nil {
			err = disk.Replace(name, data)
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
	w.Since, err = s.since(ctx, all, looked)
	return w, err
}

// countDependents counts the files that rely on some.
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
		if into[name] = 0; survey.Blob(name) != "" { // no file that is to be written, or that agents may not see
			there = append(there, name)
		}
	}
	on, err := survey.DependentsOf(ctx, there)
	for name, all := range on {
		into[name] = len(all)
	}
	return err
}

// since returns when findings were first seen, and writes down those that are new. What a
// strategy that looked no longer finds is forgotten.
func (s *SourceTree) since(ctx context.Context, all []finding.Finding, looked []Strategy) (map[string]time.Time, error) {
	name := filepath.Join(s.dir(), "since.json")
	known := map[string]time.Time{}
	err := disk.Lock(ctx, filepath.Join(s.o.State, "discover.lock"), func(context.Context) error {
		if data, err := os.ReadFile(name); err == nil && json.Unmarshal(data, &known) != nil { //nolint:gosec // a file of ours
			known = map[string]time.Time{}
		}
		changed := false
		for id := range known {
			gone := slices.ContainsFunc(looked, func(one Strategy) bool { return strings.HasPrefix(id, one.Name+"/") }) &&
				!slices.ContainsFunc(all, func(f finding.Finding) bool { return f.ID == id })
			if gone {
				delete(known, id)
				changed = true
			}
		}
		for _, f := range all {
			if _, ok := known[f.ID]; !ok && f.Open() {
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
		return disk.Replace(name, data)
	})
	return known, err
}
