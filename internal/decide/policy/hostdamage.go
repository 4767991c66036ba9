package policy

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// judgeEndlessLoop judges an endless loop: one that starts background processes is denied, and one
// without an end or a delay in its body needs approval. So does a loop that starts very many
// processes.
func (j *lineJudge) judgeEndlessLoop(n syntax.Node) {
	var do []*syntax.Stmt
	many := false
	switch n := n.(type) {
	case *syntax.WhileClause:
		if len(n.Cond) != 1 || !isConstantCondition(n.Cond[0], !n.Until) {
			return
		}
		do = n.Do
	case *syntax.ForClause:
		if l, ok := n.Loop.(*syntax.CStyleLoop); !ok || l.Cond != nil {
			if many = runsThousandTimes(n); !many {
				return
			}
		}
		do = n.Do
	}
	if many && runsHundredThousandTimes(n) {
		j.addAnswer(Ask, "host.damage", "it runs too many times")
	}
	ends := many
	for _, s := range do {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Stmt:
				if n.Background {
					j.addAnswer(Deny, "host.damage", "it starts processes without end")
				}
			case *syntax.CallExpr:
				ends = ends || len(n.Args) > 0 && slices.Contains([]string{"break", "exit", "return", "exec", "read"}, n.Args[0].Lit()) || isSleepCommand(n)
			default:
			}
			return true
		})
	}
	if !ends {
		j.addAnswer(Ask, "host.damage", "the loop never ends")
	}
}

// isConstantCondition reports whether a condition always has the value holds.
func isConstantCondition(s *syntax.Stmt, holds bool) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 || s.Negated {
			return s.Negated && len(c.Args) == 1 && slices.Contains([]string{"true", ":", "false"}, c.Args[0].Lit())
		}
		name := c.Args[0].Lit()
		if name == "[" || name == "test" {
			return !slices.ContainsFunc(c.Args, func(w *syntax.Word) bool {
				return w.Lit() == "" || strings.HasPrefix(w.Lit(), "-") && len(w.Lit()) == 2
			})
		}
		return holds && (name == "true" || name == ":" || name == "yes") || !holds && name == "false"
	case *syntax.ArithmCmd:
		w, ok := c.X.(*syntax.Word)
		return ok && w.Lit() != "" && strings.Trim(w.Lit(), "0123456789") == ""
	}
	return false
}

// runsThousandTimes reports whether a loop runs a thousand times or more.
func runsThousandTimes(n *syntax.ForClause) bool {
	over, ok := n.Loop.(*syntax.WordIter)
	if !ok {
		return false
	}
	for _, w := range over.Items {
		var text strings.Builder
		_ = syntax.NewPrinter().Print(&text, w)
		for number := range strings.FieldsFuncSeq(text.String(), func(r rune) bool { return r < '0' || r > '9' }) {
			if strings.ContainsAny(text.String(), "{$`") && len(strings.TrimLeft(number, "0")) > 3 {
				return true
			}
		}
	}
	return false
}

// runsHundredThousandTimes reports whether a loop runs a hundred thousand times or more.
func runsHundredThousandTimes(n syntax.Node) bool {
	var text strings.Builder
	_ = syntax.NewPrinter().Print(&text, n)
	head, _, _ := strings.Cut(text.String(), "do")
	return regexp.MustCompile(`\d{6}`).MatchString(head)
}

// askAboutEndlessOutput requires approval for a program that writes without an end.
func (j *lineJudge) askAboutEndlessOutput(argv []shell.Word) {
	if writesWithoutEnd(argv) {
		j.addAnswer(Ask, "host.damage", argv[0].Text+" may write without end")
	}
}

// hasByteLimit reports whether an option limits the bytes of a dump to less than the size of a
// disk.
func hasByteLimit(argv []shell.Word) bool {
	for i, w := range argv {
		if len(w.Text) < 2 || !slices.Contains([]string{"-N", "-n", "-l"}, w.Text[:2]) {
			continue
		}
		count := w.Text[2:]
		if count == "" && i+1 < len(argv) {
			count = argv[i+1].Text
		}
		return count != "" && !isHugeSize(count)
	}
	return false
}

// writesWithoutEnd reports whether a program writes without an end, or more than a disk can
// store.
func writesWithoutEnd(argv []shell.Word) bool {
	reads := slices.ContainsFunc(argv[1:], func(w shell.Word) bool { return isEndlessDevice(strings.TrimPrefix(w.Text, "if=")) })
	switch name := argv[0].Text; name {
	case "yes":
		return true
	case "seq":
		return slices.ContainsFunc(argv[1:], func(w shell.Word) bool {
			return len(w.Text) > 9 || regexp.MustCompile(`(?i)^inf|\de\+?\d`).MatchString(w.Text)
		})
	case "od", "xxd", "hexdump", "cmp":
		return reads && !hasByteLimit(argv)
	case "head", "truncate", "fallocate", "openssl":
		return slices.ContainsFunc(argv[1:], func(w shell.Word) bool { return isHugeSize(w.Text) })
	case "dd":
		return reads && !slices.ContainsFunc(argv, func(w shell.Word) bool { return strings.HasPrefix(w.Text, "count=") && !isHugeSize(w.Text) })
	case "shred", "ln", "ls", "stat", "test", "[":
		return false
	default:
		return reads
	}
}

// isHugeSize reports whether a word means 16 GB or more.
func isHugeSize(word string) bool {
	word = strings.TrimRight(word[strings.LastIndexAny(word, "=-+ ")+1:], "iBb")
	word = strings.TrimLeft(word, "ncls")
	digits := strings.TrimRight(word, "KMGTPEZYkmgtpezy")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	exponent := map[string]int{"": 0, "k": 3, "m": 6, "g": 9, "t": 12, "p": 15, "e": 18, "z": 21, "y": 24}[strings.ToLower(word[len(digits):])]
	digits = strings.TrimLeft(digits, "0")
	return len(digits)+exponent > 11 || len(digits)+exponent == 11 && digits >= "16"
}

