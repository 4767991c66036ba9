// Package rulescmd implements the command "nexus rules".
package rulescmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/rules"
)

// rulesAnswer is the JSON output of `rules`.
type rulesAnswer struct {
	Paths   []string                       `json:"paths"`
	Tokens  int64                          `json:"tokens"` // in agents' prompts, estimated
	Rules   []appliedRule                  `json:"rules"`
	Invoked []namedRule                    `json:"invoked"`
	Refused []rules.SkippedInstructionFile `json:"refused"`
}

// appliedRule is a file whose rules apply.
type appliedRule struct {
	File   string           `json:"file"`
	Own    bool             `json:"own,omitempty"` // it is the user's
	Why    rules.RuleReason `json:"why"`
	By     string           `json:"by,omitempty"` // the directory, the pattern, the importing file, or the words
	Tokens int64            `json:"tokens"`
	Of     int64            `json:"of,omitempty"` // its full size in tokens, if it was cut
}

// namedRule is a rule file that is used by name.
type namedRule struct {
	Kind        rules.SkillType  `json:"kind"`
	Name        string           `json:"name"`
	File        string           `json:"file"`
	Description string           `json:"description,omitempty"`
	State       trust.TrustState `json:"state"`
}

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Paths   []string // whose rules are listed, beside those for all; as typed
	Task    string   // text of a task; its skills are listed too
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = listRules
	}
	command := c.Command("rules [PATH...] [--task TEXT] [--json]", "list the instructions that agents get here, and why they apply",
		func(ctx context.Context, args []string) error {
			o.Paths = args
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, -1)
	command.Flags().StringVar(&o.Task, "task", "", "also list the skills that a task with this `TEXT` would get")
	c.JSONFlag(command)
	return command
}

// listRules prints the rules that apply to the paths.
func listRules(_ context.Context, o *Options) error {
	a := o.Console
	dir, err := a.WorkDir()
	if err != nil {
		return err
	}
	a.WarnOfUnreadableProject()
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	top := app.WorkTreeRoot(dir)
	paths, err := repoRelativePaths(top, dir, o.Paths)
	if err != nil {
		return err
	}
	set, err := a.AgentRules(top, settings)
	if err != nil {
		return err
	}
	v := newRulesAnswer(set, paths, o.Task)
	return a.Answer(v, v.draw)
}

// repoRelativePaths returns paths relative to the root of the repository.
func repoRelativePaths(top, dir string, args []string) ([]string, error) {
	paths := []string{}
	for _, arg := range args {
		full := arg
		if !filepath.IsAbs(arg) {
			full = filepath.Join(dir, arg)
		}
		rel, err := filepath.Rel(top, full)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%q lies outside of the repository", arg),
				Hint: "Give a path of the repository. It need not exist yet.",
			}
		}
		paths = append(paths, filepath.ToSlash(rel))
	}
	return paths, nil
}

func newRulesAnswer(set *rules.RuleSet, paths []string, task string) rulesAnswer {
	v := rulesAnswer{Paths: paths, Rules: []appliedRule{}, Invoked: []namedRule{}, Refused: []rules.SkippedInstructionFile{}}
	for _, a := range []rules.ApplicableRules{set.AlwaysApplicable(), set.ApplicableTo(paths, task)} {
		for _, r := range a.Rules {
			one := appliedRule{File: r.File, Own: r.Own, Why: r.Why, By: r.By}
			told, whole := r.EstimateTokens()
			if one.Tokens = told; whole > told {
				one.Of = whole
			}
			v.Tokens += told
			v.Rules = append(v.Rules, one)
		}
		v.Refused = append(v.Refused, a.Refused...)
	}
	for _, k := range set.AllSkills() {
		v.Invoked = append(v.Invoked, namedRule{k.Kind, k.Name, k.File, k.Description, k.State})
	}
	return v
}

// draw draws a table of the files, and the other entries.
func (v rulesAnswer) draw(s view.OutputStyle) string {
	if len(v.Rules)+len(v.Invoked)+len(v.Refused) == 0 {
		return "there are no instructions for agents here; AGENTS.md would be read\n"
	}
	var b strings.Builder
	var rows [][]string
	for _, r := range v.Rules {
		cut := ""
		if r.Of > 0 {
			cut = s.Warn("cut, of " + view.FormatNumber(r.Of))
		}
		why := string(r.Why)
		if r.By != "" {
			why += " " + r.By
		}
		rows = append(rows, []string{view.EscapeForTerminal(r.File), view.EscapeForTerminal(why), view.FormatNumber(r.Tokens), cut})
	}
	if len(rows) > 0 {
		b.WriteString(view.DrawTable(s, []string{"file", "why", "tokens", "cut"}, rows))
	}
	part := func(rows [][]string, head ...string) {
		if len(rows) == 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(view.DrawTable(s, head, rows))
	}
	rows = nil
	for _, k := range v.Invoked {
		state := string(k.State)
		if k.State != trust.StateTrusted {
			state = s.Warn("not trusted: nexus trust")
		}
		rows = append(rows, []string{string(k.Kind), view.EscapeForTerminal(k.Name), view.EscapeForTerminal(k.File), state, view.EscapeForTerminal(k.Description)})
	}
	part(rows, "kind", "name", "file", "state", "description")
	rows = nil
	for _, r := range v.Refused {
		word := s.Bad("refused")
		if r.Told {
			word = "told once"
		}
		rows = append(rows, []string{word, view.EscapeForTerminal(r.File), view.EscapeForTerminal(r.Why)})
	}
	part(rows, "left out", "file", "why")
	return b.String()
}
