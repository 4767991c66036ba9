package runscmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func reviseCommand(a *console.Console) *cobra.Command {
	var check, run string
	c := a.Command("revise CRITERION TEXT [--check COMMAND] [--run RUN] [--json]", "replace the text of a criterion", func(ctx context.Context, args []string) error {
		return reviseCriterion(ctx, a, run, nexus.Request{Verb: nexus.VerbRevise, ID: args[0], Text: strings.TrimSpace(args[1]), Check: strings.TrimSpace(check), By: a.UserName()})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(2, 2)
	c.Flags().StringVar(&check, "check", "", "gate or `COMMAND` that checks it; without one, a tester writes a check or a person decides")
	c.Flags().StringVar(&run, "run", "", "the `RUN`; the latest if not given")
	a.JSONFlag(c)
	return c
}

// reviseCriterion requests a new text for a criterion.
func reviseCriterion(ctx context.Context, a *console.Console, run string, r nexus.Request) error {
	p, err := a.OpenRepository(ctx, app.ChangeAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	about, err := p.Run(ctx, run)
	if err != nil {
		return err
	}
	s, err := p.Replay(ctx, about.ID)
	if err != nil {
		return err
	}
	if _, ok := accept.FindCriterion(s, r.ID); !ok {
		return app.NotFoundError("criterion", r.ID, "nexus evidence lists them.")
	}
	if r.Text == "" {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "the criterion's new text is empty", Hint: "Give its new text."}
	}
	if err := shell.CheckSyntax(r.Check); r.Check != "" && err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the check cannot be read by sh: " + err.Error(),
			Hint: "Give one command line.", Cause: err,
		}
	}
	e, err := p.Journal.Ask(ctx, about.ID, r)
	if err != nil {
		return err
	}
	return a.Answer(requestResult{Run: about.ID, Seq: e.Seq, Held: about.Holder != nil}, func(view.Style) string { return "revised: " + view.Clean(r.ID) + "\n" })
}
