package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// CallerRules are a caller's additions to the built-in rules. Entries are words that a simple
// command starts with, such as "make deploy".
type CallerRules struct {
	Dir string // the worktree, absolute; empty: every absolute path is outside
	// commands that are allowed although their program is unknown; never from a file of the
	// repository
	Allow []string
	Ask   []string
	Deny  []string
	// patterns of files that agents may see although their names suggest secrets; never from
	// a file of the repository
	Show   []string
	Caches []string // absolute directories outside the worktree that agents may read: dependencies and toolchains
	// Open means that commands run without a sandbox, so that their code could do anything.
	Open   bool
	Locked bool // git's directory is read-only: no refusal suggests a command that writes it
	// Undoes reports whether `git checkout WORD` can only undo the changes of the file: git
	// tracks it, and no branch or commit has this name. Nil: unknown.
	Undoes func(word, file string) bool
	// Reaches reports whether commands may read from a host; nil: from none.
	Reaches func(host string, port int) bool
}

// leavesTree is the reason why a cd to another directory is not allowed.
const leavesTree = "it leaves the worktree"

const (
	maxCommand = 10_000 // bytes
	maxParts   = 200    // nodes that run or write something
	maxNested  = 6      // shells in shells
)

// JudgeCommand judges a bash command line. It judges every simple command in it, also in
// substitutions and after words that run another command. The strictest answer counts.
func JudgeCommand(command string, r CallerRules) Decision {
	d := judgeAtDepth(command, r, 0)
	if !d.IsAllowed() {
		d.Part, d.Way = cmp.Or(d.Part, truncatePart(command)), cmp.Or(d.Way, alternativeText(d.Rule, d.Reason, r.Locked))
	}
	return d
}

func judgeAtDepth(command string, r CallerRules, depth int) Decision {
	switch {
	case strings.TrimSpace(command) == "":
		return newDecision(Ask, "shell.empty", "there is no command")
	case len(command) > maxCommand:
		return newDecision(Ask, "shell.long", fmt.Sprintf("it is longer than %d bytes", maxCommand))
	case depth > maxNested:
		return newDecision(Ask, "shell.deep", "it nests too deep")
	case strings.ContainsFunc(command, script.IsUnusualRune):
		return newDecision(Ask, "shell.invisible", "it has invisible characters")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return newDecision(Ask, "shell.unparsed", "it cannot be parsed")
	}
	j := lineJudge{calls: map[string][]string{}, rules: r, depth: depth, commandLine: command, sum: newDecision(Allow, "shell.structure", "all its parts are allowed")}
	j.scanBeforeJudging(file)
	j.findConstants(file)
	syntax.Walk(file, j.judgeNode)
	j.currentNode = nil
	if j.parts > maxParts {
		j.addAnswer(Ask, "shell.parts", fmt.Sprintf("it has more than %d parts", maxParts))
	}
	if j.decodes && j.scripts {
		j.addAnswer(Ask, "shell.decoded", "it decodes something and runs a file, which may be the result")
	}
	if j.seeks && j.feeds {
		j.addAnswer(Ask, "path.secret", "it may show files whose names suggest secrets")
	}
	if j.floods && !j.takes {
		j.addAnswer(Ask, "host.damage", "it reads without end")
	}
	if j.arithmetic && j.hidden {
		j.addAnswer(Ask, "shell.hidden-code", "a value may be run as code in arithmetic")
	}
	return j.sum
}

