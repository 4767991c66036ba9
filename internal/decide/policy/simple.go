package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// simple judges one simple command: its program and its arguments.
func (j *judgement) simple(argv []shell.Word) {
	if j.parts++; len(argv) == 0 || j.parts > maxParts {
		return
	}
	name := argv[0]
	if name.Dynamic || name.Glob || name.Text == "" {
		j.add(Ask, "shell.dynamic", "which program runs is not known before it runs")
		if name.Text == "" && !name.Dynamic {
			j.simple(argv[1:]) // bash drops an empty word that braces produced
		}
		return
	}
	for _, known := range j.functions {
		if known == name.Text {
			j.applyCallerRules(argv)
			return // its body is judged separately
		}
	}
	tool := j.tool(name)
	if tool == "" {
		j.applyCallerRules(argv)
		j.program(argv)
		return
	}
	argv = append([]shell.Word{shell.Literal(tool)}, argv[1:]...)
	if len(argv) == 2 && !argv[1].Dynamic && (argv[1].Text == "--version" || argv[1].Text == "--help") && argv[0].Text != "git" {
		j.applyCallerRules(argv)
		return // any program only prints its version or help
	}
	j.decodes = j.decodes || decodes(argv)
	j.takes = j.takes || argv[0].Text == "head" || argv[0].Text == "dd"
	j.fills(argv)
	allowed := j.applyCallerRules(argv)
	if run := j.special(argv[0].Text); run != nil {
		run(argv)
		return
	}
	j.unconfined(argv)
	if j.builds(argv) {
		return
	}
	e, ok := program.Find(argv[0].Text)
	if !ok {
		if !allowed {
			j.add(Ask, "unknown", argv[0].Text+" is not a known program")
		}
		j.reads(shell.Literals(argv[1:]))
		return
	}
	j.listed(e, argv)
}

// unconfined requires approval for code in another language that no sandbox confines.
func (j *judgement) unconfined(argv []shell.Word) {
	if j.rules.Open && (j.given || hasInlineCode(argv)) && interprets(argv[0].Text) {
		j.add(Ask, "code.inline", "without a sandbox, code in the command line could do anything")
	}
}

// tool returns the known name of a program, or "" for a program of the tree or of another
// place.
func (j *judgement) tool(w shell.Word) string {
	name := w.Text
	if strings.Contains(name, "/") {
		at, p := j.locatePath(w)
		if dir := path.Base(path.Dir(p)); at == pathkind.System && (dir == "bin" || dir == "sbin") {
			name = path.Base(p)
		} else {
			name = j.carried(w)
		}
	}
	if versioned(name) {
		name = strings.TrimRight(name, "0123456789.")
	}
	return name
}

// program judges a program that is named by its path: the tree's own programs may run, as its
// build may.
func (j *judgement) program(argv []shell.Word) {
	at, name := j.locatePath(argv[0])
	made := at == pathkind.Tmp && strings.HasPrefix(name, "/tmp/") // private, so it was made here
	if !made && (at != pathkind.Tree || !JudgePath(name, false).Allowed()) {
		j.add(Ask, "unknown", "it runs a program outside the worktree")
	}
	if strings.Contains(argv[0].Text, "://") {
		j.add(Ask, "net.read", "it runs something from the network")
	}
	j.scripts = true
	j.frontEnd(path.Base(name), argv[1:])
	_, operands := shell.SplitOptions(places(path.Base(name), argv[1:]))
	j.writes(shell.Literals(operands))
	for _, w := range operands { // NAME=PLACE, as configure accepts it
		if name, value, ok := strings.Cut(w.Text, "="); ok && !w.Dynamic && !strings.Contains(name, "/") && (strings.HasPrefix(value, "/") || strings.HasPrefix(value, "..")) {
			j.reads([]shell.Word{shell.Literal(value)})
		}
	}
	if base := path.Base(name); strings.HasPrefix(base, "coveralls") || strings.HasPrefix(base, "php-coveralls") || strings.HasPrefix(base, "codecov") {
		j.add(Ask, "net.send", base+" sends coverage data to a server")
	}
}

