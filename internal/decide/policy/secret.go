package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// isSecretPattern reports whether a name pattern is meant for files with secrets.
func (j *lineJudge) isSecretPattern(pattern string) bool {
	// also as a regular expression
	name := strings.TrimSuffix(strings.ReplaceAll(pattern[strings.LastIndexByte(pattern, '/')+1:], `\.`, "."), "$")
	return (pathkind.ProtectionOf(name, false) == pathkind.MaySecret || pathkind.MayMatchSecret(name)) && !pathkind.IsShown(j.rules.Show, pattern)
}

// judgeSearch requires approval if a search reads files whose names suggest secrets, or if a
// jq program reads the environment.
func (j *lineJudge) judgeSearch(argv []shell.Word) {
	if name := argv[0].Text; name == "jq" || name == "yq" {
		for _, w := range argv[1:] {
			file := strings.HasSuffix(w.Text, "json") || strings.HasSuffix(w.Text, "ml") // of data, at a path
			if script.ReadsOutsideInput(w.Text) && (!file || strings.ContainsAny(w.Text, " ([{|$")) {
				j.addAnswer(Ask, "credentials", "it may show the environment, or read what is not named")
			}
		}
		if options, operands := shell.SplitOptions(argv[1:]); name == "yq" && shell.HasOption(options, []string{"-i", "--inplace"}) {
			j.judgeWrites(operands[min(1, len(operands)):])
		}
		return
	}
	for i, w := range argv[1:] {
		option, value, joined := strings.Cut(w.Text, "=")
		if !slices.Contains([]string{"--include", "--glob", "--iglob", "-g", "-G", "--file-search-regex"}, option) {
			if value, joined = strings.CutPrefix(w.Text, "-g"); !joined || argv[0].Text == "grep" {
				continue
			}
		} else if !joined && i+2 < len(argv) {
			value = argv[i+2].Text
		}
		if !strings.HasPrefix(value, "!") && j.isSecretPattern(value) {
			j.addAnswer(Ask, "path.secret", "it searches files whose names suggest secrets")
		}
	}
}

// noteSecretSearch records that find searches for files whose names suggest secrets, and
// requires approval if it passes them to a program.
func (j *lineJudge) noteSecretSearch(argv []shell.Word) {
	for i, w := range argv {
		named := slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"}, w.Text)
		if named && i+1 < len(argv) && (i == 0 || argv[i-1].Text != "!" && argv[i-1].Text != "-not") && j.isSecretPattern(argv[i+1].Text) {
			j.seeks = true
			j.feeds = j.feeds || slices.ContainsFunc(argv, func(a shell.Word) bool { return strings.HasPrefix(a.Text, "-exec") || strings.HasPrefix(a.Text, "-ok") })
		}
	}
}

// takesPsValue reports whether a word is an option of ps whose value is the next word: -o, or -eo.
func takesPsValue(option string) bool {
	return strings.HasPrefix(option, "--") || strings.HasPrefix(option, "-") && len(option) > 1 && strings.ContainsAny(option[len(option)-1:], "CGOUgknopqstu")
}

// judgePs judges the display of processes; their environment must not be shown.
func (j *lineJudge) judgePs(argv []shell.Word) {
	for i, w := range argv[1:] {
		letters := w.Text != "" && strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
		if letters && strings.Contains(w.Text, "e") && !takesPsValue(argv[i].Text) || w.Text == "-E" || w.Dynamic && !w.Fixed {
			j.addAnswer(Ask, "credentials", "it may show the environment of processes")
		}
	}
}

// askAboutShownVariables requires approval for commands that show variables, such as export -p.
func (j *lineJudge) askAboutShownVariables(n *syntax.DeclClause) {
	shows, named := false, false
	for _, a := range n.Args {
		if a.Name != nil {
			named = true
			if shows && program.IsHiddenVariable(a.Name.Value) {
				j.addAnswer(Deny, "credentials", "it shows a secret of the environment")
			}
			continue
		}
		if a.Value != nil {
			option := a.Value.Lit()
			shows = shows || strings.HasPrefix(option, "-") && strings.Contains(option, "p")
			named = named || strings.HasPrefix(option, "-") && strings.ContainsAny(option, "fF")
		}
	}
	if !named && n.Variant.Value != "local" {
		j.addAnswer(Ask, "credentials", "it shows every variable")
	}
}
