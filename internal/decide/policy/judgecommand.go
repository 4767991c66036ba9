package policy

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// CommandPolicyContext describe where commands run, and a caller's additions to the built-in rules. Entries are
// words that a simple command starts with, such as "make deploy".
type CommandPolicyContext struct {
	Dir string // the worktree, absolute; empty: no absolute path is in it
	// commands that run although a built-in rule asks about them; what a built-in rule denies
	// stays denied; never from a file of the repository
	Allow []string
	Ask   []string
	Deny  []string
	// patterns of files that agents may see although their names suggest secrets; never from
	// a file of the repository
	Show []string
	// Open means that commands run without a sandbox, so that their code could do anything.
	Open bool
	// Snapshots means that snapshots hold the work in the tree and that git's directory is the
	// agent's own, so that commands may discard work. It is false in a person's checkout.
	Snapshots bool
	// Undoes reports whether `git checkout WORD` can only undo the changes of the file: git
	// tracks it, and no branch or commit has this name. Nil: unknown.
	Undoes func(word, file string) bool
	// Reaches reports whether commands may connect to a host; nil: to none but their own.
	Reaches func(host string, port int) bool
}

const maxNested = 6 // shells in shells

// JudgeCommand judges a bash command line by every simple command in it, also in substitutions
// and after words that run another command. The strictest answer counts. In a sandbox a command
// may do what no rule is about.
func JudgeCommand(command string, r CommandPolicyContext) Decision {
	j := &commandLineJudge{rules: r, table: table, line: command, sum: allowDecision("sandbox", "the sandbox confines it")}
	j.judgeLine(command)
	if j.sum.IsAllowed() && r.Open {
		j.sum = allowDecision("open.known", "it only reads, builds or tests")
	}
	if d := j.sum; !d.IsAllowed() {
		d.Part = cmp.Or(d.Part, truncatePart(command))
		return d
	}
	return j.sum
}

// commandLineJudge is the state of judging one command line.
type commandLineJudge struct {
	rules     CommandPolicyContext
	table     *programRuleTable
	line      string // the whole line
	offset    bool   // the nodes are those of a line within it, so that they have no place in it
	node      syntax.Node
	depth     int
	functions []string // declared in it
	sum       Decision
}

// addAnswer adds an answer by a built-in rule, with the part that it is about.
func (j *commandLineJudge) addAnswer(a RuleAnswer, rule, part string) {
	e := j.table.explanationOf(rule)
	if way := e.way; !j.rules.Snapshots && strings.HasPrefix(rule, "git.") && strings.Contains(way, "`git ") {
		e.way = "leave the changes in the tree: a person commits and pushes them"
	}
	j.addDecision(Decision{Decision: a, Rule: rule, Reason: e.reason, Way: e.way, Part: part})
}

func (j *commandLineJudge) addDecision(d Decision) {
	d.Part = cmp.Or(d.Part, j.nodeSource())
	j.sum = stricterDecision(j.sum, d)
}

func (j *commandLineJudge) judgeLine(line string) {
	switch {
	case strings.TrimSpace(line) == "":
		j.addAnswer(Ask, "shell.empty", "")
		return
	case strings.ContainsFunc(line, isMisleadingRune):
		j.addAnswer(Ask, "shell.invisible", "")
		return
	case j.depth > maxNested:
		j.addAnswer(Ask, "shell.deep", "")
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		j.judgeUnreadable(line)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			j.functions = append(j.functions, f.Name.Value)
		}
		return true
	})
	syntax.Walk(file, j.judgeNode)
	j.node = nil
}

// judgeNested judges a line that a command runs in another shell.
func (j *commandLineJudge) judgeNested(line string) {
	offset, node := j.offset, j.node
	j.offset, j.depth = true, j.depth+1
	j.judgeLine(line)
	j.offset, j.node, j.depth = offset, node, j.depth-1
}

// judgeText judges a text that bash runs as a line, if any of it is known.
func (j *commandLineJudge) judgeText(line string) {
	if strings.TrimSpace(line) != "" {
		j.judgeNested(line + " ")
	}
}

// judgeUnreadable judges a line that cannot be parsed: it may run in a sandbox unless its words
// name something that a rule is about.
func (j *commandLineJudge) judgeUnreadable(line string) {
	if j.rules.Open {
		j.addAnswer(Ask, "shell.unreadable", "")
		return
	}
	before := j.sum
	j.sum = allowDecision("sandbox", "the sandbox confines it")
	for row := range strings.Lines(line) {
		words := literalWords(strings.FieldsFunc(row, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("|&;()<>{}$`'\"\\", r) })...)
		for i := range words {
			if j.table.hasProgram(words[i].text) || j.isCallerEntry(words[i:]) {
				j.judgeSimple(words[i:])
			}
			j.judgePath(words[i], true)
		}
	}
	found := j.sum
	if j.sum = before; !found.IsAllowed() {
		j.addAnswer(Ask, "shell.unreadable", found.Part)
	}
}

