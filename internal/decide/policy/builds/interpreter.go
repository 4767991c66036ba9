package builds

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/arg"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
)

// plain are options of interpreters that only change how a program runs.
func plain(name, option string) bool {
	switch name {
	case "node":
		return slices.Contains([]string{"--test", "--check", "-c", "--watch", "--enable-source-maps", "--no-warnings", "--trace-warnings", "--experimental-strip-types", "--experimental-vm-modules", "--expose-gc", "--test-only", "--experimental-test-coverage"}, option) ||
			strings.HasPrefix(option, "--max-old-space-size=") || strings.HasPrefix(option, "--test-reporter=") || strings.HasPrefix(option, "--test-name-pattern=") || strings.HasPrefix(option, "--test-concurrency=")
	case "php":
		return option == "-l"
	case "ruby":
		return slices.Contains([]string{"-c", "-w", "-W0", "-W1", "-W2", "--yjit"}, option)
	case "perl":
		return option == "-c" || option == "-w"
	case "java":
		return option == "-ea" || strings.HasPrefix(option, "-Xmx") || strings.HasPrefix(option, "-Xms") || strings.HasPrefix(option, "-Xss")
	}
	return option == "-u" || option == "-B" || option == "-I" || option == "-q"
}

// interpreter judges a script of the tree, which may run as the tree's build
// may; of code in an argument only what plainly calculates and prints.
func (j judge) interpreter(argv []arg.Word) {
	name, rest, tests := trimmed(argv[0].Text), argv[1:], false
	for len(rest) > 0 && !rest[0].Dynamic {
		o := rest[0].Text
		value := name == "ruby" && o == "-I" || name == "java" && slices.Contains([]string{"-cp", "-classpath", "--class-path"}, o)
		switch {
		case value && len(rest) > 1:
			for part := range strings.SplitSeq(rest[1].Text, ":") {
				j.Writes([]arg.Word{{Text: part, Dynamic: rest[1].Dynamic, Fixed: true}})
			}
			rest = rest[1:]
			if name == "java" && len(rest) > 1 && !strings.HasPrefix(rest[1].Text, "-") {
				j.Writes(arg.Literals(rest[2:])) // a class and what it is given
				return
			}
		case name == "ruby" && strings.HasPrefix(o, "-I") && len(o) > 2:
			j.Writes([]arg.Word{arg.Literal(o[2:])})
		case !plain(name, o):
			j.code(argv[0].Text, name, rest, tests)
			return
		}
		tests = tests || o == "--test"
		rest = rest[1:]
	}
	j.code(argv[0].Text, name, rest, tests)
}

// code judges what an interpreter is to run.
func (j judge) code(called, name string, rest []arg.Word, tests bool) {
	first := ""
	if len(rest) > 0 {
		first = rest[0].Text
	}
	switch {
	case len(rest) == 0 && tests:
	case len(rest) == 0:
		j.Ask("code.inline", "what it runs is not seen")
	case len(rest) == 1 && slices.Contains([]string{"--version", "-V", "-v", "-version", "-m", "-i"}, first) && (first != "-m" && first != "-i" || name == "php"):
	case first == "-m" && len(rest) > 1 && name == "python":
		j.module(called, rest[1:])
	case first == "-jar" && len(rest) > 1 && name == "java":
		j.Script(rest[1:])
	case len(rest) > 1 && !rest[1].Dynamic && (name == "python" && first == "-c" || name == "node" && slices.Contains([]string{"-e", "-p", "-pe", "--eval", "--print"}, first)):
		files, ok := script.Prints(name, rest[1].Text)
		if !ok {
			j.Ask("code.inline", "code in another language is not judged")
		}
		for _, f := range files {
			j.Reads([]arg.Word{arg.Literal(f)})
		}
		j.Writes(arg.Literals(rest[2:]))
	case strings.HasPrefix(first, "-"), strings.HasPrefix(first, "@"), rest[0].Dynamic:
		j.Ask("code.inline", "code in another language is not judged")
	default:
		j.Script(rest)
	}
}

// module judges python -m.
func (j judge) module(called string, argv []arg.Word) {
	switch name := argv[0].Text; name {
	case "pytest", "mypy", "ruff", "black", "flake8", "isort", "pip", "coverage", "pylint", "pyright", "tox", "nox", "pre_commit":
		j.Run(append([]arg.Word{arg.Literal(strings.ReplaceAll(name, "_", "-"))}, argv[1:]...))
	case "unittest", "compileall", "py_compile", "json.tool", "doctest", "build", "venv", "tokenize", "ast", "dis", "pyflakes", "pycodestyle":
		_, operands := arg.Split(argv[1:])
		j.Writes(arg.Literals(operands))
	default:
		j.Ask("code.module", called+" -m "+name+" is not known")
	}
}