// decodesText reports whether a program decodes text to content that cannot be checked here.
func decodesText(argv []shell.Word) bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(argv[1:], func(w shell.Word) bool { return slices.Contains(options, w.Text) })
	}
	switch argv[0].Text {
	case "base64", "base32", "basenc":
		return has("-d", "-D", "--decode", "-di")
	case "xxd":
		return has("-r", "-rp", "-pr")
	case "openssl":
		return has("-d")
	case "uudecode":
		return true
	}
	return false
}

// isWorkDirectory reports whether a directory at the top of a tree has a usual name for directories
// with people's work.
func isWorkDirectory(name string) bool {
	return slices.Contains([]string{
		"src", "source", "sources", "lib", "libs", "app", "apps", "internal", "cmd", "pkg", "include", "core", "modules", "packages", "crates", "components",
		"api", "server", "client", "frontend", "backend", "web", "ui", "test", "tests", "spec", "specs", "e2e", "docs", "doc", "examples", "scripts", "tools",
		"config", "configs", "conf", "db", "migrations", "models", "views", "controllers", "services", "helpers", "assets", "resources", "plugins", "java", "python", "go", "ts", "js",
	}, strings.ToLower(name))
}

// askAboutRemovingTopDirectory requires approval for the removal of a whole directory at the top of the worktree
// that contains people's work.
func (j *lineJudge) askAboutRemovingTopDirectory(argv []shell.Word) {
	options, operands := shell.SplitOptions(argv[1:])
	if !shell.HasOption(options, []string{"-r", "-R", "--recursive"}) {
		return
	}
	for _, w := range operands {
		at, name := j.locatePath(w)
		name = strings.TrimRight(name, "*/") // with all its content
		if w.Each {
			j.addAnswer(Ask, "tree.delete", "it removes each directory that it visits")
		}
		if at == pathkind.Tree && isWorkDirectory(name) {
			j.addAnswer(Ask, "tree.delete", "it removes "+name+", a directory at the top of the tree; name the files, or use git rm -r")
		}
	}
}

// hasUnlimitedParallelism reports whether xargs may start an unlimited number of parallel processes.
func hasUnlimitedParallelism(argv []shell.Word) bool {
	for i, w := range argv {
		value, ok := strings.CutPrefix(w.Text, "--max-procs=")
		if !ok {
			value, ok = strings.CutPrefix(w.Text, "-P")
		}
		if (ok && value == "" || w.Text == "--max-procs") && i+1 < len(argv) {
			value, ok = argv[i+1].Text, true
		}
		if ok && value != "" && (strings.TrimLeft(value, "0") == "" || len(value) > 2) {
			return true
		}
	}
	return false
}

// isSleepCommand reports whether a command waits for a noticeable time: a loop with it polls
// something, and fills no disk before its time limit.
func isSleepCommand(n *syntax.CallExpr) bool {
	return len(n.Args) == 2 && n.Args[0].Lit() == "sleep" && regexp.MustCompile(`^(?:0?\.[1-9]\d*|[1-9]\d*(?:\.\d+)?)[smhd]?$`).MatchString(n.Args[1].Lit())
}

// askAboutMovingWork requires approval for moving a whole directory with people's work out of the
// tree.
func (j *lineJudge) askAboutMovingWork(operands []shell.Word) {
	if len(operands) < 2 {
		return
	}
	last := len(operands) - 1
	if at, _ := j.locatePath(operands[last]); at == pathkind.Tree {
		return
	}
	for _, w := range operands[:last] {
		if at, name := j.locatePath(w); at == pathkind.Tree && isWorkDirectory(name) {
			j.addAnswer(Ask, "tree.delete", "it moves "+name+" out of the tree")
		}
	}
}

// removesOwnerRights reports whether a mode removes an owner's right to the tree, or to a directory
// with people's work, or to all its content.
func (j *lineJudge) removesOwnerRights(mode string, operands []shell.Word, recursive bool) bool {
	takes := mode != "" && strings.Trim(mode, "01234567") == "" && ("000" + mode)[len(mode)] != '7'
	for clause := range strings.SplitSeq(mode, ",") {
		who, rights, sets := strings.Cut(clause, "=")
		if owner := who == "" || strings.ContainsAny(who, "ua"); sets && owner {
			takes = takes || !strings.Contains(rights, "r")
		} else if who, rights, sets = strings.Cut(clause, "-"); sets && (who == "" || strings.ContainsAny(who, "ua")) {
			takes = takes || rights != "s" && rights != "t"
		}
	}
	return takes && (recursive && (strings.Contains(mode, "=") || len(mode) < 3 && strings.Trim(mode, "01234567") == "") || slices.ContainsFunc(operands, func(w shell.Word) bool {
		at, name := j.locatePath(w)
		return at == pathkind.Tree && (name == "." || isWorkDirectory(name))
	}))
}

// isEndlessDevice reports whether a file never ends when it is read.
func isEndlessDevice(name string) bool {
	return slices.Contains([]string{"/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"}, name)
}

// isFindTestValue reports whether a word is the value of a find test that takes a number with a unit,
// such as -size -5k.
func isFindTestValue(test, word string) bool {
	return slices.Contains([]string{"-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-links", "-newermt"}, test) &&
		len(word) < 12 && strings.Trim(word, "-+0123456789cwbkMG") == "" && strings.ContainsAny(word, "0123456789")
}
