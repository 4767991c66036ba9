package modelscmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/catalog"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// RefreshOptions are the options of "nexus models refresh". The address is a setting.
type RefreshOptions struct {
	Console *console.Console
}

// refreshAnswer is the JSON output of `models refresh`.
type refreshAnswer struct {
	publicListInfo

	Same    bool `json:"same,omitzero"`    // unchanged
	Skipped int  `json:"skipped,omitzero"` // unreadable entries
}

// NewRefresh returns the command "nexus models refresh". It calls run with the parsed options; nil
// runs the command.
func NewRefresh(c *console.Console, run func(context.Context, *RefreshOptions) error) *cobra.Command {
	o := &RefreshOptions{Console: c}
	if run == nil {
		run = refreshList
	}
	command := c.Command("refresh [--from URL] [--json]", "fetch the public list of models and their prices",
		func(ctx context.Context, _ []string) error { return run(ctx, o) },
		console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	c.SettingFlags(command, "from")
	c.JSONFlag(command)
	return command
}

// refreshList fetches the public list of models and stores it.
func refreshList(ctx context.Context, o *RefreshOptions) error {
	a := o.Console
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	f, err := catalog.FetchCatalog(ctx, catalog.ModelCatalogSource{URL: settings.ModelList, Path: provider.ModelCatalogPath(a.Env), Now: a.Now})
	if err != nil {
		return err
	}
	r := refreshAnswer{publicListInfo: publicListInfo{f.From, f.Fetched, len(f.Models)}, Same: f.Same, Skipped: f.Skipped}
	return a.Answer(r, func(view.OutputStyle) string {
		text := fmt.Sprintf("%s from %s", view.CountWithNoun(r.Models, "model"), view.EscapeForTerminal(r.From))
		if r.Same {
			text += ", unchanged"
		}
		if r.Skipped > 0 {
			text += fmt.Sprintf("; %d entries could not be read", r.Skipped)
		}
		return text + "\n"
	})
}
