package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// judgeVerbProgram judges a program whose first argument is a verb. It does not judge programs for which
// the table of programs has more details.
func (j *lineJudge) judgeVerbProgram(argv []shell.Word, v program.VerbRules) (mine bool) {
	name, rest := argv[0].Text, argv[1:]
	if len(rest) > 0 && strings.HasPrefix(rest[0].Text, "+") {
		if rest[0].Dynamic || !regexp.MustCompile(`^\+(stable|beta|nightly|\d+\.\d+)[\d.-]*$`).MatchString(rest[0].Text) {
			j.addAnswer(Ask, "build.toolchain", "it chooses another toolchain")
		}
		rest = rest[1:]
	}
	if len(v.Options) > 0 {
		j.askAboutUnseenOptions([]string{name}, rest)
	}
	rest = j.judgeOptions(name, v, rest, true)
	if len(rest) == 0 {
		return true // it prints its help, or installs the packages of the lock file
	}
	verb, next := rest[0].Text, ""
	if len(rest) > 1 {
		next = rest[1].Text
	}
	if isScriptName(name, verb) {
		verb, next = "run", ""
	}
	if runsScript(name, verb) {
		j.judgeProjectScript(name, strings.HasPrefix(rest[0].Text, "run"), rest[1:])
		return true
	}
	if strings.Contains(verb, "/") && name != "sbt" {
		j.judgeWrites(rest[:1])
	}
	switch n := v.WordsBeforeProgram(verb, next); {
	case rest[0].Dynamic:
		j.addAnswer(Ask, "shell.dynamic", "what "+name+" does is not known before it runs")
		return true
	case v.AllowsVerb(verb, next):
		if v.AllowsVerb("any", "") && leavesMachine(verb) && name != "gradle" { // gradle's projects have such names
			j.addAnswer(Ask, name+".verb", "its name suggests that it publishes something")
		}
	case n >= 0:
		j.judgeRunProgram(name, verb, v, rest[n:])
		return true
	default:
		if _, ok := program.FindProgram(name); ok {
			return false
		}
		j.addAnswer(Ask, name+".verb", name+" "+verb+" is not a known way to build or test")
		j.judgeReads(shell.PathWords(rest[1:]))
		return true
	}
	if name == "meson" && verb == "install" {
		at := slices.IndexFunc(rest, func(w shell.Word) bool { return w.Text == "--destdir" })
		if at < 0 || at+1 == len(rest) || !j.isOwnFile(rest[at+1]) {
			j.addAnswer(Ask, "path.outside", "it installs outside the worktree, unless a directory of the tree is given")
		}
	}
	operands := j.judgeOptions(name, v, rest[1:], false)
	if len(operands) > 0 && v.AddsDependencies(verb) {
		j.addAnswer(Ask, "deps.new", "it adds a new dependency")
	}
	j.judgeVerbOperands(name, v, operands)
	return true
}

