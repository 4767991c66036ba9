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

// survey finds what changed in a tree of files since it was last looked at,
// without reading the files that did not.
//
// It never follows a symbolic link, never looks into a .git, and takes a file
// for unchanged only if the kernel's time of its last change is the same: a
// time that a program cannot set back. In an overlay it walks only the upper
// layer. Nobody may write in the tree meanwhile.
type survey struct {
	Dir   string // the files; see also [SetExternalPaths]
	Upper string // upper layer of the overlay mounted at Dir; empty without one
	Base  git.Index
	Since int64 // time at which the files were as Base says; later stats are not trusted
	// Ignored reports which of the paths, which are not tracked, the tree's
	// own rules leave out.
	Ignored func(ctx context.Context, paths []string) (map[string]bool, error)
}

// fileState is what is known of a path.
type fileState struct {
	Mode uint32   // 0: there is none
	ID   string   // object name, hex
	Stat git.Stat // as it was when it had that content; zero: unknown
}

// scanCache is what earlier looks left. The zero value knows nothing but what the
// base says. It is not safe for concurrent use.
type scanCache struct {
	Recent map[string]fileState // where the tree differs from the base

	spared  []string              // as of the last look
	ignored map[string]bool       // untracked paths that the rules leave out
	rules   map[string]git.Stat   // lists of rules that are left out themselves
	dirs    map[string]dirListing // directories that were listed
}

// dirListing is what a directory held when it was listed.
type dirListing struct {
	stat git.Stat
	kids []string // directories in it that hold nothing of the base
}

// foundChanges is what a look found. Paths are slash-separated, relative to the
// root, and sorted.
type foundChanges struct {
	Changed []string // files and links that are new or may differ
	Gone    []string // tracked paths where no file is now
	Odd     []string // files that are none: sockets, pipes, devices
	Now     int64    // time of the look, on the clock of the file system
}

// Forget drops what was learnt of names that are ignored, and of directories.
func (k *scanCache) Forget() { k.ignored, k.rules, k.dirs = nil, nil, nil }

// Set notes what a path held at a time. A stat from that very moment proves
// nothing: the file may have changed again within the tick of a coarse clock.
func (k *scanCache) Set(p string, f fileState, now int64) {
	if k.Recent == nil {
		k.Recent = map[string]fileState{}
	}
	if f.Stat.Changed >= now {
		f.Stat = git.Stat{}
	}
	k.Recent[p] = f
}

// findChanges finds what changed.
func (t survey) findChanges(ctx context.Context, k *scanCache, now int64) (foundChanges, error) {
	if spared := ExternalPaths(t.Dir); k.stale(t.Dir) || !slices.Equal(spared, k.spared) {
		k.Forget()
		k.spared = spared
	}
	f, err := t.scanOnce(ctx, k, now)
	if err == nil && anyRules(f.Changed, f.Gone) {
		// What was ignored may not be so any more.
		k.Forget()
		f, err = t.scanOnce(ctx, k, now)
	}
	return f, err
}

func (t survey) scanOnce(ctx context.Context, k *scanCache, now int64) (foundChanges, error) {
	if k.ignored == nil {
		k.ignored, k.rules, k.dirs = map[string]bool{}, map[string]git.Stat{}, map[string]dirListing{}
	}
	s := &scan{survey: t, k: k, now: now, places: make(chan struct{}, workers), real: map[string]bool{"": true}}
	s.scanAll()
	for len(s.fresh) > 0 && s.err == nil {
		s.applyIgnoreRules(ctx)
	}
	return s.sortedChanges(), s.err
}

// rulesName is the name of git's lists of what to ignore.
const rulesName = ".gitignore"

func anyRules(lists ...[]string) bool {
	for _, l := range lists {
		for _, p := range l {
			if path.Base(p) == rulesName {
				return true
			}
		}
	}
	return false
}

// stale reports whether a list of rules that is itself ignored changed.
func (k *scanCache) stale(dir string) bool {
	for p, was := range k.rules {
		if is, err := lstat(filepath.Join(dir, p)); err != nil || is != was {
			return true
		}
	}
	return false
}

// fileClock returns the time on the clock of a file's file system, by writing
// the file.
func fileClock(file string) (int64, error) {
	if err := os.WriteFile(file, []byte("clock\n"), 0o600); err != nil {
		return 0, err
	}
	st, err := lstat(file)
	return st.Changed, err
}