// lineJudge is the state of judging one command line.
type lineJudge struct {
	rules       CallerRules
	commandLine string      // the command line
	currentNode syntax.Node // the node that is being judged; nil: all of it
	currentWord string      // a word of that node; empty for all of it
	depth       int
	sum         Decision
	parts       int
	functions   []string      // declared in it
	away        bool          // the directory may be outside the worktree
	near        pathkind.Kind // kind of that directory, if it is the private /tmp or a cache; otherwise Tree
	arithmetic  bool          // it calculates, and so evaluates values
	hidden      bool          // a value may contain code that runs later
	sets        []string      // variables that are assigned in it
	rebinds     bool          // it sets variables in another way
	loops       []loopVariable
	below       string // directory of the tree in which the present part certainly runs; empty: unknown
	dirs        shell.CommandDirs
	inBare      bool   // it may run in a repository without a work tree
	decodes     bool   // it decodes text to unknown content
	scripts     bool   // it runs a file of the tree
	preloads    bool   // an option of the present interpreter loads a file before the code
	searchPath  bool   // env sets PYTHONPATH
	seeks       bool   // it searches for files whose names suggest secrets
	feeds       bool   // it passes the results to another program
	floods      bool   // it reads an endless source
	takes       bool   // it limits the amount that it reads from it
	input       string // standard input from the line itself, such as a here-document
	given       bool   // and all of that is known
	settled     []constantVariable
	calls       map[string][]string // calls by function that is declared in it
	lists       bool                // xargs gets names that a command lists
	fed         []*syntax.Stmt      // the parts of pipes that get such names
}

func (j *lineJudge) addAnswer(a RuleAnswer, rule, reason string) {
	j.addDecision(newDecision(a, rule, reason))
}

// addDecision adds a decision, with the part that it is about.
func (j *lineJudge) addDecision(d Decision) {
	if d.IsAllowed() {
		return
	}
	d.Part = cmp.Or(j.currentWord, j.nodeSource(j.currentNode))
	if d.Rule == j.sum.Rule && j.sum.Reason == leavesTree {
		d.Part, d.Reason = j.sum.Part, j.sum.Reason // it is outside because of an earlier cd
	}
	j.sum = stricterDecision(j.sum, d)
}

// scanBeforeJudging collects data that is needed before the parts are judged.
func (j *lineJudge) scanBeforeJudging(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			j.recordFunction(n)
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			j.arithmetic = true
			j.sets = append(j.sets, literalWords(n)...)
		case *syntax.WordIter:
			j.sets = append(j.sets, n.Name.Value)
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				j.arithmetic = true
			default:
			}
		case *syntax.BinaryCmd:
			j.dirs.AddList(n)
			if n.Op == syntax.Pipe && printsFileNames([]*syntax.Stmt{n.X}) {
				j.recordNameReader(n.Y)
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				j.recordRebinding(n.Args[0].Lit(), n.Args[1:])
			}
		case *syntax.Assign:
			if n.Name != nil {
				j.sets = append(j.sets, n.Name.Value)
			}
		case *syntax.CmdSubst, *syntax.ProcSubst:
			j.feeds = true
		case *syntax.ParamExp:
			j.arithmetic = j.arithmetic || n.Slice != nil || n.Index != nil
		default:
		}
		return true
	})
}

// recordFunction records a function.
func (j *lineJudge) recordFunction(n *syntax.FuncDecl) {
	for _, name := range append([]*syntax.Lit{n.Name}, n.Names...) {
		if name != nil {
			j.calls[name.Value] = append(j.calls[name.Value], calledCommands(n)...)
			j.functions = append(j.functions, name.Value)
		}
	}
}

// literalWords returns the words in a node.
func literalWords(n syntax.Node) (all []string) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if l, ok := n.(*syntax.Lit); ok {
			all = append(all, l.Value)
		}
		return true
	})
	return all
}