// isMisleadingRune reports whether a character is not what a person sees.
func isMisleadingRune(r rune) bool {
	return r == unicode.ReplacementChar || sanitize.IsHiddenCharacter(r) || r == '\u200c' || r == '\u200d' || r != '\n' && r != '\t' && r != '\r' && unicode.IsSpace(r) && r != ' '
}

// judgeNode judges one node; its children are visited separately.
func (j *commandLineJudge) judgeNode(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CallExpr:
		j.node = n
		j.judgeAssignments(n.Assigns)
		words := expandWords(n.Args)
		j.judgeSimple(words)
		if j.rules.Open {
			j.judgeUnconfinedCall(n, words)
		}
	case *syntax.DeclClause:
		j.node = n
		j.judgeAssignments(n.Args)
		if j.rules.Open {
			j.addAnswer(Ask, "open.unlisted", "")
		}
	case *syntax.Redirect:
		j.node = n
		j.judgeRedirect(n)
	case *syntax.FuncDecl, *syntax.CoprocClause, *syntax.ProcSubst, *syntax.LetClause, *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.CStyleLoop:
		j.askIfUnconfined(n) // arithmetic runs commands in subscripts, also quoted ones
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			j.askIfUnconfined(n)
		default:
		}
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			j.askIfUnconfined(n)
		}
	case *syntax.WordIter:
		if n.Name != nil && strings.ToLower(n.Name.Value) != n.Name.Value {
			j.askIfUnconfined(n) // PATH and other variables that programs are found by
		}
	default:
	}
	return true
}

// askIfUnconfined asks about a part of a line that no sandbox confines.
func (j *commandLineJudge) askIfUnconfined(n syntax.Node) {
	if j.rules.Open {
		j.node = n
		j.addAnswer(Ask, "open.unlisted", "")
	}
}

// judgeAssignments judges variables: some start programs in whatever reads them.
func (j *commandLineJudge) judgeAssignments(all []*syntax.Assign) {
	for _, a := range all {
		if a.Name != nil {
			j.judgeVariable(a.Name.Value, parseWordContent(a.Value))
		}
	}
}

// startingVariable matches variables that start programs in whatever reads them.
var startingVariable = regexp.MustCompile(`^(GIT_(SSH|SSH_COMMAND|ASKPASS|EXTERNAL_DIFF|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|CONFIG\w*|PAGER|EDITOR|SEQUENCE_EDITOR)|SSH_ASKPASS|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|BASH_ENV|PROMPT_COMMAND|LESSOPEN)$`)

func (j *commandLineJudge) judgeVariable(name string, value argumentWord) {
	if !startingVariable.MatchString(name) {
		return
	}
	if value.dynamic || !slices.Contains([]string{"", "cat", "true", ":", "less", "/bin/true", "/bin/cat", "/dev/null", "/usr/bin/true"}, value.text) {
		j.addAnswer(Deny, "env.programs", "")
	}
}

func (j *commandLineJudge) judgeRedirect(n *syntax.Redirect) {
	if n.Word == nil || n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc || n.Op == syntax.WordHdoc {
		return
	}
	w := parseWordContent(n.Word)
	if (n.Op == syntax.DplIn || n.Op == syntax.DplOut) && !w.dynamic && strings.Trim(w.text, "0123456789-") == "" {
		return // another descriptor; any other word is a file
	}
	write := n.Op != syntax.RdrIn && n.Op != syntax.DplIn
	if write {
		j.judgeWrittenPath(w)
	} else {
		j.judgePath(w, false)
	}
	if j.rules.Open && (w.dynamic || !j.isSafeUnconfinedPath(w)) {
		j.addAnswer(Ask, "open.unlisted", "")
	}
}

// judgeSimple judges one simple command: its program and its arguments.
func (j *commandLineJudge) judgeSimple(argv []argumentWord) {
	if len(argv) == 0 || argv[0].text == "" {
		return
	}
	before, sum := j.sum, allowDecision("sandbox", "the sandbox confines it")
	j.sum = sum
	name := programName(argv[0])
	known := append([]argumentWord{{text: name, dynamic: argv[0].dynamic}}, argv[1:]...)
	// a function may have a rule's name, and be declared where it never runs
	if !slices.Contains(j.functions, argv[0].text) || j.table.restrictsProgram(name) {
		j.judgeProgram(name, known)
	}
	if j.sum.Decision == Ask && slices.ContainsFunc(j.rules.Allow, func(e string) bool { return beginsWithWords(known, e, false) }) {
		j.sum = sum // who runs the machine allows what a rule only asks about
	}
	builtIn := j.sum
	j.sum = sum
	j.applyCallerRules(known)
	j.sum = stricterDecision(before, stricterDecision(j.sum, builtIn)) // a person's own rule is the one that is named
}

