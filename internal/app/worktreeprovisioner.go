package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/depcache"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/userpackagecache"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// environmentsDir returns the directory of a repository's environments, below its state.
func environmentsDir(state string) string { return filepath.Join(state, "environments") }

// provisionerOptions are the options of newProvisioner.
type provisionerOptions struct {
	Run      nexus.RunID
	Checkout string // the user's
	State    string // directory of the repository's state
	Clone    git.Repo
	Box      *sandbox.Box
	Config   config.Config
	Net      *egress.EgressGrant // network access; nil: none
	Env      func(string) string
	Mask     func([]byte) []byte
	Learn    func(secret string) // receives every value that must be masked; may be nil
	Now      func() time.Time
}

// newProvisioner returns the provisioner for the worktrees of a run.
func newProvisioner(p provisionerOptions) (*dependencies.WorktreeProvisioner, error) {
	w := environmentSettings(p.Config.Worktree)
	scripts, err := scriptTrustItems(p.Checkout, w.Install, w.Init)
	if err != nil {
		return nil, err
	}
	for _, s := range scripts {
		w.Scripts = append(w.Scripts, dependencies.ApprovedInstallScript{Name: s.Name, Text: s.Text})
	}
	if w.Vars, err = environmentVariables(p); err != nil {
		return nil, err
	}
	kit := &dependencies.WorktreeProvisioner{
		Store: &depcache.DependencySetStore{Dir: environmentsDir(p.State), Now: p.Now}, Box: p.Box, Git: p.Clone, User: p.Checkout, Settings: w, Caches: toolCacheUser(p.Env),
		Timeout: p.Config.Limits.GateTime, Mark: string(p.Run), Mask: p.Mask,
	}
	if p.Net.GatewayForGate(installGate) != nil {
		kit.Reach = func(_ string, c *sandbox.Command) bool {
			way := p.Net.GatewayForGate(installGate) // each command has one of its own
			c.Proxy, c.Local, c.Env = way.Serve, way.LocalPortServers(), way.ProxyEnv(c.Env, p.Box.HidesHost())
			return true
		}
	}
	return kit, nil
}

// installGate is the name under which network.gates gives network access to installations.
const installGate = "install"

// toolCacheUser returns the user whose fetched packages commands may read.
func toolCacheUser(env func(string) string) userpackagecache.CacheOwner {
	return userpackagecache.CacheOwner{Home: env("HOME"), Env: env}
}

// NewChangeMeasurer returns the check for changes of the definition of done.
func NewChangeMeasurer(c config.Config, env func(string) string) *changemetrics.ChangeMeasurer {
	return &changemetrics.ChangeMeasurer{Rules: c.Done, Places: stack.PackageSearchPaths{Files: changemetrics.MachineFS{}, Home: env("HOME"), Env: env}}
}

func environmentSettings(e config.WorktreeEnvironmentSettings) dependencies.InstallSettings {
	install, set := e.Commands["install"]
	return dependencies.InstallSettings{Off: set && install == "", Install: install, Init: e.Commands["init"], Link: e.Link}
}

// ForecastInstalls returns the dependencies that worktrees of the checkout at dir will receive,
// and the obstacles.
func ForecastInstalls(dir string, c config.Config) ([]dependencies.InstallForecast, error) {
	gates, err := detect.DetectGates(dir, c.Gates)
	if err = cmp.Or(detect.CheckPackages(dir, c.Gates), err); err != nil {
		return nil, err
	}
	w := environmentSettings(c.Worktree)
	all := dependencies.ForecastInstalls(dir, w, gates)
	if w.Init != "" {
		all = append(all, dependencies.InstallForecast{File: "environment.init", How: "run in the sandbox: " + w.Init})
	}
	return all, nil
}

