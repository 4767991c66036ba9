package policy

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/arg"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/place"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
)

// toolchain returns how the programs are judged that build, test and fetch.
func (j *judgement) toolchain(name string) func([]arg.Word) {
	switch name {
	case "go":
		return j.golang
	case "cargo":
		return func(argv []arg.Word) {
			j.verbs(argv, "build check test clippy fmt run bench doc tree metadata clean fetch version --version nextest",
				[]string{"--config", "-Z", "--manifest-path", "--target-dir", "-C"})
		}
	case "npm", "pnpm", "yarn", "bun":
		return j.npm
	case "pip", "pip3":
		return j.pip
	case "python", "python3", "node", "ruby", "perl", "php", "java":
		return j.interpreter
	case "cmake":
		return func(argv []arg.Word) {
			options, operands := arg.Split(argv[1:])
			if arg.Asks(options, []string{"-E", "-P", "--install", "-C"}) {
				j.add(Ask, "build.cmake", "cmake runs a command or a script")
			}
			j.writes(operands)
		}
	case "mvn", "gradle":
		return func(argv []arg.Word) {
			j.verbs(argv, "test compile build check clean verify package assemble", []string{"-f", "-s", "-I", "--init-script", "-g", "--settings"})
		}
	case "dotnet", "swift", "mix":
		return func(argv []arg.Word) { j.verbs(argv, "build test run format clean compile", []string{"--"}) }
	}
	return nil
}

// verbs allows a program's listed subcommands.
func (j *judgement) verbs(argv []arg.Word, allowed string, asked []string) {
	name := argv[0].Text
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "+") {
		j.add(Ask, "build.toolchain", "it chooses another toolchain")
		rest = rest[1:]
	}
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") && !arg.Asks(rest[:1], asked) && rest[0].Text != "--version" && !strings.Contains(rest[0].Text, "=") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return // it prints its help
	}
	if rest[0].Dynamic || !slices.Contains(strings.Fields(allowed), rest[0].Text) {
		j.add(Ask, name+".verb", name+" "+rest[0].Text+" is not a known way to build or test")
		return
	}
	options, operands := arg.Split(rest[1:])
	j.maybeOptions(asked, rest[1:])
	if arg.Asks(options, asked) {
		j.add(Ask, name+".option", "an option of "+name+" may run or write something else")
	}
	j.writes(arg.Literals(operands))
}

func (j *judgement) golang(argv []arg.Word) {
	rest := argv[1:]
	if len(rest) > 1 && rest[0].Text == "-C" {
		j.writes(rest[1:2])
		rest = rest[2:]
	}
	if len(rest) == 0 {
		return
	}
	verb := rest[0].Text
	if verb == "mod" && len(rest) > 1 {
		if verb += " " + rest[1].Text; verb == "mod edit" {
			j.add(Ask, "deps.new", "it may name a new dependency")
		}
		rest = rest[1:]
	}
	if rest[0].Dynamic || !slices.Contains([]string{
		"build", "test", "vet", "fmt", "run", "list", "env", "version", "doc", "clean", "fix", "help", "generate",
		"mod tidy", "mod download", "mod verify", "mod graph", "mod why", "mod edit", "mod vendor",
	}, verb) {
		j.add(Ask, "deps.new", "go "+verb+" may fetch or run what is not in the worktree")
		return
	}
	for i, a := range rest[1:] {
		if strings.HasPrefix(a.Text, "-") {
			j.goOption(verb, a, rest[min(i+2, len(rest)-1)])
			continue
		}
		if strings.Contains(a.Text, "@") && verb != "list" {
			j.add(Ask, "deps.new", "it runs another version of a module")
		}
		switch strings.TrimPrefix(rest[i].Text, "-") {
		case "-run", "-bench", "-fuzz", "-skip", "-f", "-tags", "-ldflags", "-gcflags", "run", "bench", "fuzz", "skip", "f", "tags", "ldflags", "gcflags":
			continue // its value, and no path
		}
		if a.Dynamic && !a.Fixed {
			j.add(Ask, "path.unseen", "it may be given options that are not known before it runs")
		}
		j.writes(arg.Literals([]arg.Word{a}))
	}
}

