package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/arg"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/builds"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/place"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/table"
)

// simple judges one simple command: its program and what it is given.
func (j *judgement) simple(argv []arg.Word) {
	if j.parts++; len(argv) == 0 || j.parts > maxParts {
		return
	}
	name := argv[0]
	if name.Dynamic || name.Glob {
		j.add(Ask, "shell.dynamic", "which program runs is not known before it runs")
		return
	}
	for _, known := range j.functions {
		if known == name.Text {
			j.own(argv)
			return // its body is judged where it stands
		}
	}
	if strings.Contains(name.Text, "/") {
		if at, p := j.where(name); at == place.System && path.Base(path.Dir(p)) == "bin" || at == place.System && path.Base(path.Dir(p)) == "sbin" {
			argv = append([]arg.Word{arg.Literal(path.Base(p))}, argv[1:]...)
		} else if tool := j.carried(name); tool != "" {
			argv = append([]arg.Word{arg.Literal(tool)}, argv[1:]...)
		} else {
			j.own(argv)
			j.program(argv)
			return
		}
	}
	if len(argv) == 2 && !argv[1].Dynamic && (argv[1].Text == "--version" || argv[1].Text == "--help") && argv[0].Text != "git" {
		j.own(argv)
		return // any program only tells what it is
	}
	if builds.Versioned(argv[0].Text) {
		argv = append([]arg.Word{arg.Literal(strings.TrimRight(argv[0].Text, "0123456789."))}, argv[1:]...)
	}
	j.decodes = j.decodes || decodes(argv)
	j.takes = j.takes || argv[0].Text == "head" || argv[0].Text == "dd"
	j.fills(argv)
	allowed := j.own(argv)
	if run := j.special(argv[0].Text); run != nil {
		run(argv)
		return
	}
	if builds.Judge(argv, paths{j}, runs{j}) {
		return
	}
	e, ok := table.Find(argv[0].Text)
	if !ok {
		if !allowed {
			j.add(Ask, "unknown", argv[0].Text+" is not a known program")
		}
		j.reads(arg.Literals(argv[1:]))
		return
	}
	j.listed(e, argv)
}

// program judges a program that is named by its path: the tree's own may run,
// as its build may.
func (j *judgement) program(argv []arg.Word) {
	at, name := j.where(argv[0])
	made := at == place.Tmp && strings.HasPrefix(name, "/tmp/") // private, so it was made here
	if !made && (at != place.Tree || !Path(name, false).Allowed()) {
		j.add(Ask, "unknown", "it runs a program outside the worktree")
	}
	if strings.Contains(argv[0].Text, "://") {
		j.add(Ask, "net.read", "it runs what is somewhere else")
	}
	j.scripts = true
	j.frontEnd(path.Base(name), argv[1:])
	_, operands := arg.Split(slices.DeleteFunc(slices.Clone(argv[1:]), func(w arg.Word) bool {
		if i := slices.Index(argv, w); regexp.MustCompile(`^/[^/]+/[a-z]?$`).MatchString(w.Text) && slices.Contains([]string{"-n", "-i", "--name", "-t", "-m"}, argv[i-1].Text) {
			return true // a pattern
		}
		return path.Base(name) == "configure" && regexp.MustCompile(`^--[a-z-]*(prefix|dir)=`).MatchString(w.Text) // it is only noted for later
	}))
	j.writes(arg.Literals(operands))
	for _, w := range operands { // NAME=PLACE, as configure takes it
		if name, value, ok := strings.Cut(w.Text, "="); ok && !w.Dynamic && !strings.Contains(name, "/") && (strings.HasPrefix(value, "/") || strings.HasPrefix(value, "..")) {
			j.reads([]arg.Word{arg.Literal(value)})
		}
	}
	if base := path.Base(name); strings.HasPrefix(base, "coveralls") || strings.HasPrefix(base, "php-coveralls") || strings.HasPrefix(base, "codecov") {
		j.add(Ask, "net.send", base+" sends what was measured")
	}
}