// judgeProgram judges a program by the table, by what it runs, and by the paths that it names.
func (j *commandLineJudge) judgeProgram(name string, argv []argumentWord) {
	if len(argv) == 2 && slices.Contains([]string{"--version", "--help", "-V", "-h"}, argv[1].text) {
		return
	}
	reads := j.table.onlyReads(name, argv)
	for _, r := range j.table.rows[name] {
		switch {
		case r.answer == Allow || reads || !r.matches(argv):
		case len(r.verbs) > 0 && asksForHelp(argv):
		case strings.HasSuffix(r.rule, ".discard") && j.rules.Snapshots:
		case r.rule == "net.send" && slices.ContainsFunc(argv, argumentWord.isLoopback):
		default:
			j.addAnswer(r.answer, r.rule, "")
		}
	}
	switch name {
	case "git":
		j.judgeGit(argv)
	case "curl", "wget", "xh", "http", "https":
		j.judgeFetch(argv)
	case "rm":
		j.judgeRemoval(argv)
	case "chmod":
		j.judgeMode(argv)
	default:
		j.judgeProgramsRunBy(name, argv)
	}
	j.judgePaths(name, argv)
}

// judgeProgramsRunBy judges what a program runs in turn.
func (j *commandLineJudge) judgeProgramsRunBy(name string, argv []argumentWord) {
	args := argv[1:]
	switch class := j.table.classes[name]; {
	case class == "shell":
		for i, w := range args {
			if w.isOption() && !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "c") && i+1 < len(args) {
				j.judgeNested(args[i+1].text + " ")
				return
			}
		}
	case name == "trap" && len(args) > 0:
		j.judgeText(args[0].text)
	case name == "eval":
		j.judgeText(joinTexts(args))
	case name == "find" || name == "fd":
		for i, w := range args {
			if slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X"}, w.text) {
				j.judgeSimple(args[i+1:])
			}
		}
	case name == "python":
		j.judgeSimple(pythonModuleArgs(args))
	case class == "wrapper" || class == "runner":
		j.judgeWrapped(name, args)
	case slices.ContainsFunc(args, func(w argumentWord) bool { return w.text == "run" || w.text == "exec" }):
		i := slices.IndexFunc(args, func(w argumentWord) bool { return w.text == "run" || w.text == "exec" })
		if rest := j.wrappedCommand(args[i+1:]); len(rest) > 0 && j.table.hasProgram(programName(rest[0])) {
			j.judgeSimple(rest) // uv run, bundle exec and so on
		}
	}
}

// pythonModuleArgs returns the module that an interpreter of Python runs, with its arguments; none if it runs
// no module.
func pythonModuleArgs(args []argumentWord) []argumentWord {
	for i, w := range args {
		switch module, ok := strings.CutPrefix(w.text, "-m"); {
		case !w.isOption():
			return nil
		case ok && module == "":
			return args[i+1:]
		case ok:
			return append([]argumentWord{{text: module}}, args[i+1:]...)
		}
	}
	return nil
}

// wrapperValueOptions are those of wrappers whose value is the next word.
func wrapperValueOptions() []string {
	return []string{"-u", "--unset", "-C", "--chdir", "-s", "--signal", "-k", "--kill-after", "-n", "-I", "-L", "-P", "-d", "-j", "-a"}
}

// judgeWrapped judges the command behind the options of a program such as env or xargs.
func (j *commandLineJudge) judgeWrapped(name string, args []argumentWord) {
	if name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		return
	}
	for i, w := range args {
		if variable, value, ok := strings.Cut(w.text, "="); ok && !w.isOption() && !strings.ContainsAny(variable, "/ ") {
			j.judgeVariable(variable, argumentWord{text: value, dynamic: w.dynamic})
		}
		line, joined := strings.CutPrefix(w.text, "--split-string=")
		if joined || name == "env" && i > 0 && (args[i-1].text == "-S" || args[i-1].text == "--split-string") || strings.Contains(line, " ") && (name == "script" || name == "watch" || name == "parallel") {
			j.judgeNested(line)
		}
	}
	j.judgeSimple(j.wrappedCommand(args))
}

// wrappedCommand returns the command among the arguments of a program that runs it: from the first word
// that is a known program, or else from the first that could be one.
func (j *commandLineJudge) wrappedCommand(args []argumentWord) []argumentWord {
	first := -1
	for i, w := range args {
		if i > 0 && slices.Contains(wrapperValueOptions(), args[i-1].text) || w.isOption() || w.text == "--" || strings.Contains(w.text, "=") || !strings.ContainsAny(w.text[:min(1, len(w.text))], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz./_~") {
			continue
		}
		if j.table.hasProgram(programName(w)) {
			return args[i:]
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	return args[first:]
}

const maxPart = 160 // bytes of a quoted part

// nodeSource returns the part of the command line that is being judged, or all of it.
func (j *commandLineJudge) nodeSource() string {
	if j.node == nil || j.offset {
		return truncatePart(j.line)
	}
	from, to := j.node.Pos(), j.node.End()
	if !from.IsValid() || !to.IsValid() || from.Offset() >= to.Offset() || to.Offset() > uint(len(j.line)) {
		return truncatePart(j.line)
	}
	return truncatePart(j.line[from.Offset():to.Offset()])
}

func truncatePart(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxPart {
		return strings.ToValidUTF8(text[:maxPart], "") + "..."
	}
	return text
}
