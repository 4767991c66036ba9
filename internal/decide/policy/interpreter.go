package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// isPlainInterpreterOption reports whether an interpreter's option only changes how a program runs.
func isPlainInterpreterOption(name, option string) bool {
	switch name {
	case "node":
		word, _, _ := strings.Cut(option, "=")
		return option == "-c" || regexp.MustCompile(`^--[a-z][a-z0-9_-]+(=[\w.,:*/ -]*)?$`).MatchString(option) && !strings.Contains(option, "=/") && !strings.Contains(option, "..") && !slices.ContainsFunc([]string{
			"require", "import", "loader", "eval", "print", "env-file", "inspect", "icu", "openssl", "policy", "interactive", "build-snapshot", "run", "tls", "snapshot", "report", "prof", "input-type", "redirect", "diagnostic", "cpu", "heap", "title", "security", "localstorage", "version",
		}, func(part string) bool { return strings.Contains(word, part) })
	case "php":
		return option == "-l" || option == "-n" || option == "-q"
	case "ruby":
		return slices.Contains([]string{"-c", "-w", "-W0", "-W1", "-W2", "--yjit"}, option) || strings.HasPrefix(option, "-W:")
	case "perl":
		return option == "-c" || option == "-w" || option == "-T"
	case "java":
		return option == "-ea" || strings.HasPrefix(option, "-Xmx") || strings.HasPrefix(option, "-Xms") || strings.HasPrefix(option, "-Xss") || option == "--enable-preview"
	}
	return slices.Contains([]string{"-u", "-B", "-I", "-q", "-O", "-OO", "-s", "-E", "-bb", "-Wd", "-Werror", "-Wall", "-Wignore", "-Xdev"}, option)
}

// isInterpreter reports whether a program runs code in a language other than the shell's.
func isInterpreter(name string) bool {
	return slices.Contains([]string{"python", "node", "ruby", "perl", "php"}, withoutVersionSuffix(name))
}

// hasInlineCode reports whether an option of such a program means that the command line
// contains code.
func hasInlineCode(argv []shell.Word) bool {
	return slices.ContainsFunc(argv[1:], func(w shell.Word) bool {
		return regexp.MustCompile(`^(-[a-zA-Z0-9]*[cep]|-r|--eval|--print)$`).MatchString(w.Text)
	})
}

// judgeInterpreter judges a script of the tree, which may do the same as the tree's build, or code
// in an argument or on standard input.
func (j *lineJudge) judgeInterpreter(argv []shell.Word) {
	name, rest, tests := withoutVersionSuffix(argv[0].Text), argv[1:], false
	j.preloads = false
	for len(rest) > 0 && !rest[0].Dynamic {
		o := rest[0].Text
		words := j.harmlessOptionLength(name, rest)
		if words == 0 {
			break
		}
		j.preloads = j.preloads || name == "node" && words == 2 && o != "-C"
		rest, tests = rest[words:], tests || o == "--test"
		if class := slices.Contains([]string{"-cp", "-classpath", "--class-path"}, o); class && name == "java" && len(rest) > 0 && !strings.HasPrefix(rest[0].Text, "-") {
			j.judgeWrites(shell.PathWords(rest[1:])) // a class and its arguments
			return
		}
	}
	j.judgeInterpreterCode(argv[0].Text, name, rest, tests)
}

// harmlessOptionLength returns the number of words of an option that only changes how a program runs, or 0
// for any other word.
func (j *lineJudge) harmlessOptionLength(name string, rest []shell.Word) int {
	o, next := rest[0].Text, rest[min(1, len(rest)-1)]
	two := len(rest) > 1
	switch {
	case name == "node" && slices.Contains([]string{"-r", "--require", "--import", "--loader", "--experimental-loader"}, o) && two && j.isOwnFile(next):
		return 2
	case name == "node" && regexp.MustCompile(`^--inspect(-brk)?(=((localhost|127\.0\.0\.1):)?\d+)?$`).MatchString(o):
		return 1
	case two && (name == "node" && o == "-C" || name == "python" && (o == "-W" || o == "-X")) && regexp.MustCompile(`^[a-z][\w:=-]*$`).MatchString(next.Text):
		return 2
	case two && name == "php" && o == "-d" && isHarmlessPHPSetting(next):
		return 2
	case name == "php" && strings.HasPrefix(o, "-d") && len(o) > 2 && isHarmlessPHPSetting(shell.Word{Text: o[2:]}):
		return 1
	case two && (name == "ruby" && o == "-I" || name == "java" && slices.Contains([]string{"-cp", "-classpath", "--class-path"}, o)):
		for part := range strings.SplitSeq(next.Text, ":") {
			j.judgeWrites([]shell.Word{{Text: part, Dynamic: next.Dynamic, Fixed: true}})
		}
		return 2
	case name == "ruby" && strings.HasPrefix(o, "-I") && len(o) > 2:
		j.judgeWrites([]shell.Word{shell.LiteralWord(o[2:])})
		return 1
	case isPlainInterpreterOption(name, o):
		return 1
	}
	return 0
}

