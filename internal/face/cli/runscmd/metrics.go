package runscmd

import (
	"context"
	"runtime/debug"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/metrics"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// printMetrics prints metrics of the runs for Prometheus.
func printMetrics(ctx context.Context, o *Options) error {
	a, in := o.Console, metrics.MetricsInput{Version: programVersion()}
	var err error
	var open []app.UnfinishedRun
	if o.All {
		if in.Past, err = a.AllRunHistories(ctx); err != nil {
			return err
		}
		open, err = a.UnfinishedRunsOfAllRepositories(ctx)
		a.ReportError(err) // the runs of the other repositories are available
	} else {
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		if open, err = readMetrics(ctx, a, p, &in); err != nil {
			return err
		}
	}
	in.Going = openRunViews(a, open)
	text, err := metrics.FormatMetrics(in)
	if err != nil {
		return err
	}
	return a.Print(a.Mask.MaskText(text))
}

// readMetrics reads the results of a repository's runs, and returns the unfinished ones.
func readMetrics(ctx context.Context, a *console.Console, p *app.Repository, o *metrics.MetricsInput) (open []app.UnfinishedRun, err error) {
	if o.Past, err = a.RunHistory(ctx, p); err != nil {
		return nil, err
	}
	return p.UnfinishedRuns(ctx)
}

func openRunViews(a *console.Console, open []app.UnfinishedRun) (all []view.UnfinishedRunRow) {
	for _, u := range open {
		all = append(all, view.UnfinishedRunRow{Repository: u.Repository, RunView: a.RunView(u.Run, u.State)})
	}
	return all
}

// MetricsHandler returns the function that serves a repository's metrics to Prometheus.
func MetricsHandler(a *console.Console, p *app.Repository) func(context.Context) (text, kind string, err error) {
	return func(ctx context.Context) (text, kind string, err error) {
		o := metrics.MetricsInput{Version: programVersion()}
		open, err := readMetrics(ctx, a, p, &o)
		if err != nil {
			return "", "", err
		}
		o.Going = openRunViews(a, open)
		text, err = metrics.FormatMetrics(o)
		return a.Mask.MaskText(text), metrics.ContentType, err
	}
}

// programVersion returns the version of this program.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
}
