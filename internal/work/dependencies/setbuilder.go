package dependencies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/depcache"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/userpackagecache"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// installFailureError carries a failure out of the store.
type installFailureError struct{ InstallFailure }

// Error implements error.
func (f *installFailureError) Error() string { return f.InstallFailure.Error().Error() }

// dependencySetBuilder builds one set in its own checkout.
type dependencySetBuilder struct {
	*WorktreeProvisioner
	dependencySetJob
	tree    string // the checkout
	tracked git.Index
	sources []string
	command []string
}

// buildSet fills files with the packages that a job installs in a checkout of a tree.
func (k *WorktreeProvisioner) buildSet(ctx context.Context, hash string, j dependencySetJob, aside, files string) (depcache.DependencySet, error) {
	m := &dependencySetBuilder{WorktreeProvisioner: k, dependencySetJob: j, tree: filepath.Join(aside, "tree")}
	index := filepath.Join(aside, "index")
	if _, err := worktree.CheckoutTree(ctx, k.Git, hash, m.tree, index); err != nil {
		return depcache.DependencySet{}, err
	}
	data, err := os.ReadFile(index)
	if err == nil {
		m.tracked, err = git.ParseIndex(data, len(hash)/2)
	}
	if err != nil {
		return depcache.DependencySet{}, filewrite.WrapError("read an index", err)
	}
	if err := os.Remove(filepath.Join(m.tree, ".git")); err != nil { // it points nowhere
		return depcache.DependencySet{}, filewrite.WrapError("prepare a checkout", err)
	}
	if err := k.writeSubmodules(ctx, hash, m.tree, aside); err != nil {
		return depcache.DependencySet{}, err
	}
	if err := errors.Join(m.installJobPackages(ctx), userpackagecache.UnmountStores(m.fetchedDirectory())); err != nil {
		return depcache.DependencySet{}, err
	}
	outs, err := m.outputPaths(ctx, index)
	if err != nil {
		return depcache.DependencySet{}, err
	}
	for _, p := range outs {
		to := filepath.Join(files, filepath.FromSlash(p))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(filepath.Join(m.tree, filepath.FromSlash(p)), to)); err != nil {
			return depcache.DependencySet{}, filewrite.WrapError("keep what was installed", err)
		}
	}
	return depcache.DependencySet{Source: strings.Join(m.sources, ", "), Command: strings.Join(m.command, "; "), Paths: outs, Root: m.tree}, nil
}

// installJobPackages installs everything of the job in the checkout.
func (m *dependencySetBuilder) installJobPackages(ctx context.Context) error {
	// scripts run in their approved version, whatever the tree has now
	for _, s := range m.wish.Scripts {
		if err := m.writeApprovedScript(s); err != nil {
			return err
		}
	}
	if m.wish.Install != "" {
		if err := m.runConfiguredCommand(ctx, "environment.install", m.wish.Install); err != nil {
			return err
		}
	} else {
		for _, p := range m.places {
			if err := m.provideLockDirectory(ctx, p); err != nil {
				return err
			}
		}
	}
	for _, name := range m.linked {
		if m.isTracked(name) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(m.tree, filepath.FromSlash(name))); err == nil {
			continue // it is installed already
		}
		if err := depcache.CopyPaths(m.User, m.tree, name); err != nil {
			return filewrite.WrapError("copy "+name, err)
		}
		m.sources = append(m.sources, name+" of your checkout")
	}
	if m.wish.Init == "" {
		return nil
	}
	return m.runConfiguredCommand(ctx, "environment.init", m.wish.Init)
}

// writeApprovedScript overwrites the tree's script with its approved version.
func (m *dependencySetBuilder) writeApprovedScript(s ApprovedInstallScript) error {
	root, err := os.OpenRoot(m.tree)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // what is written is closed by itself
	name := filepath.FromSlash(s.Name)
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(root.MkdirAll(filepath.Dir(name), 0o755), root.WriteFile(name, []byte(s.Text), 0o755))
}

