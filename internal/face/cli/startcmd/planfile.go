package startcmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// readFile reads the plan or the goal in the file or folder of the source, and returns the goal.
// A file not named as a plan is read as one if it looks like one.
func readFile(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, src *goalSource) (goal string, err error) {
	var format foreign.PlanFormat
	var tag string
	if src.format != "" {
		if format, tag, err = foreign.ParseFormat(src.format, foreign.SupportedFormats()); err != nil {
			return "", err
		}
	}
	name := cmp.Or(src.plan, src.file)
	var data []byte
	var s foreign.PlanSource
	if info, err := os.Stat(name); err == nil && info.IsDir() && !src.task {
		s = foreign.NewFolderSource(name)
	} else {
		if data, err = a.ReadInput(name); err != nil {
			return "", err
		}
		s = foreign.NewFileSource(name, data)
	}
	if format == "" && src.plan == "" && !src.task && data != nil && (spec.LooksLikeSpec(string(data)) || inSpecs(name)) {
		text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
		return strings.TrimSpace(text), speccmd.Check(view.QuoteForTerminal(name), data)
	}
	if format == "" && !src.task {
		if format, s, err = foreign.RecogniseFormat(s); err != nil {
			return "", err
		}
	}
	switch looks := strings.TrimSpace(string(data)); {
	case format == "" && src.plan == "":
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
	return importPlan(ctx, a, o, src, s, format, tag)
}

// inSpecs reports whether a file is in the directory of a repository's specs.
func inSpecs(name string) bool {
	file, err := filepath.Abs(name)
	return err == nil && strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), "/"+speccmd.Folder)
}

// importPlan reads a plan of another tool, and prints which parts were not imported.
func importPlan(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, src *goalSource, s foreign.PlanSource, format foreign.PlanFormat,
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
	sayRemarks(a, read.Remarks)
	src.read, o.Plan = &read, &read.Plan
	return read.Plan.Goal, nil
}

// maxRemarks limits the printed lines about a plan.
const maxRemarks = 40

// sayRemarks prints, in short lines, which parts were not imported. The same remark about several
// tasks is printed once.
func sayRemarks(a *console.Console, remarks []foreign.ImportRemark) {
	lines := remarkLines(remarks)
	for _, line := range lines[:min(len(lines), maxRemarks)] {
		a.Say("  %s", view.EscapeForTerminal(line))
	}
	if more := len(lines) - maxRemarks; more > 0 {
		a.Say("  and %d more; nexus plan --json lists them", more)
	}
}

// remarkLines formats remarks.
func remarkLines(remarks []foreign.ImportRemark) []string {
	type same struct {
		kind      foreign.ImportRemarkKind
		what, why string
	}
	where := map[same]int{}
	items := map[same][]string{}
	var order []same
	for i, r := range remarks {
		k := same{r.Kind, r.What, r.Why}
		switch {
		case r.Item == "":
			k.what = fmt.Sprint(r.What, "\x00", i) // printed separately
		case r.Kind == foreign.Done:
			k.what, k.why = "", "left out"
		}
		if items[k] == nil {
			order = append(order, k)
			where[k] = i
		}
		if !slices.Contains(items[k], r.Item) {
			items[k] = append(items[k], r.Item)
		}
	}
	lines := make([]string, 0, len(order))
	for _, k := range order {
		r := remarks[where[k]]
		what, _, _ := strings.Cut(k.what, "\x00")
		line := fmt.Sprintf("%-8s", r.Kind)
		if r.File != "" {
			line += " " + r.File
			if r.Line > 0 {
				line += fmt.Sprintf(":%d", r.Line)
			}
		}
		if of := shortList(items[k]); of != "" {
			line += " " + of + ":"
		} else {
			line += ":"
		}
		switch {
		case what == "":
			line += " " + k.why
		case k.why == "":
			line += " " + what
		default:
			line += " " + what + " (" + k.why + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// shortList names the first of some tasks, and the number of others.
func shortList(items []string) string {
	const most = 4
	if len(items) > most+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
	}
	return strings.Join(items, ", ")
}
