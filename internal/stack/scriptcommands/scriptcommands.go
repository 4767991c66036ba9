// Package scriptcommands parses the command lines in project manifests: it finds the commands that a
// script finally runs, and the files that each of them checks.
package scriptcommands

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// ScriptCommand is one command of a script, with its environment and its words. Text is its source.
type ScriptCommand struct {
	Env    []string // assignments in front of it
	Words  []string // without quotes; a program's path is shortened to its name
	Text   string
	Script string // innermost script of the manifest that contains it
}

// Limits for unfolding scripts.
const (
	deepestScript = 8
	mostCalls     = 40
)

// ExpandScript resolves a script of a package.json to the commands that it finally runs, in their
// order. It follows &&, scripts that npm, pnpm, yarn and bun run by name, npm-run-all, and
// scripts that run before and after another one because of their names. ok is false where only
// a shell could parse it, such as for a pipe, a variable or a loop. Parallel commands are
// listed one after the other.
func ExpandScript(scripts map[string]string, name string) (calls []ScriptCommand, ok bool) {
	return scriptExpander{scripts}.unfoldScript(name, nil, nil)
}

type scriptExpander struct{ scripts map[string]string }

func (u scriptExpander) unfoldScript(name string, more []string, above []string) ([]ScriptCommand, bool) {
	line, there := u.scripts[name]
	if !there || slices.Contains(above, name) || len(above) >= deepestScript {
		return nil, false
	}
	above = append(slices.Clone(above), name)
	var all []ScriptCommand
	for _, part := range []struct {
		name string
		more []string
	}{{"pre" + name, nil}, {name, more}, {"post" + name, nil}} {
		text, there := u.scripts[part.name]
		if !there {
			continue
		}
		if part.name == name {
			text = line
		}
		calls, ok := u.unfoldLine(part.name, text, above)
		if !ok {
			return nil, false
		}
		if len(part.more) > 0 {
			if len(calls) != 1 {
				return nil, false // npm passes them to the last command, which is known only for some
			}
			calls[0].Words = append(calls[0].Words, part.more...)
			calls[0].Text += " " + strings.Join(part.more, " ")
		}
		if all = append(all, calls...); len(all) > mostCalls {
			return nil, false
		}
	}
	return all, true
}

func (u scriptExpander) unfoldLine(script, line string, above []string) ([]ScriptCommand, bool) {
	var all []ScriptCommand
	texts, ok := splitAtAnd(line)
	if !ok {
		return nil, false
	}
	for _, text := range texts {
		words, ok := splitWords(text)
		if !ok || len(words) == 0 {
			return nil, false
		}
		calls, ok := u.unfoldCall(ScriptCommand{Words: words, Text: strings.TrimSpace(text), Script: script}, above)
		if !ok {
			return nil, false
		}
		all = append(all, calls...)
	}
	return all, len(all) > 0
}

// unfoldCall resolves one command: it separates assignments, and replaces a command that only runs a
// script by that script.
func (u scriptExpander) unfoldCall(c ScriptCommand, above []string) ([]ScriptCommand, bool) {
	assign := regexp.MustCompile(`^[A-Za-z_]\w*=`)
	for len(c.Words) > 0 && (assign.MatchString(c.Words[0]) || len(c.Env) == 0 && slices.Contains([]string{"cross-env", "env"}, c.Words[0])) {
		if assign.MatchString(c.Words[0]) {
			c.Env = append(c.Env, c.Words[0])
		}
		c.Words = c.Words[1:]
	}
	if len(c.Words) == 0 {
		return nil, false
	}
	names, more, is := u.calledScripts(c.Words)
	switch {
	case is && len(c.Env) > 0 && len(names) != 1:
		return nil, false
	case is:
		var all []ScriptCommand
		for _, name := range names {
			calls, ok := u.unfoldScript(name, more, above)
			if !ok {
				return nil, false
			}
			for i := range calls {
				if len(c.Env) > 0 {
					calls[i].Env = append(slices.Clone(c.Env), calls[i].Env...)
					calls[i].Text = strings.Join(c.Env, " ") + " " + calls[i].Text
				}
			}
			all = append(all, calls...)
		}
		return all, true
	}
	c.Words = stripLauncher(c.Words)
	c.Words[0] = path.Base(c.Words[0])
	return []ScriptCommand{c}, true
}

// stripLauncher removes the words that only find a tool: npx, yarn, pnpm exec and the like.
func stripLauncher(words []string) []string {
	for _, prefix := range [][]string{
		{"npx", "--no-install"},
		{"npx", "--no"},
		{"npx"},
		{"npm", "exec", "--"},
		{"pnpm", "exec"},
		{"pnpm"},
		{"yarn", "run"},
		{"yarn", "exec"},
		{"yarn"},
		{"bunx"},
		{"bun", "x"},
	} {
		if len(words) > len(prefix) && slices.Equal(words[:len(prefix)], prefix) && !strings.HasPrefix(words[len(prefix)], "-") && !InstallsDependencies(words) {
			return slices.Clone(words[len(prefix):])
		}
	}
	return slices.Clone(words)
}

