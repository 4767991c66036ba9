package runscmd

import (
	"context"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/metrics"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
)

func metricsCommand(a *console.Console) *cobra.Command {
	var everywhere bool
	const short = "print metrics of the runs for Prometheus, once"
	c := a.Command("metrics [--all]", short, func(ctx context.Context, _ []string) error {
		o := metrics.Of{Version: buildinfo()}
		var err error
		var open []app.Unfinished
		if everywhere {
			if o.Past, err = a.Histories(ctx); err != nil {
				return err
			}
			open, err = a.UnfinishedEverywhere(ctx)
			a.Complain(err) // the runs of the other repositories are available
		} else {
			p, err := a.Open(ctx, app.ReadAccess)
			if err != nil {
				return err
			}
			defer p.Close()
			if open, err = measured(ctx, a, p, &o); err != nil {
				return err
			}
		}
		o.Going = goingOf(a, open)
		return a.Print(a.Mask.Text(metrics.Text(o)))
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Flags().BoolVarP(&everywhere, "all", "a", false, "of the runs of all repositories on this machine")
	return c
}

// measured reads the results of a repository's runs, and returns the unfinished ones.
func measured(ctx context.Context, a *console.Console, p *app.Repository, o *metrics.Of) (open []app.Unfinished, err error) {
	if o.Past, err = a.History(ctx, p); err != nil {
		return nil, err
	}
	return p.Unfinished(ctx)
}

func goingOf(a *console.Console, open []app.Unfinished) (all []view.RepositoryRun) {
	for _, u := range open {
		all = append(all, view.RepositoryRun{Repository: u.Repository, Run: a.RunView(u.Run, u.State)})
	}
	return all
}

// measures returns the function that serves a repository's metrics to Prometheus.
func measures(a *console.Console, p *app.Repository) func(context.Context) (text, kind string, err error) {
	return func(ctx context.Context) (text, kind string, err error) {
		o := metrics.Of{Version: buildinfo()}
		open, err := measured(ctx, a, p, &o)
		if err != nil {
			return "", "", err
		}
		o.Going = goingOf(a, open)
		return a.Mask.Text(metrics.Text(o)), metrics.ContentType, nil
	}
}

// buildinfo returns the version of this program.
func buildinfo() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
}
