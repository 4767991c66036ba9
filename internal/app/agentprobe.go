package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

const (
	probeTime  = 5 * time.Second // for an agent program to say its version
	probeBytes = 64 << 10
)

// probedVersion is what a program said, as long as its file is the same.
type probedVersion struct {
	File    string `json:"file"` // with what tells it from another
	Version string `json:"version"`
}

// Versions returns which versions of agent programs are installed, by name. Each is
// asked in the sandbox, with an empty home and no network, once for as long as
// its file is the same. One that does not answer has none.
func (a *App) Versions(ctx context.Context, all []Agent) map[string]string {
	book := filepath.Join(a.StateHome(), "agents.json")
	known := map[string]probedVersion{}
	if data, err := os.ReadFile(book); err == nil {
		_ = json.Unmarshal(data, &known) // else all are asked again
	}
	box, err := sandbox.Find(ctx, sandbox.Auto)
	if err != nil {
		return nil // nothing runs without
	}
	var work sync.WaitGroup
	var mu sync.Mutex // guards known, versions and asked
	versions, asked := map[string]string{}, false
	for _, one := range all {
		id := fileID(one.File)
		if id == "" {
			continue
		}
		if was := known[one.Name]; was.File == id {
			versions[one.Name] = was.Version
			continue
		}
		work.Go(func() {
			version := a.askVersion(ctx, box, one)
			mu.Lock()
			defer mu.Unlock()
			known[one.Name], versions[one.Name], asked = probedVersion{id, version}, version, true
		})
	}
	work.Wait()
	if data, err := json.Marshal(known); err == nil && asked && ctx.Err() == nil {
		_ = disk.Replace(book, data) // they are asked again
	}
	return versions
}

// fileID tells a file from another in its place, empty for none.
func fileID(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	inode := uint64(0)
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	return fmt.Sprintf("%s %d %d %d", file, inode, info.Size(), info.ModTime().UnixNano())
}

// askVersion has a program say its version.
func (a *App) askVersion(ctx context.Context, box *sandbox.Box, one Agent) string {
	dir, err := os.MkdirTemp("", "nexus-agent-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(dir) //nolint:errcheck // nothing in it is kept
	_, seen, err := agentcli.Find(one.Command, a.Env("PATH"))
	if err != nil {
		return ""
	}
	r, err := box.Run(ctx, sandbox.Command{
		Args: []string{one.File, "--version"}, Dir: dir, Env: []string{"PATH=" + a.Env("PATH"), "HOME=" + dir, "NO_COLOR=1"},
		Readable: seen, Writable: []string{dir}, Timeout: probeTime, Cap: probeBytes,
	})
	if err != nil || r.TimedOut || r.Exit != 0 {
		return ""
	}
	return version(string(r.Stdout))
}

// version returns the first word of a text that looks like a version.
func version(text string) string {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "(),v")
		if len(word) > 2 && word[0] >= '0' && word[0] <= '9' && strings.Contains(word, ".") {
			return legible.Cut(word, 40)
		}
	}
	return ""
}
