package worktree

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// treeChangeFinder finds the changes in a tree of files since the last scan, without reading unchanged
// files.
//
// It never follows a symbolic link, never enters a .git, and treats a file as unchanged only if
// the kernel's change time is the same, which programs cannot set. In an overlay it scans only the
// upper layer. Nobody may write in the tree meanwhile.
type treeChangeFinder struct {
	Dir   string // the files; see also [SetExternalPaths]
	Upper string // upper layer of the overlay mounted at Dir; empty without one
	Base  git.Index
	Since int64 // time at which the files were as in Base; later stats are not trusted
	// Ignored returns those of the paths, which are not tracked, that the tree's own rules exclude.
	Ignored func(ctx context.Context, paths []string) (map[string]bool, error)
}

// knownFileState is the known state of a path.
type knownFileState struct {
	Mode uint32            // 0: it does not exist
	ID   string            // object name, hex
	Stat git.IndexFileStat // at the time when it had that content; zero: unknown
}

// treeScanCache has the results of earlier scans. The zero value has only the base. It is not safe for
// concurrent use.
type treeScanCache struct {
	Recent map[string]knownFileState // differences between the tree and the base

	spared  []string                     // external paths at the last scan
	ignored map[string]bool              // untracked paths that the rules exclude
	rules   map[string]git.IndexFileStat // rule files that are ignored themselves
	dirs    map[string]cachedDirListing  // listed directories
}

// cachedDirListing is the content of a directory when it was listed.
type cachedDirListing struct {
	stat git.IndexFileStat
	kids []string // subdirectories without files of the base
}

// treeScanResult is the result of a scan. Paths are slash-separated, relative to the root, and
// sorted.
type treeScanResult struct {
	Changed []string // files and links that are new or may differ
	Gone    []string // tracked paths without a file now
	Odd     []string // not regular: sockets, pipes, devices
	Now     int64    // time of the scan, on the clock of the file system
}

// Forget drops the cached ignored names and directories.
func (k *treeScanCache) Forget() { k.ignored, k.rules, k.dirs = nil, nil, nil }

// Set stores the state of a path at a time. A stat from that very moment proves nothing: the file
// may have changed again within the same tick of a coarse clock.
func (k *treeScanCache) Set(p string, f knownFileState, now int64) {
	if k.Recent == nil {
		k.Recent = map[string]knownFileState{}
	}
	if f.Stat.Changed >= now {
		f.Stat = git.IndexFileStat{}
	}
	k.Recent[p] = f
}

// findChanges scans the tree and returns the changes.
func (t treeChangeFinder) findChanges(ctx context.Context, k *treeScanCache, now int64) (treeScanResult, error) {
	if spared := ExternalPaths(t.Dir); k.hasStaleRules(t.Dir) || !slices.Equal(spared, k.spared) {
		k.Forget()
		k.spared = spared
	}
	f, err := t.runScan(ctx, k, now)
	if err == nil && hasRules(f.Changed, f.Gone) {
		// Ignored paths may be included now.
		k.Forget()
		f, err = t.runScan(ctx, k, now)
	}
	return f, err
}

func (t treeChangeFinder) runScan(ctx context.Context, k *treeScanCache, now int64) (treeScanResult, error) {
	if k.ignored == nil {
		k.ignored, k.rules, k.dirs = map[string]bool{}, map[string]git.IndexFileStat{}, map[string]cachedDirListing{}
	}
	s := &runningTreeScan{treeChangeFinder: t, k: k, now: now, places: make(chan struct{}, maxWorkers), real: map[string]bool{"": true}}
	s.scanAll()
	for len(s.fresh) > 0 && s.err == nil {
		s.applyIgnoreRules(ctx)
	}
	return s.sortedChanges(), s.err
}

// ignoreFileName is the name of git's ignore files.
const ignoreFileName = ".gitignore"

func hasRules(lists ...[]string) bool {
	for _, l := range lists {
		for _, p := range l {
			if path.Base(p) == ignoreFileName {
				return true
			}
		}
	}
	return false
}

// hasStaleRules reports whether an ignore file that is itself ignored has changed.
func (k *treeScanCache) hasStaleRules(dir string) bool {
	for p, was := range k.rules {
		if is, err := lstat(filepath.Join(dir, p)); err != nil || is != was {
			return true
		}
	}
	return false
}

// fileClock returns the time on the clock of a file's file system, by writing the file.
func fileClock(file string) (int64, error) {
	if err := os.WriteFile(file, []byte("clock\n"), 0o600); err != nil {
		return 0, err
	}
	st, err := lstat(file)
	return st.Changed, err
}

// runningTreeScan is one running scan.
type runningTreeScan struct {
	treeChangeFinder
	k      *treeScanCache
	now    int64
	live   map[string]bool // directories with entries of k.Recent
	places chan struct{}   // one for each directory that is scanned concurrently
	wait   sync.WaitGroup

	mu                 sync.Mutex // guards the fields below
	changed, gone, odd []string
	fresh              []untrackedPath // untracked, not checked against the rules yet
	real               map[string]bool
	err                error
}

type untrackedPath struct {
	path string
	dir  bool
}

// scanAll scans the whole tree.
func (s *runningTreeScan) scanAll() {
	s.live = map[string]bool{}
	for p, f := range s.k.Recent {
		s.checkPath(p)
		if f.Mode != 0 {
			for d := path.Dir(p); d != "." && !s.live[d]; d = path.Dir(d) {
				s.live[d] = true
			}
		}
	}
	if s.Upper == "" {
		s.scanDir("", s.Base)
	} else {
		s.scanUpperDir("", s.Base)
	}
	s.wait.Wait()
}