// environmentTrustItems returns the commands that the repository at dir runs and the data that it
// gives to worktrees, as items to agree to.
func environmentTrustItems(dir string) ([]trust.TrustItem, error) {
	e, err := config.ProjectEnvironment(dir)
	if err != nil {
		return nil, err
	}
	var items []trust.TrustItem
	for _, name := range []string{"install", "init"} {
		if line := e.Commands[name]; line != "" {
			items = append(items, trust.TrustItem{Name: "nexus.toml environment." + name, Text: line + "\n"})
		}
	}
	if len(e.Link) > 0 {
		items = append(items, trust.TrustItem{Name: "nexus.toml environment.link", Text: strings.Join(e.Link, "\n") + "\n"})
	}
	scripts, err := scriptTrustItems(dir, e.Commands["install"], e.Commands["init"])
	return append(items, scripts...), err
}

// maxScriptSize is the size of the largest script that can be agreed to.
const maxScriptSize = 1 << 20

// scriptTrustItems returns the files of a repository that command lines name: their content
// determines what the commands do.
func scriptTrustItems(dir string, lines ...string) (items []trust.TrustItem, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, word := range strings.FieldsFunc(strings.Join(lines, " "), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>\"'`", r) }) {
		name := path.Clean(word)
		if !filepath.IsLocal(name) || slices.ContainsFunc(items, func(i trust.TrustItem) bool { return i.Name == name }) {
			continue
		}
		info, err := root.Stat(filepath.FromSlash(name))
		if err != nil || !info.Mode().IsRegular() {
			continue // a word, or a file that is made first
		}
		if info.Size() > maxScriptSize {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: name + " is too large to be trusted",
				Hint: "Let environment.init name a script that people can read.",
			}
		}
		text, err := root.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		items = append(items, trust.TrustItem{Name: name, Text: string(text)})
	}
	return items, nil
}

// environmentVariables returns the variables that the user lets commands read. All values are
// masked in every output.
func environmentVariables(p provisionerOptions) ([]string, error) {
	var vars []string
	for _, name := range p.Config.Worktree.Variables {
		if v := p.Env(name); v != "" {
			vars = append(vars, name+"="+v)
		}
	}
	if len(p.Config.Worktree.EnvFiles) > 0 {
		root, err := os.OpenRoot(p.Checkout)
		if err != nil {
			return nil, err
		}
		defer root.Close() //nolint:errcheck // only read
		for _, name := range p.Config.Worktree.EnvFiles {
			text, err := root.ReadFile(filepath.FromSlash(name))
			if errors.Is(err, fs.ErrNotExist) {
				continue // one for this machine may be missing on another
			}
			if err != nil {
				return nil, &nexus.Error{
					Code: nexus.CodeInvalidConfig, Message: "read " + name, Cause: err,
					Hint: "Remove it from environment.env_files, or make it a file below the root.",
				}
			}
			more, err := parseAssignments(string(text))
			if err != nil {
				return nil, &nexus.Error{Code: nexus.CodeInvalidConfig, Message: "read " + name, Cause: err, Hint: "Write one NAME=value a line."}
			}
			vars = append(vars, more...)
		}
	}
	if p.Learn != nil {
		for _, v := range vars {
			_, value, _ := strings.Cut(v, "=")
			p.Learn(value)
		}
	}
	return vars, nil
}

// parseAssignments reads lines of NAME=value in the form of shells and dotenv: export before it,
// quotes around the value, comments. Nothing is expanded.
func parseAssignments(text string) ([]string, error) {
	var vars []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export "))
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != "" || name[0] >= '0' && name[0] <= '9' {
			return nil, fmt.Errorf("%q assigns nothing", sanitize.TruncateText(name, 40)) // never the value
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		} else if i := strings.Index(value, " #"); i >= 0 {
			value = strings.TrimSpace(value[:i])
		}
		if strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("the value of %s contains a zero byte", name)
		}
		vars = append(vars, name+"="+value)
	}
	return vars, nil
}

// userGoBuildCache returns the build cache that the user's go command writes to.
func userGoBuildCache(env func(string) string) []string {
	dir := env("GOCACHE")
	if dir == "" {
		home, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		dir = filepath.Join(home, "go-build")
	}
	return []string{dir}
}
