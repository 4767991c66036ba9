// Package speccmd implements the command "nexus spec": it writes a spec, or shows the progress of the
// roadmap. It also traces the results of requirements.
package speccmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Folder is the directory of a repository's specs, relative to its root.
const Folder = ".nexus/specs"

// Options are the options of nexus spec.
type Options struct {
	Console  *console.Console
	Goal     string // with Resume: the name of a run, by default the last one that writes a spec
	File     string // the goal is read from it
	Name     string // of the spec; empty: the first words of the goal
	Depth    spec.SpecDepth
	Research bool // a researcher reports first
	Force    bool // replace a spec of the same name
	Resume   bool // continue a run, or write its file again

	Roadmap   bool   // show the roadmap instead of writing a spec
	Milestone string // of the roadmap; empty: list all
	Tag       bool   // tag the milestone, if it is reached
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = runSpec
	}
	const use = "spec GOAL | -f FILE | --resume [RUN] | --roadmap [MILESTONE] [flags]"
	command := c.Command(use, "write a spec of a goal, to edit and to plan from; or show the roadmap", func(ctx context.Context, args []string) error {
		text := strings.TrimSpace(strings.Join(args, " "))
		if o.Roadmap {
			o.Milestone = text
		} else {
			o.Goal = text
		}
		if err := o.check(); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld,
		console.CodeInterrupted)
	command.Args = console.ArgCount(0, -1)
	f := command.Flags()
	f.StringVarP(&o.File, "file", "f", "", "read the goal from `FILE`")
	f.StringVar((*string)(&o.Depth), "depth", "",
		"`DEPTH` of the spec, instead of one chosen by the goal: quick (no spec), standard, deep (with a critique)")
	f.StringVar(&o.Name, "name", "", "`NAME` of the spec; the first words of the goal if not given")
	f.BoolVar(&o.Research, "research", false, "let a researcher report on domain, stack and pitfalls first")
	f.BoolVar(&o.Resume, "resume", false, "continue RUN, by default the last one that writes a spec, or write its file again")
	f.BoolVar(&o.Force, "force", false, "replace a spec of the same name")
	f.BoolVar(&o.Roadmap, "roadmap", false, "list the milestones of "+spec.RoadmapFile+"; or run the checks of MILESTONE and list what it lacks")
	f.BoolVar(&o.Tag, "tag", false, "with --roadmap MILESTONE, tag the commit if the milestone is reached")
	c.JSONFlag(command)
	c.SettingFlags(command, "model", "budget", "sandbox", "target")
	for _, flag := range []string{"file", "depth", "name", "research", "resume", "force"} {
		command.MarkFlagsMutuallyExclusive("roadmap", flag)
	}
	return command
}

// check returns an error if the options contradict each other.
func (o *Options) check() error {
	known := []spec.SpecDepth{"", spec.Quick, spec.Standard, spec.Deep}
	switch {
	case o.Tag && o.Milestone == "":
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--tag was given without a milestone", Hint: "Name it: nexus spec --roadmap MILESTONE --tag.",
		}
	case o.Resume && (o.File != "" || o.Depth != "" || o.Research):
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--resume continues with the goal, depth and research of its run",
			Hint: "Leave out --file, --depth and --research, or --resume.",
		}
	case o.File != "" && o.Goal != "":
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "both a goal and --file were given", Hint: "Give one of them."}
	case !slices.Contains(known, o.Depth):
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "unknown depth " + view.QuoteForTerminal(string(o.Depth)), Hint: "Use quick, standard or deep."}
	}
	return nil
}

// runSpec does what the options say.
func runSpec(ctx context.Context, o *Options) error {
	if o.Roadmap {
		return showRoadmap(ctx, o)
	}
	w, err := writeSpec(ctx, o)
	if err != nil {
		return err
	}
	return o.Console.Answer(w, func(s view.OutputStyle) string { return drawWritten(s, w) })
}

// maxProblems limits the reported problems of a spec.
const maxProblems = 40

// Check returns the problems in the text of a spec, one per line.
func Check(name string, text []byte) error {
	_, problems := spec.ReadSpec(text)
	return problemError("the spec "+name, "Correct these lines; docs/plan-and-approve.md shows a spec.", problems)
}

// problemError returns an error with the problems of a file, one per line; nil if there are none.
func problemError(what, hint string, problems []spec.TextProblem) error {
	if len(problems) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s cannot be used", what)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		fmt.Fprintf(&b, "\n- %s", p)
	}
	if more := len(problems) - maxProblems; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: b.String(), Hint: hint}
}
