package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// judgeCmake judges a build; cmake accepts no combined short options.
func (j *lineJudge) judgeCmake(argv []shell.Word) {
	options, operands := shell.SplitOptions(argv[1:])
	j.askAboutUnseenOptions([]string{"-E", "-P"}, argv[1:])
	inside := false
	for i, w := range argv {
		next := argv[min(i+1, len(argv)-1):]
		switch name, value, _ := strings.Cut(w.Text, "="); {
		case (name == "--target" || name == "-t") && (strings.Contains(value, "install") || slices.ContainsFunc(next, func(t shell.Word) bool { return strings.Contains(t.Text, "install") })):
			j.addAnswer(Ask, "path.outside", "it may install outside the worktree")
		case name == "--prefix":
			inside = j.isOwnFile(next[0])
		}
	}
	if i := slices.IndexFunc(argv, func(w shell.Word) bool { return w.Text == "--" }); i >= 0 {
		j.judgeSimpleCommand(append([]shell.Word{shell.LiteralWord("make")}, argv[i+1:]...)) // the build tool gets the rest
	}
	for _, o := range options {
		if name, _, _ := strings.Cut(o.Text, "="); name != "--install" || !inside {
			j.judgeCmakeOption(o)
		}
	}
	j.judgeWrites(operands)
}

// judgeCmakeOption requires approval for options that run a program: a mode, or a setting.
func (j *lineJudge) judgeCmakeOption(o shell.Word) {
	name, value, _ := strings.Cut(o.Text, "=")
	setting := strings.HasPrefix(name, "-D")
	switch {
	case setting && strings.Contains(name, "_FLAGS"):
		risky := regexp.MustCompile(`plugin|wrapper|specs|@|-B|fuse-ld=/|Xlinker|Xclang|(^|[\s=,])/(opt|home|root|etc|var|tmp|srv|mnt)|\.\./\.\.|~`)
		if o.Dynamic || !hasOnlyPlainLinkerFlags(value) && (script.NamesProgram(name) || risky.MatchString(value)) {
			j.addAnswer(Ask, "build.cmake", "flags of the compiler may run another program")
		}
	case setting && !o.Dynamic && j.isAllowedCmakeSetting(name, value):
	case setting && script.NamesProgram(name), slices.Contains([]string{"-E", "-P", "--install", "-C", "--open", "--find-package"}, name):
		j.addAnswer(Ask, "build.cmake", "cmake runs a command or a script")
	}
}

// isAllowedCmakeSetting reports whether a cmake setting is a switch, or names a usual compiler or a file
// of the tree.
func (j *lineJudge) isAllowedCmakeSetting(name, value string) bool {
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "-D"), ":")
	switch {
	case slices.Contains([]string{"ON", "OFF", "on", "off", "0", "1", "TRUE", "FALSE", "YES", "NO"}, value):
		return true
	case strings.HasSuffix(name, "_COMPILER_LAUNCHER"):
		return value == "ccache" || value == "sccache"
	case strings.HasSuffix(name, "_COMPILER"):
		return regexp.MustCompile(`^(gcc|g\+\+|clang|clang\+\+|cc|c\+\+|nvcc|icx|icpx|gfortran)(-\d+)?$`).MatchString(value)
	case name == "CMAKE_TOOLCHAIN_FILE":
		return j.isOwnFile(shell.LiteralWord(value))
	}
	return false
}

// hasOnlyPlainLinkerFlags reports whether compiler or linker flags name no program, plugin or file.
func hasOnlyPlainLinkerFlags(text string) bool {
	for f := range strings.FieldsSeq(text) {
		if !regexp.MustCompile(`^-(fsanitize=[a-z,-]+|fno-[a-z-]+|f(PIC|pic|lto|uzzer)[=a-z]*|fuse-ld=(lld|gold|bfd|mold)|Wl,[a-zA-Z0-9,=_-]+|static[a-z+-]*|pthread|l[a-z0-9]+|O[0-3sgz]|g[0-9]?|s|m(32|64)|stdlib=libc\+\+|coverage|-coverage|rdynamic|shared|no-?pie|pie)$`).MatchString(f) ||
			strings.Contains(f, "plugin") || strings.Contains(f, "dynamic-linker") {
			return false
		}
	}
	return true
}

func (j *lineJudge) judgeGoTool(argv []shell.Word) {
	rest := argv[1:]
	if len(rest) > 1 && rest[0].Text == "-C" {
		j.judgeWrites(rest[1:2])
		rest = rest[2:]
	}
	if len(rest) == 0 {
		return
	}
	verb := rest[0].Text
	if (verb == "mod" || verb == "tool") && len(rest) > 1 {
		if verb += " " + rest[1].Text; verb == "mod edit" {
			j.addAnswer(Ask, "deps.new", "it may name a new dependency")
		}
		rest = rest[1:]
	}
	if verb == "tool" || strings.HasPrefix(verb, "tool ") {
		if tool := j.judgeModuleTool(rest); tool {
			return
		}
	}
	if rest[0].Dynamic || !slices.Contains([]string{
		"build", "test", "vet", "fmt", "run", "list", "env", "version", "doc", "clean", "fix", "help", "generate",
		"mod init", "mod tidy", "mod download", "mod verify", "mod graph", "mod why", "mod edit", "mod vendor",
		"tool cover", "tool nm", "tool objdump",
	}, verb) {
		j.addAnswer(Ask, "deps.new", "go "+verb+" may fetch or run files outside the worktree")
		return
	}
	for i, a := range rest[1:] {
		if strings.HasPrefix(a.Text, "-") {
			j.judgeGoOption(verb, a, rest[min(i+2, len(rest)-1)])
		} else {
			j.judgeGoOperand(verb, rest[i].Text, a)
		}
	}
}

