package dependencies

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/depcache"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/userpackagecache"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// InstallSettings is the configuration of worktree environments.
type InstallSettings struct {
	Off     bool                    // nothing is installed: only the packages of the user's checkout are used
	Install string                  // newCommand that installs instead of the ecosystems' own; empty: those
	Init    string                  // newCommand that runs after everything is installed; empty: none
	Scripts []ApprovedInstallScript // the files that these commands name, as they were approved
	// further paths that these commands or the user's checkout provide, and that trees receive
	Link []string
	Vars []string // variables for the commands of agents and gates
}

// ApprovedInstallScript is a file of the repository that may run only in its approved version.
type ApprovedInstallScript struct{ Name, Text string }

// WorktreeProvisioner prepares worktrees: it finds the dependencies of a tree, has them built once,
// and lends them. Its fields are read-only; it may be used by many goroutines.
type WorktreeProvisioner struct {
	Store    *depcache.DependencySetStore
	Box      *sandbox.Box
	Git      git.Repo // the private clone, which has every tree that is prepared
	User     string   // the user's own checkout; empty: none
	Settings InstallSettings
	Timeout  time.Duration // time limit of one install command
	Mark     string        // names the owner for proc.Sweep
	Mask     func([]byte) []byte
	// Reach opens the allowed network access for an install command, and reports whether any is
	// allowed. Nil: none is.
	Reach  func(ecosystem string, c *sandbox.Command) bool
	Caches userpackagecache.CacheOwner // the caches of the user's tools

	mu      sync.Mutex                 // guards the fields below
	looked  map[string][]LockDirectory // lock directories, by tree
	foreign map[string][]git.Submodule // submodules, by tree
	// whether its packages may be lent, by the hash of a lock directory
	lends    map[string]bool
	envs     map[string]string         // contents of environments that are only lent, by the same key
	given    map[string]InstallFailure // failed installations, by key
	versions map[string]string
	ready    map[string]ProvisionedEnvironment // prepared environments, by directory of the tree
}

// ExactTreeDir is a directory that holds exactly the git tree Hash.
type ExactTreeDir struct {
	Dir  string
	Hash string
}

// ProvisionedEnvironment is the environment that a tree received.
type ProvisionedEnvironment struct {
	Key    string // key of everything together; empty if nothing is needed
	Failed []InstallFailure
	says   map[string]string // each gate's command with its scripts, by its name
	words  []string
	vars   []string
	bins   []pathProgramDir
	sets   []depcache.DependencySet
}

// pathProgramDir is a directory of programs that come first in PATH in a directory of the tree.
type pathProgramDir struct{ dir, path, home string }

// InstallFailure is a failed installation.
type InstallFailure struct {
	LockDirectory
	Need    LockDirectoryNeed
	Command string // newCommand that failed; empty if none was run
	Why     string
	Mend    string // the fix, if known
	Output  string // the end of its output
	Away    bool   // the tree is not at fault: no network, missing tool
}

// Error returns the failure as an error with a hint.
func (f InstallFailure) Error() *nexus.Error {
	e := &nexus.Error{Code: nexus.CodeEnvironment, Message: fmt.Sprintf("the dependencies of %s cannot be installed", f.File), Hint: f.fixHint()}
	text := f.Why
	if f.Command != "" {
		text = f.Command + ": " + text
	}
	if f.Output != "" {
		text += "\n" + f.Output
	}
	e.Cause = errors.New(text)
	return e
}

// fixHint returns the fix as a hint.
func (f InstallFailure) fixHint() string {
	if f.Mend != "" {
		return f.Mend
	}
	own := f.ManualCommand()
	if f.Dir != "." {
		own = "cd " + f.Dir + " && " + own
	}
	return fmt.Sprintf("Run %q in your own checkout, from which they are taken if they are what %s says; or set environment.install to a command that works without a network, or to false.", own, f.File)
}

