package inspect

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// listedHook is one hook in the JSON output of `hooks list`.
type listedHook struct {
	Name    string           `json:"name"`
	On      []string         `json:"on"`
	Command []string         `json:"command"`
	Timeout string           `json:"timeout"`
	Sandbox bool             `json:"sandbox"`
	Own     bool             `json:"own"` // it is the user's, not the project's
	Trust   trust.TrustState `json:"trust"`
}

// testedHook is the result of a hook in the JSON output of `hooks test`.
type testedHook struct {
	Hook    string          `json:"hook"`
	Point   nexus.HookPoint `json:"point"`
	State   nexus.HookState `json:"state"`
	Exit    int             `json:"exit"`
	Refuses bool            `json:"refuses"` // in a run, it would prevent the action of its point
	Why     string          `json:"why,omitzero"`
	Seconds float64         `json:"seconds"`
	Stdout  string          `json:"stdout"`
	Stderr  string          `json:"stderr"`
}

func hooksCommand(a *console.Console) *cobra.Command {
	list := a.Command("list [--json]", "list hooks, when they run, and whether they are trusted", func(ctx context.Context, _ []string) error {
		return listHooks(ctx, a)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	list.Args = console.ArgCount(0, 0)
	a.JSONFlag(list)
	file := ""
	test := a.Command("test NAME|POINT [--event FILE] [--json]", "run hooks with a sample event", func(ctx context.Context, args []string) error {
		return testHooks(ctx, a, args[0], file)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	test.Args = console.ArgCount(1, 1)
	test.Flags().StringVar(&file, "event", "", "`FILE` with the event as JSON, in place of a sample")
	a.JSONFlag(test)
	return a.ParentCommand("hooks", "show and try commands that run when something happens", list, test)
}

// declarationLoader returns the declarations in a repository's configuration, and their runner.
type declarationLoader[T any] = func(ctx context.Context, dir, state string, run nexus.RunID) ([]T, *usercmd.UserCommandRunner, error)

// withDeclarations opens the repository and passes its hooks or plugins to do.
func withDeclarations[T any](ctx context.Context, a *console.Console, load declarationLoader[T], do func([]T, *usercmd.UserCommandRunner) error) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	all, runner, err := load(ctx, p.Repo.Work, p.State, "test")
	if err != nil {
		return err
	}
	return do(all, runner)
}

// drawTrusted draws whether a hook or plugin is trusted, and therefore runs.
func drawTrusted(s view.Style, t trust.TrustState) string {
	if t != trust.StateTrusted {
		return s.Warn(string(t)) + ", not run: see nexus trust"
	}
	return s.Good(string(t))
}

// drawPlace draws where a hook or plugin runs.
func drawPlace(s view.Style, sandboxed bool) string {
	if sandboxed {
		return "in the sandbox"
	}
	return s.Warn("outside of the sandbox")
}

func listHooks(ctx context.Context, a *console.Console) error {
	return withDeclarations(ctx, a, a.HooksFor, func(all []hookcmd.DeclaredHook, r *usercmd.UserCommandRunner) error {
		list := make([]listedHook, len(all))
		for i, h := range all {
			state, err := h.ReadTrustState(r)
			if err != nil {
				return err
			}
			list[i] = listedHook{h.Name, h.On, h.Command, h.TimeLimit().String(), !h.IsUnsandboxed(), h.Own, state}
		}
		return a.Answer(list, func(s view.Style) string { return drawHooks(s, list) })
	})
}

func drawHooks(s view.Style, all []listedHook) string {
	if len(all) == 0 {
		return "there are no hooks; docs/extend.md says how to add one\n"
	}
	var b strings.Builder
	for _, h := range all {
		command := view.Clean(strings.Join(h.Command, " "))
		fmt.Fprintf(&b, "%s at %s: %s (%s, %s, %s)\n", view.Clean(h.Name), strings.Join(h.On, ", "), command,
			drawPlace(s, h.Sandbox), h.Timeout, drawTrusted(s, h.Trust))
	}
	return b.String()
}

// testHooks runs the named hook, or the hooks of a point.
func testHooks(ctx context.Context, a *console.Console, name, file string) error {
	return withDeclarations(ctx, a, a.HooksFor, func(all []hookcmd.DeclaredHook, r *usercmd.UserCommandRunner) error {
		point := nexus.HookPoint(name)
		chosen := hookcmd.HooksAtPoint(all, point)
		if i := slices.IndexFunc(all, func(h hookcmd.DeclaredHook) bool { return h.Name == name }); i >= 0 {
			chosen, point = all[i:i+1], nexus.HookPoint(all[i].On[0])
		}
		if len(chosen) == 0 {
			return app.NotFoundError("hook, and no point with hooks,", name, "nexus hooks list shows them.")
		}
		event := hookcmd.SampleEvent(point, a.Now())
		if file != "" {
			data, err := os.ReadFile(file)
			if err == nil {
				event, err = hookcmd.ParseEvent(data)
			}
			if err != nil {
				return &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: "read the event of " + file, Cause: err,
					Hint: "docs/extend.md lists the fields.",
				}
			}
		}
		var results []testedHook
		for _, h := range chosen {
			o, err := h.Run(ctx, r, event)
			if err != nil {
				return err
			}
			results = append(results, testedHook{h.Name, event.Point, o.State, o.Exit, event.Point.CanRefuse() && !o.State.AllowsAction(), o.Why, o.Took.Seconds(), o.Stdout, o.Stderr})
		}
		if err := a.Answer(results, func(s view.Style) string { return drawTested(s, results) }); err != nil {
			return err
		}
		if slices.ContainsFunc(results, func(t testedHook) bool { return t.State != nexus.HookOK }) {
			return console.ExitError(console.CodeFailed)
		}
		return nil
	})
}

func drawTested(s view.Style, all []testedHook) string {
	var b strings.Builder
	for _, t := range all {
		state := s.Bad(string(t.State))
		if t.State == nexus.HookOK {
			state = s.Good(string(t.State))
		}
		fmt.Fprintf(&b, "%s at %s: %s, exit code %d, %.2f s\n", view.Clean(t.Hook), t.Point, state, t.Exit, t.Seconds)
		if t.Why != "" {
			fmt.Fprintf(&b, "  reason: %s\n", view.Clean(t.Why))
		}
		if t.Refuses {
			b.WriteString("  in a run, this refuses\n")
		}
		for _, out := range []struct{ name, text string }{{"output", t.Stdout}, {"errors", t.Stderr}} {
			if text := strings.TrimRight(out.text, "\n"); text != "" {
				fmt.Fprintf(&b, "  %s:\n    %s\n", out.name, strings.ReplaceAll(view.CleanText(text), "\n", "\n    "))
			}
		}
	}
	return b.String()
}