func (j *judgement) listed(e table.Entry, argv []arg.Word) {
	name := argv[0].Text
	if e.Answer != string(Allow) {
		j.add(Answer(e.Answer), e.Rule, name+" is not for an agent to run by itself")
		return
	}
	options, operands := arg.Split(argv[1:])
	j.frontEnd(name, argv[1:])
	if seen := argv[1:]; name == "jq" {
		j.maybeOptions(e.Asked, slices.DeleteFunc(slices.Clone(seen), func(w arg.Word) bool {
			i := slices.Index(seen, w)
			return i > 1 && (seen[i-2].Text == "--arg" || seen[i-2].Text == "--argjson")
		}))
	} else if name == "printf" { // it has options before its format alone
		j.maybeOptions(e.Asked, seen[:min(1, len(seen))])
	} else {
		j.maybeOptions(e.Asked, seen)
	}
	if arg.Asks(j.configured(e, options, argv[1:]), e.Asked) {
		j.add(Ask, e.Rule+".option", "an option of "+name+" may run or write something else")
	}
	if name == "rake" && slices.ContainsFunc(operands, func(w arg.Word) bool { return builds.Leaves(w.Text) || strings.HasPrefix(w.Text, "install") }) {
		j.add(Ask, "net.send", "the name of the task says that something leaves the machine")
	}
	if strings.HasPrefix(e.Rule, "build.") && slices.ContainsFunc(operands, func(w arg.Word) bool { return strings.Contains(w.Text, "://") && !script.Loopback(w.Text) }) {
		j.add(Ask, "net.read", "it names what is somewhere else")
	}
	switch e.Operands {
	case "read":
		j.reads(operands)
	case "pattern":
		j.chooses(argv)
		if len(operands) > 0 && !arg.Asks(options, []string{"--regexp", "-e", "--file", "-f"}) && !slices.ContainsFunc(options, func(o arg.Word) bool { return o.Text == "--files" }) {
			operands = operands[1:]
		}
		j.reads(operands)
	case "write":
		if e.Rule == "build.make" {
			j.settings(operands)
		}
		if (name == "ninja" || name == "mage") && slices.ContainsFunc(operands, func(w arg.Word) bool { return strings.Contains(w.Text, "install") }) {
			j.add(Ask, "path.outside", "it may install outside the worktree")
		}
		if slices.Contains([]string{"build.c", "build.rust", "build.jvm", "build.tsc"}, e.Rule) && slices.ContainsFunc(operands, func(w arg.Word) bool { return strings.HasPrefix(w.Text, "@") }) {
			j.add(Ask, e.Rule+".option", "its options are in a file")
		}
		if name == "truncate" && slices.ContainsFunc(operands, func(w arg.Word) bool { return w.Glob || w.Listed }) {
			j.add(Ask, "tree.delete", "it empties every file that matches")
		}
		if name == "tee" && slices.ContainsFunc(operands, func(w arg.Word) bool { return w.Listed }) {
			j.add(Ask, "path.unseen", "which files it writes is not known before it runs")
		}
		if e.Rule == "build.tools" && slices.ContainsFunc(operands, func(w arg.Word) bool {
			return strings.ContainsAny(w.Text, ";`") || strings.Contains(w.Text, "&&") || strings.Contains(w.Text, "$(")
		}) {
			j.add(Ask, "shell.code", "what it is given may be run as a command")
		}
		if name == "cp" || name == "ln" {
			j.copies(operands)
			return
		}
		j.writes(operands)
	case "delete":
		if to := len(operands) - 1; name == "mv" && to > 0 {
			j.deletes(operands[:to])
			j.writes(operands[to:])
			j.movesAway(operands)
		} else {
			j.deletes(operands)
		}
		if name == "rm" {
			j.trees(argv)
		}
		if e.Rule == "build.tools" { // it takes directories, and patterns in quotes
			for _, w := range operands {
				w.Glob = w.Glob || strings.ContainsAny(w.Text, "*?")
				j.deletes([]arg.Word{w})
			}
			j.trees(append([]arg.Word{argv[0], arg.Literal("-r")}, operands...))
		}
	default:
		for _, w := range operands {
			if w.Home || w.Glob && strings.Contains(w.Text, "/") {
				j.reads([]arg.Word{w}) // it shows what is there
			}
		}
		j.hides(name, argv[1:])
	}
}

// settings judges what make is given: variables may say which programs its
// rules run.
func (j *judgement) settings(operands []arg.Word) {
	installs := slices.ContainsFunc(operands, func(w arg.Word) bool { return strings.HasPrefix(strings.TrimPrefix(w.Text, "un"), "install") })
	for _, w := range operands {
		name, value, ok := strings.Cut(w.Text, "=")
		name = strings.TrimRight(name, ":+?!")
		switch {
		case ok && (table.Powerful(name) || name == ".SHELLFLAGS" || name == "MAKE"):
			j.add(Deny, "env.programs", name+" decides which programs run or how")
		case ok && slices.Contains([]string{"CC", "CXX", "CPP", "LD", "AR", "AS", "RM", "INSTALL"}, name) && strings.ContainsAny(value, " /\t;"), w.Text == "-":
			j.add(Ask, "build.make.setting", "it says what make's rules run")
		case ok && strings.ContainsAny(value, "$`"):
			j.add(Ask, "build.make.setting", "make expands it, and may run a program for it")
		case ok && installs && name != "DESTDIR" && slices.ContainsFunc(operands, func(d arg.Word) bool { return strings.HasPrefix(d.Text, "DESTDIR=") && len(d.Text) > 8 }): // below that
		case ok && installs && !w.Dynamic && strings.ContainsAny(value, "/~"):
			j.writes([]arg.Word{{Text: value, Home: strings.HasPrefix(value, "~"), Fixed: true}}) // where it is installed
		}
	}
}

// maybeOptions asks where a word that is not seen could be one of a program's
// dangerous options.
func (j *judgement) maybeOptions(asked []string, args []arg.Word) {
	if arg.Unseen(asked, args) {
		j.add(Ask, "path.unseen", "it may be given options that are not known before it runs")
	}
}

// hides asks about arguments of a builtin that are evaluated once more.
func (j *judgement) hides(name string, args []arg.Word) {
	if name != "printf" && name != "local" && name != "wait" && name != "return" && name != "shift" && name != "break" && name != "continue" && name != "exit" {
		return
	}
	for _, a := range args {
		if name != "printf" && script.Code(a.Text) {
			j.add(Ask, "shell.hidden-code", "an argument is evaluated as code")
		}
	}
}

// copies judges that the last operand is written and the others are read. A
// program of the place.System does not get another name.
func (j *judgement) copies(operands []arg.Word) {
	for i, w := range operands {
		if i == len(operands)-1 {
			if w.Listed {
				j.add(Ask, "path.unseen", "which files it writes is not known before it runs")
			}
			j.writes([]arg.Word{w})
			continue
		}
		j.reads([]arg.Word{w})
		if to := operands[len(operands)-1]; w.Text == "/dev/null" && to.Each && to.Text == "item" {
			j.add(Ask, "tree.delete", "it empties every file that it goes over")
		}
		if at, _ := j.where(w); at == place.System {
			j.add(Ask, "file.copy", "a file of the system gets another name")
		}
	}
}
