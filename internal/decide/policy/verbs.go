package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// verbs judges a program whose first argument is a verb. It does not judge programs for which
// the table of programs has more details.
func (j *judgement) verbs(argv []shell.Word, v program.Verbs) (mine bool) {
	name, rest := argv[0].Text, argv[1:]
	if len(rest) > 0 && strings.HasPrefix(rest[0].Text, "+") {
		if rest[0].Dynamic || !regexp.MustCompile(`^\+(stable|beta|nightly|\d+\.\d+)[\d.-]*$`).MatchString(rest[0].Text) {
			j.add(Ask, "build.toolchain", "it chooses another toolchain")
		}
		rest = rest[1:]
	}
	if len(v.Options) > 0 {
		j.unseen([]string{name}, rest)
	}
	rest = j.options(name, v, rest, true)
	if len(rest) == 0 {
		return true // it prints its help, or installs the packages of the lock file
	}
	verb, next := rest[0].Text, ""
	if len(rest) > 1 {
		next = rest[1].Text
	}
	if scripted(name, verb) {
		verb, next = "run", ""
	}
	if runsScript(name, verb) {
		j.script(name, strings.HasPrefix(rest[0].Text, "run"), rest[1:])
		return true
	}
	if strings.Contains(verb, "/") && name != "sbt" {
		j.writes(rest[:1])
	}
	switch n := v.Runs(verb, next); {
	case rest[0].Dynamic:
		j.add(Ask, "shell.dynamic", "what "+name+" does is not known before it runs")
		return true
	case v.Does(verb, next):
		if v.Does("any", "") && leavesMachine(verb) && name != "gradle" { // gradle's projects have such names
			j.add(Ask, name+".verb", "its name suggests that it publishes something")
		}
	case n >= 0:
		j.runs(name, verb, v, rest[n:])
		return true
	default:
		if _, ok := program.Find(name); ok {
			return false
		}
		j.add(Ask, name+".verb", name+" "+verb+" is not a known way to build or test")
		j.reads(shell.Literals(rest[1:]))
		return true
	}
	if name == "meson" && verb == "install" {
		at := slices.IndexFunc(rest, func(w shell.Word) bool { return w.Text == "--destdir" })
		if at < 0 || at+1 == len(rest) || !j.ownFile(rest[at+1]) {
			j.add(Ask, "path.outside", "it installs outside the worktree, unless a directory of the tree is given")
		}
	}
	operands := j.options(name, v, rest[1:], false)
	if len(operands) > 0 && v.Brings(verb) {
		j.add(Ask, "deps.new", "it adds a new dependency")
	}
	j.operands(name, v, operands)
	return true
}

// scripted reports whether a word has a usual form of a project script's name: lint:fix,
// test-unit, gen:types. These managers treat an unknown word as a script, and fetch nothing
// for it. Names that suggest that data leaves the machine are excluded.
func scripted(name, verb string) bool {
	if !slices.Contains([]string{"yarn", "pnpm", "bun", "composer"}, name) || !regexp.MustCompile(`^[a-z][\w]*([:-][\w.*]+)*$`).MatchString(verb) || leavesMachine(verb) || strings.HasPrefix(verb, "x:") {
		return false
	}
	parts := strings.FieldsFunc(verb, func(r rune) bool { return r == ':' || r == '-' })
	if strings.Contains(verb, ":") && name != "composer" {
		return true
	}
	known := func(part string) bool {
		return slices.Contains([]string{
			"test", "tests", "build", "lint", "format", "fmt", "check", "checks", "typecheck", "types", "tsc", "dev", "coverage", "e2e", "docs", "unit", "integration", "spec", "cs", "qa", "ci",
			"analyse", "analyze", "stan", "phpstan", "psalm", "style", "fix", "gen", "generate", "codegen", "compile", "clean", "verify", "validate", "bench", "benchmark", "watch", "serve",
			"preview", "start", "snapshots", "refactor", "rector", "normalize", "prettier", "eslint", "jest", "vitest", "storybook", "bundle", "prepare", "sync", "i18n", "infection", "mutation",
			"lints", "develop", "doc", "examples", "example", "demo", "perf", "size", "db", "migrate", "seed", "prebuild", "postbuild", "pretest", "tokens", "tailwind", "css", "styles", "biome",
			"typings", "schema", "graphql", "proto", "cypress", "playwright", "knip", "all", "quality", "precommit", "local", "client", "server", "web", "app", "api", "site", "website", "studio",
		}, part)
	}
	if len(parts) == 1 {
		return known(verb) && (name != "bun" && name != "composer" || verb != "build" && verb != "check")
	}
	return known(parts[0]) || known(parts[len(parts)-1])
}