// isScriptName reports whether a word has a usual form of a project script's name: lint:fix,
// test-unit, gen:types. These managers treat an unknown word as a script, and fetch nothing
// for it. Names that suggest that data leaves the machine are excluded.
func isScriptName(name, verb string) bool {
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

// judgeProjectScript judges the arguments of a project script. npm itself uses options up to --.
func (j *lineJudge) judgeProjectScript(name string, run bool, words []shell.Word) {
	if len(words) > 0 && words[0].Dynamic && !words[0].Fixed {
		j.addAnswer(Ask, "shell.dynamic", "which script runs is not known before it runs")
	}
	if len(words) > 0 && run && leavesMachine(words[0].Text) {
		j.addAnswer(Ask, name+".script", "the name of the script suggests that it publishes something")
	}
	for i, w := range words {
		option := strings.HasPrefix(w.Text, "-")
		switch {
		case w.Text == "--" && name == "npm":
			j.judgeWrites(shell.PathWords(words[i+1:]))
			return
		case name == "npm" && option && shell.HasOption([]shell.Word{w}, []string{
			"--script-shell", "--userconfig", "--globalconfig", "--registry", "--node-options", "--shell", "--call", "--init-module", "--cache", "--git", "--editor", "--viewer",
			"--global", "--location", "-C", "-g", "--prefix", "--https-proxy", "--proxy", "--cafile",
		}) && (!strings.HasPrefix(w.Text, "--prefix") || !j.hasPrefixInTree(words[i:])),
			name == "bun" && option && shell.HasOption([]shell.Word{w}, []string{"--preload", "-r", "--eval", "-e", "-i", "--install", "--import"}) && !slices.Contains([]string{"--reporter", "--rerun-each"}, w.Text),
			name != "npm" && i == 0 && option && (shell.HasOption([]shell.Word{w}, []string{"--cwd", "--dir", "--working-dir"}) || w.Text == "-C" || w.Text == "-d") && !j.hasPrefixInTree(words):
			j.addAnswer(Ask, name+".option", "an option of "+name+" may run or write something else")
		}
		if name == "bun" && strings.Contains(w.Text, "://") && !slices.ContainsFunc(words[:i], func(w shell.Word) bool { return !strings.HasPrefix(w.Text, "-") }) {
			j.addAnswer(Ask, "net.read", "it runs something from the network")
		}
		if w.Dynamic && !w.Fixed && !w.Listed {
			j.askAboutUnseenOptions([]string{name}, []shell.Word{w})
		}
	}
	if run && len(words) > 0 && strings.HasPrefix(words[0].Text, "/^") {
		words = words[1:] // a name pattern
	}
	_, operands := shell.SplitOptions(words)
	j.judgeWrites(shell.PathWords(operands))
}

// hasPrefixInTree reports whether npm is told to work in a directory of the tree.
func (j *lineJudge) hasPrefixInTree(words []shell.Word) bool {
	_, value, joined := strings.Cut(words[0].Text, "=")
	at := words[0]
	at.Text = value
	if !joined && len(words) > 1 {
		at = words[1]
	}
	j.judgeWrites([]shell.Word{at})
	return j.isOwnFile(at)
}

func (j *lineJudge) judgeVerbOperands(name string, v program.VerbRules, operands []shell.Word) {
	for _, w := range operands {
		switch {
		case v.Operands == "each" && (w.Dynamic || !v.AllowsVerb(w.Text, "")):
			j.addAnswer(Ask, name+".verb", name+" "+w.Text+" is not a known way to build or test")
		case strings.Contains(w.Text, "://"), name == "deno" && (strings.HasPrefix(w.Text, "npm:") || strings.HasPrefix(w.Text, "jsr:")):
			j.addAnswer(Ask, "net.read", "it reads from the network")
		case v.Operands == "write":
			j.judgeWrites(shell.PathWords([]shell.Word{w}))
		}
	}
}

// judgeOptions judges the options among some words and returns the others: all of them, or those
// from the first operand on.
func (j *lineJudge) judgeOptions(name string, v program.VerbRules, words []shell.Word, leading bool) (others []shell.Word) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if name == "dotnet" {
			if w = normalizeDotnetOption(w); j.judgeDotnetProperty(w) {
				continue
			}
		}
		option, value, joined := strings.Cut(w.Text, "=")
		if n := j.uvPythonLength(name, words[i:]); n > 0 {
			i += n - 1
			continue
		}
		switch {
		case w.Text == "--":
			return append(others, words[i+1:]...)
		case !strings.HasPrefix(w.Text, "-") || leading && v.AllowsVerb(w.Text, ""):
			if leading {
				return words[i:]
			}
			others = append(others, w)
			continue
		case !needsQuestion(v, w):
		case shell.OptionTakesPath(option) && name != "npx" && name != "npm" && name != "bunx" && j.hasValueInTree(joined, value, words[i:]):
			if !joined {
				i++
			}
			continue
		default:
			j.addAnswer(Ask, name+".option", "an option of "+name+" may run or write something else")
		}
		i += j.judgeOptionValue(v, w, words[i+1:])
	}
	return others
}

// judgeOptionValue judges the value of an option, and returns the number of words of the value.
func (j *lineJudge) judgeOptionValue(v program.VerbRules, w shell.Word, next []shell.Word) (used int) {
	option, value, joined := strings.Cut(w.Text, "=")
	at := w
	if joined {
		at.Text = value
	} else if (v.TakesDirectory(option) || v.TakesValue(option)) && len(next) > 0 {
		at, used = next[0], 1
	}
	switch {
	case v.TakesDirectory(option):
		j.judgeWrites([]shell.Word{at})
		return used
	case v.TakesValue(option):
		j.judgeWrites(shell.PathWords([]shell.Word{at}))
	}
	_, operands := shell.SplitOptions([]shell.Word{w})
	j.judgeWrites(shell.PathWords(operands))
	return used
}

// judgeDotnetProperty reports whether a dotnet option sets a property that names neither a file nor a
// program, and requires approval for the others.
func (j *lineJudge) judgeDotnetProperty(w shell.Word) bool {
	property, plain := parseDotnetProperty(w)
	if property && !plain {
		j.addAnswer(Ask, "dotnet.option", "a property of the build may name a program")
	}
	return plain
}

// needsQuestion reports whether an option may run or write something else.
func needsQuestion(v program.VerbRules, w shell.Word) bool {
	option, _, _ := strings.Cut(w.Text, "=")
	if v.TakesDirectory(option) || v.TakesValue(option) || option == "--no" {
		return false
	}
	return strings.HasPrefix(w.Text, "--config.") || v.NeedsQuestionExactly(w.Text) || !v.Only && shell.HasOption([]shell.Word{w}, v.Options) || !v.AllowsOption(option)
}

// uvPythonLength returns the number of words with which uv is given its Python, if that is a version
// or a program of the tree.
func (j *lineJudge) uvPythonLength(name string, words []shell.Word) int {
	option, value, joined := strings.Cut(words[0].Text, "=")
	if name != "uv" || option != "--python" && option != "-p" {
		return 0
	}
	n := 1
	if !joined && len(words) > 1 {
		n, value = 2, words[1].Text
	}
	if regexp.MustCompile(`^(python|cpython|pypy)?-?3(\.\d+)*t?$`).MatchString(value) || strings.HasPrefix(value, "./") && j.isOwnFile(shell.LiteralWord(value)) {
		return n
	}
	return 0
}

