package gate

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// GoSetup is what the Go tools need besides the tree.
type GoSetup struct {
	Env                []string
	Readable, Writable []string
}

// Where the build cache and that of golangci-lint are, in the directory of all.
const (
	goBuildCache  = "go-build"
	golangciCache = "golangci"
)

// PrepareGo makes ready the Go tools for a tree: no network, no other toolchain, no
// change of go.mod, and every cache in the directory cache, which it creates.
//
// A build cache is trusted blindly by the go command, and a test may write
// wherever a gate may. So cache must belong to the gates of one attempt, or
// one landing, alone: not to the agent's own shell, and not to the next
// attempt.
func PrepareGo(dir, cache string) (GoSetup, error) {
	build, lint := filepath.Join(cache, goBuildCache), filepath.Join(cache, golangciCache)
	if err := os.MkdirAll(build, 0o700); err != nil {
		return GoSetup{}, fmt.Errorf("go caches: %w", err)
	}
	mod := "-mod=readonly"
	if tree := os.DirFS(dir); gosrc.IsFile(tree, "vendor/modules.txt") && !gosrc.IsFile(tree, "go.work") {
		mod = "-mod=vendor"
	}
	return GoSetup{
		Env: sandbox.Gates(
			"GOFLAGS="+mod+" -buildvcs=false", "GOPROXY=off", "GOTOOLCHAIN=local", "GOENV=off", "GOTELEMETRY=off",
			"GOCACHE="+build, "GOLANGCI_LINT_CACHE="+lint,
		),
		Readable: SystemSettings(), Writable: []string{cache},
	}, nil
}

// SystemSettings returns the directories of the system in which tools keep their
// settings, as far as they are there.
func SystemSettings() []string {
	var all []string
	dirs := []string{"/etc/alternatives"}
	for _, s := range stack.All() {
		dirs = append(dirs, s.Settings...)
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			all = append(all, dir)
		}
	}
	return all
}

// builtVersion returns what the go command that a PATH leads to would say about its version,
// as it was built into it, which takes no process. Empty where that cannot be
// told: a script is in front of it, say.
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

// ToolVersions remembers which version of a tool a PATH leads to. It may be used
// by many goroutines.
type ToolVersions struct {
	mu   sync.Mutex // guards seen
	seen map[string]string
}

// Of returns the first line that a command says about its version, empty where
// it cannot. Run runs it; env are the variables that it runs with. A nil
// Versions asks each time.
func (v *ToolVersions) Of(env, args []string, run func(args []string) (stdout []byte, ok bool)) string {
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
			return "" // the gate itself will say why
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