// leavesMachine reports whether a script's name suggests that data leaves the machine or is
// fetched.
func leavesMachine(name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(":-_./", r) }), func(part string) bool {
		return slices.Contains([]string{
			"deploy", "release", "publish", "login", "logout", "push", "upload", "global", "add", "dlx", "upgrade", "remote", "ship", "send", "evil",
		}, part)
	})
}

// runsScript reports whether a verb runs a script of the project with the rest of the line as
// arguments.
func runsScript(name, verb string) bool {
	switch name {
	case "yarn", "pnpm", "bun", "composer":
		return slices.Contains([]string{"run", "run-script", "test", "t", "start", "lint", "dev", "typecheck", "type-check", "format", "check", "fmt", "coverage", "e2e"}, verb) ||
			verb == "build" && name != "bun"
	case "npm":
		return slices.Contains([]string{"run", "run-script", "test", "t", "tst", "start"}, verb)
	}
	return false
}

// script judges the arguments of a project script. npm itself uses options up to --.
func (j *judgement) script(name string, run bool, words []shell.Word) {
	if len(words) > 0 && words[0].Dynamic && !words[0].Fixed {
		j.add(Ask, "shell.dynamic", "which script runs is not known before it runs")
	}
	if len(words) > 0 && run && leavesMachine(words[0].Text) {
		j.add(Ask, name+".script", "the name of the script suggests that it publishes something")
	}
	for i, w := range words {
		option := strings.HasPrefix(w.Text, "-")
		switch {
		case w.Text == "--" && name == "npm":
			j.writes(shell.Literals(words[i+1:]))
			return
		case name == "npm" && option && shell.HasOption([]shell.Word{w}, []string{
			"--script-shell", "--userconfig", "--globalconfig", "--registry", "--node-options", "--shell", "--call", "--init-module", "--cache", "--git", "--editor", "--viewer",
			"--global", "--location", "-C", "-g", "--prefix", "--https-proxy", "--proxy", "--cafile",
		}) && (!strings.HasPrefix(w.Text, "--prefix") || !j.prefixed(words[i:])),
			name == "bun" && option && shell.HasOption([]shell.Word{w}, []string{"--preload", "-r", "--eval", "-e", "-i", "--install", "--import"}) && !slices.Contains([]string{"--reporter", "--rerun-each"}, w.Text),
			name != "npm" && i == 0 && option && (shell.HasOption([]shell.Word{w}, []string{"--cwd", "--dir", "--working-dir"}) || w.Text == "-C" || w.Text == "-d") && !j.prefixed(words):
			j.add(Ask, name+".option", "an option of "+name+" may run or write something else")
		}
		if name == "bun" && strings.Contains(w.Text, "://") && !slices.ContainsFunc(words[:i], func(w shell.Word) bool { return !strings.HasPrefix(w.Text, "-") }) {
			j.add(Ask, "net.read", "it runs something from the network")
		}
		if w.Dynamic && !w.Fixed && !w.Listed {
			j.unseen([]string{name}, []shell.Word{w})
		}
	}
	if run && len(words) > 0 && strings.HasPrefix(words[0].Text, "/^") {
		words = words[1:] // a name pattern
	}
	_, operands := shell.SplitOptions(words)
	j.writes(shell.Literals(operands))
}

// prefixed reports whether npm is told to work in a directory of the tree.
func (j *judgement) prefixed(words []shell.Word) bool {
	_, value, joined := strings.Cut(words[0].Text, "=")
	at := words[0]
	at.Text = value
	if !joined && len(words) > 1 {
		at = words[1]
	}
	j.writes([]shell.Word{at})
	return j.ownFile(at)
}

