package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// specialProgramJudge returns the judge of programs that the table cannot describe: those with their own
// data, and those whose arguments are commands, or nil.
func (j *lineJudge) specialProgramJudge(name string) func([]shell.Word) {
	switch name {
	case "nyc", "c8":
		return j.judgeCoverageTool
	case "nodemon":
		return j.judgeWatchTool
	case "fd", "fdfind":
		return j.judgeFd
	case "concurrently", "start-server-and-test", "hyperfine":
		return j.judgeCommandOperands
	case "sqlite3":
		return j.judgeSqlite
	case "sysctl":
		return j.judgeSysctl
	case "printenv":
		return j.judgePrintenv
	case "ps":
		return j.judgePs
	case "valgrind":
		return j.judgeValgrind
	}
	return nil
}

// judgeSqlite judges the use of a database file of the tree: SQL statements and display commands
// are allowed, but nothing that runs a program or uses another file.
func (j *lineJudge) judgeSqlite(argv []shell.Word) {
	named := false
	for i := 1; i < len(argv); i++ {
		w := argv[i]
		switch {
		case w.Dynamic:
			j.addAnswer(Ask, "data.sqlite", "the statements for the database are not known before they run")
		case slices.Contains([]string{"-separator", "-nullvalue", "-newline", "-cmd"}, w.Text) && i+1 < len(argv):
			if w.Text == "-cmd" {
				j.judgeSQLText(argv[i+1].Text)
			}
			i++
		case slices.Contains([]string{"-header", "-headers", "-noheader", "-csv", "-json", "-column", "-line", "-list", "-box", "-table", "-markdown", "-html", "-tabs", "-readonly", "-batch", "-bail", "-safe", "--version"}, strings.Replace(w.Text, "--", "-", 1)), w.Text == "--version":
		case strings.HasPrefix(w.Text, "-"):
			j.addAnswer(Ask, "data.sqlite", "an option of sqlite3 may run something else")
		case !named:
			named = true
			if w.Text != ":memory:" {
				j.judgeWrites([]shell.Word{w})
			}
		default:
			j.judgeSQLText(w.Text)
		}
	}
	if j.given {
		j.judgeSQLText(j.input)
	}
}

// judgeSQLText requires approval for statements that affect more than one database.
func (j *lineJudge) judgeSQLText(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		dot := strings.HasPrefix(word, ".")
		if dot && !slices.Contains([]string{".tables", ".schema", ".mode", ".headers", ".header", ".indexes", ".indices", ".dump", ".databases", ".width", ".nullvalue", ".fullschema", ".quit", ".exit", ".timeout", ".stats", ".dbinfo"}, word) {
			j.addAnswer(Ask, "data.sqlite", "sqlite3 "+word+" may run a program, or open another file")
		}
	}
	if regexp.MustCompile(`(?i)load_extension|attach|readfile|writefile|\bedit\s*\(|vacuum\s+into|fts3_tokenizer|sqlar|zipfile|fsdir|shell`).MatchString(text) {
		j.addAnswer(Ask, "data.sqlite", "the statement may open another file, or load code")
	}
}

// judgeSysctl judges queries of the machine's settings.
func (j *lineJudge) judgeSysctl(argv []shell.Word) {
	if len(argv) != 3 || argv[1].Text != "-n" || argv[2].Dynamic || strings.ContainsAny(argv[2].Text, "=-") {
		j.addAnswer(Deny, "host.damage", "sysctl may change the machine's settings")
	}
}

// judgePrintenv judges the display of named variables.
func (j *lineJudge) judgePrintenv(argv []shell.Word) {
	for _, w := range argv[1:] {
		if w.Dynamic || strings.HasPrefix(w.Text, "-") || program.IsHiddenVariable(w.Text) || !program.IsKnownVariable(w.Text) {
			j.addAnswer(Ask, "credentials", "it may show a secret of the environment")
		}
	}
	if len(argv) == 1 {
		j.addAnswer(Ask, "credentials", "it shows every variable")
	}
}