// CommandVars returns the variables for commands in a directory of the tree, whose own programs come
// first.
func (r ProvisionedEnvironment) CommandVars(dir string, vars []string) []string {
	dir = path.Clean("./" + filepath.ToSlash(dir))
	var first, home string
	for _, b := range r.bins { // those of the root come first
		if isWithin(dir, b.dir) || home == "" {
			first, home = b.path, b.home
		}
	}
	vars = append(slices.Clip(vars), r.vars...)
	if first == "" {
		return vars
	}
	was := lookupVariable(vars, "PATH")
	return append(slices.Clip(vars), "PATH="+first+string(filepath.ListSeparator)+was, "VIRTUAL_ENV="+home)
}

// MissingDependencyReason returns why a gate cannot judge: its packages could not be installed. It is "" if the
// gate can.
func (r ProvisionedEnvironment) MissingDependencyReason(g gate.QualityGate) string {
	for _, f := range r.Failed {
		if f.Need == Sure && f.needLevel(g, r.says[g.Name]) == Sure {
			return fmt.Sprintf("the dependencies of %s are missing: %s. %s", f.File, f.Why, f.fixHint())
		}
	}
	return ""
}

// GateCommandWords returns the words of the gates' commands.
func (r ProvisionedEnvironment) GateCommandWords() []string { return r.words }

// InstallFaultEvidence returns evidence against a tree whose lock file cannot be installed, if only the tree
// is at fault.
func (r ProvisionedEnvironment) InstallFaultEvidence(tree string) (nexus.GateEvidence, bool) {
	for _, f := range r.Failed {
		if f.Away || f.Need != Sure {
			continue
		}
		e := f.Error()
		return nexus.GateEvidence{
			Gate: "install", State: nexus.Fail, Tree: tree, Command: f.Command, Exit: 1, Why: e.Message,
			Findings: []nexus.Finding{{Gate: "install", File: f.File, Severity: nexus.Critical, Code: "install", Message: e.Error()}},
		}, true
	}
	return nexus.GateEvidence{}, false
}

// EquipTree provides a tree with the dependencies of its gates and criteria, in a clean state, and
// records the sets that were built for it. With must, a failed installation is an error: work
// cannot begin from there. A nil Provisioner does nothing.
func (k *WorktreeProvisioner) EquipTree(ctx context.Context, t ExactTreeDir, find func(dir string) ([]gate.QualityGate, error), criteria []nexus.Criterion, must bool, record func(context.Context, ...nexus.Fact) error) error {
	if k == nil {
		return nil
	}
	told := func(f nexus.DependenciesInstalled) error { return record(ctx, f) }
	if err := k.lendSubmodules(ctx, t, told); err != nil {
		return err
	}
	gates, err := find(t.Dir)
	if err != nil {
		return err
	}
	for _, c := range criteria {
		if g, ok := detect.CriterionGate(c); ok {
			gates = append(gates, g)
		}
	}
	r, err := k.PrepareTree(ctx, t, gates, true, told)
	if err != nil {
		return err
	}
	for _, f := range r.Failed {
		if must && f.Need == Sure {
			return f.Error()
		}
	}
	return nil
}

