package gate

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// ToolRequirements describes the requirements of tools besides the tree.
type ToolRequirements struct {
	Env                []string
	Readable, Writable []string
}

// PrepareGoTools configures tools for a tree: no network, no other toolchain, no change of module
// files, and every cache in the directory cache, which it creates. Git has an identity there
// for commits in repositories that tests make.
//
// The go command trusts a build cache blindly, and a test may write wherever a gate may. So
// cache must belong to the gates of one attempt, or one landing, alone: not to the agent's own
// shell, and not to the next attempt.
func PrepareGoTools(dir, cache string) (ToolRequirements, error) {
	if err := os.MkdirAll(filepath.Join(cache, stack.GoBuildCache), 0o700); err != nil {
		return ToolRequirements{}, fmt.Errorf("caches: %w", err)
	}
	var env []string
	for _, s := range stack.AllStacks() {
		e := s.Environment
		if e.Gates != nil {
			env = append(env, e.Gates(os.DirFS(dir))...)
		}
		for _, c := range e.Caches {
			env = append(env, c.Var+"="+filepath.Join(cache, c.Dir))
		}
	}
	known := filepath.Join(cache, "gitconfig") // read-only within a writable directory
	if err := writeRegularFile(known, git.NeutralConfig()); err != nil {
		return ToolRequirements{}, fmt.Errorf("caches: %w", err)
	}
	env = append(env, "GIT_CONFIG_SYSTEM="+known)
	return ToolRequirements{Env: sandbox.GateCommandEnv(env...), Readable: append(SystemSettings(), known), Writable: []string{cache}}, nil
}

// writeRegularFile writes a file, and never through a link.
func writeRegularFile(name, text string) error {
	info, err := os.Lstat(name)
	if err == nil && info.Mode().IsRegular() {
		if data, err := os.ReadFile(name); err == nil && string(data) == text {
			return nil
		}
	}
	return filewrite.ReplaceFile(name, []byte(text))
}

// SystemSettings returns the existing system directories in which tools store their settings.
func SystemSettings() []string {
	var all []string
	dirs := []string{"/etc/alternatives"}
	for _, s := range stack.AllStacks() {
		dirs = append(dirs, s.Settings...)
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			all = append(all, dir)
		}
	}
	return all
}

// builtVersion returns the version of the go command in PATH, read from its binary without
// running it. It is "" if that is impossible: the command is a script, for example.
func builtVersion(env []string) string {
	path := ""
	for _, e := range env {
		if rest, ok := strings.CutPrefix(e, "PATH="); ok {
			path = rest
		}
	}
	for _, dir := range filepath.SplitList(path) {
		name := filepath.Join(dir, "go")
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		info, err := buildinfo.ReadFile(name)
		if err != nil || info.Path != "cmd/go" {
			return ""
		}
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if settings["GOOS"] == "" || settings["GOARCH"] == "" {
			return ""
		}
		return "go version " + info.GoVersion + " " + settings["GOOS"] + "/" + settings["GOARCH"]
	}
	return ""
}

// ToolVersionCache caches the versions of tools in a PATH. It may be used by many goroutines.
type ToolVersionCache struct {
	mu   sync.Mutex // guards seen
	seen map[string]string
}

// VersionOf returns the first line of a command's version output, or "" if it fails. Run runs it; env
// are the variables that it runs with. A nil ToolVersionCache runs it each time.
func (v *ToolVersionCache) VersionOf(env, args []string, run func(args []string) (stdout []byte, ok bool)) string {
	key := strings.Join(args, " ")
	for _, e := range env {
		if strings.HasPrefix(e, "PATH=") || strings.HasPrefix(e, "GOROOT=") {
			key += "\x00" + e
		}
	}
	if v != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		if said, ok := v.seen[key]; ok {
			return said
		}
	}
	var said string
	if key := strings.Join(args, " "); key == "go version" {
		said = builtVersion(env)
	}
	if said == "" {
		out, ok := run(args)
		if !ok {
			return "" // the gate itself reports why
		}
		said, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	}
	said, _, _ = strings.Cut(strings.TrimPrefix(said, "go version "), " built with ")
	if v != nil {
		if v.seen == nil {
			v.seen = map[string]string{}
		}
		v.seen[key] = said
	}
	return said
}
