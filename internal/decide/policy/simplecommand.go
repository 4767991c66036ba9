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

// judgeSimpleCommand judges one simple command: its program and its arguments.
func (j *lineJudge) judgeSimpleCommand(argv []shell.Word) {
	if j.parts++; len(argv) == 0 || j.parts > maxParts {
		return
	}
	name := argv[0]
	if name.Dynamic || name.Glob || name.Text == "" {
		j.addAnswer(Ask, "shell.dynamic", "which program runs is not known before it runs")
		if name.Text == "" && !name.Dynamic {
			j.judgeSimpleCommand(argv[1:]) // bash drops an empty word that braces produced
		}
		return
	}
	for _, known := range j.functions {
		if known == name.Text {
			j.applyCallerRules(argv)
			return // its body is judged separately
		}
	}
	tool := j.wellKnownTool(name)
	if tool == "" {
		j.applyCallerRules(argv)
		j.judgeProgramPath(argv)
		return
	}
	argv = append([]shell.Word{shell.LiteralWord(tool)}, argv[1:]...)
	if len(argv) == 2 && !argv[1].Dynamic && (argv[1].Text == "--version" || argv[1].Text == "--help") && argv[0].Text != "git" {
		j.applyCallerRules(argv)
		return // any program only prints its version or help
	}
	j.decodes = j.decodes || decodesText(argv)
	j.takes = j.takes || argv[0].Text == "head" || argv[0].Text == "dd"
	j.askAboutEndlessOutput(argv)
	allowed := j.applyCallerRules(argv)
	if run := j.builtinProgramJudge(argv[0].Text); run != nil {
		run(argv)
		return
	}
	j.askAboutUnconfinedCode(argv)
	if j.judgeBuildTool(argv) {
		return
	}
	e, ok := program.FindProgram(argv[0].Text)
	if !ok {
		if !allowed {
			j.addAnswer(Ask, "unknown", argv[0].Text+" is not a known program")
		}
		j.judgeReads(shell.PathWords(argv[1:]))
		return
	}
	j.judgeTableProgram(e, argv)
}

// askAboutUnconfinedCode requires approval for code in another language that no sandbox confines.
func (j *lineJudge) askAboutUnconfinedCode(argv []shell.Word) {
	if j.rules.Open && (j.given || hasInlineCode(argv)) && isInterpreter(argv[0].Text) {
		j.addAnswer(Ask, "code.inline", "without a sandbox, code in the command line could do anything")
	}
}

// wellKnownTool returns the known name of a program, or "" for a program of the tree or of another
// place.
func (j *lineJudge) wellKnownTool(w shell.Word) string {
	name := w.Text
	if strings.Contains(name, "/") {
		at, p := j.locatePath(w)
		if dir := path.Base(path.Dir(p)); at == pathkind.System && (dir == "bin" || dir == "sbin") {
			name = path.Base(p)
		} else {
			name = j.programInVirtualEnv(w)
		}
	}
	if isVersionedInterpreter(name) {
		name = strings.TrimRight(name, "0123456789.")
	}
	return name
}

// judgeProgramPath judges a program that is named by its path: the tree's own programs may run, as its
// build may.
func (j *lineJudge) judgeProgramPath(argv []shell.Word) {
	at, name := j.locatePath(argv[0])
	made := at == pathkind.Tmp && strings.HasPrefix(name, "/tmp/") // private, so it was made here
	if !made && (at != pathkind.Tree || !JudgePath(name, false).IsAllowed()) {
		j.addAnswer(Ask, "unknown", "it runs a program outside the worktree")
	}
	if strings.Contains(argv[0].Text, "://") {
		j.addAnswer(Ask, "net.read", "it runs something from the network")
	}
	j.scripts = true
	j.judgeFrontEnd(path.Base(name), argv[1:])
	_, operands := shell.SplitOptions(possiblePathArgs(path.Base(name), argv[1:]))
	j.judgeWrites(shell.PathWords(operands))
	for _, w := range operands { // NAME=PLACE, as configure accepts it
		if name, value, ok := strings.Cut(w.Text, "="); ok && !w.Dynamic && !strings.Contains(name, "/") && (strings.HasPrefix(value, "/") || strings.HasPrefix(value, "..")) {
			j.judgeReads([]shell.Word{shell.LiteralWord(value)})
		}
	}
	if base := path.Base(name); strings.HasPrefix(base, "coveralls") || strings.HasPrefix(base, "php-coveralls") || strings.HasPrefix(base, "codecov") {
		j.addAnswer(Ask, "net.send", base+" sends coverage data to a server")
	}
}

