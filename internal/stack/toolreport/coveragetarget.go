package toolreport

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
)

// CoverageTarget is what tests are to go through of a file: so many percent, or all lines in which one of some texts stands.
type CoverageTarget struct {
	File    string
	Percent int      // where there are no texts
	Texts   []string // each stands in one line of the file
}

// The scripts of awk read a report. Those of a share end well where tests go through p percent of the lines of f. The
// others read f, too, with s set, and print the lines that no test runs: all, where the report does not know f.
const (
	lcovShare = `/^SF:/{o=index("/"$2";","/"f";")} o&&/^DA:/{n++;if($3>0)c++} END{exit !(n>0&&100*c>=p*n)}`
	goShare   = `index($1, f ":") && substr($1, index($1, f ":")-1, 1) == "/" {n += $2; if ($3 > 0) c += $2} ` +
		`END {exit !(n > 0 && 100*c >= p*n)}`
	lcovLines = `!s{if(/^SF:/)o=index("/"$2";","/"f";");if(o&&/^DA:/){n++;h[$2]+=$3}next}` + unrun
	goLines   = `!s{if(index($1,"/"f":")){n++;sub(/.*:/,"",$1);split($1,a,/[.,]/);for(i=a[1];i<=a[3];i++)h[i]+=$3}next}` + unrun
	unrun     = `!n||FNR in h&&!h[FNR]`
)

// reads returns a command that reads a report, and ends well where what is wanted is there. Name is how the report calls
// the file, and options are for awk.
func (w CoverageTarget) reads(options, name, share, lines, report string) string {
	awk := fmt.Sprintf("awk %s-v f=%s ", options, cmdline.Quote(name))
	if len(w.Texts) == 0 {
		return awk + fmt.Sprintf("-v p=%d %s %s", w.Percent, cmdline.Quote(share), report)
	}
	grep := "grep -qF"
	for _, text := range w.Texts {
		grep += " -e " + cmdline.Quote(text)
	}
	return fmt.Sprintf("{ ! %s%s %s s=1 %s | %s; }", awk, cmdline.Quote(lines), report, cmdline.Quote("./"+w.File), grep)
}

// Report returns the part of what a command printed that is its report.
func Report(format, printed string) string {
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

// CoverGo returns a command that fails until the tests of a package of Go go through what is wanted of a file in it.
func CoverGo(w CoverageTarget) string {
	return fmt.Sprintf(`p=$(mktemp) && go test -count=1 -coverprofile="$p" %s >/dev/null && `, cmdline.Quote("./"+path.Dir(w.File))) +
		w.reads("", path.Base(w.File), goShare, goLines, `"$p"`)
}

// Cover returns a command that fails until tests go through what is wanted of a file, empty where
// nobody knows a short one. Name is what measures, format what the tests print, and args how they run.
func Cover(name, format string, args []string, w CoverageTarget) string {
	of := func(report string) string { return w.reads("-F'[:,]' ", w.File, lcovShare, lcovLines, report) }
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
