package told

import (
	"fmt"
	"slices"
	"strings"
)

// ofLCOV ends well where a report says that tests go through p percent of the lines of f.
const ofLCOV = `/^SF:/{o=$2==f||substr($2,length($2)-length(f))==("/" f)} o&&/^DA:/{n++;if($3>0)c++} END{exit !(n>0&&100*c>=p*n)}`

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

// Cover returns a command that fails until tests go through so many percent of a file, empty where
// nobody knows a short one. Name is what measures, format what the tests print, and args how they run.
func Cover(name, format string, args []string, file string, percent int) string {
	awk := fmt.Sprintf(`awk -F'[:,]' -v f=%s -v p=%d %s`, quote(file), percent, quote(ofLCOV))
	switch {
	case strings.HasPrefix(name, "node --experimental-test-coverage"):
		return "node --test --experimental-test-coverage --test-reporter=lcov 2>/dev/null | " + awk
	case name == "Jest":
		return `d=$(mktemp -d) && npx --no-install jest --coverage --coverageReporters=lcovonly --coverageDirectory="$d" >/dev/null 2>&1 && ` +
			awk + ` "$d/lcov.info"`
	case name == "Vitest":
		return `d=$(mktemp -d) && npx --no-install vitest run --coverage.enabled --coverage.reporter=lcovonly --coverage.reportsDirectory="$d" ` +
			`>/dev/null 2>&1 && ` + awk + ` "$d/lcov.info"`
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
		`$r lcov -q --data-file="$d/c" -o "$d/l" && %s "$d/l"`, python, test, awk)
}