// knownState returns the known state of a path.
func (s *runningTreeScan) knownState(p string) (knownFileState, bool) {
	if f, ok := s.k.Recent[p]; ok {
		return f, f.Mode != 0
	}
	e, ok := s.Base.Find(p)
	return s.baseState(e), ok
}

// baseState returns the state of a path in the base. A stat from the moment in which the files were
// written proves nothing.
func (s *runningTreeScan) baseState(e git.IndexEntry) knownFileState {
	f := knownFileState{Mode: e.Mode, Stat: e.Stat}
	if e.Stat.Changed >= s.Since {
		f.Stat = git.IndexFileStat{}
	}
	return f
}

// checkPath scans one path.
func (s *runningTreeScan) checkPath(p string) {
	f, tracked := s.knownState(p)
	st := git.IndexFileStat{}
	if s.isRealDir(path.Dir(p)) {
		var err error
		if st, err = lstat(filepath.Join(s.Dir, p)); err != nil && !os.IsNotExist(err) {
			s.recordError(err)
		}
	}
	s.classifyPath(p, f, tracked, st)
}

// classifyPath records a path by comparing its known with its actual state.
func (s *runningTreeScan) classifyPath(p string, f knownFileState, tracked bool, st git.IndexFileStat) {
	switch {
	case tracked && f.Mode == git.ModeGitlink && st.Mode == git.ModeTree:
		s.scanSubmoduleDir(p)
	case st.Mode == git.ModeTree || st.Mode == 0:
		if tracked {
			s.appendPathsLocked(&s.gone, p)
		}
	case st.Mode == modeUnsupported:
		if tracked {
			s.appendPathsLocked(&s.gone, p)
		}
		s.appendPathsLocked(&s.odd, p)
	case !tracked:
		s.addUntracked(p, false)
	case st != f.Stat:
		s.appendPathsLocked(&s.changed, p)
	}
}

// isRealDir reports whether a path is a directory, without links in the path.
func (s *runningTreeScan) isRealDir(dir string) bool {
	if dir == "." || dir == "" {
		return true
	}
	s.mu.Lock()
	ok, known := s.real[dir]
	s.mu.Unlock()
	if known {
		return ok
	}
	ok = s.isRealDir(path.Dir(dir))
	if ok {
		st, err := lstat(filepath.Join(s.Dir, dir))
		ok = err == nil && st.Mode == git.ModeTree
	}
	s.mu.Lock()
	s.real[dir] = ok
	s.mu.Unlock()
	return ok
}

// scanSubmoduleDir scans the directory of a submodule's commit. As long as it has only external paths, the
// commit remains; other files in it replace the commit.
func (s *runningTreeScan) scanSubmoduleDir(p string) {
	if s.k.isExternal(p) {
		return
	}
	d, err := openDir(filepath.Join(s.Dir, p))
	if err != nil {
		s.recordError(err)
		return
	}
	names, err := d.readNames()
	d.close()
	if err != nil {
		s.recordError(err)
		return
	}
	for _, n := range names {
		if n.name != dotGit {
			s.appendPathsLocked(&s.gone, p)
			s.addUntracked(p, true)
			return
		}
	}
}

// addUntracked records an untracked path, unless it is known to be ignored.
func (s *runningTreeScan) addUntracked(p string, dir bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.k.ignored[p] {
		s.fresh = append(s.fresh, untrackedPath{p, dir})
	}
}

// applyIgnoreRules checks the recorded paths against the rules, and scans below those that are not
// ignored.
func (s *runningTreeScan) applyIgnoreRules(ctx context.Context) {
	batch := s.fresh
	s.fresh = nil
	var paths []string
	for _, e := range batch {
		if !s.k.isExternal(e.path) {
			paths = append(paths, e.path)
		}
	}
	out, err := s.Ignored(ctx, paths)
	if err != nil {
		s.recordError(err)
		return
	}
	if len(paths) < len(batch) {
		out = s.k.addExternalPaths(batch, out)
	}
	s.rememberIgnored(batch, out)
	for _, e := range batch {
		switch {
		case out[e.path]:
		case e.dir:
			s.scanSubdirectory(e.path, nil)
		default:
			s.appendPathsLocked(&s.changed, e.path)
		}
	}
	s.wait.Wait()
}

// rememberIgnored caches the ignored paths.
func (s *runningTreeScan) rememberIgnored(batch []untrackedPath, out map[string]bool) {
	for _, e := range batch {
		if !out[e.path] {
			continue
		}
		s.k.ignored[e.path] = true
		if path.Base(e.path) == ignoreFileName {
			st, _ := lstat(filepath.Join(s.Dir, e.path)) // after a failure it is stale next time
			s.k.rules[e.path] = st
		}
	}
}

func (s *runningTreeScan) appendPathsLocked(list *[]string, p ...string) {
	s.mu.Lock()
	*list = append(*list, p...)
	s.mu.Unlock()
}

func (s *runningTreeScan) recordError(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
}

// splitChild returns the name of the entry of dir that p is, or is inside of, and whether it is inside.
func splitChild(dir, p string) (name string, deeper bool) {
	if dir != "" {
		p = p[len(dir)+1:]
	}
	name, _, deeper = strings.Cut(p, "/")
	return name, deeper
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