// InstallsDependencies reports whether a command installs the dependencies in the manifest.
func InstallsDependencies(words []string) bool {
	if len(words) == 1 && words[0] == "yarn" {
		return true
	}
	return len(words) > 1 && slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, words[0]) &&
		slices.Contains([]string{"install", "i", "ci", "clean-install"}, words[1]) &&
		!slices.ContainsFunc(words[2:], func(w string) bool { return !strings.HasPrefix(w, "-") })
}

// calledScripts returns the scripts that a command runs, and the arguments that it passes to them.
func (u scriptExpander) calledScripts(words []string) (names, more []string, is bool) {
	switch words[0] {
	case "npm", "pnpm", "yarn", "bun":
		return u.managerScripts(words)
	case "npm-run-all", "npm-run-all2", "run-s", "run-p":
		return u.npmRunAllScripts(words[1:])
	case "concurrently":
		for _, w := range words[1:] {
			name, isScript := strings.CutPrefix(w, "npm:")
			matched := u.matchScripts(name)
			if !isScript || len(matched) == 0 {
				return nil, nil, false
			}
			names = append(names, matched...)
		}
		return names, nil, len(names) > 0
	}
	return nil, nil, false
}

// npmRunAllScripts returns the scripts that npm-run-all runs.
func (u scriptExpander) npmRunAllScripts(words []string) (names, more []string, is bool) {
	flags := []string{"-s", "-p", "-l", "-n", "-c", "--silent", "--sequential", "--serial", "--parallel", "--print-label", "--print-name", "--continue-on-error", "--aggregate-output"}
	for _, w := range words {
		if slices.Contains(flags, w) {
			continue
		}
		matched := u.matchScripts(w)
		if len(matched) == 0 || strings.HasPrefix(w, "-") || strings.ContainsAny(w, " {") {
			return nil, nil, false
		}
		names = append(names, matched...)
	}
	return names, nil, len(names) > 0
}

// managerScripts returns the script that a package manager runs.
func (u scriptExpander) managerScripts(words []string) (names, more []string, is bool) {
	manager := words[0]
	rest := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return w == "-s" || w == "--silent" })
	if len(rest) == 0 {
		return nil, nil, false
	}
	explicit := rest[0] == "run" || rest[0] == "run-script"
	if explicit {
		rest = rest[1:]
	} else if manager == "npm" && rest[0] != "test" && rest[0] != "t" || manager == "bun" {
		return nil, nil, false
	}
	if len(rest) > 0 && rest[0] == "t" && manager == "npm" {
		rest[0] = "test"
	}
	if len(rest) == 0 || u.scripts[rest[0]] == "" {
		return nil, nil, false
	}
	more = rest[1:]
	if len(more) > 0 && more[0] == "--" {
		more = more[1:]
	} else if len(more) > 0 && manager == "npm" {
		return nil, nil, false // npm does not pass those on
	}
	return rest[:1], more, true
}

// matchScripts returns the scripts that match a pattern: * matches anything but a colon, ** anything.
func (u scriptExpander) matchScripts(pattern string) []string {
	if _, there := u.scripts[pattern]; there {
		return []string{pattern}
	}
	if !strings.Contains(pattern, "*") {
		return nil
	}
	expr := regexp.QuoteMeta(pattern)
	expr = strings.ReplaceAll(strings.ReplaceAll(expr, `\*\*`, `.+`), `\*`, `[^:]+`)
	is := regexp.MustCompile("^" + expr + "$")
	var all []string
	for name := range u.scripts {
		if is.MatchString(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// splitAtAnd splits a line at &&. ok is false if it contains any other operator.
func splitAtAnd(line string) (texts []string, ok bool) {
	from, quote := 0, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\\':
			i++
		case c == '&' && i+1 < len(line) && line[i+1] == '&':
			texts = append(texts, line[from:i])
			i++
			from = i + 1
		case strings.IndexByte("&|;<>()`\n#", c) >= 0:
			return nil, false
		}
	}
	return append(texts, line[from:]), quote == 0
}

// splitWords splits a command into its words. ok is false if a shell would expand them, except for
// patterns of file names.
func splitWords(text string) (words []string, ok bool) {
	var w strings.Builder
	in := false
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '$' && quote != '\'' || c == '`' && quote != '\'':
			return nil, false
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(text):
			i++
			if quote == '"' && text[i] != '"' && text[i] != '\\' {
				w.WriteByte('\\')
			}
			w.WriteByte(text[i])
			in = true
		case quote != 0:
			w.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			if in {
				words = append(words, w.String())
				w.Reset()
			}
			in = false
		case c == '!' && !in && len(words) == 0, c == '~' && !in:
			return nil, false
		default:
			w.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, w.String())
	}
	return words, quote == 0
}

// QuoteShellWord quotes a word for a shell.
func QuoteShellWord(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
