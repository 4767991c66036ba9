package stack

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

// splitScripts splits the scripts of a package that run several tools, if they can be parsed. Each
// tool that only checks becomes a gate of its own and runs once, without the options that let
// it change files. Checks in the package's scripts have precedence over those guessed from
// configuration files. Scripts that only a shell understands stay unchanged.
func splitScripts(s Stack, p packageInspector, found []PackageGateCommand, _ func(string) bool) []PackageGateCommand {
	t := &packageScriptSplitter{s: s, p: p, scripts: p.npmManifest().Scripts, seen: map[string]bool{}}
	t.addFormatGates(found)
	for _, f := range found {
		if t.splitScript(f) {
			continue
		}
		t.left = append(t.left, f)
	}
	return t.splitCommands()
}

// packageScriptSplitter holds the state of splitting a package's scripts.
type packageScriptSplitter struct {
	s       Stack
	p       packageInspector
	scripts map[string]string
	seen    map[string]bool      // commands that have a gate
	own     []PackageGateCommand // gates made of parts of scripts
	left    []PackageGateCommand // the other gates
}

// splitCommands returns the parts, and of the others those that no part replaces: a command that the
// project runs itself replaces a guess.
func (t *packageScriptSplitter) splitCommands() []PackageGateCommand {
	stands := map[string]bool{}
	for _, f := range t.own {
		stands[f.Gate] = true
	}
	t.left = slices.DeleteFunc(t.left, func(f PackageGateCommand) bool { return stands[f.Gate] && t.scriptOf(f) == "" })
	all := append(t.left, t.own...)
	steps := []string{"build", "type", "lint", "format", "test", "e2e"}
	slices.SortStableFunc(all, func(a, b PackageGateCommand) int { return slices.Index(steps, a.Gate) - slices.Index(steps, b.Gate) })
	return all
}

// scriptOf returns the script that a gate runs, "" for none.
func (t *packageScriptSplitter) scriptOf(f PackageGateCommand) string {
	run := t.s.expandRunPlaceholder(t.p, []string{"{script}"})
	if len(f.Args) == len(run)+1 && slices.Equal(f.Args[:len(run)], run) {
		return f.Args[len(run)]
	}
	return ""
}

// splitScript makes gates of the parts of a script, and reports whether they replace it.
func (t *packageScriptSplitter) splitScript(f PackageGateCommand) bool {
	name := t.scriptOf(f)
	if name == "" || f.Gate == "build" {
		return false
	}
	calls, ok := scriptcommands.ExpandScript(t.scripts, name)
	if !ok {
		return false
	}
	calls = slices.DeleteFunc(calls, func(c scriptcommands.ScriptCommand) bool { return scriptcommands.InstallsDependencies(c.Words) })
	kinds := map[string]bool{}
	var rest []scriptcommands.ScriptCommand
	writes := false
	for _, c := range calls {
		gate, _, wrote := scriptcommands.CheckOnlyForm(c)
		if gate == "" {
			rest = append(rest, c)
			continue
		}
		writes = writes || wrote
		kinds[gate+" "+c.Words[0]] = true
	}
	simple := len(kinds) == 1 && len(rest) == 0 && !writes && f.Gate != "test"
	if len(kinds) == 0 || simple || len(rest) > 0 && f.Gate != "test" && !writes {
		for _, c := range calls {
			t.seen[commandKey(c)] = true
		}
		return false
	}
	for _, c := range calls {
		t.addCheckGate(c)
	}
	if len(rest) > 0 {
		t.addRemainingGates(f, rest)
	}
	return true
}

// commandKey returns a key that identifies a command.
func commandKey(c scriptcommands.ScriptCommand) string {
	_, words, _ := scriptcommands.CheckOnlyForm(c)
	if words == nil {
		words = c.Words
	}
	return strings.Join(append(slices.Clone(c.Env), words...), "\x00")
}

// addCheckGate adds a gate for a command that only checks, unless there is one.
func (t *packageScriptSplitter) addCheckGate(c scriptcommands.ScriptCommand) {
	gate, words, wrote := scriptcommands.CheckOnlyForm(c)
	if gate == "" || t.seen[commandKey(c)] {
		return
	}
	t.seen[commandKey(c)] = true
	text := c.Text
	if wrote {
		text = quoteLine(c.Env, words)
	}
	f := PackageGateCommand{Stack: t.s.Name, Dir: t.p.dir, Part: PartialTestCommand{}, PackageCheckCommand: PackageCheckCommand{Gate: gate, Args: t.shellWithInstalledPrograms(text), Format: "exit"}}
	if slices.ContainsFunc(t.own, func(o PackageGateCommand) bool { return o.Gate == gate }) {
		f.Piece = words[0]
	}
	f.Fix = t.fixersOf(words[0])
	t.own = append(t.own, f)
}

// fixersOf returns the commands that fix the findings of a tool.
func (t *packageScriptSplitter) fixersOf(tool string) []FixCommand {
	var all []FixCommand
	switch tool {
	case "eslint":
		all = []FixCommand{eslintFixer("")}
	case "biome":
		all = []FixCommand{biomeFixer("")}
	case "prettier":
		all = []FixCommand{prettierFix()}
	}
	for i := range all {
		all[i].Args = t.s.expandRunPlaceholder(t.p, all[i].Args)
	}
	return all
}