// judgeGoOperand judges a word that is not an option of go, but may be the value of the option
// before it.
func (j *lineJudge) judgeGoOperand(verb, before string, a shell.Word) {
	if strings.Contains(a.Text, "@") && verb != "list" {
		j.addAnswer(Ask, "deps.new", "it runs another version of a module")
	}
	if strings.HasPrefix(before, "-") && slices.Contains([]string{"run", "bench", "fuzz", "skip", "f", "tags", "ldflags", "gcflags"}, strings.TrimLeft(before, "-")) {
		return // its value, not a path
	}
	if a.Dynamic && !a.Fixed {
		j.addAnswer(Ask, "path.unseen", "it may be given options that are not known before it runs")
	}
	j.judgeWrites(shell.PathWords([]shell.Word{a}))
}

// judgeModuleTool judges a tool that the module names, in its go.mod or in another one of the tree,
// and reports whether it is one.
func (j *lineJudge) judgeModuleTool(words []shell.Word) bool {
	if file, ok := strings.CutPrefix(words[0].Text, "-modfile="); ok && len(words) > 1 && j.isOwnFile(shell.LiteralWord(file)) {
		words = words[1:]
	}
	name := words[0].Text
	if strings.HasPrefix(name, "-") {
		return false
	}
	if strings.HasPrefix(name, "/") || strings.Contains(name, "..") || strings.HasPrefix(name, ".") {
		return false
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	if name == "pprof" && len(words) > 1 && slices.Contains([]string{"-top", "-text", "-tree", "-traces", "-raw"}, words[1].Text) && !slices.ContainsFunc(words, func(w shell.Word) bool { return w.Dynamic || strings.Contains(w.Text, ":") }) {
		j.judgeWrites(words[2:])
		return true
	}
	if words[0].Dynamic || name == "" || leavesMachine(name) || slices.Contains([]string{
		"addr2line", "asm", "buildid", "cgo", "compile", "covdata", "cover", "doc", "fix", "link", "nm", "objdump", "pack", "pprof", "preprofile", "test2json", "trace", "vet", "dist", "distpack",
	}, name) || strings.Contains(words[0].Text, "@") {
		return false
	}
	if j.isUnknownProgram(name) {
		j.judgeProjectProgram(append([]shell.Word{shell.LiteralWord(name)}, words[1:]...))
	} else {
		j.judgeSimpleCommand(append([]shell.Word{shell.LiteralWord(name)}, words[1:]...))
	}
	return true
}

// judgeGoOption judges an option of go, with one dash or two, and its value, joined or in the next
// word.
func (j *lineJudge) judgeGoOption(verb string, a, next shell.Word) {
	name, value, joined := strings.Cut("-"+strings.TrimLeft(a.Text, "-"), "=")
	v := next
	if joined {
		v = a
		v.Text = value
	}
	switch name {
	case "-w", "-u":
		if verb == "env" {
			j.addAnswer(Ask, "go.env", "it changes settings outside the worktree")
		}
	case "-ldflags", "-gcflags":
		if v.Dynamic || !script.AreHarmlessGoFlags(v.Text) {
			j.addAnswer(Ask, "go.option", "the compiler or linker may run another program")
		}
	case "-toolexec", "-exec", "-vettool", "-overlay", "-modfile", "-modcacherw", "-pkgdir", "-asmflags", "-compiler", "-gccgoflags", "-fixtool", "-http":
		j.addAnswer(Ask, "go.option", "go "+name+" may run another program")
	default:
		if joined {
			j.judgeWrites(shell.PathWords([]shell.Word{v}))
		}
	}
}

func (j *lineJudge) judgePip(argv []shell.Word) {
	rest := argv[1:]
	if len(rest) == 0 {
		return
	}
	switch rest[0].Text {
	case "list", "show", "freeze", "check", "--version":
		return
	case "install":
	default:
		j.addAnswer(Ask, "deps.new", "pip "+rest[0].Text+" changes what is installed")
		return
	}
	for i := 1; i < len(rest); i++ {
		a := rest[i]
		switch {
		case (a.Text == "-r" || a.Text == "-c" || a.Text == "-e") && i+1 < len(rest) && !strings.ContainsAny(rest[i+1].Text, "+@:"):
			i++
			j.judgeWrites(rest[i : i+1]) // of the tree
		case a.Text == "." || a.Text == "-q" || a.Text == "--quiet" || a.Text == "--no-deps" || a.Text == "--no-index" || a.Text == "--no-build-isolation" || a.Text == "-v":
		case strings.HasPrefix(a.Text, ".["):
		default:
			j.addAnswer(Ask, "deps.new", "it adds a new dependency")
		}
	}
}
