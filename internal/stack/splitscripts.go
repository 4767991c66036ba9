package stack

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
)

// apart splits the scripts of a package that run several tools, if they can be parsed. Each
// tool that only checks becomes a gate of its own and runs once, without the options that let
// it change files. Checks in the package's scripts have precedence over those guessed from
// configuration files. Scripts that only a shell understands stay unchanged.
func apart(s Stack, p project, found []GateCommand, _ func(string) bool) []GateCommand {
	t := &scriptSplitter{s: s, p: p, scripts: p.manifest().Scripts, seen: map[string]bool{}}
	t.formats(found)
	for _, f := range found {
		if t.split(f) {
			continue
		}
		t.left = append(t.left, f)
	}
	return t.all()
}

// scriptSplitter holds the state of splitting a package's scripts.
type scriptSplitter struct {
	s       Stack
	p       project
	scripts map[string]string
	seen    map[string]bool // commands that have a gate
	own     []GateCommand   // gates made of parts of scripts
	left    []GateCommand   // the other gates
}

// all returns the parts, and of the others those that no part replaces: a command that the
// project runs itself replaces a guess.
func (t *scriptSplitter) all() []GateCommand {
	stands := map[string]bool{}
	for _, f := range t.own {
		stands[f.Gate] = true
	}
	t.left = slices.DeleteFunc(t.left, func(f GateCommand) bool { return stands[f.Gate] && t.script(f) == "" })
	all := append(t.left, t.own...)
	steps := []string{"build", "type", "lint", "format", "test", "e2e"}
	slices.SortStableFunc(all, func(a, b GateCommand) int { return slices.Index(steps, a.Gate) - slices.Index(steps, b.Gate) })
	return all
}

// script returns the script that a gate runs, "" for none.
func (t *scriptSplitter) script(f GateCommand) string {
	run := t.s.command(t.p, []string{"{script}"})
	if len(f.Args) == len(run)+1 && slices.Equal(f.Args[:len(run)], run) {
		return f.Args[len(run)]
	}
	return ""
}

// split makes gates of the parts of a script, and reports whether they replace it.
func (t *scriptSplitter) split(f GateCommand) bool {
	name := t.script(f)
	if name == "" || f.Gate == "build" {
		return false
	}
	calls, ok := cmdline.Unfold(t.scripts, name)
	if !ok {
		return false
	}
	calls = slices.DeleteFunc(calls, func(c cmdline.Call) bool { return cmdline.Installs(c.Words) })
	kinds := map[string]bool{}
	var rest []cmdline.Call
	writes := false
	for _, c := range calls {
		gate, _, wrote := cmdline.CheckOnlyForm(c)
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
			t.seen[key(c)] = true
		}
		return false
	}
	for _, c := range calls {
		t.look(c)
	}
	if len(rest) > 0 {
		t.rest(f, rest)
	}
	return true
}

// key returns a key that identifies a command.
func key(c cmdline.Call) string {
	_, words, _ := cmdline.CheckOnlyForm(c)
	if words == nil {
		words = c.Words
	}
	return strings.Join(append(slices.Clone(c.Env), words...), "\x00")
}

// look adds a gate for a command that only checks, unless there is one.
func (t *scriptSplitter) look(c cmdline.Call) {
	gate, words, wrote := cmdline.CheckOnlyForm(c)
	if gate == "" || t.seen[key(c)] {
		return
	}
	t.seen[key(c)] = true
	text := c.Text
	if wrote {
		text = line(c.Env, words)
	}
	f := GateCommand{Stack: t.s.Name, Dir: t.p.dir, Part: PartialRun{}, Step: Step{Gate: gate, Args: t.shell(text), Format: "exit"}}
	if slices.ContainsFunc(t.own, func(o GateCommand) bool { return o.Gate == gate }) {
		f.Piece = words[0]
	}
	f.Fix = t.fixers(words[0])
	t.own = append(t.own, f)
}

// fixers returns the commands that fix the findings of a tool.
func (t *scriptSplitter) fixers(tool string) []Fixer {
	var all []Fixer
	switch tool {
	case "eslint":
		all = []Fixer{eslint("")}
	case "biome":
		all = []Fixer{biome("")}
	case "prettier":
		all = []Fixer{prettierFix()}
	}
	for i := range all {
		all[i].Args = t.s.command(t.p, all[i].Args)
	}
	return all
}

