package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/arg"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/table"
)

// sqlite judges a database in a file of the tree: statements in SQL and what
// shows, but nothing that runs a program or takes another file.
func (j *judgement) sqlite(argv []arg.Word) {
	named := false
	for i := 1; i < len(argv); i++ {
		w := argv[i]
		switch {
		case w.Dynamic:
			j.add(Ask, "data.sqlite", "what is done in the database is not known before it runs")
		case slices.Contains([]string{"-separator", "-nullvalue", "-newline", "-cmd"}, w.Text) && i+1 < len(argv):
			if w.Text == "-cmd" {
				j.sql(argv[i+1].Text)
			}
			i++
		case slices.Contains([]string{"-header", "-headers", "-noheader", "-csv", "-json", "-column", "-line", "-list", "-box", "-table", "-markdown", "-html", "-tabs", "-readonly", "-batch", "-bail", "-safe", "--version"}, strings.Replace(w.Text, "--", "-", 1)), w.Text == "--version":
		case strings.HasPrefix(w.Text, "-"):
			j.add(Ask, "data.sqlite", "an option of sqlite3 may run something else")
		case !named:
			named = true
			if w.Text != ":memory:" {
				j.writes([]arg.Word{w})
			}
		default:
			j.sql(w.Text)
		}
	}
	if j.given {
		j.sql(j.input)
	}
}

// sql asks about statements that do more than work in one database.
func (j *judgement) sql(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		dot := strings.HasPrefix(word, ".")
		if dot && !slices.Contains([]string{".tables", ".schema", ".mode", ".headers", ".header", ".indexes", ".indices", ".dump", ".databases", ".width", ".nullvalue", ".fullschema", ".quit", ".exit", ".timeout", ".stats", ".dbinfo"}, word) {
			j.add(Ask, "data.sqlite", "sqlite3 "+word+" may run a program, or take another file")
		}
	}
	if regexp.MustCompile(`(?i)load_extension|attach|readfile|writefile|\bedit\s*\(|vacuum\s+into|fts3_tokenizer|sqlar|zipfile|fsdir|shell`).MatchString(text) {
		j.add(Ask, "data.sqlite", "the statement may take another file, or load code")
	}
}

// sysctl judges asking for the settings of the machine.
func (j *judgement) sysctl(argv []arg.Word) {
	if len(argv) != 3 || argv[1].Text != "-n" || argv[2].Dynamic || strings.ContainsAny(argv[2].Text, "=-") {
		j.add(Deny, "host.damage", "sysctl may change the machine's settings")
	}
}

// printenv judges showing variables by name.
func (j *judgement) printenv(argv []arg.Word) {
	for _, w := range argv[1:] {
		if w.Dynamic || strings.HasPrefix(w.Text, "-") || table.Hidden(w.Text) || !table.Known(w.Text) {
			j.add(Ask, "credentials", "it may show a secret of the environment")
		}
	}
	if len(argv) == 1 {
		j.add(Ask, "credentials", "it shows every variable")
	}
}
