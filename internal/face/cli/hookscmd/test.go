package hookscmd

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/hooksandplugins"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestOptions are the options of "nexus hooks test".
type TestOptions struct {
	Console *console.Console
	Name    string // of a hook, or of a point: then all its hooks
	Event   string // file with the event as JSON; empty: a sample
}

// NewTest returns the command "nexus hooks test". It calls run with the parsed options; nil runs the
// command.
func NewTest(c *console.Console, run func(context.Context, *TestOptions) error) *cobra.Command {
	o := &TestOptions{Console: c}
	if run == nil {
		run = testHooks
	}
	command := c.Command("test NAME|POINT [--event FILE] [--json]", "run hooks with a sample event",
		func(ctx context.Context, args []string) error {
			o.Name = args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.Flags().StringVar(&o.Event, "event", "", "`FILE` with the event as JSON, in place of a sample")
	c.JSONFlag(command)
	return command
}

// testedHook is the result of a hook in the JSON output of `hooks test`.
type testedHook struct {
	Hook    string                 `json:"hook"`
	Point   nexus.HookPoint        `json:"point"`
	State   nexus.HookCommandState `json:"state"`
	Exit    int                    `json:"exit"`
	Refuses bool                   `json:"refuses"` // in a run, it would prevent the action of its point
	Why     string                 `json:"why,omitzero"`
	Seconds float64                `json:"seconds"`
	Stdout  string                 `json:"stdout"`
	Stderr  string                 `json:"stderr"`
}

// testHooks runs the named hook, or the hooks of a point.
func testHooks(ctx context.Context, o *TestOptions) error {
	a := o.Console
	return hooksandplugins.WithDeclarations(ctx, a, a.HooksOfRepository, func(all []hookcmd.DeclaredHook, r *usercmd.UserCommandRunner) error {
		point := nexus.HookPoint(o.Name)
		chosen := hookcmd.HooksAtPoint(all, point)
		if i := slices.IndexFunc(all, func(h hookcmd.DeclaredHook) bool { return h.Name == o.Name }); i >= 0 {
			chosen, point = all[i:i+1], nexus.HookPoint(all[i].On[0])
		}
		if len(chosen) == 0 {
			return app.NotFoundError("hook, and no point with hooks,", o.Name, "nexus hooks list shows them.")
		}
		event := hookcmd.SampleEvent(point, a.Now())
		if o.Event != "" {
			data, err := os.ReadFile(o.Event)
			if err == nil {
				event, err = hookcmd.ParseEvent(data)
			}
			if err != nil {
				return &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: "read the event of " + o.Event, Cause: err,
					Hint: "docs/extend.md lists the fields.",
				}
			}
		}
		var results []testedHook
		for _, h := range chosen {
			o, err := h.RunHook(ctx, r, event)
			if err != nil {
				return err
			}
			results = append(results, testedHook{h.Name, event.Point, o.State, o.Exit, event.Point.CanRefuse() && !o.State.AllowsAction(), o.Why, o.Took.Seconds(), o.Stdout, o.Stderr})
		}
		if err := a.Answer(results, func(s view.OutputStyle) string { return drawTested(s, results) }); err != nil {
			return err
		}
		if slices.ContainsFunc(results, func(t testedHook) bool { return t.State != nexus.HookOK }) {
			return console.ExitError(console.CodeFailed)
		}
		return nil
	})
}

func drawTested(s view.OutputStyle, all []testedHook) string {
	var b strings.Builder
	for _, t := range all {
		state := s.Bad(string(t.State))
		if t.State == nexus.HookOK {
			state = s.Good(string(t.State))
		}
		fmt.Fprintf(&b, "%s at %s: %s, exit code %d, %.2f s\n", view.EscapeForTerminal(t.Hook), t.Point, state, t.Exit, t.Seconds)
		if t.Why != "" {
			fmt.Fprintf(&b, "  reason: %s\n", view.EscapeForTerminal(t.Why))
		}
		if t.Refuses {
			b.WriteString("  in a run, this refuses\n")
		}
		for _, out := range []struct{ name, text string }{{"output", t.Stdout}, {"errors", t.Stderr}} {
			if text := strings.TrimRight(out.text, "\n"); text != "" {
				fmt.Fprintf(&b, "  %s:\n    %s\n", out.name, strings.ReplaceAll(view.EscapeLinesForTerminal(text), "\n", "\n    "))
			}
		}
	}
	return b.String()
}