// provideLockDirectory copies the packages of a lock directory from the user's checkout, if they match the
// lock file, and installs them otherwise.
func (m *dependencySetBuilder) provideLockDirectory(ctx context.Context, p LockDirectory) error {
	why := m.copyFromCheckout(p)
	if why == nil {
		m.sources = append(m.sources, "your checkout's "+path.Join(p.Dir, p.Out[0]))
		return nil
	}
	if m.wish.Off {
		return &installFailureError{InstallFailure{LockDirectory: p, Away: true, Why: "environment.install is false, and those of your checkout cannot be used: " + why.Error()}}
	}
	c, err := m.newCommand(m.tree, argsInDirectory(p.Dir, p.Args)...)
	if err != nil {
		return err
	}
	c.Env = append(c.Env, p.Env...)
	reaches := m.Reach != nil && m.Reach(p.Name, &c)
	if !reaches {
		c.Args = append(c.Args, p.Away...)
	}
	if err := m.mountFetchedStores(&c, p.Tools); err != nil {
		return err
	}
	shown := p.ManualCommand()
	if p.Dir != "." {
		shown = "cd " + p.Dir + " && " + shown
	}
	if err := m.runInstallCommand(ctx, c, InstallFailure{LockDirectory: p, Command: shown, Away: !reaches}, p.Tools[0]); err != nil {
		return err
	}
	m.sources, m.command = append(m.sources, shown+" in the sandbox"), append(m.command, shown)
	return nil
}

// runConfiguredCommand runs a command line of the configuration in the checkout.
func (m *dependencySetBuilder) runConfiguredCommand(ctx context.Context, key, line string) error {
	c, err := m.newCommand(m.tree, "sh", "-c", line)
	if err != nil {
		return err
	}
	var env []string
	tools := strings.Fields(line)
	for _, p := range m.places {
		env = append(env, p.Env...)
		tools = append(tools, p.Tools...)
		if p.Bin != "" {
			at := filepath.Join(m.tree, filepath.FromSlash(path.Join(p.Dir, p.Bin)))
			env = append(env, "PATH="+at+string(filepath.ListSeparator)+lookupVariable(c.Env, "PATH"))
		}
	}
	c.Env = append(c.Env, env...)
	if err := m.mountFetchedStores(&c, tools); err != nil {
		return err
	}
	if m.Reach != nil {
		m.Reach("", &c)
	}
	file := "nexus.toml"
	if err := m.runInstallCommand(ctx, c, InstallFailure{LockDirectory: LockDirectory{Dir: ".", File: file, InstallMethod: stack.InstallMethod{Args: strings.Fields(line)}}, Command: line}, "sh"); err != nil {
		return err
	}
	m.sources, m.command = append(m.sources, key+": "+line), append(m.command, line)
	return nil
}

// fetchedDirectory returns the directory in which commands see the caches of the user's tools.
func (m *dependencySetBuilder) fetchedDirectory() string {
	return filepath.Join(filepath.Dir(m.tree), "fetched")
}

// mountFetchedStores gives a command access to the user's caches of these tools.
func (m *dependencySetBuilder) mountFetchedStores(c *sandbox.Command, tools []string) error {
	s, err := m.Caches.MountStores(m.fetchedDirectory(), tools)
	c.Env, c.Writable = append(c.Env, s.Env...), append(c.Writable, s.Writable...)
	return err
}

// runInstallCommand runs an install command; an error of the command is a failure.
func (m *dependencySetBuilder) runInstallCommand(ctx context.Context, c sandbox.Command, f InstallFailure, tool string) error {
	res, err := m.Box.Run(ctx, c)
	out := slices.Concat(res.Stdout, res.Stderr)
	if m.Mask != nil {
		out = m.Mask(out)
	}
	f.Output = outputTail(string(out))
	switch {
	case errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}), err == nil && res.Exit == 127 && f.Dir != "." && f.Output == "":
		f.Away, f.Why = true, tool+" is not installed here"
	case err != nil:
		return err
	case res.TimedOut:
		f.Away, f.Why = false, fmt.Sprintf("it did not end within %s", m.Timeout)
	case res.Over != "":
		f.Away, f.Why = false, fmt.Sprintf("it was ended for using too much %s", res.Over)
	case res.Exit != 0:
		f.Why = fmt.Sprintf("it ended with exit code %d", res.Exit)
		if full, _ := filewrite.CheckSpace(m.tree); full {
			return &nexus.Error{Code: nexus.CodeDiskFull, Message: f.Command + ": " + f.Why, Hint: "Free some space, then resume the run."}
		}
		why, mend := lockFileProblem(m.tree, f.LockDirectory, string(out))
		if f.Away = f.Away && why == "" && isOfflineFailure(f.Output); f.Away {
			f.Why += ", for it reaches no network"
		} else if why != "" {
			f.Why, f.Mend, f.Output = why, mend, "" // its output is only its usage
		}
	default:
		return nil
	}
	return &installFailureError{f}
}

