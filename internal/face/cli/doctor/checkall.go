package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// checkBox reports the kind of sandbox, and the accesses that it cannot prevent.
func checkBox(box *sandbox.Box) Check {
	c := Check{Name: "sandbox", State: Fine, Detail: box.Name()}
	if gaps := box.KnownGaps(); len(gaps) > 0 {
		c.State, c.Detail = Notice, box.Name()+": "+strings.Join(gaps, "; ")
		c.Hint = "Allow user namespaces, or install bubblewrap, and leave sandbox at auto."
	}
	return c
}

// checkBounds reports the limits that keep commands from exhausting the machine.
func checkBounds(box *sandbox.Box) Check {
	return Check{Name: "bounds", State: Fine, Detail: box.DescribeLimits()}
}

// checkTools checks the programs that agents and gates use, from inside the sandbox.
func checkTools(ctx context.Context, a *console.Console, box *sandbox.Box, c config.Config) []Check {
	dir, err := os.MkdirTemp("", "nexus-doctor-")
	if err != nil {
		return []Check{checkOf("temporary files", "", err)}
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	try := func(name, hint string, args ...string) Check {
		r, err := box.Run(ctx, sandbox.Command{Args: args, Dir: dir, Env: sandbox.AgentCommandEnv()})
		if err != nil || r.Exit != 0 {
			return Check{Name: name, State: Notice, Detail: "not found in the sandbox", Hint: hint}
		}
		return Check{Name: name, State: Fine, Detail: view.FirstLine(string(r.Stdout))}
	}
	all := []Check{try("ripgrep", "Install ripgrep for faster searches: apt install ripgrep.", "rg", "--version")}
	if dir, err := a.WorkDir(); err == nil {
		all = append(all, checkEnvironment(app.WorkTreeRoot(dir), c)...)
		switch l := FindLinter(ctx, box, app.WorkTreeRoot(dir), c.Gates); {
		case !l.Fits():
			all = append(all, Check{
				Name: "golangci-lint", State: Notice, Detail: l.UnfitReason() + ": the gate golangci will not run",
				Hint: "Install version " + l.Wants + ", migrate the configuration (golangci-lint migrate), or set gates.golangci = false.",
			})
		case l.Gate:
			all = append(all, Check{Name: "golangci-lint", State: Fine, Detail: view.FirstLine(l.Detail)})
		}
		if _, err := os.Stat(filepath.Join(app.WorkTreeRoot(dir), "go.mod")); err == nil {
			all = append(all, try("go", "Install Go or add it to PATH: this project's gates need it.", "go", "version"))
		}
	}
	return all
}

func checkDisk(a *console.Console) Check {
	dir := a.XDGDirectory("XDG_STATE_HOME", ".local/state")
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return checkOf("disk", "", err)
	}
	free := int64(fs.Bavail) * int64(fs.Bsize) >> 20
	c := Check{Name: "disk", State: Fine, Detail: fmt.Sprintf("%s MB free for %s", view.FormatNumber(free), dir)}
	if free < 1024 {
		c.State, c.Hint = Notice, "Worktrees and journals need space. Free a gigabyte, or set XDG_STATE_HOME to another disk."
	}
	return c
}

// checkModels checks that every role has a model with a price and a key at every tier.
func checkModels(a *console.Console, c config.Config) Check {
	c, err := a.ConfigWithAgentsIfNoModel(c, provider.RecordingTransport{})
	if err != nil {
		return checkOf("models", "", err)
	}
	models, err := provider.NewModelPicker(c, a.Env, a.Now)
	if err == nil {
		err = models.UseKeysAndTransport(a.KeyStore(), provider.RecordingTransport{}).CheckAllRoles(nil)
	}
	if err != nil {
		return checkOf("models", "", err)
	}
	var names []string
	for _, r := range c.Roles {
		for agent := range strings.SplitSeq(r.Agent, ",") {
			if agent != "" && !slices.Contains(names, "the agent "+agent) {
				names = append(names, "the agent "+agent)
			}
		}
	}
	slices.Sort(names)
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		if name, _ := models.ModelName(nexus.Coder, tier, ""); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return Check{Name: "models", State: Fine, Detail: strings.Join(names, ", ")}
}