// scan is one look under way.
type scan struct {
	survey
	k      *scanCache
	now    int64
	live   map[string]bool // directories that hold something of k.Recent
	places chan struct{}   // one for each directory that may be walked beside others
	wait   sync.WaitGroup

	mu                 sync.Mutex // guards what follows
	changed, gone, odd []string
	fresh              []entry // untracked, rules not asked yet
	real               map[string]bool
	err                error
}

type entry struct {
	path string
	dir  bool
}

// scanAll looks at the whole tree.
func (s *scan) scanAll() {
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

// known returns what is known of a path.
func (s *scan) known(p string) (fileState, bool) {
	if f, ok := s.k.Recent[p]; ok {
		return f, f.Mode != 0
	}
	e, ok := s.Base.Find(p)
	return s.file(e), ok
}

// file is what the base says about a path. A stat from the moment in which the
// files were handed over proves nothing.
func (s *scan) file(e git.Entry) fileState {
	f := fileState{Mode: e.Mode, Stat: e.Stat}
	if e.Stat.Changed >= s.Since {
		f.Stat = git.Stat{}
	}
	return f
}

// checkPath looks at one path.
func (s *scan) checkPath(p string) {
	f, tracked := s.known(p)
	st := git.Stat{}
	if s.isRealDir(path.Dir(p)) {
		var err error
		if st, err = lstat(filepath.Join(s.Dir, p)); err != nil && !os.IsNotExist(err) {
			s.fail(err)
		}
	}
	s.classifyPath(p, f, tracked, st)
}

// classifyPath sorts a path by what is known of it and what is there.
func (s *scan) classifyPath(p string, f fileState, tracked bool, st git.Stat) {
	switch {
	case tracked && f.Mode == git.ModeGitlink && st.Mode == git.ModeTree:
		s.gitlink(p)
	case st.Mode == git.ModeTree || st.Mode == 0:
		if tracked {
			s.note(&s.gone, p)
		}
	case st.Mode == odd:
		if tracked {
			s.note(&s.gone, p)
		}
		s.note(&s.odd, p)
	case !tracked:
		s.addUntracked(p, false)
	case st != f.Stat:
		s.note(&s.changed, p)
	}
}

// isRealDir reports whether a path is a directory, with no link on the way.
func (s *scan) isRealDir(dir string) bool {
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

// gitlink looks at the place of another repository's commit. As long as
// nothing is there but what was lent it stays; files that are put there take its
// place.
func (s *scan) gitlink(p string) {
	if s.k.isExternal(p) {
		return
	}
	d, err := openDir(filepath.Join(s.Dir, p))
	if err != nil {
		s.fail(err)
		return
	}
	names, err := d.names()
	d.close()
	if err != nil {
		s.fail(err)
		return
	}
	for _, n := range names {
		if n.name != dotGit {
			s.note(&s.gone, p)
			s.addUntracked(p, true)
			return
		}
	}
}

// addUntracked notes something untracked, unless it is known to be ignored.
func (s *scan) addUntracked(p string, dir bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.k.ignored[p] {
		s.fresh = append(s.fresh, entry{p, dir})
	}
}

// applyIgnoreRules asks the rules about what was met, and continues below what they
// leave in.
func (s *scan) applyIgnoreRules(ctx context.Context) {
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
		s.fail(err)
		return
	}
	if len(paths) < len(batch) {
		out = s.k.addExternal(batch, out)
	}
	s.rememberIgnored(batch, out)
	for _, e := range batch {
		switch {
		case out[e.path]:
		case e.dir:
			s.descend(e.path, nil)
		default:
			s.note(&s.changed, e.path)
		}
	}
	s.wait.Wait()
}

// rememberIgnored remembers what the rules leave out.
func (s *scan) rememberIgnored(batch []entry, out map[string]bool) {
	for _, e := range batch {
		if !out[e.path] {
			continue
		}
		s.k.ignored[e.path] = true
		if path.Base(e.path) == rulesName {
			st, _ := lstat(filepath.Join(s.Dir, e.path)) // one that fails is stale next time
			s.k.rules[e.path] = st
		}
	}
}

func (s *scan) note(list *[]string, p ...string) {
	s.mu.Lock()
	*list = append(*list, p...)
	s.mu.Unlock()
}

func (s *scan) fail(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
}

// below returns the name of the entry of dir that p is, or is in, and
// whether it is in it.
func below(dir, p string) (name string, deeper bool) {
	if dir != "" {
		p = p[len(dir)+1:]
	}
	name, _, deeper = strings.Cut(p, "/")
	return name, deeper
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