// possiblePathArgs returns the arguments of a program of the tree that may be paths. It skips name
// patterns of tests (-n /some/), and configure's installation paths, which are only recorded.
func possiblePathArgs(name string, args []shell.Word) (words []shell.Word) {
	pattern, later := regexp.MustCompile(`^/[^/]+/[a-z]?$`), regexp.MustCompile(`^--[a-z-]*(prefix|dir)=`)
	for i, w := range args {
		named := i > 0 && slices.Contains([]string{"-n", "-i", "--name", "-t", "-m"}, args[i-1].Text)
		if (!named || !pattern.MatchString(w.Text)) && (name != "configure" || !later.MatchString(w.Text)) {
			words = append(words, w)
		}
	}
	return words
}

// judgeTableProgram judges a program of the table.
func (j *lineJudge) judgeTableProgram(e program.ProgramRule, argv []shell.Word) {
	name := argv[0].Text
	if e.Answer != string(Allow) {
		j.addAnswer(RuleAnswer(e.Answer), e.Rule, name+" is not for an agent to run on its own")
		j.judgeReads(shell.PathWords(argv[1:]))
		return
	}
	options, operands := shell.SplitOptions(argv[1:])
	j.judgeFrontEnd(name, argv[1:])
	j.askAboutPossibleOptions(e.Asked, possibleOptionWords(name, argv[1:]))
	if shell.HasOption(j.dropTreeConfigOptions(e, options, argv[1:]), e.Asked) {
		j.addAnswer(Ask, e.Rule+".option", "an option of "+name+" may run or write something else")
	}
	if strings.HasPrefix(e.Rule, "build.") {
		j.judgeBuildOperands(e, name, operands)
	}
	switch e.Operands {
	case "read":
		j.judgeReads(operands)
	case "pattern":
		j.judgeSearch(argv)
		if len(operands) > 0 && !shell.HasOption(options, []string{"--regexp", "-e", "--file", "-f"}) && !slices.ContainsFunc(options, func(o shell.Word) bool { return o.Text == "--files" }) {
			operands = operands[1:]
		}
		j.judgeReads(operands)
	case "write":
		if name == "ln" && shell.HasOption(options, []string{"-s", "--symbolic"}) {
			operands = resolveLinkTarget(operands)
		}
		j.judgeWrittenOperands(name, operands)
	case "delete":
		j.judgeRemovedOperands(e, argv, operands)
	default:
		for _, w := range operands {
			if w.Home || w.Glob && strings.Contains(w.Text, "/") {
				j.judgeReads([]shell.Word{w}) // it shows the content
			}
		}
		j.askAboutEvaluatedArgs(name, argv[1:])
	}
}

// resolveLinkTarget returns the operands of ln -s with a relative target converted to a path from the
// root: the target is relative to the directory of the link.
func resolveLinkTarget(operands []shell.Word) []shell.Word {
	if len(operands) != 2 || operands[0].Dynamic || operands[0].Home || path.IsAbs(operands[0].Text) || operands[1].Dynamic || path.IsAbs(operands[1].Text) {
		return operands
	}
	all := slices.Clone(operands)
	all[0].Text = path.Join(path.Dir(path.Clean(operands[1].Text)), operands[0].Text)
	return all
}

