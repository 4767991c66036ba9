package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Word is the known content of one argument before bash expands it.
type Word struct {
	Text    string // its literal text
	Dynamic bool   // the rest is known only at run time
	Glob    bool   // it expands to matching file names
	Home    bool   // it starts in a home directory
	Listed  bool   // it is one of the names that a command lists, below its search directory
	Each    bool   // it is each of several names, in turn
	Fixed   bool   // it starts with literal text, so it cannot become an option
	One     bool   // bash makes one word of it, whatever its content
	Said    string // its text in the command line; empty if it is not in it
}

// LiteralWord returns a word that is just that text.
func LiteralWord(s string) Word { return Word{Text: s, Fixed: true, One: true} }

// JoinWords returns the words joined by spaces; an unknown word is a space.
func JoinWords(words []Word) string {
	text := make([]string, len(words))
	for i, w := range words {
		if text[i] = w.Text; w.Dynamic {
			text[i] = " "
		}
	}
	return strings.Join(text, " ")
}

// PathWords returns words that look like paths and are literal or start in a home directory,
// without options.
func PathWords(words []Word) []Word {
	var seen []Word
	for _, w := range words {
		if w.Home || !w.Dynamic && strings.ContainsAny(w.Text, "/~") && !strings.HasPrefix(w.Text, "-") && !strings.Contains(w.Text, " ") {
			seen = append(seen, w)
		}
	}
	return seen
}

// SplitOptions separates options and operands. Values that are joined to their option count
// as operands too.
func SplitOptions(args []Word) (options, operands []Word) {
	only := false
	for _, a := range args {
		switch {
		case only || !strings.HasPrefix(a.Text, "-") || a.Text == "-":
			operands = append(operands, a)
			if v, ok := joinedPathValue(a); ok && strings.HasPrefix(a.Text, "-") {
				operands = append(operands, v)
			}
		case a.Text == "--":
			only = true
		default:
			options = append(options, a)
			if v, ok := joinedPathValue(a); ok {
				operands = append(operands, v)
			}
		}
	}
	return options, operands
}

// joinedPathValue returns the value that is joined to an option, if it looks like a path.
func joinedPathValue(a Word) (Word, bool) {
	v := a
	if _, value, ok := strings.Cut(a.Text, "="); ok {
		v.Text = value
	} else if !strings.HasPrefix(a.Text, "--") && len(a.Text) > 2 {
		v.Text = a.Text[2:]
	} else {
		return v, false
	}
	return v, a.Home || strings.ContainsAny(v.Text, "/~") || v.Text == ".."
}

// HasOption reports whether one of the options is among those that need approval. Programs
// accept any prefix of a long option.
func HasOption(options []Word, asked []string) bool {
	for _, o := range options {
		name, _, _ := strings.Cut(o.Text, "=")
		for _, bad := range asked {
			long := strings.HasPrefix(bad, "--")
			switch {
			case name == bad,
				long && len(name) > 2 && strings.HasPrefix(bad, name),
				!long && len(bad) > 2 && strings.HasPrefix(o.Text, bad),
				len(bad) == 2 && !strings.HasPrefix(name, "--") && strings.Contains(name[1:], bad[1:]):
				return true
			}
		}
	}
	return false
}

// OptionTakesPath reports whether the value of an option of build programs is a file or the name of
// a part: configuration, a plugin, preloaded code.
func OptionTakesPath(option string) bool {
	return slices.Contains([]string{
		"-c", "--config", "--config-file", "--configfile", "--configuration", "--config-path", "--rcfile", "--conf", "--settings", "--rootdir", "--root", "--rootDir",
		"--confcutdir", "--project", "--bootstrap", "--autoload-file", "--rulesdir", "--resolve-plugins-relative-to", "--require", "-r", "--import", "--loader",
		"--plugin", "--plugins", "--load-plugins", "-p", "--reporter", "--formatter", "--report-formatter", "--format", "--parser", "--globalSetup", "--outputFile",
		"--noxfile", "-f", "-F", "--basetemp", "--cache-dir", "--include-path", "-I", "--rakefile", "--rakelibdir", "--justfile", "--taskfile", "--import-map", "--lock-file",
		"--workdir", "--out", "--output", "--ruleset", "-R", "--rules", "--standard", "--options", "-O", "--config-dir", "--ignore-path", "--path",
	}, option)
}

// AddUnquoted adds text that bash still expands.
func (w *Word) AddUnquoted(s string, first bool) {
	if first && regexp.MustCompile(`^~([+-]?\d*|[A-Za-z_][\w.-]*)(/|$)`).MatchString(s) || first && s == "~" {
		w.Home, w.Dynamic, w.Fixed = true, true, true
	}
	if strings.ContainsAny(s, "*?") || strings.Contains(s, "[") && s != "[" {
		w.Glob = true
	}
	if regexp.MustCompile(`\{[^{}]*(,|\.\.)`).MatchString(s) {
		w.Dynamic = true // braces produce several words
	}
	w.Text += Unescape(s, false)
}