// isOfflineFailure reports whether a command's output says that it could not reach its
// registry, which is no fault of the tree in a sandbox without a network.
func isOfflineFailure(out string) bool {
	out = strings.ToLower(out)
	return slices.ContainsFunc([]string{
		"enotcached", "enotfound", "eai_again", "econnrefused", "enetunreach", "etimedout", "err_pnpm_no_offline", "network", "offline", "could not resolve", "couldn't resolve",
		"name resolution", "no address associated", "connection error", "connectionerror", "no matching distribution", "could not find a version", "could not find gem", "failed to fetch", "failed to download", "in locally installed gems",
	}, func(s string) bool { return strings.Contains(out, s) })
}

// lines and bytes of a command's output that people and models receive.
const (
	mostLines = 25
	mostBytes = 4000
)

// outputTail returns the end of a command's output.
func outputTail(out string) string {
	all := strings.Split(strings.TrimSpace(out), "\n")
	out = strings.Join(all[max(0, len(all)-mostLines):], "\n")
	return strings.ToValidUTF8(out[max(0, len(out)-mostBytes):], "")
}

// newCommand returns a command in one of our directories, with nothing of the user's.
func (k *WorktreeProvisioner) newCommand(dir string, args ...string) (sandbox.Command, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return sandbox.Command{}, filewrite.WrapError("make a directory", err)
	}
	return sandbox.Command{
		Args: args, Dir: dir, Env: sandbox.AgentCommandEnv(), Readable: gate.SystemSettings(), Timeout: k.Timeout, Mark: k.Mark, Cap: 1 << 20, Merge: true,
	}, nil
}

func lookupVariable(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// argsInDirectory makes a command run in a directory below the checkout.
func argsInDirectory(dir string, args []string) []string {
	if dir == "." {
		return slices.Clone(args)
	}
	return append([]string{"sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", "./" + dir}, args...)
}

// checkMatchesLock returns why the packages of a lock directory cannot be copied from the
// user's checkout: they do not match the lock file.
func (k *WorktreeProvisioner) checkMatchesLock(p LockDirectory) error {
	if k.User == "" || p.Same == nil {
		return errors.New("they cannot be compared with the lock file")
	}
	return p.Same(os.DirFS(filepath.Join(k.User, filepath.FromSlash(p.Dir))), p.text)
}

// copyFromCheckout copies the packages of a lock directory from the user's checkout, or
// returns why they do not match the lock file.
func (m *dependencySetBuilder) copyFromCheckout(p LockDirectory) error {
	if err := m.checkMatchesLock(p); err != nil {
		return err
	}
	var taken []string
	for _, name := range installedPackagePaths(m.User, p) {
		if !m.isTracked(name) {
			taken = append(taken, name)
		}
	}
	if len(taken) == 0 {
		return errors.New("there are none")
	}
	if err := depcache.CopyPaths(m.User, m.tree, taken...); err != nil {
		for _, name := range taken {
			err = errors.Join(err, filewrite.RemoveAll(filepath.Join(m.tree, filepath.FromSlash(name))))
		}
		return err
	}
	return depcache.ReplacePathInFiles(m.tree, taken, m.User)
}

// installedPackagePaths returns the package directories of a lock directory in a checkout: beside the lock
// file, and below if its packages have their own. A directory below with its own lock file is
// separate.
func installedPackagePaths(root string, p LockDirectory) []string {
	var all []string
	for _, out := range p.Out {
		name := path.Join(p.Dir, out)
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err == nil && info.IsDir() {
			all = append(all, name)
		}
	}
	if p.Deep == "" {
		return all
	}
	from := filepath.Join(root, filepath.FromSlash(p.Dir))
	// an unreadable path counts as missing
	_ = filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case !d.IsDir() || at == from:
			return nil
		case d.Name() == p.Deep:
			if rel := slashRelativePath(root, at); !slices.Contains(all, rel) {
				all = append(all, rel)
			}
			return fs.SkipDir
		case slices.Contains(p.inner, slashRelativePath(root, at)):
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), ".") || d.Name() == "vendor" || strings.Count(at, string(filepath.Separator)) > strings.Count(from, string(filepath.Separator))+8:
			return fs.SkipDir
		}
		return nil
	})
	return all
}