// addRemainingGates adds gates for the other commands: one per test runner if there is nothing else among
// them, or one for all.
func (t *packageScriptSplitter) addRemainingGates(f PackageGateCommand, calls []scriptcommands.ScriptCommand) {
	parts := [][]scriptcommands.ScriptCommand{calls}
	if !slices.ContainsFunc(calls, func(c scriptcommands.ScriptCommand) bool { return !isTestRunner(c) }) {
		parts = nil
		for _, c := range calls {
			parts = append(parts, []scriptcommands.ScriptCommand{c})
		}
	}
	for i, part := range parts {
		var texts []string
		for _, c := range part {
			texts = append(texts, c.Text)
		}
		g := f
		g.Args, g.Part, g.Lone, g.Hold, g.Goes = t.shellWithInstalledPrograms(strings.Join(texts, " && ")), PartialTestCommand{}, SingleTestCommand{}, OpenResourceTestCommand{}, CoverageCommand{}
		if len(part) == 1 && len(part[0].Env) == 0 {
			g = t.addRunnerDetails(g, part[0])
		}
		if i > 0 {
			g.Piece = part[0].Script
			if g.Piece == t.scriptOf(f) || strings.HasPrefix(g.Piece, "pre") {
				g.Piece = part[0].Words[0]
			}
		}
		t.own = append(t.own, g)
	}
}

// addRunnerDetails adds the properties of a runner if it is the only one.
func (t *packageScriptSplitter) addRunnerDetails(g PackageGateCommand, c scriptcommands.ScriptCommand) PackageGateCommand {
	p := t.p
	p.scripts = map[string]string{"test": strings.Join(c.Words, " ")}
	step := PackageCheckCommand{Related: scriptPartialRuns(), Alone: scriptSingleTests(), Held: scriptHandleChecks(), Cover: scriptCoverageCommands()}
	prefix := t.s.expandRunPlaceholder(t.p, []string{"{script}", "test", "--"})
	own := append(t.s.expandRunPlaceholder(t.p, []string{"{run}"}), c.Words...)
	put := func(args []string) []string {
		if len(args) > len(prefix) && slices.Equal(args[:len(prefix)], prefix) {
			return append(slices.Clone(own), args[len(prefix):]...)
		}
		return args
	}
	filled := t.s.addTestAndFixCommands(p, PackageGateCommand{PackageCheckCommand: step})
	filled.Part.Args, filled.Lone.Args, filled.Hold.Args, filled.Goes.Args = put(filled.Part.Args), put(filled.Lone.Args), put(filled.Hold.Args), put(filled.Goes.Args)
	g.Part, g.Lone, g.Hold, g.Goes = filled.Part, filled.Lone, filled.Hold, filled.Goes
	return g
}

// isTestRunner reports whether a command is one test runner.
func isTestRunner(c scriptcommands.ScriptCommand) bool {
	words := c.Words
	if len(words) > 1 && (words[0] == "nyc" || words[0] == "c8") {
		words = slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
	}
	if len(words) == 0 {
		return false
	}
	known := []string{"mocha", "jest", "vitest", "ava", "tape", "tap", "playwright", "jasmine", "uvu", "qunit", "karma", "cypress", "lab"}
	return slices.Contains(known, path.Base(words[0])) || words[0] == "node" && slices.Contains(words, "--test") || words[0] == "bun" && slices.Contains(words, "test")
}

// addFormatGates adds the check of a formatter that has a script of its own. A formatter that only
// writes is the project's only if it is configured.
func (t *packageScriptSplitter) addFormatGates(found []PackageGateCommand) {
	if slices.ContainsFunc(found, func(f PackageGateCommand) bool { return f.Gate == "format" && t.scriptOf(f) != "" }) {
		return
	}
	configured := slices.ContainsFunc(found, func(f PackageGateCommand) bool { return f.Gate == "format" })
	for _, name := range []string{
		"format:check", "check:format", "format-check", "check-format", "prettier:check", "check:prettier", "lint:prettier", "lint:format",
		"fmt:check", "check:fmt", "format", "prettier", "fmt",
	} {
		calls, ok := scriptcommands.ExpandScript(t.scripts, name)
		if !ok || len(calls) != 1 {
			continue
		}
		if gate, _, wrote := scriptcommands.CheckOnlyForm(calls[0]); gate == "format" && (configured || !wrote) {
			t.addCheckGate(calls[0])
			return
		}
	}
}

// shellWithInstalledPrograms runs a line with the programs that the package's manager installed, as it runs scripts.
func (t *packageScriptSplitter) shellWithInstalledPrograms(text string) []string {
	up, bins := "", ""
	for range directoryDepth(t.p.dir) + 1 {
		bins += "$PWD/" + up + "node_modules/.bin:"
		up += "../"
	}
	return shellCommand(`PATH="` + bins + `$PATH"; ` + text)
}

// quoteLine quotes words for a shell.
func quoteLine(env, words []string) string {
	all := slices.Clone(env)
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\"'\\$`|&;<>()*?[]{}#~!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		all = append(all, w)
	}
	return strings.Join(all, " ")
}
