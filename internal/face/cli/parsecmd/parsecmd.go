// Package parsecmd implements the command "nexus parse".
package parsecmd

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/verdictformat"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

// most limits the input of parse, in bytes.
const most = 256 << 20

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Format  string // of the output; empty: it is detected
	File    string // with the output; "-" is standard input
	Stderr  string // file with the command's standard error; empty: it is in the output
	Command string // that printed the output; empty: unknown
	Exit    int    // exit code of the command, if ExitKnown
	Root    string // directory that the command ran in; empty: the working directory

	ExitKnown bool
	Tests     bool   // the command should run tests
	List      bool   // list the formats instead
	Shape     string // format of the result: text, json, junit, sarif or github
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = parse
	}
	var command *cobra.Command
	command = c.Command("parse [FORMAT] [FILE]", "parse the output of a build, lint or test tool", func(ctx context.Context, args []string) (err error) {
		o.ExitKnown = command.Flags().Changed("exit")
		if o.Shape, err = verdictformat.Parse(c, o.Shape); err != nil {
			return err
		}
		if o.Format, o.File, err = formatOrFile(args); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, 2)
	f := command.Flags()
	f.StringVar(&o.Command, "command", "", "`COMMAND` that printed the output; helps to detect the format")
	f.IntVar(&o.Exit, "exit", 0, "the command's exit code `N`; -1 if it was killed; unknown if not given")
	console.SetFlagMinimum(command, "exit", -1)
	f.StringVar(&o.Root, "root", "", "`DIR` that the command ran in; paths are printed relative to it; the working directory if not given")
	f.StringVar(&o.Stderr, "stderr", "", "`FILE` with the command's standard error, if separate")
	f.BoolVar(&o.Tests, "tests", false, "the command should run tests: no tests is not a pass")
	f.BoolVar(&o.List, "list", false, "list the formats")
	f.StringVar(&o.Shape, "format", "json", "print the result as `SHAPE`: text, json, junit, sarif or github")
	c.JSONFlag(command)
	return command
}

// parse prints what the output says, or the list of formats.
func parse(_ context.Context, o *Options) error {
	if o.List {
		return listFormats(o.Console)
	}
	return parseOutput(o)
}

// parsedOutput is the JSON output of `parse`.
type parsedOutput struct {
	Format   string                    `json:"format"`
	State    nexus.GateState           `json:"state"`
	Why      string                    `json:"why,omitzero"`
	Findings []nexus.Finding           `json:"findings"`
	Counts   nexus.TestCounts          `json:"counts"`
	Counted  bool                      `json:"counted"` // the output contains the number of tests
	Flaky    []nexus.FlakyTestCount    `json:"flaky,omitempty"`
	Coverage parserbase.CoverageTotals `json:"coverage,omitzero"`
}

func listFormats(a *console.Console) error {
	type row struct {
		Name  string `json:"name"`
		About string `json:"about"`
		Tests bool   `json:"tests"`
	}
	var all []row
	for _, f := range stack.OutputFormats() {
		all = append(all, row{f.Name, f.About, f.Tests})
	}
	return a.Answer(map[string][]row{"formats": all}, func(s view.OutputStyle) string {
		rows := make([][]string, len(all))
		for i, r := range all {
			rows[i] = []string{r.Name, r.About}
		}
		return view.DrawTable(s, []string{"format", "whose output"}, rows)
	})
}

func parseOutput(o *Options) (err error) {
	a, format, dir := o.Console, o.Format, o.Root
	if dir == "" {
		dir, err = a.WorkDir()
	} else {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return err
	}
	in := outputparser.ToolOutput{Format: format, Command: o.Command, Exit: o.Exit, Guess: !o.ExitKnown, Tests: o.Tests, Root: dir, Modules: gosource.GoModules(os.DirFS(dir)), Find: stack.NewFileFinder(os.DirFS(dir))}
	if in.Stdout, err = readAll(a.In, o.File); err != nil {
		return err
	}
	if o.Stderr != "" {
		if in.Stderr, err = readAll(nil, o.Stderr); err != nil {
			return err
		}
	}
	if format == "" {
		in, format = stack.OutputFormats().DetectFormat(in)
	}
	r := stack.ReadOutput(in)
	r.Findings = parserbase.LimitFindings(r.Findings)
	u := parsedOutput{format, r.State, r.Why, r.Findings, r.Counts, r.Counted, r.Flaky, r.Coverage}
	if u.Findings == nil {
		u.Findings = []nexus.Finding{}
	}
	for i := range u.Findings {
		u.Findings[i].Severity = cmp.Or(u.Findings[i].Severity, nexus.Major)
	}
	e := nexus.GateEvidence{Gate: format, Command: o.Command, State: r.State, Why: r.Why, Counts: r.Counts, Findings: r.Findings, Exit: o.Exit}
	return verdictformat.Write(a, o.Shape, verdict.CombineGateResults([]nexus.GateEvidence{e}), u)
}

// formatOrFile decides whether an argument is a format or a file.
func formatOrFile(args []string) (format, file string, err error) {
	switch {
	case len(args) == 0:
		return "", "-", nil
	case len(args) == 1 && args[0] == "-":
		return "", "-", nil
	case args[0] == "auto":
		return "", cmp.Or(strings.Join(args[1:], ""), "-"), nil
	}
	if _, ok := stack.OutputFormats().FindFormat(args[0]); ok {
		return args[0], cmp.Or(strings.Join(args[1:], ""), "-"), nil
	}
	if _, err := os.Stat(args[0]); err == nil && len(args) == 1 {
		return "", args[0], nil
	}
	return "", "", app.NotFoundError("format", args[0], "See nexus parse --list, or leave it out to detect the format.")
}

func readAll(in io.Reader, file string) ([]byte, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, &nexus.Error{
				Code: nexus.CodeNotFound, Message: "read the output", Cause: err,
				Hint: "Name a file that exists, or - for standard input.",
			}
		}
		defer func() { _ = f.Close() }() // read-only
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return nil, &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the output", Cause: err, Hint: "Give a readable file."}
	}
	return data, nil
}