// judgeNode judges one node; its children are visited separately.
func (j *lineJudge) judgeNode(n syntax.Node) bool {
	j.setCurrentNode(n)
	switch n := n.(type) {
	case *syntax.Stmt:
		if _, plain := n.Cmd.(*syntax.CallExpr); plain {
			j.input, j.given = j.hereDocumentText(n.Redirs)
			j.lists = slices.Contains(j.fed, n)
		}
	case *syntax.CallExpr:
		j.parts++
		j.below = j.dirs.DirectoryAt(n.Pos())
		j.judgeCall(n)
		j.given = false
	case *syntax.Redirect:
		j.parts++
		j.below = j.dirs.DirectoryAt(n.Pos())
		j.judgeRedirect(n)
	case *syntax.DeclClause:
		j.parts++
		j.judgeDeclaration(n)
	case *syntax.FuncDecl:
		j.judgeFunction(n)
	case *syntax.CoprocClause:
		j.addAnswer(Ask, "shell.code", "a coprocess cannot be judged")
	case *syntax.ParamExp:
		if n.Param != nil && program.IsHiddenVariable(n.Param.Value) {
			j.addAnswer(Deny, "credentials", "it shows a secret of the environment")
		}
		if n.Excl || n.IsSet || n.Flags != nil || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps || n.Index != nil && plainIndexText(n.Index) == "" {
			j.addAnswer(Ask, "shell.expansion", "an expansion may run or read something unknown")
		}
		if n.Index != nil {
			j.askAboutQuotedCode(n.Index)
		}
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && n.Op != syntax.TsEmpStr && n.Op != syntax.TsNempStr {
			if v := j.evaluateWord(w); !v.Dynamic || v.Home {
				j.judgeReads([]shell.Word{v})
			}
		}
	case *syntax.TestClause:
		j.askAboutQuotedCode(n)
	case *syntax.LetClause, *syntax.ArithmCmd, *syntax.ArithmExp:
		j.askAboutQuotedCode(n)
	case *syntax.ForClause:
		j.judgeForLoop(n)
		j.judgeEndlessLoop(n)
	case *syntax.WhileClause:
		j.judgeEndlessLoop(n)
	default:
	}
	return true
}

// askAboutQuotedCode requires approval for code in quoted text that bash evaluates again.
func (j *lineJudge) askAboutQuotedCode(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			if script.HasShellExpansion(n.Value) {
				j.addAnswer(Ask, "shell.hidden-code", "quoted text is evaluated as code here")
			}
		case *syntax.Lit:
			if strings.Contains(n.Value, "\\") && script.HasShellExpansion(strings.ReplaceAll(n.Value, "\\", "")) {
				j.addAnswer(Ask, "shell.hidden-code", "quoted text is evaluated as code here")
			}
		default:
		}
		return true
	})
}

// plainIndexText returns an index that is a plain word or number.
func plainIndexText(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		return strings.Trim(w.Lit(), " ")
	}
	return ""
}

// judgeFunction denies a function that calls itself, also through others.
func (j *lineJudge) judgeFunction(n *syntax.FuncDecl) {
	if n.Name == nil {
		return
	}
	reached, next := map[string]bool{}, []string{n.Name.Value}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		for _, called := range j.calls[name] {
			if called == n.Name.Value {
				j.addAnswer(Deny, "host.damage", "a function that calls itself may never end")
			}
			if !reached[called] {
				reached[called] = true
				next = append(next, called)
			}
		}
	}
}

// calledCommands returns the first words of the commands in a function.
func calledCommands(n *syntax.FuncDecl) (names []string) {
	syntax.Walk(n.Body, func(b syntax.Node) bool {
		if c, ok := b.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			names = append(names, c.Args[0].Lit())
		}
		return true
	})
	return names
}

func (j *lineJudge) judgeRedirect(n *syntax.Redirect) {
	if n.Word == nil {
		return
	}
	w := j.evaluateWord(n.Word)
	switch n.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
	case syntax.DplIn, syntax.DplOut:
		if w.Dynamic || strings.Trim(w.Text, "0123456789-") != "" {
			j.judgeWrites([]shell.Word{w})
		}
	case syntax.RdrIn:
		j.floods = j.floods || isEndlessDevice(w.Text)
		j.judgeReads([]shell.Word{w})
	default:
		if (w.Listed || w.Each && w.Text == "item") && (n.Op == syntax.RdrOut || n.Op == syntax.RdrClob) {
			j.addAnswer(Ask, "path.unseen", "which files it empties is not known before it runs")
		}
		j.judgeWrites([]shell.Word{w})
	}
}

func (j *lineJudge) judgeDeclaration(n *syntax.DeclClause) {
	j.askAboutShownVariables(n)
	exported := n.Variant.Value == "export"
	for _, a := range n.Args {
		if a.Name == nil {
			if a.Value != nil && (j.evaluateWord(a.Value).Dynamic || script.HasShellExpansion(j.evaluateWord(a.Value).Text)) {
				j.addAnswer(Ask, "shell.dynamic", "it is unknown what is declared")
			} else if a.Value != nil && strings.Contains(a.Value.Lit(), "x") && strings.HasPrefix(a.Value.Lit(), "-") {
				exported = true
			} else if a.Value != nil && strings.ContainsAny(a.Value.Lit(), "in") && strings.HasPrefix(a.Value.Lit(), "-") {
				j.arithmetic = true // its values are evaluated
			}
			continue
		}
		j.judgeAssignment(a, exported, true)
	}
}

