// Package initcmd implements the command "nexus init".
package initcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/doctor"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Force   bool // existing files are overwritten
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = initProject
	}
	command := c.Command("init [--force] [--json]", "write nexus.toml and .nexus/ for this project", func(ctx context.Context, _ []string) error {
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Flags().BoolVar(&o.Force, "force", false, "overwrite existing files")
	command.Flags().BoolP("yes", "y", false, "ask nothing; accepted for scripts, as init never asks")
	c.JSONFlag(command)
	return command
}

// initProject writes the files for the gates that it detects.
func initProject(ctx context.Context, o *Options) error {
	a := o.Console
	dir, err := a.WorkDir()
	if err != nil {
		return err
	}
	dir = app.WorkTreeRoot(dir)
	gates, err := detect.DetectGates(dir, config.GateSettings{})
	if err != nil {
		return err
	}
	gates, note := withoutUnusableLinter(ctx, dir, gates)
	files := []fileToWrite{
		{"nexus.toml", starterConfig(gates, note)},
		{".nexus/nexus.schema.json", string(config.SettingsSchema()) + "\n"},
		{".nexus/README.md", nexusDir},
	}
	if err := writeFiles(dir, files, o.Force); err != nil {
		return err
	}
	if note != "" {
		a.Say("%s", note)
	}
	offerAgent(a)
	return a.Answer(newInitResult(dir, files, gates), func(s view.OutputStyle) string { return drawStart(s, files, gates) })
}

// offerAgent prints how an agent program can be used here, if no model is configured and one is
// installed and logged in.
func offerAgent(a *console.Console) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return // nexus config reports the problem
	}
	open, err := a.UntrustedAgents(settings)
	if err != nil || len(open) == 0 {
		return
	}
	name := view.EscapeForTerminal(open[0].Name)
	a.Say("No model is set up, and %s is logged in: it can do the work. Read what it may do with nexus trust agent %s.", name, name)
}

// withoutUnusableLinter removes the gate whose flags the installed golangci-lint would refuse, and returns a
// note about it.
func withoutUnusableLinter(ctx context.Context, dir string, gates []gate.QualityGate) (left []gate.QualityGate, note string) {
	box, err := sandbox.FindSandbox(ctx, sandbox.ModeAuto)
	if err != nil {
		box, err = sandbox.FindSandbox(ctx, sandbox.ModeOff) // it only prints its version
	}
	if err != nil {
		return gates, ""
	}
	l := doctor.FindLinter(ctx, box, dir, config.GateSettings{})
	if l.Fits() {
		return gates, ""
	}
	return slices.DeleteFunc(gates, func(g gate.QualityGate) bool { return g.Args[0] == "golangci-lint" }), "The gate golangci does not run here: " + l.UnfitReason() + "."
}

// fileToWrite is a file to be written, by its slash-separated name.
type fileToWrite struct{ name, text string }

// writeFiles writes all files, or none if one of them exists.
func writeFiles(dir string, files []fileToWrite, force bool) error {
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.name))); !errors.Is(err, fs.ErrNotExist) && !force {
			return &nexus.Error{Code: nexus.CodeInvalidInput, Message: f.name + " already exists", Hint: "Overwrite it with --force."}
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return &nexus.Error{Code: nexus.CodeStorage, Message: "open " + dir, Cause: err, Hint: "Run it in a writable directory."}
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		if err := checkPlainFile(root, f.name); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := replaceFile(root, f); err != nil {
			return &nexus.Error{Code: nexus.CodeStorage, Message: "write " + f.name, Cause: err, Hint: "Run it in a writable directory."}
		}
	}
	return nil
}

// checkPlainFile refuses a name that leads through a link, or to something that is not a regular file: the
// repository's author controls it, and it may point to files of the user.
func checkPlainFile(root *os.Root, name string) error {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := root.Lstat(at)
		if err != nil || at != name && info.IsDir() || at == name && info.Mode().IsRegular() {
			continue
		}
		what := "not a plain file"
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			what = "a link"
		case at != name:
			what = "no directory"
		}
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: at + " is " + what + ", and init does not write through it",
			Hint: "Check it, and remove it if it is not needed.",
		}
	}
	return nil
}

// replaceFile writes a file, and replaces an existing one.
func replaceFile(root *os.Root, f fileToWrite) error {
	if err := root.MkdirAll(path.Dir(f.name), 0o755); err != nil {
		return err
	}
	if err := root.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w, err := root.OpenFile(f.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = w.WriteString(f.text)
	return errors.Join(err, w.Close())
}

// initResult is the JSON output of `init`.
type initResult struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
	Gates []string `json:"gates"` // detected
}

func newInitResult(dir string, files []fileToWrite, gates []gate.QualityGate) initResult {
	s := initResult{Dir: dir, Gates: []string{}}
	for _, f := range files {
		s.Files = append(s.Files, f.name)
	}
	for _, g := range gates {
		s.Gates = append(s.Gates, g.Name)
	}
	return s
}

func drawStart(s view.OutputStyle, files []fileToWrite, gates []gate.QualityGate) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "wrote %s\n", f.name)
	}
	if len(gates) == 0 {
		b.WriteString(s.Warn("no gate was detected: set what builds and tests this project in nexus.toml") + "\n")
	}
	for _, g := range gates {
		fmt.Fprintf(&b, "gate  %s: %s\n", g.Name, strings.Join(g.Args, " "))
	}
	b.WriteString("next  nexus doctor\n")
	return b.String()
}

// starterConfig returns a nexus.toml that documents the defaults.
func starterConfig(gates []gate.QualityGate, note string) string {
	var b strings.Builder
	b.WriteString("#:schema .nexus/nexus.schema.json\n\n# Settings of this project; docs/config.md lists every key. Lines that\n" +
		"# start with # show the defaults. Keys, endpoints and the sandbox are set by each user.\n\n[gates]\n")
	if len(gates) == 0 {
		b.WriteString("# No gate was detected. Set what checks the work, for example:\n# build = \"make\"\n# test = \"make test\"\n")
	}
	for _, g := range gates {
		fmt.Fprintf(&b, "# %s = %q\n", g.Name, strings.Join(g.Args, " "))
	}
	if note != "" {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	d := config.DefaultConfig()
	fmt.Fprintf(&b, "\n[budget]\n# run = %g  # dollars\n\n[limits]\n# parallel = %d\n", d.Limits.RunMoney.Dollars(), d.Limits.Parallel)
	return b.String()
}

const nexusDir = `What Nexus reads in this project. Commit it.

- nexus.schema.json: the schema of nexus.toml, for editors.
- roles/coder.md and so on: replaces the prompt of a role; the built-in roles show the form.
`