// rest adds gates for the other commands: one per test runner if there is nothing else among
// them, or one for all.
func (t *scriptSplitter) rest(f GateCommand, calls []cmdline.Call) {
	parts := [][]cmdline.Call{calls}
	if !slices.ContainsFunc(calls, func(c cmdline.Call) bool { return !runner(c) }) {
		parts = nil
		for _, c := range calls {
			parts = append(parts, []cmdline.Call{c})
		}
	}
	for i, part := range parts {
		var texts []string
		for _, c := range part {
			texts = append(texts, c.Text)
		}
		g := f
		g.Args, g.Part, g.Lone, g.Hold, g.Goes = t.shell(strings.Join(texts, " && ")), PartialRun{}, SingleTest{}, OpenHandleCheck{}, Cover{}
		if len(part) == 1 && len(part[0].Env) == 0 {
			g = t.deeper(g, part[0])
		}
		if i > 0 {
			g.Piece = part[0].Script
			if g.Piece == t.script(f) || strings.HasPrefix(g.Piece, "pre") {
				g.Piece = part[0].Words[0]
			}
		}
		t.own = append(t.own, g)
	}
}

// deeper adds the properties of a runner if it is the only one.
func (t *scriptSplitter) deeper(g GateCommand, c cmdline.Call) GateCommand {
	p := t.p
	p.scripts = map[string]string{"test": strings.Join(c.Words, " ")}
	step := Step{Related: scriptParts(), Alone: scriptLone(), Held: scriptHeld(), Cover: scriptCover()}
	prefix := t.s.command(t.p, []string{"{script}", "test", "--"})
	own := append(t.s.command(t.p, []string{"{run}"}), c.Words...)
	put := func(args []string) []string {
		if len(args) > len(prefix) && slices.Equal(args[:len(prefix)], prefix) {
			return append(slices.Clone(own), args[len(prefix):]...)
		}
		return args
	}
	filled := t.s.fill(p, GateCommand{Step: step})
	filled.Part.Args, filled.Lone.Args, filled.Hold.Args, filled.Goes.Args = put(filled.Part.Args), put(filled.Lone.Args), put(filled.Hold.Args), put(filled.Goes.Args)
	g.Part, g.Lone, g.Hold, g.Goes = filled.Part, filled.Lone, filled.Hold, filled.Goes
	return g
}

// runner reports whether a command is one test runner.
func runner(c cmdline.Call) bool {
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

// formats adds the check of a formatter that has a script of its own. A formatter that only
// writes is the project's only if it is configured.
func (t *scriptSplitter) formats(found []GateCommand) {
	if slices.ContainsFunc(found, func(f GateCommand) bool { return f.Gate == "format" && t.script(f) != "" }) {
		return
	}
	configured := slices.ContainsFunc(found, func(f GateCommand) bool { return f.Gate == "format" })
	for _, name := range []string{
		"format:check", "check:format", "format-check", "check-format", "prettier:check", "check:prettier", "lint:prettier", "lint:format",
		"fmt:check", "check:fmt", "format", "prettier", "fmt",
	} {
		calls, ok := cmdline.Unfold(t.scripts, name)
		if !ok || len(calls) != 1 {
			continue
		}
		if gate, _, wrote := cmdline.CheckOnlyForm(calls[0]); gate == "format" && (configured || !wrote) {
			t.look(calls[0])
			return
		}
	}
}

// shell runs a line with the programs that the package's manager installed, as it runs scripts.
func (t *scriptSplitter) shell(text string) []string {
	up, bins := "", ""
	for range depth(t.p.dir) + 1 {
		bins += "$PWD/" + up + "node_modules/.bin:"
		up += "../"
	}
	return shell(`PATH="` + bins + `$PATH"; ` + text)
}

// line quotes words for a shell.
func line(env, words []string) string {
	all := slices.Clone(env)
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\"'\\$`|&;<>()*?[]{}#~!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		all = append(all, w)
	}
	return strings.Join(all, " ")
}