// judgeCommandOperands judges programs whose operands are commands.
func (j *lineJudge) judgeCommandOperands(argv []shell.Word) {
	values := map[string][]string{
		"concurrently":          {"-n", "--names", "-c", "--prefix-colors", "-p", "--prefix", "-s", "--success", "-m", "--max-processes", "--restart-tries", "--restart-after"},
		"hyperfine":             {"-w", "--warmup", "-r", "--runs", "--min-runs", "--max-runs"},
		"start-server-and-test": {"--expect"},
	}[argv[0].Text]
	for i := 1; i < len(argv); i++ {
		w := argv[i]
		switch {
		case w.Dynamic:
			j.addAnswer(Ask, "shell.dynamic", "what "+argv[0].Text+" runs is not known before it runs")
		case slices.Contains(values, w.Text):
			i++
		case slices.Contains([]string{"-k", "--kill-others", "--kill-others-on-fail", "-r", "--raw", "-g", "--group", "--no-color", "--hide", "-i", "--ignore-failure", "-N"}, w.Text), regexp.MustCompile(`^--?(names|prefix-colors|success|max-processes|timings|warmup|runs)=`).MatchString(w.Text):
		case strings.HasPrefix(w.Text, "-"):
			j.addAnswer(Ask, "wrapper.option", "an option of "+argv[0].Text+" is not known")
		case regexp.MustCompile(`^(\d+|(https?(-get)?://)?(localhost|127\.0\.0\.1)(:\d+)?(/[\w/-]*)?|(npm|pnpm|yarn|bun|node):[\w:*-]+)$`).MatchString(w.Text):
		case argv[0].Text == "start-server-and-test" && regexp.MustCompile(`^[a-z][\w:-]*$`).MatchString(w.Text):
			j.judgeNestedCommand("npm run " + w.Text)
		default:
			j.judgeNestedCommand(w.Text)
		}
	}
}

// judgeFd judges a file search, and the command that it runs on the results.
func (j *lineJudge) judgeFd(argv []shell.Word) {
	end := slices.IndexFunc(argv, func(w shell.Word) bool {
		return slices.Contains([]string{"-x", "-X", "--exec", "--exec-batch"}, w.Text)
	})
	search := argv
	if end > 0 {
		search = argv[:end]
		run := argv[end+1:]
		if stop := slices.IndexFunc(run, func(w shell.Word) bool { return w.Text == ";" }); stop >= 0 {
			search = append(slices.Clone(search), run[stop+1:]...)
			run = run[:stop]
		}
		if !slices.ContainsFunc(run, func(w shell.Word) bool { return strings.Contains(w.Text, "{") }) {
			run = append(slices.Clone(run), shell.LiteralWord("{}"))
		}
		j.judgeFindExec(run, false, false)
	}
	if e, ok := program.FindProgram("fd"); ok {
		j.judgeTableProgram(e, append([]shell.Word{shell.LiteralWord("fd")}, search[1:]...))
	}
}

// judgeCoverageTool judges a program whose coverage is measured.
func (j *lineJudge) judgeCoverageTool(argv []shell.Word) {
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") && !rest[0].Dynamic {
		option, _, joined := strings.Cut(rest[0].Text, "=")
		if option == "--cwd" || option == "--nycrc-path" || option == "--require" || option == "-i" || option == "--config" || option == "-c" {
			j.addAnswer(Ask, "wrapper.option", "an option of "+argv[0].Text+" may run something else")
		}
		valued := slices.Contains([]string{"-x", "--exclude", "-n", "--include", "-r", "--reporter", "--report-dir", "-o", "--temp-dir", "-t", "-e", "--extension", "--lines", "--branches", "--functions", "--statements", "--src"}, option)
		if joined {
			_, operands := shell.SplitOptions(rest[:1])
			j.judgeWrites(operands)
		} else if valued && len(rest) > 1 {
			j.judgeWrites(shell.PathWords(rest[1:2]))
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && !slices.Contains([]string{"report", "check-coverage", "merge", "instrument"}, rest[0].Text) {
		j.judgeSimpleCommand(rest)
	} else {
		j.judgeWrites(shell.PathWords(rest))
	}
}

// judgeWatchTool judges a program that is restarted after each change.
func (j *lineJudge) judgeWatchTool(argv []shell.Word) {
	for i, w := range argv[1:] {
		switch option, value, joined := strings.Cut(w.Text, "="); {
		case (w.Text == "-x" || w.Text == "--exec") && i+2 < len(argv):
			if argv[i+2].Dynamic {
				j.addAnswer(Ask, "shell.dynamic", "the program that it starts is not known before it runs")
			}
			j.judgeNestedCommand(argv[i+2].Text + " ./file")
		case joined && option == "--exec":
			j.judgeNestedCommand(value + " ./file")
		case w.Text == "--config" || w.Text == "-r" || w.Text == "--require" || w.Text == "-e" && i+2 == len(argv):
			j.addAnswer(Ask, "wrapper.option", "an option of nodemon may run something else")
		}
	}
	_, operands := shell.SplitOptions(argv[1:])
	j.judgeWrites(shell.PathWords(operands))
}
