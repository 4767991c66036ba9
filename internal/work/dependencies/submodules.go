package dependencies

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/depcache"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// ofModules begins the key of a set of submodules.
const ofModules = "modules-"

// isSubmoduleSet reports whether a set is one of submodules.
func isSubmoduleSet(s depcache.DependencySet) bool { return strings.HasPrefix(s.Key, ofModules) }

// submoduleSet returns the set of a tree's submodules, or none, and the paths of all, as far as the
// user's repository has them. Told may be nil.
func (k *WorktreeProvisioner) submoduleSet(ctx context.Context, t ExactTreeDir, told func(nexus.DependenciesInstalled) error) (sets []depcache.DependencySet, places []string, err error) {
	_, missing := os.Lstat(filepath.Join(t.Dir, git.SubmodulesFile))
	if missing != nil && !slices.ContainsFunc(k.Store.InstalledSets(filepath.Dir(t.Dir)), isSubmoduleSet) {
		return nil, nil, nil // the tree is not even searched
	}
	links, err := k.submodulesOfTree(ctx, t.Hash)
	if err != nil {
		return nil, nil, err
	}
	var had []git.Submodule
	for _, l := range links {
		places = append(places, l.Path)
		if l.IsFetched() {
			had = append(had, l)
		}
	}
	if len(had) == 0 {
		return nil, places, nil
	}
	set, made, err := k.Store.MakeSet(ctx, ofModules+dependencySetKey(fmt.Sprint(had)), func(ctx context.Context, aside, files string) (depcache.DependencySet, error) {
		set := depcache.DependencySet{Source: "your repository's submodules"}
		for _, l := range had {
			set.Paths = append(set.Paths, l.Path)
			if err := l.WriteFiles(ctx, filepath.Join(files, filepath.FromSlash(l.Path)), aside); err != nil {
				return set, err
			}
		}
		return set, nil
	})
	if err == nil && made && told != nil {
		err = told(environmentPreparedFact(dependencySetJob{}, set))
	}
	return []depcache.DependencySet{set}, places, err
}

// submodulesOfTree returns the submodules of a tree, which is searched once.
func (k *WorktreeProvisioner) submodulesOfTree(ctx context.Context, hash string) ([]git.Submodule, error) {
	k.mu.Lock()
	all, ok := k.foreign[hash]
	k.mu.Unlock()
	if ok {
		return all, nil
	}
	var at git.SubmoduleFetchLocation
	if k.User != "" {
		if user, err := git.FindRepo(ctx, k.User); err == nil {
			at = git.SubmoduleSourceOf(ctx, user)
		}
	}
	all, err := git.ListSubmodules(ctx, k.Git, hash, at)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.foreign == nil {
		k.foreign = map[string][]git.Submodule{}
	}
	k.foreign[hash] = all
	return all, nil
}

// lendSubmodules lends a tree its submodules, before its gates are detected. The rest of its
// environment stays.
func (k *WorktreeProvisioner) lendSubmodules(ctx context.Context, t ExactTreeDir, told func(nexus.DependenciesInstalled) error) error {
	sets, _, err := k.submoduleSet(ctx, t, told)
	if err != nil {
		return err
	}
	had := k.Store.InstalledSets(filepath.Dir(t.Dir))
	was := slices.DeleteFunc(slices.Clone(had), func(s depcache.DependencySet) bool { return !isSubmoduleSet(s) })
	if slices.EqualFunc(was, sets, func(a, b depcache.DependencySet) bool { return a.Key == b.Key }) {
		return nil
	}
	return k.lendSets(ctx, t.Dir, append(sets, slices.DeleteFunc(had, isSubmoduleSet)...), false)
}

// WithoutSubmoduleGates returns the gates of a tree without those in directories that were lent
// to it: a submodule has its own gates, which do not apply to work that cannot change it, and
// may need missing tools.
func WithoutSubmoduleGates(dir string, gates []gate.QualityGate) []gate.QualityGate {
	lent := worktree.ExternalPaths(dir)
	return slices.DeleteFunc(gates, func(g gate.QualityGate) bool {
		at := path.Clean("./" + filepath.ToSlash(g.Dir))
		return slices.ContainsFunc(lent, func(p string) bool { return isWithin(at, p) })
	})
}

