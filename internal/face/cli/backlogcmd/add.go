package backlogcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/workaddition"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// AddOptions are the options of nexus backlog add.
type AddOptions struct {
	Console  *console.Console
	File     string // with the text; - is standard input; empty: the text is in Words
	Words    []string
	Addition workaddition.Addition
}

// NewAdd returns the command that adds an item. It calls run with the parsed options; nil runs the
// command.
func NewAdd(c *console.Console, run func(context.Context, *AddOptions) error) *cobra.Command {
	o := &AddOptions{Console: c}
	if run == nil {
		run = addItem
	}
	command := c.Command("add TEXT | -f FILE [flags]", "add an item to the backlog", func(ctx context.Context, args []string) error {
		o.Words = args
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, -1)
	command.Flags().StringVarP(&o.File, "file", "f", "", "read the text from `FILE`; - is standard input")
	o.Addition.AddFlags(command.Flags())
	c.JSONFlag(command)
	return command
}

// addItem adds the item.
func addItem(ctx context.Context, o *AddOptions) error {
	a := o.Console
	if err := o.Addition.Read(ctx, a, o.File, o.Words); err != nil {
		return err
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	item, err := a.BacklogStore(p).AddItem(ctx, o.Addition.BacklogItem(a.UserName(), a.Now()))
	if err != nil {
		return err
	}
	return a.Answer(item, func(view.OutputStyle) string {
		return fmt.Sprintf("%s waits: %s\n", item.ID, backlogitem.BacklogItemPath(item.ID))
	})
}