func (j *judgement) operands(name string, v program.Verbs, operands []shell.Word) {
	for _, w := range operands {
		switch {
		case v.Operands == "each" && (w.Dynamic || !v.Does(w.Text, "")):
			j.add(Ask, name+".verb", name+" "+w.Text+" is not a known way to build or test")
		case strings.Contains(w.Text, "://"), name == "deno" && (strings.HasPrefix(w.Text, "npm:") || strings.HasPrefix(w.Text, "jsr:")):
			j.add(Ask, "net.read", "it reads from the network")
		case v.Operands == "write":
			j.writes(shell.Literals([]shell.Word{w}))
		}
	}
}

// options judges the options among some words and returns the others: all of them, or those
// from the first operand on.
func (j *judgement) options(name string, v program.Verbs, words []shell.Word, leading bool) (others []shell.Word) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if name == "dotnet" {
			if w = colon(w); j.property(w) {
				continue
			}
		}
		option, value, joined := strings.Cut(w.Text, "=")
		if n := j.python(name, words[i:]); n > 0 {
			i += n - 1
			continue
		}
		switch {
		case w.Text == "--":
			return append(others, words[i+1:]...)
		case !strings.HasPrefix(w.Text, "-") || leading && v.Does(w.Text, ""):
			if leading {
				return words[i:]
			}
			others = append(others, w)
			continue
		case !asked(v, w):
		case shell.TakesPath(option) && name != "npx" && name != "npm" && name != "bunx" && j.places(joined, value, words[i:]):
			if !joined {
				i++
			}
			continue
		default:
			j.add(Ask, name+".option", "an option of "+name+" may run or write something else")
		}
		i += j.valued(v, w, words[i+1:])
	}
	return others
}

// valued judges the value of an option, and returns the number of words of the value.
func (j *judgement) valued(v program.Verbs, w shell.Word, next []shell.Word) (used int) {
	option, value, joined := strings.Cut(w.Text, "=")
	at := w
	if joined {
		at.Text = value
	} else if (v.Dir(option) || v.Value(option)) && len(next) > 0 {
		at, used = next[0], 1
	}
	switch {
	case v.Dir(option):
		j.writes([]shell.Word{at})
		return used
	case v.Value(option):
		j.writes(shell.Literals([]shell.Word{at}))
	}
	_, operands := shell.SplitOptions([]shell.Word{w})
	j.writes(shell.Literals(operands))
	return used
}

// property reports whether a dotnet option sets a property that names neither a file nor a
// program, and requires approval for the others.
func (j *judgement) property(w shell.Word) bool {
	property, plain := sets(w)
	if property && !plain {
		j.add(Ask, "dotnet.option", "a property of the build may name a program")
	}
	return plain
}

// asked reports whether an option may run or write something else.
func asked(v program.Verbs, w shell.Word) bool {
	option, _, _ := strings.Cut(w.Text, "=")
	if v.Dir(option) || v.Value(option) || option == "--no" {
		return false
	}
	return strings.HasPrefix(w.Text, "--config.") || v.Exact(w.Text) || !v.Only && shell.HasOption([]shell.Word{w}, v.Options) || !v.Knows(option)
}

// python returns the number of words with which uv is given its Python, if that is a version
// or a program of the tree.
func (j *judgement) python(name string, words []shell.Word) int {
	option, value, joined := strings.Cut(words[0].Text, "=")
	if name != "uv" || option != "--python" && option != "-p" {
		return 0
	}
	n := 1
	if !joined && len(words) > 1 {
		n, value = 2, words[1].Text
	}
	if regexp.MustCompile(`^(python|cpython|pypy)?-?3(\.\d+)*t?$`).MatchString(value) || strings.HasPrefix(value, "./") && j.ownFile(shell.Literal(value)) {
		return n
	}
	return 0
}

// places reports whether the value of an option is a file of the tree.
func (j *judgement) places(joined bool, value string, words []shell.Word) bool {
	w := words[0]
	w.Text = value
	if !joined {
		if len(words) < 2 {
			return false
		}
		w = words[1]
	}
	return j.ownFile(w)
}