// possibleOptionWords returns the words that could be options: before the format in printf, and without
// the values of variables in jq.
func possibleOptionWords(name string, args []shell.Word) []shell.Word {
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

// judgeBuildOperands requires approval for arguments of build programs: paths outside, installations or
// uploads, options in files, and commands.
func (j *lineJudge) judgeBuildOperands(e program.ProgramRule, name string, operands []shell.Word) {
	for _, w := range operands {
		installs := strings.HasPrefix(w.Text, "install") || strings.HasPrefix(w.Text, "uninstall")
		switch {
		case strings.Contains(w.Text, "://") && !script.IsLoopbackURL(w.Text):
			j.addAnswer(Ask, "net.read", "it names something on the network")
		case name == "rake" && (leavesMachine(w.Text) || installs):
			j.addAnswer(Ask, "net.send", "the name of the task suggests that it publishes something")
		case (name == "ninja" || name == "mage") && installs:
			j.addAnswer(Ask, "path.outside", "it may install outside the worktree")
		case slices.Contains([]string{"build.c", "build.rust", "build.jvm", "build.tsc"}, e.Rule) && strings.HasPrefix(w.Text, "@"):
			j.addAnswer(Ask, e.Rule+".option", "its options are in a file")
		case e.Rule == "build.tools" && (strings.ContainsAny(w.Text, ";`") || strings.Contains(w.Text, "&&") || strings.Contains(w.Text, "$(")):
			j.addAnswer(Ask, "shell.code", "its input may be run as a command")
		}
	}
	if e.Rule == "build.make" {
		j.judgeMakeSettings(operands)
	}
}

// judgeWrittenOperands judges the operands of a program that creates or changes files.
func (j *lineJudge) judgeWrittenOperands(name string, operands []shell.Word) {
	several := func(w shell.Word) bool { return w.Glob || w.Listed }
	switch {
	case name == "truncate" && slices.ContainsFunc(operands, several):
		j.addAnswer(Ask, "tree.delete", "it empties every file that matches")
	case name == "tee" && slices.ContainsFunc(operands, func(w shell.Word) bool { return w.Listed }):
		j.addAnswer(Ask, "path.unseen", "which files it writes is not known before it runs")
	case name == "cp" || name == "ln":
		j.judgeCopyOperands(operands)
		return
	}
	j.judgeWrites(operands)
}

// judgeRemovedOperands judges the operands of a program that removes or moves files.
func (j *lineJudge) judgeRemovedOperands(e program.ProgramRule, argv, operands []shell.Word) {
	name := argv[0].Text
	if to := len(operands) - 1; name == "mv" && to > 0 {
		j.judgeDeletes(operands[:to])
		j.judgeWrites(operands[to:])
		j.askAboutMovingWork(operands)
		return
	}
	tools := e.Rule == "build.tools" // they accept directories, and patterns in quotes
	for i := range operands {
		operands[i].Glob = operands[i].Glob || tools && strings.ContainsAny(operands[i].Text, "*?")
	}
	j.judgeDeletes(operands)
	if name == "rm" {
		j.askAboutRemovingTopDirectory(argv)
	} else if tools {
		j.askAboutRemovingTopDirectory(append([]shell.Word{argv[0], shell.LiteralWord("-r")}, operands...))
	}
}

// judgeMakeSettings judges make's arguments: variables may set which programs its rules run.
func (j *lineJudge) judgeMakeSettings(operands []shell.Word) {
	installs := slices.ContainsFunc(operands, func(w shell.Word) bool { return strings.HasPrefix(strings.TrimPrefix(w.Text, "un"), "install") })
	for _, w := range operands {
		name, value, ok := strings.Cut(w.Text, "=")
		name = strings.TrimRight(name, ":+?!")
		switch {
		case ok && (program.IsPowerfulVariable(name) || name == ".SHELLFLAGS" || name == "MAKE"):
			j.addAnswer(Deny, "env.programs", name+" decides which programs run or how")
		case ok && slices.Contains([]string{"CC", "CXX", "CPP", "LD", "AR", "AS", "RM", "INSTALL"}, name) && strings.ContainsAny(value, " /\t;"), w.Text == "-":
			j.addAnswer(Ask, "build.make.setting", "it sets what make's rules run")
		case ok && strings.ContainsAny(value, "$`"):
			j.addAnswer(Ask, "build.make.setting", "make expands it, and may run a program for it")
		case ok && installs && name != "DESTDIR" && slices.ContainsFunc(operands, func(d shell.Word) bool { return strings.HasPrefix(d.Text, "DESTDIR=") && len(d.Text) > 8 }):
			// below that directory
		case ok && installs && !w.Dynamic && strings.ContainsAny(value, "/~"):
			// the installation directory
			j.judgeWrites([]shell.Word{{Text: value, Home: strings.HasPrefix(value, "~"), Fixed: true}})
		}
	}
}

// askAboutPossibleOptions requires approval if an unknown word could be one of a program's dangerous
// options.
func (j *lineJudge) askAboutPossibleOptions(asked []string, args []shell.Word) {
	if shell.MayHideOption(asked, args) {
		j.addAnswer(Ask, "path.unseen", "it may be given options that are not known before it runs")
	}
}

// askAboutEvaluatedArgs requires approval for arguments of a builtin that are evaluated again.
func (j *lineJudge) askAboutEvaluatedArgs(name string, args []shell.Word) {
	if name != "printf" && name != "local" && name != "wait" && name != "return" && name != "shift" && name != "break" && name != "continue" && name != "exit" {
		return
	}
	for _, a := range args {
		if name != "printf" && script.HasShellExpansion(a.Text) {
			j.addAnswer(Ask, "shell.hidden-code", "an argument is evaluated as code")
		}
	}
}

// judgeCopyOperands judges a command that writes the last operand and reads the others. A system program
// must not get another name.
func (j *lineJudge) judgeCopyOperands(operands []shell.Word) {
	for i, w := range operands {
		if i == len(operands)-1 {
			if w.Listed {
				j.addAnswer(Ask, "path.unseen", "which files it writes is not known before it runs")
			}
			j.judgeWrites([]shell.Word{w})
			continue
		}
		j.judgeReads([]shell.Word{w})
		if to := operands[len(operands)-1]; w.Text == "/dev/null" && to.Each && to.Text == "item" {
			j.addAnswer(Ask, "tree.delete", "it empties every file that it visits")
		}
		if at, _ := j.locatePath(w); at == pathkind.System {
			j.addAnswer(Ask, "file.copy", "it links or renames a system file")
		}
	}
}
