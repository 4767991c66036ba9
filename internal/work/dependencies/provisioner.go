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
	"github.com/nexus-ai-builder/nexus/internal/sys/usercache"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// Settings is what the configuration says about the environment of worktrees.
type Settings struct {
	Off     bool     // nothing is installed: only what the user's checkout has is used
	Install string   // command that installs instead of the ecosystems' own; empty: theirs
	Init    string   // command that is run once everything is installed; empty: none
	Scripts []Script // the files that these name, as they were agreed to
	Link    []string // further paths that these make, or that the user's checkout has, and trees get
	Vars    []string // variables that the commands of agents and gates get
}

// Script is a file of the repository that may run as it was agreed to, and not
// otherwise.
type Script struct{ Name, Text string }

// Provisioner prepares worktrees: it finds out what a tree depends on, has it made
// once, and lends it. Its fields are read only; it may be used by many
// goroutines.
type Provisioner struct {
	Store    *depcache.Store
	Box      *sandbox.Box
	Git      git.Repo // the private clone, which has every tree that is prepared
	User     string   // the user's own checkout; empty for none
	Settings Settings
	Timeout  time.Duration // of one install command
	Mark     string        // names the owner to [sandbox.Sweep]
	Mask     func([]byte) []byte
	// Reach opens the network for an install command as far as it is allowed,
	// and reports whether any is. Nil: none is.
	Reach  func(ecosystem string, c *sandbox.Command) bool
	Caches usercache.User // whose tools have fetched something before

	mu       sync.Mutex                 // guards what follows
	looked   map[string][]LockDirectory // by tree
	foreign  map[string][]git.Submodule // by tree
	lends    map[string]bool            // by what a place's packages depend on
	envs     map[string]string          // what an environment has that is only lent, by the same
	given    map[string]Failure         // by key
	versions map[string]string
	ready    map[string]TreeEnvironment // by directory of the tree
}

// Tree is a directory that holds exactly the git tree Hash.
type Tree struct {
	Dir  string
	Hash string
}

// TreeEnvironment is what a tree has got.
type TreeEnvironment struct {
	Key    string // of everything together; empty where nothing is needed
	Failed []Failure
	says   map[string]string // what each gate's command runs, by its name
	words  []string
	vars   []string
	bins   []programDir
	sets   []depcache.Set
}

// programDir is a directory of programs that come first in a directory of the tree.
type programDir struct{ dir, path, home string }

// Failure is something that could not be installed.
type Failure struct {
	LockDirectory
	Need    NeedLevel
	Command string // that failed; empty where none was run
	Why     string
	Mend    string // how it is fixed, where that is known
	Output  string // the end of what it printed
	Away    bool   // nothing in the tree is at fault: no network, no such tool
}