// slashRelativePath returns a path below a directory in git's form.
func slashRelativePath(root, at string) string {
	rel, _ := filepath.Rel(root, at) // cannot fail, as at is below root
	return filepath.ToSlash(rel)
}

// isTracked reports whether git tracks a path, or something in it.
func (m *dependencySetBuilder) isTracked(name string) bool {
	_, ok := m.tracked.Find(name)
	return ok || len(m.tracked.EntriesBelow(name)) > 0
}

// outputPaths returns the results of the commands that trees receive: the known outputs of the
// ecosystems, the paths that the configuration names, and after an init script everything that
// git ignores.
func (m *dependencySetBuilder) outputPaths(ctx context.Context, index string) ([]string, error) {
	var all []string
	known := stack.InstallMethods()
	for _, p := range m.places {
		all = append(all, installedPackagePaths(m.tree, p)...)
	}
	if m.wish.Install != "" {
		for _, e := range known {
			e.Deep = ""
			all = append(all, installedPackagePaths(m.tree, LockDirectory{InstallMethod: e, Dir: "."})...)
		}
	}
	for _, name := range m.wish.Link {
		names, err := fs.Glob(os.DirFS(m.tree), name)
		if err != nil {
			return nil, err
		}
		all = append(all, names...)
	}
	if m.wish.Init != "" {
		r := m.Git
		r.Work, r.Index = m.tree, index
		text, err := r.Run(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
		if err != nil {
			return nil, err
		}
		for name := range strings.SplitSeq(text, "\x00") {
			if name = strings.TrimSuffix(name, "/"); name != "" {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	var kept []string
	for _, name := range slices.Compact(all) {
		info, err := os.Lstat(filepath.Join(m.tree, filepath.FromSlash(name)))
		inner := slices.ContainsFunc(kept, func(k string) bool { return isWithin(name, k) })
		if err != nil || inner || m.isTracked(name) || isSecretFile(name) || !info.IsDir() && !info.Mode().IsRegular() {
			continue
		}
		kept = append(kept, name)
	}
	return kept, nil
}

// isSecretFile reports whether a path is of a kind that contains keys and is never given to a tree
// by its name alone.
func isSecretFile(name string) bool {
	b := path.Base(name)
	return b == ".env" || strings.HasPrefix(b, ".env.") && b != ".env.example" && b != ".env.sample" || b == ".npmrc" || b == ".netrc" || b == ".pypirc"
}

// configuredLinkPaths returns the paths of the user's checkout that the configuration names. It follows no
// link out of it, and skips paths that contain keys.
func (k *WorktreeProvisioner) configuredLinkPaths() []string {
	if k.User == "" {
		return nil
	}
	root, err := os.OpenRoot(k.User)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only read
	var all []string
	for _, pattern := range k.Settings.Link {
		names, _ := fs.Glob(root.FS(), path.Clean(pattern)) // the pattern was checked when it was read
		for _, n := range names {
			info, err := root.Lstat(n)
			if err == nil && !isSecretFile(n) && (info.IsDir() || info.Mode().IsRegular()) && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// changeStamp returns a value that changes with the contents of a path of the user's checkout.
func changeStamp(name string) string {
	var files int
	var bytes, last int64
	// an unreadable path cannot be copied either
	_ = filepath.WalkDir(name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if info, err := d.Info(); err == nil {
			files, bytes, last = files+1, bytes+info.Size(), max(last, info.ModTime().UnixNano())
		}
		return nil
	})
	return fmt.Sprint(files, " ", bytes, " ", last)
}

// programDirs returns the program directories of a job's set, in a tree.
func (j dependencySetJob) programDirs(dir string, set depcache.DependencySet) []pathProgramDir {
	var all []pathProgramDir
	for _, p := range j.places {
		if p.Bin == "" || !slices.Contains(set.Paths, path.Join(p.Dir, p.Out[0])) {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(p.Dir))
		all = append(all, pathProgramDir{p.Dir, filepath.Join(at, filepath.FromSlash(p.Bin)), filepath.Join(at, filepath.FromSlash(p.Out[0]))})
	}
	return all
}
