package toolreport

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

// FileCoverageTarget is the required coverage of a file: a percentage, or all lines that contain
// one of some texts.
type FileCoverageTarget struct {
	File    string
	Percent int      // if there are no texts
	Texts   []string // each is part of one line of the file
}

// The awk scripts read a coverage report. Those for a percentage succeed if tests cover p
// percent of the lines of f. The others also read f, with s set, and print the lines that no
// test runs: all of them if the report does not contain f.
const (
	lcovShare = `/^SF:/{o=index("/"$2";","/"f";")} o&&/^DA:/{n++;if($3>0)c++} END{exit !(n>0&&100*c>=p*n)}`
	goShare   = `index($1, f ":") && substr($1, index($1, f ":")-1, 1) == "/" {n += $2; if ($3 > 0) c += $2} ` +
		`END {exit !(n > 0 && 100*c >= p*n)}`
	lcovLines = `!s{if(/^SF:/)o=index("/"$2";","/"f";");if(o&&/^DA:/){n++;h[$2]+=$3}next}` + unrun
	goLines   = `!s{if(index($1,"/"f":")){n++;sub(/.*:/,"",$1);split($1,a,/[.,]/);for(i=a[1];i<=a[3];i++)h[i]+=$3}next}` + unrun
	unrun     = `!n||FNR in h&&!h[FNR]`
)

// coverageCheckCommand returns a command that reads a report and succeeds if the target is reached. Name is
// the report's name for the file, and options are for awk.
func (w FileCoverageTarget) coverageCheckCommand(options, name, share, lines, report string) string {
	awk := fmt.Sprintf("awk %s-v f=%s ", options, scriptcommands.QuoteShellWord(name))
	if len(w.Texts) == 0 {
		return awk + fmt.Sprintf("-v p=%d %s %s", w.Percent, scriptcommands.QuoteShellWord(share), report)
	}
	grep := "grep -qF"
	for _, text := range w.Texts {
		grep += " -e " + scriptcommands.QuoteShellWord(text)
	}
	return fmt.Sprintf("{ ! %s%s %s s=1 %s | %s; }", awk, scriptcommands.QuoteShellWord(lines), report, scriptcommands.QuoteShellWord("./"+w.File), grep)
}

// CutReport returns the part of a command's output that is the report.
func CutReport(format, printed string) string {
	if format != "cobertura" && format != "jacoco" {
		return printed
	}
	for _, begin := range []string{"<?xml", "<coverage", "<report"} {
		if at := strings.Index(printed, begin); at >= 0 {
			return printed[at:]
		}
	}
	return printed
}

// GoCoverageCommand returns a command that fails until the tests of a Go package reach the target for a
// file in it.
func GoCoverageCommand(w FileCoverageTarget) string {
	return fmt.Sprintf(`p=$(mktemp) && go test -count=1 -coverprofile="$p" %s >/dev/null && `, scriptcommands.QuoteShellWord("./"+path.Dir(w.File))) +
		w.coverageCheckCommand("", path.Base(w.File), goShare, goLines, `"$p"`)
}

// CoverageCheckCommand returns a command that fails until tests reach the target for a file, "" if no short
// one is known. Name is the measuring tool, format that of its report, and args its command.
func CoverageCheckCommand(name, format string, args []string, w FileCoverageTarget) string {
	of := func(report string) string {
		return w.coverageCheckCommand("-F'[:,]' ", w.File, lcovShare, lcovLines, report)
	}
	switch {
	case strings.HasPrefix(name, "node --experimental-test-coverage"):
		return "node --test --experimental-test-coverage --test-reporter=lcov 2>/dev/null | " + of("-")
	case name == "Jest":
		return `d=$(mktemp -d) && npx --no-install jest --coverage --coverageReporters=lcovonly --coverageDirectory="$d" >/dev/null 2>&1 && ` +
			of(`"$d/lcov.info"`)
	case name == "Vitest":
		return `d=$(mktemp -d) && npx --no-install vitest run --coverage.enabled --coverage.reporter=lcovonly --coverage.reportsDirectory="$d" ` +
			`>/dev/null 2>&1 && ` + of(`"$d/lcov.info"`)
	case name != "coverage.py":
		return ""
	}
	at := slices.IndexFunc(args, func(word string) bool { return word == "pytest" || word == "python3" })
	if at < 0 || slices.ContainsFunc(args[:at], func(word string) bool { return strings.ContainsAny(word, " '\"$\n") }) {
		return ""
	}
	python := strings.Join(append(slices.Clone(args[:at]), "python3", "-m", "coverage"), " ")
	test := "pytest -q -p no:cacheprovider"
	if format != "pytest" {
		test = "unittest discover"
	}
	return fmt.Sprintf(`r='%s'; $r --version >/dev/null 2>&1 || exit 127; d=$(mktemp -d) && `+
		`$r run --data-file="$d/c" -m %s >/dev/null 2>&1 && `+
		`$r lcov -q --data-file="$d/c" -o "$d/l" && %s`, python, test, of(`"$d/l"`))
}