// Error says what failed and what helps.
func (f Failure) Error() *nexus.Error {
	e := &nexus.Error{Code: nexus.CodeEnvironment, Message: fmt.Sprintf("the dependencies of %s cannot be installed", f.File), Hint: f.hint()}
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

// hint says how to fix it.
func (f Failure) hint() string {
	if f.Mend != "" {
		return f.Mend
	}
	own := f.ByHand()
	if f.Dir != "." {
		own = "cd " + f.Dir + " && " + own
	}
	return fmt.Sprintf("Run %q in your own checkout, from which they are taken if they are what %s says; or set environment.install to a command that works without a network, or to false.", own, f.File)
}

// Vars returns the variables for commands in a directory of the tree, whose own
// programs come first.
func (r TreeEnvironment) Vars(dir string, vars []string) []string {
	dir = path.Clean("./" + filepath.ToSlash(dir))
	var first, home string
	for _, b := range r.bins { // those of the root come first
		if below(dir, b.dir) || home == "" {
			first, home = b.path, b.home
		}
	}
	vars = append(slices.Clip(vars), r.vars...)
	if first == "" {
		return vars
	}
	was := variable(vars, "PATH")
	return append(slices.Clip(vars), "PATH="+first+string(filepath.ListSeparator)+was, "VIRTUAL_ENV="+home)
}

// Lacks says why a gate cannot judge: what it needs could not be installed.
// Empty when it can.
func (r TreeEnvironment) Lacks(g gate.Gate) string {
	for _, f := range r.Failed {
		if f.Need == Sure && f.needs(g, r.says[g.Name]) == Sure {
			return fmt.Sprintf("the dependencies of %s are missing: %s. %s", f.File, f.Why, f.hint())
		}
	}
	return ""
}

// Words returns the words of the gates' commands.
func (r TreeEnvironment) Words() []string { return r.words }

// Fault returns what speaks against a tree whose lock file says what cannot be
// installed, where nothing but the tree is at fault.
func (r TreeEnvironment) Fault(tree string) (nexus.Evidence, bool) {
	for _, f := range r.Failed {
		if f.Away || f.Need != Sure {
			continue
		}
		e := f.Error()
		return nexus.Evidence{
			Gate: "install", State: nexus.Fail, Tree: tree, Command: f.Command, Exit: 1, Why: e.Message,
			Findings: []nexus.Finding{{Gate: "install", File: f.File, Severity: nexus.Critical, Code: "install", Message: e.Error()}},
		}, true
	}
	return nexus.Evidence{}, false
}

// Equip gives a tree what its gates and criteria need, as it was made, and
// records what was made for it. Where it must, that it cannot be had is an
// error: work cannot begin from there. A nil Kit does nothing.
func (k *Provisioner) Equip(ctx context.Context, t Tree, find func(dir string) ([]gate.Gate, error), criteria []nexus.Criterion, must bool, record func(context.Context, ...nexus.Fact) error) error {
	if k == nil {
		return nil
	}
	told := func(f nexus.EnvironmentPrepared) error { return record(ctx, f) }
	if err := k.lendModules(ctx, t, told); err != nil {
		return err
	}
	gates, err := find(t.Dir)
	if err != nil {
		return err
	}
	for _, c := range criteria {
		if g, ok := detect.Accept(c); ok {
			gates = append(gates, g)
		}
	}
	r, err := k.Prepare(ctx, t, gates, true, told)
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

// Prepare gives a tree what its gates need. With fresh, everything is as it was
// when it was made; otherwise what the tree's own work wrote there stays. No
// process may use the tree meanwhile. What cannot be installed is no error but
// in what it returns. Told hears of what was made.
func (k *Provisioner) Prepare(ctx context.Context, t Tree, gates []gate.Gate, fresh bool, told func(nexus.EnvironmentPrepared) error) (TreeEnvironment, error) {
	r := TreeEnvironment{vars: k.Settings.Vars, says: map[string]string{}}
	for _, g := range gates {
		r.says[g.Name] = expandGateCommand(t.Dir, g)
		r.words = append(r.words, stack.Words(g.Args)...)
	}
	modules, places, err := k.modules(ctx, t, told)
	if err != nil {
		return r, err
	}
	jobs, err := k.jobs(ctx, t, gates, r.says, places)
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
		set, made, err := k.Store.Make(ctx, j.key, func(ctx context.Context, aside, files string) (depcache.Set, error) {
			return k.buildSet(ctx, t.Hash, j, aside, files)
		})
		if f, ok := errors.AsType[*installError](err); ok {
			f.Need = j.need
			if f.Bare || f.outer {
				k.rememberFailure(j.key, f.Failure)
			}
			r.Failed = append(r.Failed, f.Failure)
			keys = append(keys, "without "+j.key)
			continue
		}
		if err != nil {
			return r, err
		}
		if made && told != nil {
			if err := told(prepared(j, set)); err != nil {
				return r, err
			}
		}
		r.sets, keys = append(r.sets, set), append(keys, set.Key)
		r.bins = append(r.bins, j.bins(t.Dir, set)...)
	}
	for _, v := range k.Settings.Vars {
		name, _, _ := strings.Cut(v, "=") // its value may be a secret, which no hash may tell
		keys = append(keys, "variable "+name)
	}
	if len(keys) > 0 {
		r.Key = key(keys...)[:12]
	}
	if err := errors.Join(k.lend(ctx, t.Dir, r.sets, fresh), keepPlaces(t.Dir, places)); err != nil {
		return r, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ready == nil {
		k.ready = map[string]TreeEnvironment{}
	}
	k.ready[t.Dir] = r
	return r, nil
}

func prepared(j job, set depcache.Set) nexus.EnvironmentPrepared {
	f := nexus.EnvironmentPrepared{Key: set.Key, Source: set.Source, Paths: set.Paths, Bytes: set.Bytes, Duration: set.Duration}
	for _, p := range j.places {
		f.Locks = append(f.Locks, p.File)
	}
	return f
}

// Of returns what a tree has got from the last Prepare.
func (k *Provisioner) Of(dir string) TreeEnvironment {
	if k == nil {
		return TreeEnvironment{}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ready[dir]
}

// ResetTree makes what was lent to a tree as it was, if anything was written there.
func (k *Provisioner) ResetTree(ctx context.Context, dir string) error {
	if k == nil {
		return nil
	}
	r := k.Of(dir)
	if len(r.sets) == 0 {
		return nil
	}
	return k.lend(ctx, dir, r.sets, true)
}

// lend gives a tree sets, none of which is ever taken for a part of it.
func (k *Provisioner) lend(ctx context.Context, dir string, sets []depcache.Set, fresh bool) error {
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

// job is one set that is to be made: the packages of one place, or of all
// together where something runs over all of them.
type job struct {
	key    string
	places []LockDirectory
	need   NeedLevel
	wish   Settings
	linked []string // paths of the user's checkout that belong to it
}

// jobs returns what the gates of a tree need. What its submodules do is never
// sure: work here does not hang on it.
func (k *Provisioner) jobs(ctx context.Context, t Tree, gates []gate.Gate, says map[string]string, modules []string) ([]job, error) {
	var jobs []job
	whole := k.Settings.Install != "" || k.Settings.Init != "" || len(k.Settings.Link) > 0
	open := slices.ContainsFunc(gates, mayNeedPackages)
	if !open && !whole {
		return nil, nil // the tree is not even looked at
	}
	for _, p := range k.find(t) {
		need := None
		for _, g := range gates {
			need = max(need, p.needs(g, says[g.Name]))
		}
		if slices.ContainsFunc(modules, func(m string) bool { return below(p.Dir, m) }) {
			need = min(need, Maybe)
		}
		off := k.Settings.Off || need == Lend
		if need == None || off && p.Same == nil || need == Lend && !k.lendable(p) {
			continue
		}
		jobs = append(jobs, job{places: []LockDirectory{p}, need: need, wish: Settings{Off: off}})
	}
	if whole {
		all := job{need: Sure, wish: k.Settings}
		for _, j := range jobs {
			all.places = append(all.places, j.places...)
		}
		all.linked = k.named()
		jobs = []job{all}
	}
	for i := range jobs {
		var err error
		if jobs[i].key, err = k.key(ctx, jobs[i]); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// lendable reports whether what the user has installed of a place can be lent.
// The answer stays the same for as long as the kit is used: all trees of a run
// are given the same.
func (k *Provisioner) lendable(p LockDirectory) bool {
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

// rememberFailure remembers that what a manifest asks for cannot be installed. Nothing
// depends on it for sure, so it is not tried again for each tree.
func (k *Provisioner) rememberFailure(key string, f Failure) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.given == nil {
		k.given = map[string]Failure{}
	}
	k.given[key] = f
}

func (k *Provisioner) knownFailure(key string) (Failure, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.given[key]
	return f, ok
}

// find returns the places of a tree, which is looked at once.
func (k *Provisioner) find(t Tree) []LockDirectory {
	k.mu.Lock()
	defer k.mu.Unlock()
	if all, ok := k.looked[t.Hash]; ok && t.Hash != "" {
		return all
	}
	if k.looked == nil {
		k.looked = map[string][]LockDirectory{}
	}
	all := findPlaces(t.Dir)
	k.looked[t.Hash] = all
	return all
}

// key names all that a job depends on.
func (k *Provisioner) key(ctx context.Context, j job) (string, error) {
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
			v, err := k.version(ctx, tool)
			if err != nil {
				return "", err
			}
			parts = append(parts, tool+" "+v)
		}
	}
	for _, name := range j.linked {
		parts = append(parts, name, stamp(filepath.Join(k.User, filepath.FromSlash(name))))
	}
	return key(parts...), nil
}

// version returns what a program says about itself, asked once.
func (k *Provisioner) version(ctx context.Context, tool string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.versions[tool]; ok {
		return v, nil
	}
	empty := filepath.Join(k.Store.Dir, "empty")
	c, err := k.command(empty, tool, "--version")
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