// isHarmlessPHPSetting reports whether a PHP setting loads nothing.
func isHarmlessPHPSetting(w shell.Word) bool {
	name, value, _ := strings.Cut(w.Text, "=")
	return !w.Dynamic && !strings.ContainsAny(value, "/\\") && slices.Contains([]string{
		"memory_limit", "error_reporting", "display_errors", "display_startup_errors", "max_execution_time", "zend.assertions", "assert.exception", "assert.active",
		"xdebug.mode", "xdebug.max_nesting_level", "opcache.enable", "opcache.enable_cli", "opcache.jit", "opcache.jit_buffer_size", "phar.readonly", "date.timezone",
		"short_open_tag", "pcov.enabled", "pcov.directory", "pcre.jit", "precision", "variables_order", "log_errors", "html_errors",
	}, name)
}

// judgeInterpreterCode judges the code that an interpreter is to run.
func (j *lineJudge) judgeInterpreterCode(called, name string, rest []shell.Word, tests bool) {
	first := ""
	if len(rest) > 0 {
		first = rest[0].Text
	}
	switch {
	case len(rest) == 0 && tests:
	case len(rest) == 0, first == "-" && !rest[0].Dynamic:
		if code, seen := j.input, j.given; seen {
			j.judgeInlineCode(name, code, rest[min(1, len(rest)):])
			return
		}
		j.addAnswer(Ask, "code.inline", "the program that it runs is unknown")
	case len(rest) == 1 && slices.Contains([]string{"--version", "-V", "-v", "-version", "-m", "-i"}, first) && (first != "-m" && first != "-i" || name == "php"):
	case name == "python" && len(first) > 2 && strings.HasPrefix(first, "-m") && !rest[0].Dynamic:
		j.judgePythonModule(called, append([]shell.Word{shell.LiteralWord(first[2:])}, rest[1:]...))
	case first == "-m" && len(rest) > 1 && name == "python":
		j.judgePythonModule(called, rest[1:])
	case first == "-jar" && len(rest) > 1 && name == "java":
		j.judgeProgramPath(rest[1:])
	case strings.HasPrefix(first, "-") && inlineCodeArgsIndex(name, rest) > 0:
		at := inlineCodeArgsIndex(name, rest)
		for _, w := range rest[at:] {
			if name == "ruby" && strings.HasPrefix(w.Text, "-") {
				j.addAnswer(Ask, "code.inline", "an option of ruby may run something else")
			}
		}
		j.judgeInlineCode(name, rest[at-1].Text, rest[at:])
	case strings.HasPrefix(first, "-"), strings.HasPrefix(first, "@"), rest[0].Dynamic:
		j.addAnswer(Ask, "code.inline", "code in another language cannot be judged")
	default:
		j.judgeProgramPath(rest)
	}
}

// inlineCodeArgsIndex returns the index of the words after the code in an argument, or 0 if they are
// unknown.
func inlineCodeArgsIndex(name string, rest []shell.Word) int {
	for i := 0; i+1 < len(rest) && !rest[i].Dynamic && strings.HasPrefix(rest[i].Text, "-"); i++ {
		o, next := rest[i].Text, rest[i+1]
		code, goes := isCodeOption(name, o)
		switch {
		case code && !next.Dynamic:
			return i + 2
		case name == "ruby" && (o == "-r" || o == "-I") && isHarmlessRubyModule(next):
			i++
		case !goes:
			return 0
		}
	}
	return 0
}