// PrepareTree provides a tree with the dependencies of its gates. With fresh, everything is reset
// to its original state; otherwise files that the tree's own work wrote there stay. No process
// may use the tree meanwhile. A failed installation is not an error but part of the result.
// Told receives each set that was built.
func (k *WorktreeProvisioner) PrepareTree(ctx context.Context, t ExactTreeDir, gates []gate.QualityGate, fresh bool, told func(nexus.DependenciesInstalled) error) (ProvisionedEnvironment, error) {
	r := ProvisionedEnvironment{vars: k.Settings.Vars, says: map[string]string{}}
	for _, g := range gates {
		r.says[g.Name] = expandGateCommand(t.Dir, g)
		r.words = append(r.words, stack.CommandWords(g.Args)...)
	}
	modules, places, err := k.submoduleSet(ctx, t, told)
	if err != nil {
		return r, err
	}
	jobs, err := k.installJobs(ctx, t, gates, r.says, places)
	if err != nil {
		return r, err
	}
	var keys []string
	for _, set := range modules {
		r.sets, keys = append(r.sets, set), append(keys, set.Key)
	}
	for _, j := range jobs {
		if f, ok := k.knownFailure(j.key); ok {
			r.Failed, keys = append(r.Failed, f), append(keys, "without "+j.key)
			continue
		}
		set, made, err := k.Store.MakeSet(ctx, j.key, func(ctx context.Context, aside, files string) (depcache.DependencySet, error) {
			return k.buildSet(ctx, t.Hash, j, aside, files)
		})
		if f, ok := errors.AsType[*installFailureError](err); ok {
			f.Need = j.need
			if f.Bare || f.outer {
				k.rememberFailure(j.key, f.InstallFailure)
			}
			r.Failed = append(r.Failed, f.InstallFailure)
			keys = append(keys, "without "+j.key)
			continue
		}
		if err != nil {
			return r, err
		}
		if made && told != nil {
			if err := told(environmentPreparedFact(j, set)); err != nil {
				return r, err
			}
		}
		r.sets, keys = append(r.sets, set), append(keys, set.Key)
		r.bins = append(r.bins, j.programDirs(t.Dir, set)...)
	}
	for _, v := range k.Settings.Vars {
		name, _, _ := strings.Cut(v, "=") // its value may be a secret, which must not go into a hash
		keys = append(keys, "variable "+name)
	}
	if len(keys) > 0 {
		r.Key = dependencySetKey(keys...)[:12]
	}
	if err := errors.Join(k.lendSets(ctx, t.Dir, r.sets, fresh), createSubmoduleDirs(t.Dir, places)); err != nil {
		return r, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ready == nil {
		k.ready = map[string]ProvisionedEnvironment{}
	}
	k.ready[t.Dir] = r
	return r, nil
}

func environmentPreparedFact(j dependencySetJob, set depcache.DependencySet) nexus.DependenciesInstalled {
	f := nexus.DependenciesInstalled{Key: set.Key, Source: set.Source, Paths: set.Paths, Bytes: set.Bytes, Duration: set.Duration}
	for _, p := range j.places {
		f.Locks = append(f.Locks, p.File)
	}
	return f
}

// EnvironmentOfTree returns the environment of a tree from the last Prepare.
func (k *WorktreeProvisioner) EnvironmentOfTree(dir string) ProvisionedEnvironment {
	if k == nil {
		return ProvisionedEnvironment{}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ready[dir]
}

// ResetTree restores the sets that were lent to a tree, if anything was written there.
func (k *WorktreeProvisioner) ResetTree(ctx context.Context, dir string) error {
	if k == nil {
		return nil
	}
	r := k.EnvironmentOfTree(dir)
	if len(r.sets) == 0 {
		return nil
	}
	return k.lendSets(ctx, dir, r.sets, true)
}

// lendSets gives a tree sets, none of which ever counts as part of it.
func (k *WorktreeProvisioner) lendSets(ctx context.Context, dir string, sets []depcache.DependencySet, fresh bool) error {
	had := worktree.ExternalPaths(dir)
	var now []string
	for _, s := range sets {
		now = append(now, s.Paths...)
	}
	if len(had) == 0 && len(now) == 0 {
		return nil
	}
	both := slices.Concat(had, now)
	slices.Sort(both)
	both = slices.Compact(both)
	if !slices.Equal(had, both) {
		if err := worktree.SetExternalPaths(dir, both); err != nil {
			return err
		}
	}
	if err := k.Store.InstallSets(ctx, filepath.Dir(dir), dir, sets, fresh); err != nil {
		return err
	}
	if slices.Sort(now); slices.Equal(now, both) {
		return nil
	}
	return worktree.SetExternalPaths(dir, now)
}

// dependencySetJob is one set to build: the packages of one lock directory, or of all together if a command
// runs over all of them.
type dependencySetJob struct {
	key    string
	places []LockDirectory
	need   LockDirectoryNeed
	wish   InstallSettings
	linked []string // paths of the user's checkout that belong to it
}

// installJobs returns the sets that the gates of a tree need. Submodules' needs are never sure: the
// work here does not depend on them.
func (k *WorktreeProvisioner) installJobs(ctx context.Context, t ExactTreeDir, gates []gate.QualityGate, says map[string]string, modules []string) ([]dependencySetJob, error) {
	var jobs []dependencySetJob
	whole := k.Settings.Install != "" || k.Settings.Init != "" || len(k.Settings.Link) > 0
	open := slices.ContainsFunc(gates, mayNeedPackages)
	if !open && !whole {
		return nil, nil // the tree is not even searched
	}
	for _, p := range k.lockDirectories(t) {
		need := None
		for _, g := range gates {
			need = max(need, p.needLevel(g, says[g.Name]))
		}
		if slices.ContainsFunc(modules, func(m string) bool { return isWithin(p.Dir, m) }) {
			need = min(need, Maybe)
		}
		off := k.Settings.Off || need == Lend
		if need == None || off && p.Same == nil || need == Lend && !k.canLendPackages(p) {
			continue
		}
		jobs = append(jobs, dependencySetJob{places: []LockDirectory{p}, need: need, wish: InstallSettings{Off: off}})
	}
	if whole {
		all := dependencySetJob{need: Sure, wish: k.Settings}
		for _, j := range jobs {
			all.places = append(all.places, j.places...)
		}
		all.linked = k.configuredLinkPaths()
		jobs = []dependencySetJob{all}
	}
	for i := range jobs {
		var err error
		if jobs[i].key, err = k.jobKey(ctx, jobs[i]); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// canLendPackages reports whether the user's installed packages of a lock directory can be lent. The
// answer stays the same as long as the provisioner is used: all trees of a run receive the
// same.
func (k *WorktreeProvisioner) canLendPackages(p LockDirectory) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	ok, known := k.lends[p.sum]
	if !known {
		if k.lends == nil {
			k.lends = map[string]bool{}
		}
		ok = k.checkMatchesLock(p) == nil
		k.lends[p.sum] = ok
	}
	return ok
}

// rememberFailure remembers that a manifest's packages cannot be installed. No gate is known
// to need them, so the installation is not retried for each tree.
func (k *WorktreeProvisioner) rememberFailure(key string, f InstallFailure) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.given == nil {
		k.given = map[string]InstallFailure{}
	}
	k.given[key] = f
}

func (k *WorktreeProvisioner) knownFailure(key string) (InstallFailure, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.given[key]
	return f, ok
}

// lockDirectories returns the lock directories of a tree, which is searched once.
func (k *WorktreeProvisioner) lockDirectories(t ExactTreeDir) []LockDirectory {
	k.mu.Lock()
	defer k.mu.Unlock()
	if all, ok := k.looked[t.Hash]; ok && t.Hash != "" {
		return all
	}
	if k.looked == nil {
		k.looked = map[string][]LockDirectory{}
	}
	all := findLockDirectories(t.Dir)
	k.looked[t.Hash] = all
	return all
}

// jobKey returns a key of all dependencies of a job.
func (k *WorktreeProvisioner) jobKey(ctx context.Context, j dependencySetJob) (string, error) {
	parts := []string{j.wish.Install, j.wish.Init}
	for _, s := range j.wish.Scripts {
		parts = append(parts, s.Name, s.Text)
	}
	for _, p := range j.places {
		parts = append(parts, p.sum, strings.Join(p.Args, " "))
		if p.Lent {
			parts = append(parts, k.describeUserEnvironment(p))
		}
		for _, tool := range p.Tools {
			v, err := k.programVersion(ctx, tool)
			if err != nil {
				return "", err
			}
			parts = append(parts, tool+" "+v)
		}
	}
	for _, name := range j.linked {
		parts = append(parts, name, changeStamp(filepath.Join(k.User, filepath.FromSlash(name))))
	}
	return dependencySetKey(parts...), nil
}

// programVersion returns a program's version output, which is read once.
func (k *WorktreeProvisioner) programVersion(ctx context.Context, tool string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.versions[tool]; ok {
		return v, nil
	}
	empty := filepath.Join(k.Store.Dir, "empty")
	c, err := k.newCommand(empty, tool, "--version")
	if err != nil {
		return "", err
	}
	res, err := k.Box.Run(ctx, c)
	if err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		return "", err
	}
	v := ""
	if err == nil && res.Exit == 0 {
		v = strings.TrimSpace(string(res.Stdout))
	}
	if k.versions == nil {
		k.versions = map[string]string{}
	}
	k.versions[tool] = v
	return v, nil
}
