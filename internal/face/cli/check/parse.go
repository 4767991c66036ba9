package check

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
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
	"github.com/nexus-ai-builder/nexus/internal/stack/read"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

// most limits the input of parse, in bytes.
const most = 256 << 20

// parseFlags are the flags of `parse`.
type parseFlags struct {
	command, root, stderr, shape string
	exit                         int
	exitSet, tests, list         bool
}

// parsedOutput is the JSON output of `parse`.
type parsedOutput struct {
	Format   string                 `json:"format"`
	State    nexus.GateState        `json:"state"`
	Why      string                 `json:"why,omitzero"`
	Findings []nexus.Finding        `json:"findings"`
	Counts   nexus.Counts           `json:"counts"`
	Counted  bool                   `json:"counted"` // the output contains the number of tests
	Flaky    []nexus.FlakyTestCount `json:"flaky,omitempty"`
	Coverage raw.CoverageTotals     `json:"coverage,omitzero"`
}

func parseCommand(a *console.Console) *cobra.Command {
	var f parseFlags
	var c *cobra.Command
	c = a.Command("parse [FORMAT] [FILE]", "parse the output of a build, lint or test tool", func(_ context.Context, args []string) error {
		f.exitSet = c.Flags().Changed("exit")
		if f.list {
			return listFormats(a)
		}
		return parseOutput(a, f, args)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, 2)
	c.Flags().StringVar(&f.command, "command", "", "`COMMAND` that printed the output; helps to detect the format")
	c.Flags().IntVar(&f.exit, "exit", 0, "the command's exit code `N`; -1 if it was killed; unknown if not given")
	console.SetFlagMinimum(c, "exit", -1)
	c.Flags().StringVar(&f.root, "root", "", "`DIR` that the command ran in; paths are printed relative to it; the working directory if not given")
	c.Flags().StringVar(&f.stderr, "stderr", "", "`FILE` with the command's standard error, if separate")
	c.Flags().BoolVar(&f.tests, "tests", false, "the command should run tests: no tests is not a pass")
	c.Flags().BoolVar(&f.list, "list", false, "list the formats")
	c.Flags().StringVar(&f.shape, "format", "json", "print the result as `SHAPE`: text, json, junit, sarif or github")
	a.JSONFlag(c)
	return c
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
	return a.Answer(map[string][]row{"formats": all}, func(s view.Style) string {
		rows := make([][]string, len(all))
		for i, r := range all {
			rows[i] = []string{r.Name, r.About}
		}
		return view.DrawTable(s, []string{"format", "whose output"}, rows)
	})
}

func parseOutput(a *console.Console, f parseFlags, args []string) error {
	shape, err := parseOutputFormat(a, f.shape)
	if err != nil {
		return err
	}
	format, file, err := formatOrFile(args)
	if err != nil {
		return err
	}
	dir := f.root
	if dir == "" {
		dir, err = a.WorkDir()
	} else {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return err
	}
	in := read.ToolOutput{Format: format, Command: f.command, Exit: f.exit, Guess: !f.exitSet, Tests: f.tests, Root: dir, Modules: gosrc.GoModules(os.DirFS(dir)), Find: stack.NewFileFinder(os.DirFS(dir))}
	if in.Stdout, err = readAll(a.In, file); err != nil {
		return err
	}
	if f.stderr != "" {
		if in.Stderr, err = readAll(nil, f.stderr); err != nil {
			return err
		}
	}
	if format == "" {
		in, format = stack.OutputFormats().DetectFormat(in)
	}
	r := stack.ReadOutput(in)
	r.Findings = raw.LimitFindings(r.Findings)
	u := parsedOutput{format, r.State, r.Why, r.Findings, r.Counts, r.Counted, r.Flaky, r.Coverage}
	if u.Findings == nil {
		u.Findings = []nexus.Finding{}
	}
	for i := range u.Findings {
		u.Findings[i].Severity = cmp.Or(u.Findings[i].Severity, nexus.Major)
	}
	e := nexus.Evidence{Gate: format, Command: f.command, State: r.State, Why: r.Why, Counts: r.Counts, Findings: r.Findings, Exit: f.exit}
	return writeVerdict(a, shape, verdict.VerdictOf([]nexus.Evidence{e}), u)
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
	if _, ok := stack.OutputFormats().Find(args[0]); ok {
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