// goOption judges an option of go, which takes one dash or two, and its value
// joined or as the next word.
func (j *judgement) goOption(verb string, a, next arg.Word) {
	name, value, joined := strings.Cut("-"+strings.TrimLeft(a.Text, "-"), "=")
	v := next
	if joined {
		v = a
		v.Text = value
	}
	switch name {
	case "-w", "-u":
		if verb == "env" {
			j.add(Ask, "go.env", "it changes settings outside the worktree")
		}
	case "-ldflags", "-gcflags":
		if v.Dynamic || !script.GoFlags(v.Text) {
			j.add(Ask, "go.option", "the compiler or linker may run another program")
		}
	case "-toolexec", "-exec", "-vettool", "-overlay", "-modfile", "-modcacherw", "-pkgdir", "-asmflags", "-compiler", "-gccgoflags", "-fixtool", "-http":
		j.add(Ask, "go.option", "go "+name+" may run another program")
	default:
		if joined {
			j.writes(arg.Literals([]arg.Word{v}))
		}
	}
}

func (j *judgement) npm(argv []arg.Word) {
	rest := argv[1:]
	if len(rest) == 0 {
		if argv[0].Text != "yarn" {
			return
		}
		rest = []arg.Word{arg.Literal("install")}
	}
	options, operands := arg.Split(rest[1:])
	for _, o := range options {
		if !slices.Contains([]string{"--silent", "-s", "--", "--frozen-lockfile", "--immutable", "--ignore-scripts", "--no-audit", "--no-fund", "--watch=false", "--watchAll=false", "--prefer-offline", "--offline", "--if-present", "--workspaces", "--ci", "--coverage", "--verbose"}, o.Text) {
			j.add(Ask, "npm.option", "an option of "+argv[0].Text+" is not known")
		}
	}
	switch rest[0].Text {
	case "ci", "install", "i":
		if len(operands) > 0 {
			j.add(Ask, "deps.new", "it brings in a new dependency")
		}
	case "test", "t", "run", "run-script", "start", "ls", "list", "build", "lint", "--version", "-v":
		j.writes(arg.Literals(operands))
	default:
		j.add(Ask, "npm.verb", argv[0].Text+" "+rest[0].Text+" is not a known way to build or test")
	}
}

func (j *judgement) pip(argv []arg.Word) {
	rest := argv[1:]
	if len(rest) == 0 {
		return
	}
	switch rest[0].Text {
	case "list", "show", "freeze", "check", "--version":
		return
	case "install":
	default:
		j.add(Ask, "deps.new", "pip "+rest[0].Text+" changes what is installed")
		return
	}
	for i := 1; i < len(rest); i++ {
		a := rest[i]
		switch {
		case (a.Text == "-r" || a.Text == "-c" || a.Text == "-e") && i+1 < len(rest):
			i++
			if at, _ := j.where(rest[i]); at != place.Tree {
				j.add(Ask, "deps.new", "it brings in a new dependency")
			}
		case a.Text == "." || a.Text == "-q" || a.Text == "--quiet" || a.Text == "--no-deps":
		case strings.HasPrefix(a.Text, ".["):
		default:
			j.add(Ask, "deps.new", "it brings in a new dependency")
		}
	}
}

// interpreter judges a script of the tree, which may run as the tree's build
// may; code in an argument is not read.
func (j *judgement) interpreter(argv []arg.Word) {
	rest := argv[1:]
	for len(rest) > 0 && (rest[0].Text == "-u" || rest[0].Text == "-B" || rest[0].Text == "--test" && argv[0].Text == "node") {
		rest = rest[1:]
	}
	switch {
	case len(rest) == 0:
		j.add(Ask, "code.inline", "what it runs is not seen")
	case len(rest) == 1 && (rest[0].Text == "--version" || rest[0].Text == "-V" || rest[0].Text == "-v" || rest[0].Text == "-version"):
	case rest[0].Text == "-m" && len(rest) > 1 && strings.HasPrefix(argv[0].Text, "python"):
		j.module(rest[1:])
	case strings.HasPrefix(rest[0].Text, "-"), rest[0].Dynamic:
		j.add(Ask, "code.inline", "code in another language is not judged")
	default:
		j.program(rest)
	}
}

// module judges python -m.
func (j *judgement) module(argv []arg.Word) {
	switch name := argv[0].Text; name {
	case "pytest", "mypy", "ruff", "black", "flake8", "isort", "pip":
		j.simple(argv)
	case "unittest", "compileall", "py_compile", "json.tool", "doctest", "build", "tox", "coverage", "venv":
		_, operands := arg.Split(argv[1:])
		j.writes(arg.Literals(operands))
	default:
		j.add(Ask, "code.module", "the module "+name+" is not known")
	}
}