// places returns the arguments of a program of the tree that may be paths. It skips name
// patterns of tests (-n /some/), and configure's installation paths, which are only recorded.
func places(name string, args []shell.Word) (words []shell.Word) {
	pattern, later := regexp.MustCompile(`^/[^/]+/[a-z]?$`), regexp.MustCompile(`^--[a-z-]*(prefix|dir)=`)
	for i, w := range args {
		named := i > 0 && slices.Contains([]string{"-n", "-i", "--name", "-t", "-m"}, args[i-1].Text)
		if (!named || !pattern.MatchString(w.Text)) && (name != "configure" || !later.MatchString(w.Text)) {
			words = append(words, w)
		}
	}
	return words
}

// listed judges a program of the table.
func (j *judgement) listed(e program.Entry, argv []shell.Word) {
	name := argv[0].Text
	if e.Answer != string(Allow) {
		j.add(Answer(e.Answer), e.Rule, name+" is not for an agent to run on its own")
		j.reads(shell.Literals(argv[1:]))
		return
	}
	options, operands := shell.SplitOptions(argv[1:])
	j.frontEnd(name, argv[1:])
	j.maybeOptions(e.Asked, unclear(name, argv[1:]))
	if shell.HasOption(j.configured(e, options, argv[1:]), e.Asked) {
		j.add(Ask, e.Rule+".option", "an option of "+name+" may run or write something else")
	}
	if strings.HasPrefix(e.Rule, "build.") {
		j.built(e, name, operands)
	}
	switch e.Operands {
	case "read":
		j.reads(operands)
	case "pattern":
		j.judgeSearch(argv)
		if len(operands) > 0 && !shell.HasOption(options, []string{"--regexp", "-e", "--file", "-f"}) && !slices.ContainsFunc(options, func(o shell.Word) bool { return o.Text == "--files" }) {
			operands = operands[1:]
		}
		j.reads(operands)
	case "write":
		if name == "ln" && shell.HasOption(options, []string{"-s", "--symbolic"}) {
			operands = linked(operands)
		}
		j.written(name, operands)
	case "delete":
		j.removed(e, argv, operands)
	default:
		for _, w := range operands {
			if w.Home || w.Glob && strings.Contains(w.Text, "/") {
				j.reads([]shell.Word{w}) // it shows the content
			}
		}
		j.hides(name, argv[1:])
	}
}

// linked returns the operands of ln -s with a relative target converted to a path from the
// root: the target is relative to the directory of the link.
func linked(operands []shell.Word) []shell.Word {
	if len(operands) != 2 || operands[0].Dynamic || operands[0].Home || path.IsAbs(operands[0].Text) || operands[1].Dynamic || path.IsAbs(operands[1].Text) {
		return operands
	}
	all := slices.Clone(operands)
	all[0].Text = path.Join(path.Dir(path.Clean(operands[1].Text)), operands[0].Text)
	return all
}

// unclear returns the words that could be options: before the format in printf, and without
// the values of variables in jq.
func unclear(name string, args []shell.Word) []shell.Word {
	switch name {
	case "printf":
		return args[:min(1, len(args))]
	case "jq":
		var words []shell.Word
		for i, w := range args {
			if i < 2 || args[i-2].Text != "--arg" && args[i-2].Text != "--argjson" {
				words = append(words, w)
			}
		}
		return words
	}
	return args
}

// built requires approval for arguments of build programs: paths outside, installations or
// uploads, options in files, and commands.
func (j *judgement) built(e program.Entry, name string, operands []shell.Word) {
	for _, w := range operands {
		installs := strings.HasPrefix(w.Text, "install") || strings.HasPrefix(w.Text, "uninstall")
		switch {
		case strings.Contains(w.Text, "://") && !script.Loopback(w.Text):
			j.add(Ask, "net.read", "it names something on the network")
		case name == "rake" && (leavesMachine(w.Text) || installs):
			j.add(Ask, "net.send", "the name of the task suggests that it publishes something")
		case (name == "ninja" || name == "mage") && installs:
			j.add(Ask, "path.outside", "it may install outside the worktree")
		case slices.Contains([]string{"build.c", "build.rust", "build.jvm", "build.tsc"}, e.Rule) && strings.HasPrefix(w.Text, "@"):
			j.add(Ask, e.Rule+".option", "its options are in a file")
		case e.Rule == "build.tools" && (strings.ContainsAny(w.Text, ";`") || strings.Contains(w.Text, "&&") || strings.Contains(w.Text, "$(")):
			j.add(Ask, "shell.code", "its input may be run as a command")
		}
	}
	if e.Rule == "build.make" {
		j.settings(operands)
	}
}

