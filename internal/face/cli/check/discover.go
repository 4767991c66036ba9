package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/discover"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// discovered is one finding in the answer of `discover --json`.
type discovered struct {
	Name    string          `json:"name"` // PLUGIN/ID, as --finding takes it
	Title   string          `json:"title"`
	Reason  string          `json:"reason"`
	Minutes int             `json:"minutes,omitzero"`
	Files   []string        `json:"files,omitempty"`
	Check   string          `json:"check"`
	Red     bool            `json:"red"` // its check fails: there is something to do
	State   nexus.GateState `json:"state,omitzero"`
	Why     string          `json:"why,omitzero"` // why it is no finding
}

func discoverCommand(a *console.Console) *cobra.Command {
	var name string
	var all bool
	const short = "list work that plugins find in the repository"
	c := a.Command("discover [--plugin NAME] [--all] [--json]", short, func(ctx context.Context, _ []string) error {
		found, err := Discover(ctx, a, name, "")
		if err != nil {
			return err
		}
		list := []discovered{}
		left := 0
		for _, f := range found {
			if !f.Red() && !all {
				left++
				continue
			}
			list = append(list, discovered{f.Name(), f.Title, f.Reason, f.Minutes, f.Files, f.Check, f.Red(), f.State, f.Why})
		}
		return a.Answer(map[string][]discovered{"findings": list}, func(s view.Style) string { return drawDiscovered(s, list, left) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(0, 0)
	c.Flags().StringVar(&name, "plugin", "", "ask only the plugin `NAME`")
	c.Flags().BoolVar(&all, "all", false, "list also what is no finding because its check passes or cannot be run")
	a.JSONFlag(c)
	return c
}

// drawDiscovered draws findings, and how many are left out.
func drawDiscovered(s view.Style, list []discovered, left int) string {
	var b strings.Builder
	for _, d := range list {
		size := ""
		if d.Minutes > 0 {
			size = fmt.Sprintf(" (about %s)", view.Count(d.Minutes, "minute"))
		}
		fmt.Fprintf(&b, "%s: %s%s\n", s.Bold(view.Clean(d.Name)), view.Clean(d.Title), size)
		fmt.Fprintf(&b, "  reason: %s\n  check: %s\n", view.Clean(d.Reason), view.Clean(d.Check))
		if d.Why != "" {
			fmt.Fprintf(&b, "  %s\n", s.Warn("no finding: "+view.Clean(d.Why)))
		}
	}
	switch {
	case len(list) == 0:
		b.WriteString("nothing was found")
		if left > 0 {
			fmt.Fprintf(&b, "; %s left out because nothing fails, nexus discover --all lists them", view.Count(left, "finding"))
		}
		b.WriteString("\n")
	default:
		fmt.Fprintf(&b, "to work on one: nexus run --finding %s\n", view.Clean(list[0].Name))
	}
	return b.String()
}

// Discover asks the plugins that discover, or the one that is named, what there
// is to do in the last commit, and tries each check, or that of the finding with an
// ID alone. A plugin that does not
// answer is an error where it is named or required, and reported otherwise.
func Discover(ctx context.Context, a *console.Console, name, id string) ([]discover.Finding, error) {
	settings, _, err := a.Settings()
	if err != nil {
		return nil, err
	}
	p, err := a.Open(ctx, app.Reads)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	h, err := a.Discoverers(ctx, p, name)
	if err != nil {
		return nil, err
	}
	cache := cacheOf(a, p.State)
	x, err := checkout(ctx, p, cache, "HEAD")
	if err != nil {
		return nil, err
	}
	defer x.done()
	r, err := x.runner(ctx, a, p, cache, settings)
	if err != nil {
		return nil, err
	}
	may := func(command string) bool {
		if r.Box.Name() != string(sandbox.Off) {
			return true
		}
		rules := app.Rules(settings, nexus.Planner)
		rules.Dir, rules.Open = x.dir, true
		return policy.Rule(command, rules).Allowed()
	}
	var all []discover.Finding
	for _, one := range h.Plugins {
		found, bad, err := discover.Ask(ctx, h, one, x.dir)
		failed, plain := errors.AsType[*plugin.Error](err)
		switch {
		case plain && name == "":
			a.Say("plugin %s is left out: it does not answer (%s): %s", one.Name, failed.State, view.Clean(failed.Why))
			continue
		case plain:
			return nil, plugin.Unanswered(failed)
		case err != nil:
			return nil, err
		}
		for _, why := range bad {
			a.Say("plugin %s: %s; it is left out", one.Name, view.Clean(why))
		}
		for _, f := range found {
			if id != "" && f.ID != id {
				continue
			}
			tried, err := discover.Try(ctx, programmed(r, x.dir), gate.Tree{Dir: x.dir, Hash: x.hash}, f, may)
			if err != nil {
				return nil, err
			}
			all = append(all, tried)
		}
	}
	return all, nil
}

// Finding returns the finding with a name, PLUGIN/ID. Its check fails.
func Finding(ctx context.Context, a *console.Console, name string) (discover.Finding, error) {
	of, id, ok := strings.Cut(name, "/")
	if !ok || of == "" || id == "" {
		return discover.Finding{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: view.Quote(name) + " is not the name of a finding",
			Hint: "Write PLUGIN/ID, as nexus discover lists it.",
		}
	}
	all, err := Discover(ctx, a, of, id)
	if err != nil {
		return discover.Finding{}, err
	}
	for _, f := range all {
		switch {
		case f.ID != id:
		case f.Red():
			return f, nil
		default:
			return f, &nexus.Error{
				Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is nothing to do about %s: %s", view.Quote(name), f.Why),
				Hint: "nexus discover lists what there is to do.",
			}
		}
	}
	return discover.Finding{}, app.NotFound("finding", name, "nexus discover lists them.")
}