// hasValueInTree reports whether the value of an option is a file of the tree.
func (j *lineJudge) hasValueInTree(joined bool, value string, words []shell.Word) bool {
	w := words[0]
	w.Text = value
	if !joined {
		if len(words) < 2 {
			return false
		}
		w = words[1]
	}
	return j.isOwnFile(w)
}

// judgeRunProgram judges the program that another one runs: a program of the dependencies only if it is
// well known, because it is fetched if it is missing.
func (j *lineJudge) judgeRunProgram(name, verb string, v program.VerbRules, argv []shell.Word) {
	if name == "coverage" { // it accepts the same arguments as python
		for len(argv) > 0 && slices.Contains([]string{"--branch", "-p", "-a", "--parallel-mode", "--append"}, argv[0].Text) {
			argv = argv[1:]
		}
		j.judgeSimpleCommand(append([]shell.Word{shell.LiteralWord("python3")}, argv...))
		return
	}
	argv = j.judgeOptions(name, v, argv, true)
	if verb == "workspace" && len(argv) > 1 || verb == "workspaces" {
		if verb == "workspace" {
			argv = argv[1:]
		}
		j.judgeSimpleCommand(append([]shell.Word{shell.LiteralWord(name)}, argv...))
		return
	}
	if len(argv) == 0 || argv[0].Dynamic {
		j.addAnswer(Ask, "shell.dynamic", "which program runs is not known before it runs")
		return
	}
	switch file := argv[0].Text; {
	case strings.HasSuffix(file, ".py") || name == "bun" && (strings.HasSuffix(file, ".ts") || strings.HasSuffix(file, ".js")):
		j.judgeProgramPath(argv)
	case slices.Contains([]string{"npm", "npx", "pnpm", "yarn", "bun", "bunx"}, name):
		if name != "npm" && name != "npx" && name != "bunx" && j.isUnknownProgram(file) && verb == file && !strings.HasPrefix(file, "x:") && !isManagerCommand(name, file) && !leavesMachine(file) {
			j.judgeProjectProgram(argv) // a script of the project, or a program of its dependencies
			return
		}
		fetches := slices.Contains([]string{"npm", "npx", "bunx"}, name)
		e, ok := program.FindProgram(file)
		if !ok && !buildsOrInterprets(file) || fetches && ok && e.Rule != "build.js" && e.Rule != "build.tsc" && e.Rule != "build.tools" {
			j.addAnswer(Ask, "deps.new", name+" may fetch and run "+file)
			return
		}
		j.judgeSimpleCommand(argv)
	case slices.Contains([]string{"uv", "poetry", "pdm", "hatch", "pipenv", "bundle"}, name) && j.isUnknownProgram(file) && !leavesMachine(file):
		j.judgeProjectProgram(argv) // of the project or of its lock file
	default:
		j.judgeSimpleCommand(argv)
	}
}

// isManagerCommand reports whether a word is a manager's own command that the table does not allow.
func isManagerCommand(name, word string) bool {
	return slices.Contains(strings.Fields(stack.CommandsOf().Own[name]), word)
}

// isUnknownProgram reports whether a word is not the name of a program with a rule.
func (j *lineJudge) isUnknownProgram(name string) bool {
	_, listed := program.FindProgram(name)
	return !listed && !isVersionedInterpreter(name) && !buildsOrInterprets(name) && j.builtinProgramJudge(name) == nil && regexp.MustCompile(`^[a-zA-Z][\w.:-]*$`).MatchString(name)
}

// normalizeDotnetOption converts a dotnet option to the usual form: with a dash instead of a slash, and an
// equals sign instead of a colon.
func normalizeDotnetOption(w shell.Word) shell.Word {
	head, value, ok := strings.Cut(w.Text, ":")
	if option, slash := strings.CutPrefix(head, "/"); slash && ok && option != "" && !strings.Contains(option, "/") {
		head = "-" + option
	}
	if ok && strings.HasPrefix(head, "-") && !strings.Contains(head, "=") {
		w.Text = head + "=" + value
	}
	return w
}

// parseDotnetProperty reports whether an option sets a build property, and whether the value names neither a
// file nor a program.
func parseDotnetProperty(w shell.Word) (property, plain bool) {
	option, text, _ := strings.Cut(w.Text, "=")
	name, value, ok := strings.Cut(text, "=")
	if !ok || !slices.Contains([]string{"-p", "--property", "-property"}, strings.ToLower(option)) {
		return false, false
	}
	word := slices.Contains([]string{
		"configuration", "platform", "version", "versionprefix", "versionsuffix", "targetframework", "runtimeidentifier", "debugtype", "nowarn", "warninglevel", "langversion",
		"treatwarningsaserrors", "restorelockedmode", "collectcoverage", "coverletoutputformat", "threshold", "informationalversion", "assemblyversion", "fileversion",
	}, strings.ToLower(name)) && strings.Trim(value, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,;_-+") == ""
	return true, !w.Dynamic && (word || program.IsToggle(name, value))
}