// writeSubmodules writes the submodules of a tree into a checkout of it, before an installation.
func (k *WorktreeProvisioner) writeSubmodules(ctx context.Context, hash, dir, aside string) error {
	if _, err := os.Lstat(filepath.Join(dir, git.SubmodulesFile)); err != nil {
		return nil //nolint:nilerr // there are none
	}
	links, err := k.submodulesOfTree(ctx, hash)
	for _, l := range links {
		if l.IsFetched() && err == nil {
			err = l.WriteFiles(ctx, filepath.Join(dir, filepath.FromSlash(l.Path)), aside)
		}
	}
	return err
}

// createSubmoduleDirs creates the directories of submodules that were not lent: if the directory is
// missing, git treats the submodule as deleted.
func createSubmoduleDirs(dir string, places []string) error {
	if len(places) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	for _, p := range places {
		err = errors.Join(err, root.MkdirAll(filepath.FromSlash(p), 0o755))
	}
	return err
}

// SubmoduleGuard protects the submodules that were lent to a tree from an agent's changes.
type SubmoduleGuard struct {
	kit  *WorktreeProvisioner
	dir  string
	set  depcache.DependencySet
	told map[string]bool // new files that were reported
}

// SubmoduleGuardOf returns the guard of a tree's submodules; nil if none was lent to it.
func (k *WorktreeProvisioner) SubmoduleGuardOf(dir string) *SubmoduleGuard {
	for _, set := range k.EnvironmentOfTree(dir).sets {
		if isSubmoduleSet(set) {
			return &SubmoduleGuard{kit: k, dir: dir, set: set, told: map[string]bool{}}
		}
	}
	return nil
}

// CheckWrite returns an error if a file of the tree must not be written.
func (m *SubmoduleGuard) CheckWrite(name string) error {
	for _, p := range m.set.Paths {
		if isWithin(name, p) {
			return fmt.Errorf("%s is refused (path.submodule): it belongs to the submodule %s, another repository, whose changes do not land from here; if the task needs one, say so in finish", name, p)
		}
	}
	return nil
}

// RestoreChangedFiles restores the changed files of submodules, and returns their names. New files stay
// until the next gate: builds create such files.
func (m *SubmoduleGuard) RestoreChangedFiles(context.Context) ([]string, error) {
	changed, _, err := m.kit.Store.ChangedSetFiles(filepath.Dir(m.dir), m.dir, m.set.Key)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	return changed, m.kit.Store.RestoreSetFiles(m.dir, m.set.Key, changed)
}

// mostNew limits how many new files are named.
const mostNew = 5

// NewFilesNote returns a text about new files in submodules that their rules do not ignore, once for
// each file, or "".
func (m *SubmoduleGuard) NewFilesNote(ctx context.Context) string {
	_, added, err := m.kit.Store.ChangedSetFiles(filepath.Dir(m.dir), m.dir, m.set.Key)
	if err != nil {
		return "" // the next gate reports the problem
	}
	var names []string
	for _, p := range m.set.Paths {
		var in []string
		for _, f := range added {
			if isWithin(f, p) && !m.told[f] {
				m.told[f] = true
				in = append(in, strings.TrimPrefix(f, p+"/"))
			}
		}
		if len(in) == 0 {
			continue
		}
		r := m.kit.Git
		r.Work = filepath.Join(m.dir, filepath.FromSlash(p))
		// on an error, no file counts as ignored
		out, _ := r.RunWithInput(ctx, strings.NewReader(strings.Join(in, "\x00")), "check-ignore", "--no-index", "-z", "--stdin")
		ignored := strings.Split(out, "\x00")
		for _, f := range in {
			if !slices.Contains(ignored, f) {
				names = append(names, p+"/"+f)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > mostNew {
		more = fmt.Sprintf(" and %d more", len(names)-mostNew)
	}
	return fmt.Sprintf("[new in a submodule: your commands see it, but the gates and the commit that lands do not: %s%s]", strings.Join(names[:min(len(names), mostNew)], ", "), more)
}
