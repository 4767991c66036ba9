package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/pick"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

func doctorCommand(a *frame.App) *cobra.Command {
	var fix bool
	c := a.Command("doctor [--fix] [--json]", "check everything that a run needs", func(ctx context.Context, _ []string) error {
		all := diagnose(ctx, a, fix)
		if err := a.Answer(map[string]any{"ok": !blocked(all), "checks": all}, func(s view.Style) string { return drawChecks(s, all) }); err != nil {
			return err
		}
		if blocked(all) {
			return frame.ExitError(frame.CodeFailed)
		}
		return nil
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	c.Flags().BoolVar(&fix, "fix", false, "mend what can be mended: what dead processes left, and who may read the state")
	a.JSONFlag(c)
	return c
}

// diagnose makes every check, whatever the others say.
func diagnose(ctx context.Context, a *frame.App, fix bool) []check {
	settings, _, err := a.Settings()
	all := []check{checked("configuration", "readable", err)}
	if err != nil {
		settings = config.Default()
	}
	all = append(all, checked("git", "2.38 or newer", git.Check(ctx)))
	p, err := a.Open(ctx, frame.Reads)
	if err != nil {
		c := checked("repository", "", err)
		if e, ok := errors.AsType[*nexus.Error](err); ok && e.Code != nexus.CodeNotRepository && e.Code != nexus.CodeNoCommits {
			c.Name = "journal"
		}
		all = append(all, c)
	} else {
		defer p.Close()
		all = append(all, checkPlace(ctx, a, p, fix)...)
	}
	box, err := sandbox.Find(ctx, sandbox.Mode(settings.Sandbox))
	all = append(all, checked("sandbox", "", err))
	if err == nil {
		all[len(all)-1] = checkBox(box)
		all = append(all, checkNetwork(a, box, settings.Network))
		all = append(all, checkTools(ctx, a, box, settings)...)
		all = append(all, checkServers(ctx, a, box)...)
	}
	return append(append(all, checkDisk(a)), checkKeys(ctx, a, settings)...)
}

// checkBox says which sandbox it is, and what it cannot stop.
func checkBox(box *sandbox.Box) check {
	c := check{Name: "sandbox", State: fine, Detail: box.Name()}
	if gaps := box.Gaps(); len(gaps) > 0 {
		c.State, c.Detail = notice, box.Name()+": "+strings.Join(gaps, "; ")
		c.Hint = "Allow user namespaces, or install bubblewrap, and leave sandbox at auto."
	}
	return c
}

// checked returns a check that blocks when there is an error.
func checked(name, detail string, err error) check {
	if err == nil {
		return check{Name: name, State: fine, Detail: detail}
	}
	c := check{Name: name, State: blocker, Detail: err.Error()}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		c.Hint = e.Hint
	}
	return c
}

// checkPlace looks at the repository, its user's identity and its journal.
func checkPlace(ctx context.Context, a *frame.App, p *frame.Place, fix bool) []check {
	all := []check{{Name: "repository", State: fine, Detail: p.Repo.Work}}
	if _, branch, err := p.Repo.Head(ctx); err == nil && branch == "" {
		all = append(all, check{Name: "branch", State: notice, Detail: "detached head", Hint: "Results go to their own branch; --land needs --target."})
	}
	runs, err := p.Runs(ctx)
	all = append(all, checked("journal", view.Count(len(runs), "run"), err))
	if err == nil && p.Journal != nil {
		all = append(all, checkLeft(ctx, a, p, runs, fix)...)
	}
	return all
}

// checkTools looks at the programs that agents and gates use, from inside of
// the sandbox.
func checkTools(ctx context.Context, a *frame.App, box *sandbox.Box, c config.Config) []check {
	dir, err := os.MkdirTemp("", "nexus-doctor-")
	if err != nil {
		return []check{checked("temporary files", "", err)}
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	try := func(name, hint string, args ...string) check {
		r, err := box.Run(ctx, sandbox.Command{Args: args, Dir: dir, Env: sandbox.Env()})
		if err != nil || r.Exit != 0 {
			return check{Name: name, State: notice, Detail: "not found in the sandbox", Hint: hint}
		}
		return check{Name: name, State: fine, Detail: view.FirstLine(string(r.Stdout))}
	}
	all := []check{try("ripgrep", "Searching is slower without: apt install ripgrep.", "rg", "--version")}
	if dir, err := a.WorkDir(); err == nil {
		all = append(all, checkEnvironment(frame.Top(dir), c)...)
		switch l := findLinter(ctx, box, frame.Top(dir), c.Gates); {
		case !l.Fits():
			all = append(all, check{
				Name: "golangci-lint", State: notice, Detail: l.Why() + ": the gate golangci will not run",
				Hint: "Install version " + l.Wants + ", or bring the configuration along (golangci-lint migrate), or set gates.golangci = false.",
			})
		case l.Gate:
			all = append(all, check{Name: "golangci-lint", State: fine, Detail: view.FirstLine(l.Detail)})
		}
		if _, err := os.Stat(filepath.Join(frame.Top(dir), "go.mod")); err == nil {
			all = append(all, try("go", "Install Go, or put it on the PATH: the gates of this project need it.", "go", "version"))
		}
	}
	return all
}

func checkDisk(a *frame.App) check {
	dir := a.Home("XDG_STATE_HOME", ".local/state")
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return checked("disk", "", err)
	}
	free := int64(fs.Bavail) * int64(fs.Bsize) >> 20
	c := check{Name: "disk", State: fine, Detail: fmt.Sprintf("%s MB free for %s", view.Number(free), dir)}
	if free < 1024 {
		c.State, c.Hint = notice, "Worktrees and journals need room: free a gigabyte, or set XDG_STATE_HOME."
	}
	return c
}

// checkModels looks whether every role has a model with a price and a key at
// every tier.
func checkModels(a *frame.App, c config.Config) check {
	models, err := pick.NewModels(c, a.Env, a.Now)
	if err == nil {
		err = models.With(a.Keys(), pick.Tap{}).Ready(nil)
	}
	if err != nil {
		return checked("models", "", err)
	}
	var names []string
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		if name, _ := models.Name(nexus.Coder, tier, ""); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return check{Name: "models", State: fine, Detail: strings.Join(names, ", ")}
}
