package goalsource

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// readFile reads the plan or the goal in the file or folder of the source, and returns the goal.
// A file not named as a plan is read as one if it looks like one.
func (src *Source) readFile(ctx context.Context, a *console.Console, o *progress.RunCommandOptions) (goal string, err error) {
	var format foreign.PlanFormat
	var tag string
	if src.Format != "" {
		if format, tag, err = foreign.ParseFormat(src.Format, foreign.SupportedFormats()); err != nil {
			return "", err
		}
	}
	name := cmp.Or(src.Plan, src.File)
	var data []byte
	var s foreign.PlanSource
	if info, err := os.Stat(name); err == nil && info.IsDir() && !src.Task {
		s = foreign.NewFolderSource(name)
	} else {
		if data, err = a.ReadInput(name); err != nil {
			return "", err
		}
		s = foreign.NewFileSource(name, data)
	}
	if format == "" && src.Plan == "" && !src.Task && data != nil && (spec.LooksLikeSpec(string(data)) || inSpecs(name)) {
		text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
		return strings.TrimSpace(text), speccmd.Check(view.QuoteForTerminal(name), data)
	}
	if format == "" && !src.Task {
		if format, s, err = foreign.RecogniseFormat(s); err != nil {
			return "", err
		}
	}
	switch looks := strings.TrimSpace(string(data)); {
	case format == "" && src.Plan == "":
		return looks, nil
	case format == "" && looks != "" && !strings.ContainsAny(looks[:1], "{["):
		a.Say("%s is in no format of a plan that Nexus knows: the planner reads it as a goal", view.QuoteForTerminal(name))
		return looks, nil
	case format == "" || format == foreign.Nexus:
		proposed, err := planfile.Load(a, data)
		proposed, _, err = divideOversizedTasks(ctx, a, o, proposed, err)
		o.Plan = &proposed
		return proposed.Goal, err
	}
	return src.importPlan(ctx, a, o, s, format, tag)
}

// inSpecs reports whether a file is in the directory of a repository's specs.
func inSpecs(name string) bool {
	file, err := filepath.Abs(name)
	return err == nil && strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), "/"+speccmd.Folder)
}

// importPlan reads a plan of another tool, and prints which parts were not imported.
func (src *Source) importPlan(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, s foreign.PlanSource, format foreign.PlanFormat,
	tag string,
) (goal string, err error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return "", err
	}
	read, err := foreign.ReadPlan(ctx, s, format, tag, settings.Limits.Size)
	if err != nil {
		return "", err
	}
	smaller, divisions, err := divideOversizedTasks(ctx, a, o, read.Plan, read.Check(settings.Limits.Size))
	if err != nil {
		return "", err
	}
	read.Plan = smaller
	for _, d := range divisions {
		read.Remarks = append(read.Remarks, foreign.ImportRemark{Kind: foreign.Changed, Item: string(d.Task), What: "it is divided into " + nexus.JoinWords(d.Parts), Why: d.Why})
	}
	a.Say("%s is read as a plan of the format %s: %s", view.EscapeForTerminal(read.File), read.Format, view.CountWithNoun(len(read.Plan.Tasks), "task"))
	planview.SayRemarks(a, read.Remarks)
	src.Imported, o.Plan = &read, &read.Plan
	return read.Plan.Goal, nil
}