// judgeAssignment judges setting a variable, exported to other programs or not, by a declaration or
// for one command.
func (j *lineJudge) judgeAssignment(a *syntax.Assign, exported, declared bool) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	if a.Index != nil {
		j.arithmetic = true
		j.askAboutQuotedCode(a.Index)
	}
	var v shell.Word // empty for NAME=
	if a.Value != nil {
		v = j.evaluateWord(a.Value)
		if strings.ContainsAny(v.Text, "$`[") || v.Dynamic && strings.Contains(v.Text, "[") {
			j.hidden = true
		}
		if name == "RANDOM" || name == "SECONDS" || name == "LINENO" || strings.HasPrefix(name, "BASH") {
			j.arithmetic = true
		}
		if !v.Dynamic && strings.ContainsAny(v.Text, "/~") && !strings.ContainsAny(v.Text, " :$`") {
			j.judgeReads([]shell.Word{v})
		}
	}
	switch {
	case program.IsPowerfulVariable(name) && !a.Naked && a.Array == nil && !a.Append && a.Index == nil && isHarmlessValue(name, v):
	case name == "PATH" && a.Value != nil && !a.Append && a.Index == nil && j.appendsToPATH(a.Value):
	case program.IsPowerfulVariable(name):
		j.addAnswer(Deny, "env.programs", name+" decides which programs run or how")
	case exported && declared && a.Value != nil && !v.Dynamic && !program.IsHiddenVariable(name) && program.IsPlainSetting(name, v.Text):
	case exported && a.Value != nil && script.HasShellExpansion(singleQuotedText(a.Value)):
		j.addAnswer(Ask, "env.unknown", "a program may expand what "+name+" holds")
	case exported && !program.IsHarmlessVariable(name):
		j.addAnswer(Ask, "env.unknown", name+" is not a variable known to be harmless")
	}
}

func (j *lineJudge) judgeCall(n *syntax.CallExpr) {
	argv := make([]shell.Word, 0, len(n.Args))
	for _, w := range n.Args {
		for _, one := range shell.ExpandBraces(w) {
			argv = append(argv, j.evaluateWord(one))
		}
	}
	for _, a := range n.Assigns {
		if a.Name != nil && a.Name.Value == "IFS" && setsIFSForRead(n) && (a.Value == nil || !j.evaluateWord(a.Value).Dynamic) {
			continue
		}
		if j.setsPrivateHome(a, argv) {
			continue
		}
		known := a.Name != nil && a.Value != nil && !a.Append && a.Index == nil && j.isHarmlessSetting(a.Name.Value, j.evaluateWord(a.Value), argv)
		j.judgeAssignment(a, len(n.Args) > 0 && !known, false)
	}
	if len(argv) > 0 {
		j.judgeSimpleCommand(argv)
	}
}

// applyCallerRules applies the caller's rules to a simple command.
func (j *lineJudge) applyCallerRules(argv []shell.Word) (allowed bool) {
	for _, entry := range j.rules.Deny {
		switch certain, maybe := matchesEntry(argv, entry); {
		case certain:
			j.addAnswer(Deny, "own.deny", "the rules deny "+entry)
		case maybe:
			j.addAnswer(Ask, "own.unseen", "it may turn out to be "+entry+", which the rules deny")
		}
	}
	for _, entry := range j.rules.Ask {
		if certain, maybe := matchesEntry(argv, entry); certain || maybe {
			j.addAnswer(Ask, "own.ask", "the rules ask about "+entry)
		}
	}
	return slices.ContainsFunc(j.rules.Allow, func(entry string) bool { return beginsWithEntry(argv, entry) })
}

// singleQuotedText returns the text of a word with its quotes.
func singleQuotedText(w *syntax.Word) string {
	var text strings.Builder
	for _, p := range w.Parts {
		if q, ok := p.(*syntax.SglQuoted); ok {
			text.WriteString(q.Value)
		}
	}
	return text.String()
}