// runs judges the program that another one runs: a program of the dependencies only if it is
// well known, because it is fetched if it is missing.
func (j *judgement) runs(name, verb string, v program.Verbs, argv []shell.Word) {
	if name == "coverage" { // it accepts the same arguments as python
		for len(argv) > 0 && slices.Contains([]string{"--branch", "-p", "-a", "--parallel-mode", "--append"}, argv[0].Text) {
			argv = argv[1:]
		}
		j.simple(append([]shell.Word{shell.Literal("python3")}, argv...))
		return
	}
	argv = j.options(name, v, argv, true)
	if verb == "workspace" && len(argv) > 1 || verb == "workspaces" {
		if verb == "workspace" {
			argv = argv[1:]
		}
		j.simple(append([]shell.Word{shell.Literal(name)}, argv...))
		return
	}
	if len(argv) == 0 || argv[0].Dynamic {
		j.add(Ask, "shell.dynamic", "which program runs is not known before it runs")
		return
	}
	switch file := argv[0].Text; {
	case strings.HasSuffix(file, ".py") || name == "bun" && (strings.HasSuffix(file, ".ts") || strings.HasSuffix(file, ".js")):
		j.program(argv)
	case slices.Contains([]string{"npm", "npx", "pnpm", "yarn", "bun", "bunx"}, name):
		if name != "npm" && name != "npx" && name != "bunx" && j.unknown(file) && verb == file && !strings.HasPrefix(file, "x:") && !builtin(name, file) && !leavesMachine(file) {
			j.entry(argv) // a script of the project, or a program of its dependencies
			return
		}
		fetches := slices.Contains([]string{"npm", "npx", "bunx"}, name)
		e, ok := program.Find(file)
		if !ok && !buildsOrInterprets(file) || fetches && ok && e.Rule != "build.js" && e.Rule != "build.tsc" && e.Rule != "build.tools" {
			j.add(Ask, "deps.new", name+" may fetch and run "+file)
			return
		}
		j.simple(argv)
	case slices.Contains([]string{"uv", "poetry", "pdm", "hatch", "pipenv", "bundle"}, name) && j.unknown(file) && !leavesMachine(file):
		j.entry(argv) // of the project or of its lock file
	default:
		j.simple(argv)
	}
}

// builtin reports whether a word is a manager's own command that the table does not allow.
func builtin(name, word string) bool {
	return slices.Contains(strings.Fields(stack.CommandsOf().Own[name]), word)
}

// unknown reports whether a word is not the name of a program with a rule.
func (j *judgement) unknown(name string) bool {
	_, listed := program.Find(name)
	return !listed && !versioned(name) && !buildsOrInterprets(name) && j.special(name) == nil && regexp.MustCompile(`^[a-zA-Z][\w.:-]*$`).MatchString(name)
}

// colon converts a dotnet option to the usual form: with a dash instead of a slash, and an
// equals sign instead of a colon.
func colon(w shell.Word) shell.Word {
	head, value, ok := strings.Cut(w.Text, ":")
	if option, slash := strings.CutPrefix(head, "/"); slash && ok && option != "" && !strings.Contains(option, "/") {
		head = "-" + option
	}
	if ok && strings.HasPrefix(head, "-") && !strings.Contains(head, "=") {
		w.Text = head + "=" + value
	}
	return w
}

// sets reports whether an option sets a build property, and whether the value names neither a
// file nor a program.
func sets(w shell.Word) (property, plain bool) {
	option, text, _ := strings.Cut(w.Text, "=")
	name, value, ok := strings.Cut(text, "=")
	if !ok || !slices.Contains([]string{"-p", "--property", "-property"}, strings.ToLower(option)) {
		return false, false
	}
	word := slices.Contains([]string{
		"configuration", "platform", "version", "versionprefix", "versionsuffix", "targetframework", "runtimeidentifier", "debugtype", "nowarn", "warninglevel", "langversion",
		"treatwarningsaserrors", "restorelockedmode", "collectcoverage", "coverletoutputformat", "threshold", "informationalversion", "assemblyversion", "fileversion",
	}, strings.ToLower(name)) && strings.Trim(value, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,;_-+") == ""
	return true, !w.Dynamic && (word || program.Toggle(name, value))
}
