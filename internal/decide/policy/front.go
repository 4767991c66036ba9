package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/arg"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/builds"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/place"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/table"
)

// frontEnd asks where a well-known program is told to run code that is not
// judged, to fetch other programs, or to publish.
func (j *judgement) frontEnd(name string, args []arg.Word) {
	verbs := map[string][]string{
		"rails":         {"runner", "r", "console", "c", "dbconsole", "db", "credentials:show", "credentials:edit", "secrets:show", "encrypted:show"},
		"golangci-lint": {"custom"}, "playwright": {"install", "install-deps", "uninstall", "codegen", "open", "cr", "ff", "wk"}, "cypress": {"install", "open"},
		"artisan": {"tinker", "db"}, "manage.py": {"shell", "shell_plus", "dbshell", "runscript"}, "setup.py": {"upload", "register"},
	}[name]
	options, operands := arg.Split(args)
	for i, w := range operands {
		if slices.Contains(verbs, w.Text) && (i == 0 || i <= len(options) && len(w.Text) > 1 || name == "setup.py") {
			j.add(Ask, "code.inline", name+" "+w.Text+" may fetch, send, or run code that is not judged")
		}
	}
	if verbs != nil && len(operands) > 0 && operands[0].Dynamic && !operands[0].Fixed {
		j.add(Ask, "shell.dynamic", "what "+name+" does is not known before it runs")
	}
}

// configured returns the options without those that name a tool's own
// configuration in the tree, as it is usually called: vitest -c
// vitest.config.e2e.ts. It is code of the tree, which the tool runs anyway.
func (j *judgement) configured(tool string, options, args []arg.Word) []arg.Word {
	own := func(w arg.Word) bool {
		at, name := j.where(w)
		return !w.Dynamic && !w.Glob && at == place.Tree && conventional(tool, path.Base(name))
	}
	return slices.DeleteFunc(slices.Clone(options), func(o arg.Word) bool {
		option, value, joined := strings.Cut(o.Text, "=")
		if option != "-c" && option != "--config" {
			return false
		}
		if joined {
			return own(arg.Word{Text: value, Dynamic: o.Dynamic, Glob: o.Glob, Home: o.Home})
		}
		for i, w := range args[:max(0, len(args)-1)] {
			if w.Text == option && !own(args[i+1]) {
				return false
			}
		}
		return len(args) > 0 && args[len(args)-1].Text != option
	})
}

// conventional reports whether a file is named as a tool's configuration is.
func conventional(tool, base string) bool {
	return slices.Contains([]string{"pyproject.toml", "setup.cfg"}, base) ||
		strings.HasPrefix(base, tool+".") || strings.HasPrefix(base, "."+tool)
}

// toggles reports whether a variable that is not known does no more than switch
// something on or off in the tree's own code, which the program runs.
func (j *judgement) toggles(name string, value arg.Word, argv []arg.Word) bool {
	return !value.Dynamic && !value.Glob && table.Toggle(name, value.Text) && j.runsTree(argv)
}

// runsTree reports whether a command builds or tests, and so runs what is in
// the tree.
func (j *judgement) runsTree(argv []arg.Word) bool {
	if len(argv) == 0 || argv[0].Dynamic || argv[0].Glob {
		return false
	}
	name := argv[0].Text
	if strings.Contains(name, "/") {
		at, _ := j.where(argv[0])
		return at == place.Tree
	}
	e, _ := table.Find(name)
	return e.Answer == string(Allow) && strings.HasPrefix(e.Rule, "build.") || builds.Knows(name)
}

// valgrind judges the program that is run in it.
func (j *judgement) valgrind(argv []arg.Word) {
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		option, value, _ := strings.Cut(rest[0].Text, "=")
		if rest[0].Dynamic || strings.HasPrefix(option, "--db") || strings.HasPrefix(option, "--vgdb") {
			j.add(Ask, "wrapper.option", "an option of valgrind may start something else")
		}
		if strings.ContainsAny(value, "/~") {
			j.writes([]arg.Word{arg.Literal(value)})
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		j.simple(rest)
	}
}
