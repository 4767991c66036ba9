// Package generatecmd implements the command "nexus generate".
package generatecmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/rules"
)

// longFile is the number of lines above which tools follow an instruction file badly.
const longFile = 200

// generatedFile is one file in the JSON output of `generate`.
type generatedFile struct {
	Target string `json:"target"`
	File   string `json:"file"`
	State  string `json:"state"`        // current, written, stale (with --check), skipped
	Why    string `json:"why,omitzero"` // why it is skipped
	Diff   string `json:"diff,omitzero"`
}

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Targets []string // names of tools; empty: those whose files were generated before
	All     bool     // for every known tool
	Check   bool     // write nothing, and fail if something is stale
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = generateFiles
	}
	command := c.Command("generate [TARGET...] [--all] [--check] [--json]", "write other tools' instruction files from AGENTS.md and .nexus/rules",
		func(ctx context.Context, args []string) error {
			o.Targets = args
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, -1)
	command.ValidArgs = targetNames()
	command.Flags().BoolVar(&o.Check, "check", false, "write nothing; print the changes, and fail if there are any")
	command.Flags().BoolVar(&o.All, "all", false, "for every known tool")
	c.JSONFlag(command)
	return command
}

// generateFiles writes the instruction files of the targets, or checks them.
func generateFiles(_ context.Context, o *Options) error {
	a := o.Console
	targets, err := targetsNamed(o.Targets, o.All)
	if err != nil {
		return err
	}
	dir, err := a.WorkDir()
	if err != nil {
		return err
	}
	dir = app.WorkTreeRoot(dir)
	files, err := rules.GenerateInstructionFiles(dir, targets)
	if err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "generate instruction files", Cause: err,
			Hint: "Write AGENTS.md, or fix what is wrong with it; nexus rules lists what is read.",
		}
	}
	if len(files) == 0 && !o.Check {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "no instruction file was generated here before",
			Hint: "Name targets: " + strings.Join(targetNames(), ", ") + "; or use --all.",
		}
	}
	list, bad := []generatedFile{}, false
	for _, f := range files {
		one, err := generateFile(dir, f, o.Check)
		if err != nil {
			return err
		}
		bad = bad || one.State == "stale" || one.State == "left alone"
		if n := strings.Count(f.Want, "\n"); n > longFile && f.Why == "" {
			a.Say("%s has %d lines; tools follow files of more than %d lines badly", f.File, n, longFile)
		}
		list = append(list, one)
	}
	if err := a.Answer(list, func(s view.OutputStyle) string { return drawGenerated(s, list, o.Check) }); err != nil || !bad {
		return err
	}
	return console.ExitError(console.CodeFailed)
}

// generateFile writes one file if it is stale, unless check is set.
func generateFile(dir string, f rules.InstructionFile, check bool) (generatedFile, error) {
	one := generatedFile{Target: f.Name, File: f.File, State: "current", Why: f.Why}
	switch {
	case f.Why != "":
		one.State = "left alone"
	case f.IsStale():
		one.State = "stale"
		one.Diff = string(diff.Diff(f.File, []byte(f.Was), f.File, []byte(f.Want)))
		if check {
			break
		}
		if err := f.Write(dir); err != nil {
			return one, &nexus.Error{Code: nexus.CodeStorage, Message: "write " + f.File, Cause: err, Hint: "The file is as it was."}
		}
		one.State = "written"
	}
	return one, nil
}

func targetNames() []string {
	var names []string
	for _, t := range rules.InstructionTargets() {
		names = append(names, t.Name)
	}
	return names
}

// targetsNamed returns the tools with these names; without names, those whose files exist.
func targetsNamed(names []string, all bool) ([]rules.InstructionFileTarget, error) {
	known := rules.InstructionTargets()
	if all {
		return known, nil
	}
	var found []rules.InstructionFileTarget
	for _, name := range names {
		i := slices.IndexFunc(known, func(t rules.InstructionFileTarget) bool { return t.Name == name })
		if i < 0 {
			return nil, app.NotFoundError("target", name, "There are "+strings.Join(targetNames(), ", ")+".")
		}
		found = append(found, known[i])
	}
	return found, nil
}

func drawGenerated(s view.OutputStyle, all []generatedFile, check bool) string {
	if len(all) == 0 {
		return "nothing is generated here\n"
	}
	var b strings.Builder
	for _, g := range all {
		state := s.Good(g.State)
		if g.State == "stale" || g.State == "left alone" {
			state = s.Warn(g.State)
		}
		fmt.Fprintf(&b, "%s %s", state, g.File)
		if g.Why != "" {
			b.WriteString(": " + view.EscapeForTerminal(g.Why))
		}
		b.WriteString("\n")
		if check && g.Diff != "" {
			b.WriteString(console.DrawPatch(s, strings.TrimSuffix(g.Diff, "\n")))
		}
	}
	return b.String()
}
