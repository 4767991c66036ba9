package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

func (j *lineJudge) evaluateWord(w *syntax.Word) shell.Word {
	var out shell.Word
	for i, p := range w.Parts {
		j.addWordPart(&out, p, i == 0)
		out.Fixed = out.Fixed || hasVisibleStart(&out)
	}
	out.Said, out.One = j.nodeSource(w), !slices.ContainsFunc(w.Parts, shell.MaySplit)
	return out
}

// hasVisibleStart reports whether a word starts with known text, so that it can only be the option
// that is visible.
func hasVisibleStart(w *shell.Word) bool {
	return w.Text != "" && !w.Dynamic && w.Text != "-" && w.Text != "--"
}

func (j *lineJudge) addWordPart(out *shell.Word, p syntax.WordPart, first bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		out.AddUnquoted(p.Value, first)
	case *syntax.SglQuoted:
		text, ok := decodeSingleQuoted(p)
		out.Text += text
		out.Dynamic = out.Dynamic || !ok
	case *syntax.DblQuoted:
		for i, q := range p.Parts {
			if l, ok := q.(*syntax.Lit); ok {
				out.Text += shell.Unescape(l.Value, true)
				out.Fixed = out.Fixed || hasVisibleStart(out)
				continue
			}
			j.addWordPart(out, q, first && i == 0)
		}
	case *syntax.ParamExp:
		j.addParameterValue(out, p, first)
	case *syntax.ProcSubst:
		out.Text += "/dev/fd/63"
	case *syntax.CmdSubst:
		if made, ok := j.substitutionText(p.Stmts); ok {
			out.Text += made
			return
		}
		out.Dynamic, out.Listed = true, first && printsFileNames(p.Stmts)
	default: // arithmetic, extended globs
		out.Dynamic = true
	}
}

// addParameterValue adds a variable's value, as far as it is known.
func (j *lineJudge) addParameterValue(out *shell.Word, p *syntax.ParamExp, first bool) {
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if name == "PWD" && first && p.Short && !j.away && j.dirs.DirectoryAt(p.Pos()) == "" {
		out.Text += "."
		return
	}
	if item, ok := j.loopItemAt(name, p.Pos()); ok && p.Short {
		out.Text += item.Text
		out.Listed = out.Listed || item.Listed
		out.Each = true
		return
	}
	if v, ok := j.variableValueAt(name, p.Pos()); ok && (p.Short || isPlainExpansion(p)) {
		out.Fixed = out.Fixed || first && v.Fixed
		out.Text += v.Text
		out.Dynamic = out.Dynamic || v.Dynamic
		return
	}
	named := p.Exp != nil && p.Exp.Op == syntax.RemLargePrefix // ${HOME##*/} is a name and not a path
	out.Home = out.Home || !named && (name == "HOME" || name == "OLDPWD")
	out.Dynamic = true
}

// locatePath returns the kind of a path and, for the tree, its name there.
func (j *lineJudge) locatePath(w shell.Word) (pathkind.Kind, string) {
	p := w.Text
	if pathkind.IsCredential(p) && !j.isShownTreePath(w) {
		return pathkind.Secret, p
	}
	if w.Home {
		return pathkind.Outside, p
	}
	if strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/") {
		return pathkind.Device, p
	}
	if w.Listed && w.Text == "" && !j.away {
		return pathkind.Tree, "listed"
	}
	if w.Dynamic || w.Glob && pathkind.MayMatchParent(p) {
		if path.IsAbs(p) || strings.Contains(p, "..") {
			return pathkind.Outside, p
		}
		return pathkind.Unseen, p
	}
	if j.below != "" && !j.away && !path.IsAbs(p) { // the directory above it is known
		p = j.below + "/" + p
		if clean := path.Clean(p); clean != ".." && !strings.HasPrefix(clean, "../") {
			return pathkind.Tree, clean
		}
	}
	if !path.IsAbs(p) {
		return j.locateRelativePath(p)
	}
	return j.locateAbsolutePath(path.Clean(p))
}

// locateRelativePath returns the kind of a relative path.
func (j *lineJudge) locateRelativePath(p string) (pathkind.Kind, string) {
	clean := path.Clean(p)
	switch {
	case j.away && j.near != pathkind.Tree:
		return j.locateFromTmpOrCache(p)
	case clean == ".." || strings.HasPrefix(clean, "../") || j.away:
		return pathkind.Outside, p
	case strings.Contains("/"+p+"/", "/../") && !hasNoHiddenNames(p):
		return pathkind.Unseen, p // through a link it leads elsewhere
	}
	return pathkind.Tree, clean
}

