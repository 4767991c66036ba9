// Package interactivecommand recognizes commands that wait for input at a terminal, such as an
// editor or a prompt, and suggests alternatives. Agents' commands have no terminal, so such a
// command would fail, or hang until its time limit. Unknown commands are allowed.
package interactivecommand

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

//go:embed commands.txt
var table string

// interactiveCommandRule is one line of the table, for one of its names.
type interactiveCommandRule struct {
	words   []string // the program and its subcommand
	when    string
	options []string
	most    int // maximum number of operands, for bare and few
	advice  string
}

const maxLength = 20_000 // bytes of a command line that is checked

// ExplainInputWait returns which part of a command line waits for input, and an alternative. It is
// empty if no part does, or if that is unknown.
func ExplainInputWait(line string) string {
	if len(line) > maxLength {
		return ""
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return ""
	}
	fed := map[syntax.Node]bool{} // commands with data on their standard input
	said := ""
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				fed[n.Y] = true
			}
		case *syntax.Stmt:
			markFedCommands(n, fed)
		case *syntax.CallExpr:
			if said == "" {
				said = inputWaitReason(n, fed[n])
			}
		}
		return said == ""
	})
	return said
}

// markFedCommands marks the command of a statement that has data on its standard input.
func markFedCommands(n *syntax.Stmt, fed map[syntax.Node]bool) {
	in := fed[n]
	for _, r := range n.Redirs {
		switch r.Op {
		case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrInOut:
			in = true
		default:
		}
	}
	if !in || n.Cmd == nil {
		return
	}
	fed[n.Cmd] = true
	switch c := n.Cmd.(type) {
	case *syntax.Subshell:
		for _, s := range c.Stmts {
			fed[s] = true
		}
	case *syntax.Block:
		for _, s := range c.Stmts {
			fed[s] = true
		}
	case *syntax.BinaryCmd:
		fed[c.X] = true
	case *syntax.WhileClause:
		for _, s := range slices.Concat(c.Cond, c.Do) {
			fed[s] = true
		}
	default:
	}
}

// inputWaitReason checks one simple command.
func inputWaitReason(n *syntax.CallExpr, fed bool) string {
	var words []string
	for _, w := range n.Args {
		words = append(words, literalWord(w))
	}
	words = unwrapCommand(words)
	if len(words) == 0 {
		return ""
	}
	words[0] = programName(words[0])
	for _, r := range readCommandRules() {
		if !slices.Equal(r.words, words[:min(len(words), len(r.words))]) {
			continue
		}
		if r.matchesArgs(words[len(r.words):], fed) {
			return fmt.Sprintf("%s waits for a person, and no person is available: %s", strings.Join(r.words, " "), r.advice)
		}
	}
	return ""
}

// literalWord returns the literal text of a word, or a star for a word that is only known at run
// time.
func literalWord(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					return "*"
				}
				b.WriteString(l.Value)
			}
		default:
			return "*"
		}
	}
	return b.String()
}

// programName returns the name of a system program.
func programName(word string) string {
	if path.IsAbs(word) {
		return path.Base(word)
	}
	return word
}

// unwrapCommand removes words that only run another command.
func unwrapCommand(words []string) []string {
	for len(words) > 0 {
		switch programName(words[0]) {
		case "exec", "command", "builtin", "nohup", "setsid", "time", "sudo", "doas", "env", "nice", "ionice", "stdbuf", "chronic", "caffeinate":
			if len(words) > 1 && strings.ToLower(words[1]) == "-v" && words[0] == "command" {
				return nil // it only prints the program's path
			}
			words = words[1:]
		case "timeout":
			words = skipOptions(words[1:], "-k", "-s", "--kill-after", "--signal")
			words = words[min(1, len(words)):]
			continue
		default:
			return words
		}
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	return words
}

// skipOptions skips leading options, with the values of some.
func skipOptions(words []string, valued ...string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if slices.Contains(valued, words[0]) && len(words) > 1 {
			words = words[1:]
		}
		words = words[1:]
	}
	return words
}

// matchesArgs reports whether the rule applies to a command with these arguments.
func (r interactiveCommandRule) matchesArgs(args []string, fed bool) bool {
	has := false
	operands := 0
	for _, a := range args {
		if !strings.HasPrefix(a, "-") || a == "-" {
			operands++
		}
		has = has || slices.ContainsFunc(r.options, func(o string) bool { return hasOption(a, o) })
	}
	switch r.when {
	case "always":
		return true
	case "only":
		return has
	case "unless":
		return !has
	default: // for bare and few
		return !has && !fed && operands <= r.most
	}
}

// hasOption reports whether an argument is the option, has its value attached, or contains its
// letter among others.
func hasOption(arg, option string) bool {
	if arg == option || strings.HasPrefix(arg, option+"=") {
		return true
	}
	short := len(option) == 2 && !strings.HasPrefix(arg, "--") && strings.HasPrefix(arg, "-")
	if !short {
		return false
	}
	letters := strings.TrimLeftFunc(arg[1:], func(r rune) bool { return r != rune(option[1]) })
	return letters != "" && strings.IndexFunc(arg[1:], func(r rune) bool { return r < 'A' || r > 'z' }) < 0 || strings.HasPrefix(arg, option)
}

// readCommandRules parses the table. It is parsed for each command line, of which there are few.
func readCommandRules() []interactiveCommandRule {
	var all []interactiveCommandRule
	for line := range strings.Lines(table) {
		parts := strings.SplitN(strings.TrimSpace(line), "|", 3)
		if len(parts) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		when := strings.Fields(parts[1])
		r := interactiveCommandRule{when: when[0], options: when[1:], advice: strings.TrimSpace(parts[2])}
		if r.when == "few" {
			r.most, _ = strconv.Atoi(when[1]) // the table is tested
			r.options = when[2:]
		}
		names := strings.Fields(parts[0])
		if takesSubcommand(names[0]) && len(names) > 1 {
			r.words = names
			all = append(all, r)
			continue
		}
		for _, name := range names {
			r.words = []string{name}
			all = append(all, r)
		}
	}
	return all
}

// takesSubcommand reports whether the words after a name are subcommands and not further names.
func takesSubcommand(name string) bool {
	switch name {
	case "git", "npm", "yarn", "cargo", "poetry", "composer", "pip", "pip3", "conda", "apt", "apt-get", "terraform", "docker", "kubectl", "gh":
		return true
	}
	return name == "bun"
}
