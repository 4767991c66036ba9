package worktree

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// dotGit is the name that is never scanned.
const dotGit = ".git"

// maxWorkers limits the directories that are scanned concurrently.
var maxWorkers = min(max(runtime.GOMAXPROCS(0), 2), 8) //nolint:gochecknoglobals // constant for the process

// scanDir scans all names of a directory; in has the files of the base below it. Other directories
// may be scanned concurrently.
func (s *runningTreeScan) scanDir(dir string, in git.Index) {
	d, err := openDir(filepath.Join(s.Dir, dir))
	if errors.Is(err, errNoDir) {
		s.markDeleted(in)
		return
	}
	if err != nil {
		s.recordError(err)
		return
	}
	defer d.close()
	direct, subs := splitEntries(dir, in)
	st, err := d.stat()
	if err != nil {
		s.recordError(err)
		return
	}
	s.mu.Lock()
	was, known := s.k.dirs[dir]
	s.mu.Unlock()
	if known && was.stat == st {
		s.scanUnchangedDir(d, dir, direct, subs, was.kids)
		return
	}
	kids := s.scanPossiblyChangedDir(d, dir, direct, subs)
	if st.Changed < s.now {
		s.mu.Lock()
		s.k.dirs[dir] = cachedDirListing{stat: st, kids: kids}
		s.mu.Unlock()
	}
}

// trackedSubdirectory is a directory with files of the base.
type trackedSubdirectory struct {
	name string
	in   git.Index
}

// splitEntries splits the files of the base below dir into its direct files and its directories.
func splitEntries(dir string, in git.Index) (direct git.Index, subs []trackedSubdirectory) {
	if !slices.ContainsFunc(in, func(e git.IndexEntry) bool { _, deeper := splitChild(dir, e.Path); return deeper }) {
		return in, nil
	}
	for i := 0; i < len(in); {
		name, deeper := splitChild(dir, in[i].Path)
		if !deeper {
			direct = append(direct, in[i])
			i++
			continue
		}
		prefix := joinPath(dir, name) + "/"
		j := i + 1
		for j < len(in) && strings.HasPrefix(in[j].Path, prefix) {
			j++
		}
		subs = append(subs, trackedSubdirectory{name, in[i:j]})
		i = j
	}
	return direct, subs
}

// scanUnchangedDir scans a directory whose names have not changed since the last scan.
func (s *runningTreeScan) scanUnchangedDir(d *directoryHandle, name string, direct git.Index, subs []trackedSubdirectory, kids []string) {
	for _, e := range direct {
		s.scanBaseFile(d, name, e)
	}
	for _, b := range subs {
		s.scanSubdirectory(joinPath(name, b.name), b.in)
	}
	for _, k := range kids {
		if p := joinPath(name, k); !s.isIgnored(p) {
			s.scanSubdirectory(p, nil)
		}
	}
}

// isIgnored reports whether a path is known to be ignored. A directory with tracked files is
// scanned nevertheless.
func (s *runningTreeScan) isIgnored(p string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.k.ignored[p] && !s.live[p]
}

// scanBaseFile scans a file of the base, unless it is in Recent.
func (s *runningTreeScan) scanBaseFile(d *directoryHandle, name string, e git.IndexEntry) {
	if _, ok := s.k.Recent[e.Path]; ok {
		return
	}
	file, _ := splitChild(name, e.Path)
	st, err := d.lstat(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.recordError(err)
		return
	}
	s.classifyPath(e.Path, s.baseState(e), true, st)
}

// scanPossiblyChangedDir scans a directory whose names may have changed. It returns the subdirectories
// without files of the base.
func (s *runningTreeScan) scanPossiblyChangedDir(d *directoryHandle, name string, direct git.Index, subs []trackedSubdirectory) (kids []string) {
	for _, e := range direct {
		s.scanBaseFile(d, name, e)
	}
	names, err := d.readNames()
	if err != nil {
		s.recordError(err)
		return nil
	}
	rest := subs
	slices.SortStableFunc(names, func(a, b directoryEntry) int { return strings.Compare(a.name+"/", b.name+"/") })
	for _, n := range names {
		if n.name == dotGit {
			continue
		}
		p := joinPath(name, n.name)
		if n.mode != git.ModeTree {
			s.scanNonDirectory(p, n.mode, direct)
			continue
		}
		i := slices.IndexFunc(rest, func(b trackedSubdirectory) bool { return b.name == n.name })
		if i >= 0 {
			s.markAllDeleted(rest[:i])
			s.scanSubdirectory(p, rest[i].in)
			rest = rest[i+1:]
			continue
		}
		kids = append(kids, n.name)
		s.scanUntrackedDir(p, direct)
	}
	s.markAllDeleted(rest)
	return kids
}