// written judges the operands of a program that creates or changes files.
func (j *judgement) written(name string, operands []shell.Word) {
	several := func(w shell.Word) bool { return w.Glob || w.Listed }
	switch {
	case name == "truncate" && slices.ContainsFunc(operands, several):
		j.add(Ask, "tree.delete", "it empties every file that matches")
	case name == "tee" && slices.ContainsFunc(operands, func(w shell.Word) bool { return w.Listed }):
		j.add(Ask, "path.unseen", "which files it writes is not known before it runs")
	case name == "cp" || name == "ln":
		j.copies(operands)
		return
	}
	j.writes(operands)
}

// removed judges the operands of a program that removes or moves files.
func (j *judgement) removed(e program.Entry, argv, operands []shell.Word) {
	name := argv[0].Text
	if to := len(operands) - 1; name == "mv" && to > 0 {
		j.deletes(operands[:to])
		j.writes(operands[to:])
		j.movesAway(operands)
		return
	}
	tools := e.Rule == "build.tools" // they accept directories, and patterns in quotes
	for i := range operands {
		operands[i].Glob = operands[i].Glob || tools && strings.ContainsAny(operands[i].Text, "*?")
	}
	j.deletes(operands)
	if name == "rm" {
		j.trees(argv)
	} else if tools {
		j.trees(append([]shell.Word{argv[0], shell.Literal("-r")}, operands...))
	}
}

// settings judges make's arguments: variables may set which programs its rules run.
func (j *judgement) settings(operands []shell.Word) {
	installs := slices.ContainsFunc(operands, func(w shell.Word) bool { return strings.HasPrefix(strings.TrimPrefix(w.Text, "un"), "install") })
	for _, w := range operands {
		name, value, ok := strings.Cut(w.Text, "=")
		name = strings.TrimRight(name, ":+?!")
		switch {
		case ok && (program.Powerful(name) || name == ".SHELLFLAGS" || name == "MAKE"):
			j.add(Deny, "env.programs", name+" decides which programs run or how")
		case ok && slices.Contains([]string{"CC", "CXX", "CPP", "LD", "AR", "AS", "RM", "INSTALL"}, name) && strings.ContainsAny(value, " /\t;"), w.Text == "-":
			j.add(Ask, "build.make.setting", "it sets what make's rules run")
		case ok && strings.ContainsAny(value, "$`"):
			j.add(Ask, "build.make.setting", "make expands it, and may run a program for it")
		case ok && installs && name != "DESTDIR" && slices.ContainsFunc(operands, func(d shell.Word) bool { return strings.HasPrefix(d.Text, "DESTDIR=") && len(d.Text) > 8 }):
			// below that directory
		case ok && installs && !w.Dynamic && strings.ContainsAny(value, "/~"):
			// the installation directory
			j.writes([]shell.Word{{Text: value, Home: strings.HasPrefix(value, "~"), Fixed: true}})
		}
	}
}

// maybeOptions requires approval if an unknown word could be one of a program's dangerous
// options.
func (j *judgement) maybeOptions(asked []string, args []shell.Word) {
	if shell.MayHideOption(asked, args) {
		j.add(Ask, "path.unseen", "it may be given options that are not known before it runs")
	}
}

// hides requires approval for arguments of a builtin that are evaluated again.
func (j *judgement) hides(name string, args []shell.Word) {
	if name != "printf" && name != "local" && name != "wait" && name != "return" && name != "shift" && name != "break" && name != "continue" && name != "exit" {
		return
	}
	for _, a := range args {
		if name != "printf" && script.Code(a.Text) {
			j.add(Ask, "shell.hidden-code", "an argument is evaluated as code")
		}
	}
}

// copies judges a command that writes the last operand and reads the others. A system program
// must not get another name.
func (j *judgement) copies(operands []shell.Word) {
	for i, w := range operands {
		if i == len(operands)-1 {
			if w.Listed {
				j.add(Ask, "path.unseen", "which files it writes is not known before it runs")
			}
			j.writes([]shell.Word{w})
			continue
		}
		j.reads([]shell.Word{w})
		if to := operands[len(operands)-1]; w.Text == "/dev/null" && to.Each && to.Text == "item" {
			j.add(Ask, "tree.delete", "it empties every file that it visits")
		}
		if at, _ := j.locatePath(w); at == pathkind.System {
			j.add(Ask, "file.copy", "it links or renames a system file")
		}
	}
}
