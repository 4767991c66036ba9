package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/arg"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/place"
)

// endless denies a loop without an end that starts processes in the
// background.
func (j *judgement) endless(n syntax.Node) {
	var do []*syntax.Stmt
	switch n := n.(type) {
	case *syntax.WhileClause:
		if len(n.Cond) != 1 {
			return
		}
		c, ok := n.Cond[0].Cmd.(*syntax.CallExpr)
		if !ok || len(c.Args) != 1 || c.Args[0].Lit() != map[bool]string{false: "true", true: "false"}[n.Until] && (n.Until || c.Args[0].Lit() != ":") {
			return
		}
		do = n.Do
	case *syntax.ForClause:
		if l, ok := n.Loop.(*syntax.CStyleLoop); !ok || l.Cond != nil {
			return
		}
		do = n.Do
	}
	for _, s := range do {
		syntax.Walk(s, func(n syntax.Node) bool {
			if s, ok := n.(*syntax.Stmt); ok && s.Background {
				j.add(Deny, "host.damage", "it starts processes without an end")
			}
			return true
		})
	}
}

// fills reports whether a program writes without an end, or more than a disk
// holds.
func fills(argv []arg.Word) bool {
	reads := slices.ContainsFunc(argv[1:], func(w arg.Word) bool {
		return slices.Contains([]string{"/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"}, strings.TrimPrefix(w.Text, "if="))
	})
	switch name := argv[0].Text; name {
	case "yes":
		return true
	case "cat", "tee", "cp":
		return reads
	case "head", "truncate", "fallocate":
		return slices.ContainsFunc(argv[1:], func(w arg.Word) bool { return huge(w.Text) })
	case "dd":
		return reads && !slices.ContainsFunc(argv, func(w arg.Word) bool { return strings.HasPrefix(w.Text, "count=") && !huge(w.Text) })
	}
	return false
}

// huge reports whether a word says 16 GB or more.
func huge(word string) bool {
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

// decodes reports whether a program turns text into what cannot be seen here.
func decodes(argv []arg.Word) bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(argv[1:], func(w arg.Word) bool { return slices.Contains(options, w.Text) })
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

// holdsWork reports whether a directory at the top of a tree is named as those
// are that hold what people wrote.
func holdsWork(name string) bool {
	return slices.Contains([]string{
		"src", "source", "sources", "lib", "libs", "app", "apps", "internal", "cmd", "pkg", "include", "core", "modules", "packages", "crates", "components",
		"api", "server", "client", "frontend", "backend", "web", "ui", "test", "tests", "spec", "specs", "e2e", "docs", "doc", "examples", "scripts", "tools",
		"config", "configs", "conf", "db", "migrations", "models", "views", "controllers", "services", "helpers", "assets", "resources", "plugins", "java", "python", "go", "ts", "js",
	}, strings.ToLower(name))
}

// trees asks about removing a whole directory at the top of the worktree that
// holds people's work.
func (j *judgement) trees(argv []arg.Word) {
	options, operands := arg.Split(argv[1:])
	if !arg.Asks(options, []string{"-r", "-R", "--recursive"}) {
		return
	}
	for _, w := range operands {
		at, name := j.where(w)
		if at == place.Tree && holdsWork(name) {
			j.add(Ask, "tree.delete", "it removes "+name+", a directory at the top of the tree; name the files, or use git rm -r")
		}
	}
}