// locateAbsolutePath returns the kind of a clean absolute path.
func (j *lineJudge) locateAbsolutePath(p string) (pathkind.Kind, string) {
	at, name := pathkind.LocatePath(p, j.rules.Dir)
	if at == pathkind.Outside && pathkind.IsBelow(j.rules.Caches, name) {
		return pathkind.Cache, name
	}
	return at, name
}

// isShownTreePath reports whether a path is in the tree and people let agents see it.
func (j *lineJudge) isShownTreePath(w shell.Word) bool {
	p := path.Clean(w.Text)
	return !w.Dynamic && !w.Glob && !w.Home && !j.away && j.below == "" && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") && pathkind.IsShown(j.rules.Show, p)
}

// hasNoHiddenNames reports whether no name is hidden in a path that goes up. If one of the names is a
// link, the sandbox still protects everything outside.
func hasNoHiddenNames(p string) bool {
	return !slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool {
		return strings.HasPrefix(name, ".") && name != "." && name != ".."
	})
}

// judgeReads judges reading paths.
func (j *lineJudge) judgeReads(words []shell.Word) {
	defer func() { j.currentWord = "" }()
	for _, w := range words {
		j.currentWord = w.Said
		switch at, name := j.locatePath(w); at {
		case pathkind.Tree:
			if w.Glob && pathkind.MayMatchSecret(path.Base(name)) {
				j.addAnswer(Ask, "path.secret", "it may read files whose names suggest secrets")
			}
			if d := JudgePath(name, false); !d.IsAllowed() && d.Rule != "path.git" && !pathkind.IsShown(j.rules.Show, name) {
				j.addDecision(d)
			} else if d.Rule == "path.git" && strings.Contains(name, "config") {
				j.addAnswer(Ask, d.Rule, "git's configuration may hold a secret")
			}
		case pathkind.Tmp, pathkind.System:
		case pathkind.Cache:
			if w.Glob && pathkind.MayMatchSecret(path.Base(name)) {
				j.addAnswer(Ask, "path.secret", "it may read files whose names suggest secrets")
			}
			if d := JudgePath(name, false); !d.IsAllowed() && d.Rule != "path.git" {
				j.addDecision(d)
			}
		case pathkind.Secret:
			j.addAnswer(Deny, "credentials", "it names a file that holds credentials")
		case pathkind.Device:
			j.addAnswer(Deny, "host.device", "it uses a device or the network")
		case pathkind.Unseen:
			j.addAnswer(Ask, "path.unseen", "which file it reads is not known before it runs")
		default:
			j.addDecision(j.outsideReadDecision(w))
		}
	}
}

// outsideReadDecision requires approval for reading a path outside the worktree.
func (j *lineJudge) outsideReadDecision(w shell.Word) Decision {
	d := newDecision(Ask, "path.outside", "it reads outside the worktree")
	if w.Home {
		d.Reason += ", in the home directory"
	}
	if to := j.cachePathInHome(w.Text); w.Home && to != "" {
		d.Reason, d.Way = "the home directory of commands is private and empty", "give the literal path: `ls "+to+"`"
	}
	return d
}

// judgeWrites judges creating or changing paths.
func (j *lineJudge) judgeWrites(words []shell.Word) {
	defer func() { j.currentWord = "" }()
	for _, w := range words {
		j.currentWord = w.Said
		switch at, name := j.locatePath(w); at {
		case pathkind.Tree:
			j.addDecision(JudgePath(name, true))
			if w.Glob && pathkind.MayMatchSecret(path.Base(name)) {
				j.addAnswer(Ask, "path.secret", "its name may suggest secrets")
			}
		case pathkind.Tmp:
		case pathkind.Secret:
			j.addAnswer(Deny, "credentials", "it names a file that holds credentials")
		case pathkind.Unseen:
			j.addAnswer(Ask, "path.unseen", "which file it writes is not known before it runs")
		case pathkind.Device:
			j.addAnswer(Deny, "host.device", "it uses a device or the network")
		default:
			j.addAnswer(Deny, "path.outside", "it writes outside the worktree")
		}
	}
}

// judgeDeletes judges removing paths or moving them away.
func (j *lineJudge) judgeDeletes(words []shell.Word) {
	j.judgeWrites(words)
	for _, w := range words {
		at, name := j.locatePath(w)
		if w.Listed {
			j.addAnswer(Ask, "path.unseen", "which files it removes is not known before it runs")
		}
		if w.Glob && strings.HasPrefix(w.Text, "**") && !strings.Contains(w.Text, "node_modules") && !strings.Contains(w.Text, "dist") && !strings.Contains(w.Text, "__pycache__") {
			j.addAnswer(Ask, "path.unseen", "which files it removes, anywhere in the tree, is not known before it runs")
		}
		if at == pathkind.Tree && (name == "." || w.Glob && strings.Trim(name, "*.?[]!/") == "") {
			j.addAnswer(Deny, "tree.delete", "it deletes the worktree itself")
		}
	}
}

