package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// checkGates checks the gates of the detected stacks, and whether their programs exist inside the
// sandbox.
func checkGates(ctx context.Context, box *sandbox.Box, dir string, c config.GateSettings, q Options) []Check {
	gates, err := detect.DetectGates(dir, c)
	if err = cmp.Or(detect.CheckPackages(dir, c), err); err != nil {
		return []Check{checkOf("gates", "", err)}
	}
	// The secret scan needs no program.
	gates = slices.DeleteFunc(gates, func(g gate.QualityGate) bool { return len(g.Args) == 0 })
	if len(gates) == 0 {
		return slices.Concat([]Check{{
			Name: "gates", State: Notice, Detail: "no gate is set or detected: a task without a check of its own waits for you",
			Hint: "Set what builds and tests this project in nexus.toml, under [gates].",
		}}, checkTests(nil, nil, c, q), checkDisabledGates(dir, c))
	}
	var names, programs []string
	for _, g := range gates {
		names = append(names, g.Name)
		if p := g.ProgramName(); p != "" && !slices.Contains(programs, p) {
			programs = append(programs, p)
		}
	}
	gone, err := gate.MissingPrograms(ctx, box, programs)
	if err != nil {
		return []Check{checkOf("programs", "", err)}
	}
	gone = slices.DeleteFunc(gone, func(p string) bool { return dependencies.HasProgram(dir, p) })
	all := []Check{{Name: "gates", State: Fine, Detail: strings.Join(names, ", ")}}
	if q.Run {
		all = nil
	}
	all = append(all, checkDisabledGates(dir, c)...)
	judged := false
	for _, g := range gates {
		p := g.ProgramName()
		if !slices.Contains(gone, p) {
			judged = true
			continue
		}
		all = append(all, Check{
			Name: "programs", State: Notice, Detail: fmt.Sprintf("%s is not found in the sandbox: the gate %s (%s) cannot run", p, g.Name, view.EscapeForTerminal(g.Command())),
			Hint: "Install it, or turn the gate off: gates." + g.Name + " = false.",
		})
	}
	if !judged {
		all = append(all, checkOf("gates", "", &nexus.Error{
			Code: nexus.CodeNotReady, Message: "no gate can run: " + strings.Join(gone, ", ") + " cannot be found in the sandbox",
			Hint: "Install the tools that build and test the project, or set other commands in nexus.toml.",
		}))
	}
	return append(all, checkTests(gates, gone, c, q)...)
}

// checkTests reports that no gate runs tests. Only a person may start a run without tests. The
// user has decided already if they turned the gate off, or gave a test command of their own, for
// the project or for each task.
func checkTests(gates []gate.QualityGate, gone []string, c config.GateSettings, q Options) []Check {
	line, set := c.Commands["test"]
	if set && line == "" || q.Shown {
		return nil
	}
	var lacks []gate.QualityGate
	for _, g := range gates {
		_, own := c.Commands[g.Name]
		switch tests := g.Tests || own && !slices.Contains([]string{"build", "type", "lint", "format"}, g.Name); {
		case tests && slices.Contains(gone, g.ProgramName()):
			lacks = append(lacks, g)
		case tests:
			return nil
		}
	}
	k := Check{
		Name: "tests", State: Blocker, ask: "Start without tests?",
		Detail: "no gate runs tests, so broken code would go unnoticed",
		Hint:   `Set gates.test to the command that runs the tests in nexus.toml, or gates.test = false to work without tests.`,
	}
	if len(lacks) > 0 {
		g := lacks[0]
		k.Detail = fmt.Sprintf("no gate can run tests: %s is not found in the sandbox (gate %s)", g.ProgramName(), g.Name)
		k.Hint = fmt.Sprintf("Install %s, or set gates.test in nexus.toml: to another command, or to false to work without tests.", g.ProgramName())
		if g.Else != "" {
			k.Hint = fmt.Sprintf("Install %s, or set gates.test = %q in nexus.toml, which runs the same tests.", g.ProgramName(), g.Else)
		}
	}
	k.err = &nexus.Error{Code: nexus.CodeNotReady, Message: k.Detail, Hint: k.Hint}
	return []Check{k}
}

// checkDisabledGates reports the detected gates that the configuration turns off: their problems will
// not be found.
func checkDisabledGates(dir string, c config.GateSettings) []Check {
	off, err := detect.DisabledGates(dir, c)
	if err != nil || len(off) == 0 {
		return nil // an earlier check reports errors of the gates
	}
	return []Check{{
		Name: "gates", State: Notice, Detail: "the configuration turns off " + strings.Join(off, ", "), chosen: true,
		Hint: "Take gates." + off[0] + " out of the configuration to turn it on. nexus config --explain shows where it is set.",
	}}
}
