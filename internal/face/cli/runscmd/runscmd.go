// Package runscmd implements the command "nexus runs": the list of runs, their figures, and the
// difference between two of them.
package runscmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Options are the options of the command. At most one of Active, Stats and Metrics is set.
type Options struct {
	Console *console.Console
	Active  bool     // runs that are not over, those that need the person first
	Stats   bool     // statistics
	Metrics bool     // figures for Prometheus
	All     bool     // of all repositories on this machine
	Since   string   // statistics of the runs since then, such as 7d; empty: all
	By      []string // groups of the statistics; empty: all
	CSV     bool     // statistics as comma-separated values
}

// New returns the command with its subcommand. It calls run with the parsed options; nil runs the
// command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = showRuns
	}
	const use = "runs [--active|--stats|--metrics] [--all] [--since WHEN] [--by WAY]... [--json|--csv]"
	command := c.Command(use, "list the runs of this repository, or show statistics over them",
		func(ctx context.Context, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	f := command.Flags()
	f.BoolVar(&o.Active, "active", false, "list the runs that are not over, those that need you first")
	f.BoolVar(&o.Stats, "stats", false, "show statistics: results, causes of failure, and how good the estimates were")
	f.BoolVar(&o.Metrics, "metrics", false, "print metrics for Prometheus, once")
	f.BoolVarP(&o.All, "all", "a", false, "with one of these: of all repositories on this machine")
	f.StringVar(&o.Since, "since", "", "statistics of the runs that started since `WHEN`: 7d, 36h, or a day such as 2026-05-31")
	f.StringSliceVar(&o.By, "by", nil,
		"statistics by these `WAYS` only: repository, kind, stack, tier, strategy (of tests), found-by (strategy of nexus discover), role, model")
	f.BoolVar(&o.CSV, "csv", false, "print statistics as a table for a spreadsheet: a row for each group")
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("json", "csv", "metrics")
	command.MarkFlagsMutuallyExclusive("active", "stats", "metrics")
	command.AddCommand(NewCompare(c, nil))
	return command
}

// check completes the options, and returns an error about those that do not belong together.
func (o *Options) check() error {
	filtered := o.Since != "" || len(o.By) > 0 || o.CSV
	switch {
	case filtered && (o.Active || o.Metrics):
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--since, --by and --csv are about statistics", Hint: "Leave them out, or use --stats.",
		}
	case filtered:
		o.Stats = true
	case o.All && !o.Active && !o.Stats && !o.Metrics:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--all needs --active, --stats or --metrics",
			Hint: "nexus runs --active --all lists the runs of all repositories that are not over.",
		}
	}
	if _, err := parsePeriodStart(o.Since, o.Console.Now()); err != nil {
		return err
	}
	for _, name := range o.By {
		if !slices.Contains(groupNames(), name) {
			return unknownGroupError(name)
		}
	}
	return nil
}

// showRuns shows what the options select.
func showRuns(ctx context.Context, o *Options) error {
	switch {
	case o.Stats:
		return showStats(ctx, o)
	case o.Metrics:
		return printMetrics(ctx, o)
	case o.Active:
		return listActive(ctx, o)
	}
	return listRuns(ctx, o.Console)
}