// Unescape removes the backslashes that quote a character.
func Unescape(s string, inQuotes bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!inQuotes || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Unwrap skips a program that runs another one, such as timeout or env, with its options, and
// reports whether it knows all of those.
func Unwrap(argv []Word) (rest []Word, known bool) {
	name := argv[0].Text
	values := map[string]string{ // options whose value is the next word
		"timeout": "-k -s --kill-after --signal", "nice": "-n --adjustment", "stdbuf": "-i -o -e", "ionice": "-c -n -p",
		"env": "-u --unset", "xargs": "-a --arg-file -n -P -I -L -d -s --max-args --max-procs --replace --delimiter", "exec": "-a",
	}[name]
	flags := map[string]string{
		"xargs": "-0 -r -t -x --null --no-run-if-empty --verbose -i", "env": "-i -0 - --ignore-environment", "command": "-v -V -p", "time": "-p -v",
		"timeout": "--foreground --preserve-status -v", "setsid": "-w --wait -f", "exec": "-c -l", "nice": "", "stdbuf": "", "ionice": "-t",
	}[name]
	rest, known = argv[1:], true
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") && !rest[0].Dynamic {
		o := rest[0].Text
		rest = rest[1:]
		switch long, _, has := strings.Cut(o, "="); {
		case o == "--":
		case slices.Contains(strings.Fields(values), o):
			rest = rest[min(1, len(rest)):]
			continue
		case slices.Contains(strings.Fields(flags), o), has && slices.Contains(strings.Fields(values), long), hasJoinedValue(o, values), len(o) > 1 && strings.Trim(o[1:], "0123456789") == "" && name == "nice":
			continue
		default:
			known = false
			continue
		}
		break
	}
	return rest, known
}

// hasJoinedValue reports whether an option is one of these with a joined value, such as -n1 or
// -I{}.
func hasJoinedValue(o, values string) bool {
	return len(o) > 2 && o[1] != '-' && slices.Contains(strings.Fields(values), o[:2]) && (strings.Trim(o[2:], "0123456789KLs") == "" || o[2:] == "{}" || o[2:] == `\n`)
}

// ListsFiles reports whether a command only prints names of files below its search directory.
func ListsFiles(argv []string) bool {
	switch {
	case len(argv) == 0:
		return false
	case argv[0] == "find":
		return !slices.ContainsFunc(argv, func(w string) bool { return strings.HasPrefix(w, "-printf") || strings.HasPrefix(w, "-exec") })
	case argv[0] == "seq":
		return len(argv) > 1 && strings.Trim(strings.Join(argv[1:], ""), "0123456789") == "" // numbers
	case argv[0] == "git":
		return len(argv) > 1 && (argv[1] == "ls-files" || slices.Contains(argv, "--name-only") && slices.Contains([]string{"diff", "show"}, argv[1]))
	case argv[0] == "fd" || argv[0] == "fdfind":
		return !slices.ContainsFunc(argv, func(w string) bool { return strings.HasPrefix(w, "-") && strings.ContainsAny(w, "xXlHIu") })
	}
	return (argv[0] == "rg" || argv[0] == "grep") && (slices.Contains(argv, "-l") || slices.Contains(argv, "-rl"))
}

// MatchesOnlyLeftovers reports whether the tests before find's action select only files with an
// extension such as .orig, which no important file has: all tests must be true, and one is
// for such a name.
func MatchesOnlyLeftovers(argv []Word) bool {
	named := false
	for i, a := range argv {
		switch {
		case a.Dynamic:
			return false
		case slices.Contains([]string{"-o", "-or", "-not", "!", ",", "(", ")", "-L", "-follow"}, a.Text):
			return false
		case a.Text == "-name" && i+1 < len(argv):
			end, ok := strings.CutPrefix(argv[i+1].Text, "*")
			named = named || ok && slices.Contains([]string{".orig", ".rej", ".tmp", ".bak", ".pyc", ".o", ".log", ".out", ".test", ".prof", ".swp", "~", ".class", ".obj"}, end)
		}
	}
	return named
}

// MatchesOnlyBuildDirs reports whether the tests before find's action select only directories that
// builds and tests create.
func MatchesOnlyBuildDirs(argv []Word) bool {
	named := false
	for i, a := range argv {
		switch {
		case a.Dynamic, slices.Contains([]string{"-o", "-or", "-not", "!", ",", "(", ")", "-L", "-follow"}, a.Text):
			return false
		case a.Text == "-name" && i+1 < len(argv):
			named = slices.Contains(stack.CommandsOf().Made, argv[i+1].Text)
		}
	}
	return named
}

// SubstituteFound returns a command with a found file in place of {}: one with any name, or an
// unknown word if a name could do more than be read.
func SubstituteFound(argv []Word, reads bool) []Word {
	run := make([]Word, 0, len(argv))
	for i, a := range argv {
		if i > 0 && a.Text == "{}" && reads {
			a = LiteralWord("found")
		} else if strings.Contains(a.Text, "{}") {
			a = Word{Dynamic: true}
		}
		run = append(run, a)
	}
	return run
}

// MayHideOption reports whether an unknown word could be one of a program's options that need
// approval.
func MayHideOption(asked []string, args []Word) bool {
	if len(asked) == 0 {
		return false
	}
	harmless := len(asked) == 1 && asked[0] == "--files0-from"
	for _, a := range args {
		if a.Text == "--" {
			return false
		}
		if a.Dynamic && !a.Fixed && (!a.Listed || !harmless) {
			return true
		}
	}
	return false
}