// isCodeOption reports whether code follows an option of an interpreter, and whether it may follow
// one more option.
func isCodeOption(name, o string) (code, goes bool) {
	letters := strings.TrimPrefix(o, "-")
	switch name {
	case "python":
		return o == "-c" || strings.HasSuffix(o, "c") && strings.Trim(letters, "BIuqc") == "", false
	case "node":
		return slices.Contains([]string{"-e", "-p", "-pe", "--eval", "--print"}, o), o == "--input-type=module"
	case "php":
		return o == "-r", false
	case "ruby", "perl":
		copies := strings.HasPrefix(o, "-i.") && strings.Trim(o[3:], "abcdefghijklmnopqrstuvwxyz") == ""
		switches := strings.Trim(letters, "0123456789lnpawsiEe") == "" && !strings.Contains(o, "ie")
		modules := strings.HasPrefix(o, "-rjson") || strings.HasPrefix(o, "-ryaml") || strings.HasPrefix(o, "-MJSON") || o == "-Mstrict" || o == "-Mwarnings"
		return switches && strings.HasSuffix(o, "e"), copies || switches || modules
	}
	return false, false
}

// isHarmlessRubyModule reports whether a word is a harmless Ruby module.
func isHarmlessRubyModule(w shell.Word) bool {
	return !w.Dynamic && regexp.MustCompile(`^(bundler/setup|[a-z][\w-]*)$`).MatchString(w.Text) &&
		!slices.Contains([]string{"socket", "fileutils", "open3", "drb", "webrick", "pty", "etc", "fiddle", "resolv", "openssl"}, w.Text)
}

// loadsUnseen reports whether an interpreter runs more than the code in the command line: a
// file that an option preloads, or files that a search path puts before the language's
// modules, such as a sitecustomize.py.
func (j *lineJudge) loadsUnseen(name, code string) bool {
	path := name == "python" && (slices.Contains(j.sets, "PYTHONPATH") || j.searchPath)
	return j.preloads || path && !script.ImportsProject(code)
}

// judgeInlineCode judges visible code and its arguments.
func (j *lineJudge) judgeInlineCode(name, code string, args []shell.Word) {
	names, ok := script.CheckInlineCode(name, code)
	if j.loadsUnseen(name, code) {
		j.addAnswer(Ask, "code.preload", "something is loaded before the code that is seen")
	}
	if !ok {
		j.addAnswer(Ask, "code.inline", "the code may start programs, use the network or the environment, or remove files")
	}
	for _, text := range names {
		if strings.ContainsAny(text, "/~.") {
			j.judgeWrites([]shell.Word{{Text: text, Fixed: true, Glob: strings.ContainsAny(text, "*?[")}})
		} else {
			j.judgeReads([]shell.Word{{Text: text, Fixed: true, Glob: strings.ContainsAny(text, "*?[")}})
		}
	}
	for _, w := range args {
		if !strings.HasPrefix(w.Text, "-") {
			j.judgeWrites([]shell.Word{w})
		}
	}
}

// judgePythonModule judges python -m: a module of the tree or of its dependencies may do the same as a
// script, and modules of Python with further effects are not allowed.
func (j *lineJudge) judgePythonModule(called string, argv []shell.Word) {
	switch name := argv[0].Text; {
	case argv[0].Dynamic:
		j.addAnswer(Ask, "code.module", "which module runs is not known before it runs")
	case slices.Contains([]string{"pytest", "mypy", "ruff", "black", "flake8", "isort", "pip", "coverage", "pylint", "pyright", "tox", "nox", "pre_commit", "twine", "poetry", "uv", "pdm", "hatch", "alembic"}, name):
		j.judgeSimpleCommand(append([]shell.Word{shell.LiteralWord(strings.ReplaceAll(name, "_", "-"))}, argv[1:]...))
	case slices.Contains([]string{
		"smtplib", "ftplib", "telnetlib", "poplib", "imaplib", "nntplib", "webbrowser", "antigravity", "code", "codeop", "pdb", "idlelib", "timeit", "trace",
		"profile", "cProfile", "runpy", "ensurepip", "pipx", "conda", "ansible", "invoke", "fabric", "urllib", "ssl", "asyncio", "IPython", "ptpython", "bdb", "pty", "smtpd", "base64", "uu", "quopri", "http",
	}, strings.Split(name, ".")[0]):
		j.addAnswer(Ask, "code.module", called+" -m "+name+" may run or reach something else")
	default:
		options, operands := shell.SplitOptions(argv[1:])
		if shell.HasOption(options, []string{"-e", "--eval", "--exec", "-m"}) {
			j.addAnswer(Ask, "code.module", "an option of "+name+" may run something else")
		}
		j.judgeWrites(shell.PathWords(operands))
		if name == "zipfile" || name == "tarfile" {
			j.judgeWrites(operands)
		}
	}
}