// isPlainExpansion reports whether an expansion is exactly the variable's value, which is not empty:
// ${X} or ${X:-Y}.
func isPlainExpansion(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Flags == nil && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.NestedParam == nil &&
		(p.Exp == nil || p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull)
}

// substitutionText returns the directory that a substitution produces: the tree's root or a
// new one in the private /tmp.
func (j *lineJudge) substitutionText(stmts []*syntax.Stmt) (string, bool) {
	if len(stmts) == 1 && j.printsCachePath(stmts[0]) {
		return dependency, true
	}
	if len(stmts) != 1 || len(stmts[0].Redirs) > 0 {
		return "", false
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 {
		return "", false
	}
	words := make([]string, 0, len(c.Args))
	for _, w := range c.Args {
		words = append(words, w.Lit())
	}
	switch line := strings.Join(words, " "); {
	case slices.Contains([]string{"nproc", "sysctl -n hw.ncpu", "sysctl -n hw.logicalcpu", "sysctl -n hw.physicalcpu", "getconf _NPROCESSORS_ONLN"}, line):
		return "2", true
	case printsOneWord(words, line):
		return "printed", true
	case words[0] == "mktemp" && !slices.ContainsFunc(words[1:], func(w string) bool {
		return w != "-d" && w != "-q" && w != "-t" && !strings.HasPrefix(w, "/tmp/") || strings.Contains(w, "..")
	}):
		return "/tmp/made", true
	case line == "git rev-parse --show-toplevel" && !j.away && !j.inBare && path.IsAbs(j.rules.Dir), line == "pwd" && !j.away && j.dirs.DirectoryAt(c.Pos()) == "" && path.IsAbs(j.rules.Dir):
		return path.Clean(j.rules.Dir), true
	}
	return "", false
}

// printsOneWord reports whether a program prints a word that is neither a path nor an option: a
// date, a hash, a version, the machine's kind.
func printsOneWord(words []string, line string) bool {
	switch words[0] {
	case "date":
		return len(words) == 2 && regexp.MustCompile(`^\+[%A-Za-z0-9_.:]+[%A-Za-z0-9_.:-]*$`).MatchString(words[1]) && !regexp.MustCompile(`%[Dxc]`).MatchString(words[1])
	case "uname", "arch", "whoami":
		return len(words) < 3
	case "id":
		return line == "id -u" || line == "id -g" || line == "id -un" || line == "id -gn"
	case "git":
		return regexp.MustCompile(`^git (rev-parse (--short(=\d+)? )?[A-Za-z0-9_~^@{}/.]+|merge-base [\w/.-]+ [\w/.-]+|rev-list (--tags )?(--max-count=1|-n ?1|-1)( [A-Za-z0-9_~^/.]+)?|rev-parse --abbrev-ref HEAD|branch --show-current|describe( --[a-z-]+(=[\w.*-]+)?)*( [A-Za-z][\w./~^-]*)?|log -1 (--pretty|--format)=(format:)?%[hH])$`).MatchString(line)
	}
	return false
}

// hereDocumentText returns the standard input that redirections take from the line itself: a
// here-document or a here-string, if all of it is known.
func (j *lineJudge) hereDocumentText(redirects []*syntax.Redirect) (string, bool) {
	text, given := "", false
	for _, r := range redirects {
		from := r.Hdoc
		if r.Op == syntax.WordHdoc {
			from = r.Word
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			if from == nil || given || r.N != nil {
				return "", false
			}
			w := j.evaluateWord(from)
			if text, given = w.Text, !w.Dynamic; !given {
				return "", false
			}
		case syntax.RdrIn, syntax.DplIn, syntax.RdrInOut:
			return "", false
		default: // they read its output
		}
	}
	return text, given
}

// printsFileNames reports whether a substitution produces only names of files of the worktree. The
// commands in it are judged separately.
func printsFileNames(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 || slices.ContainsFunc(stmts[0].Redirs, func(r *syntax.Redirect) bool { return r.N == nil || r.N.Value != "2" }) {
		return false
	}
	if b, ok := stmts[0].Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.Pipe { // some of the names, in some order
		return printsFileNames([]*syntax.Stmt{b.X}) && slices.Contains([]string{"grep", "egrep", "head", "tail", "sort", "uniq"}, calledProgram(b.Y))
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 {
		return false
	}
	var words []string
	for _, w := range c.Args {
		words = append(words, w.Lit())
	}
	return shell.ListsFiles(words)
}

// calledProgram returns the program of a statement that does nothing else.
func calledProgram(s *syntax.Stmt) string {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(s.Redirs) > 0 {
		return ""
	}
	return c.Args[0].Lit()
}