// scanNonDirectory scans a name that is no directory and not in the base.
func (s *runningTreeScan) scanNonDirectory(p string, mode uint32, direct git.Index) {
	if _, ok := s.k.Recent[p]; ok {
		return // already scanned
	}
	if _, ok := direct.Find(p); ok {
		return
	}
	if mode == modeUnsupported {
		s.appendPathsLocked(&s.odd, p)
		return
	}
	s.addUntracked(p, false)
}

// scanUntrackedDir scans a directory without files of the base.
func (s *runningTreeScan) scanUntrackedDir(p string, direct git.Index) {
	if e, ok := direct.Find(p); ok && e.Mode == git.ModeGitlink {
		if _, ok := s.k.Recent[p]; !ok {
			return // scanned as a gitlink
		}
	}
	if f, ok := s.k.Recent[p]; ok && f.Mode == git.ModeGitlink {
		return
	}
	if s.live[p] {
		s.scanSubdirectory(p, nil)
		return
	}
	s.addUntracked(p, true)
}

// scanSubdirectory scans a directory, concurrently if the limit allows.
func (s *runningTreeScan) scanSubdirectory(dir string, in git.Index) {
	select {
	case s.places <- struct{}{}:
		s.wait.Go(func() {
			defer func() { <-s.places }()
			s.scanDir(dir, in)
		})
	default:
		s.scanDir(dir, in)
	}
}

// markDeleted records that all of the base's files in a directory are gone.
func (s *runningTreeScan) markDeleted(in git.Index) {
	for _, e := range in {
		if _, ok := s.k.Recent[e.Path]; !ok {
			s.appendPathsLocked(&s.gone, e.Path)
		}
	}
}

func (s *runningTreeScan) markAllDeleted(subs []trackedSubdirectory) {
	for _, b := range subs {
		s.markDeleted(b.in)
	}
}

// scanUpperDir scans a directory of the upper layer, which has only the written names.
func (s *runningTreeScan) scanUpperDir(name string, in git.Index) {
	d, err := openDir(filepath.Join(s.Upper, name))
	if err != nil {
		s.recordError(err)
		return
	}
	defer d.close()
	names, err := d.readNames()
	if err != nil {
		s.recordError(err)
		return
	}
	for _, n := range names {
		if n.name != dotGit {
			s.scanUpperEntry(d, joinPath(name, n.name), n, in)
		}
	}
}

// scanUpperEntry scans one name of the upper layer.
func (s *runningTreeScan) scanUpperEntry(d *directoryHandle, p string, n directoryEntry, in git.Index) {
	e, file := in.Find(p)
	_, recent := s.k.Recent[p]
	below := in.EntriesBelow(p)
	if n.mode == modeUnsupported && d.isWhiteout(n.name) {
		n.mode = 0
	}
	if n.mode != git.ModeTree {
		s.markDeleted(below)
	}
	switch {
	case n.mode != git.ModeTree && recent: // already scanned
	case n.mode == 0 && file:
		s.appendPathsLocked(&s.gone, p)
	case n.mode == 0:
	case n.mode == modeUnsupported:
		s.classifyPath(p, s.baseState(e), file, git.IndexFileStat{Mode: modeUnsupported})
	case n.mode != git.ModeTree && file:
		s.appendPathsLocked(&s.changed, p)
	case n.mode != git.ModeTree:
		s.addUntracked(p, false)
	case file && !recent && e.Mode == git.ModeGitlink:
		s.scanSubmoduleDir(p)
	case file && !recent:
		s.appendPathsLocked(&s.gone, p)
		s.addUntracked(p, true)
	case len(below) > 0 && !d.isOpaque(n.name):
		s.scanUpperDir(p, below)
	case len(below) > 0 || s.live[p]:
		s.scanDir(p, below)
	case s.k.Recent[p].Mode == git.ModeGitlink:
	default:
		s.addUntracked(p, true)
	}
}

// sortedChanges returns the recorded changes, sorted.
func (s *runningTreeScan) sortedChanges() treeScanResult {
	f := treeScanResult{Changed: s.changed, Gone: s.gone, Odd: s.odd, Now: s.now}
	for _, l := range []*[]string{&f.Changed, &f.Gone, &f.Odd} {
		slices.Sort(*l)
		*l = slices.Compact(*l)
	}
	return f
}
