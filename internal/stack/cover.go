package stack

import (
	_ "embed"
	"strings"
)

// Cover is a command that runs the tests of a step and prints what they go
// through, and nothing else, on standard output. What it lacks, it says, and
// exits with 127: then nobody knows.
type Cover struct {
	If     string   // see [Step.If]
	Name   string   // what measures, as people call it
	Args   []string // {run} stands for the runner's words
	Format string   // of stack/read: lcov, cobertura, jacoco or go-cover
}

// What tests of Ruby go through, as a file that runs in each of its processes.
//
//go:embed probe/nexus_cover.rb
var rubyCover string

// measured is a shell that runs a line, in which "$@" are the rest of the words,
// $d is a directory of its own, lack says which tool is missing and how it is
// had, and show prints a report.
func measured(line string, rest ...string) []string {
	const begin = `lack() { echo "sh: $1: not there: $2" >&2; exit 127; }
show() { [ $# -gt 0 ] && [ -s "$1" ] || { echo "no report of coverage was written" >&2; exit 1; }; cat "$@"; }
d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
`
	return append([]string{"sh", "-c", begin + line, "sh"}, rest...)
}

// lacking is a row for which a tool is missing.
func lacking(cond, tool, from string) Cover {
	return Cover{If: cond, Name: tool, Format: "lcov", Args: measured(`lack "$1" "$2"`, tool, from)}
}

// goCover returns how a command of go test is measured.
func goCover(test ...string) Cover {
	return Cover{Name: "go test -coverprofile", Format: "go-cover", Args: measured(`"$@" "-coverprofile=$d/report" >&2 || exit; show "$d/report"`, test...)}
}

func vitestCover(cond string, words ...string) []Cover {
	const line = `"$@" --coverage.enabled --coverage.reporter=lcovonly "--coverage.reportsDirectory=$d/report" >&2 || exit; show "$d/report/lcov.info"`
	const v8, istanbul = "@vitest/coverage-v8", "@vitest/coverage-istanbul"
	return []Cover{
		{If: strings.TrimSpace(cond + " dep:" + v8 + "|dep:" + istanbul), Name: "Vitest", Format: "lcov", Args: measured(line, words...)},
		lacking(cond, v8, "npm install --save-dev "+v8),
	}
}

func jestCover(cond string, words ...string) Cover {
	const line = `"$@" --coverage --coverageReporters=lcovonly "--coverageDirectory=$d/report" >&2 || exit; show "$d/report/lcov.info"`
	return Cover{If: cond, Name: "Jest", Format: "lcov", Args: measured(line, words...)}
}

func bunCover(cond string) Cover {
	const line = `"$@" --coverage --coverage-reporter=lcov "--coverage-dir=$d/report" >&2 || exit; show "$d/report/lcov.info"`
	return Cover{If: cond, Name: "bun test --coverage", Format: "lcov", Args: measured(line, "bun", "test")}
}

// byTool are tools that measure any command of node.
func byTool(test string) []Cover {
	return []Cover{
		{If: "dep:c8", Name: "c8", Format: "lcov", Args: measured(`"$@" --reporter=lcovonly "--reports-dir=$d/report" "--temp-directory=$d/raw" `+test+` >&2 || exit; show "$d/report/lcov.info"`, "{run}", "c8")},
		{If: "dep:nyc", Name: "nyc", Format: "lcov", Args: measured(`"$@" --reporter=lcovonly "--report-dir=$d/report" "--temp-dir=$d/raw" `+test+` >&2 || exit; show "$d/report/lcov.info"`, "{run}", "nyc")},
	}
}

// nodeCover measures what the runner of node runs: wherever a command calls it,
// a program in front of node says so.
func nodeCover(cond string, words ...string) Cover {
	const line = `node=$(command -v node) || lack node "see nodejs.org"
mkdir "$d/bin" && cat >"$d/bin/node" <<END
#!/bin/sh
for a; do
  [ "\$a" = --test ] && exec "$node" --experimental-test-coverage --test-reporter=spec --test-reporter-destination=stderr --test-reporter=lcov "--test-reporter-destination=$d/report.\$\$" "\$@"
done
exec "$node" "\$@"
END
chmod +x "$d/bin/node"
PATH="$d/bin:$PATH" "$@" >&2 || exit
show "$d"/report.*`
	return Cover{If: cond, Name: "node --experimental-test-coverage", Format: "lcov", Args: measured(line, words...)}
}

// scriptCover measures the script "test" of package.json.
func scriptCover() []Cover {
	script := []string{"{script}", "test"}
	all := append(vitestCover("runs:test:vitest", "{script}", "test", "--"), jestCover("runs:test:jest", "{script}", "test", "--"), bunCover("runs:test:bun_test$"))
	all = append(append(all, byTool("npm test --silent")...), nodeCover("has:package.json:node_--test", script...))
	return append(all, lacking("", "c8", "npm install --save-dev c8"))
}

// source says of which files of Python one wants to know: of all below, those
// that no test loads among them, unless the project says it itself.
const source = `all=.; { [ -f .coveragerc ] || grep -qsE '^\[(tool\.)?coverage[.:]' pyproject.toml setup.cfg tox.ini; } && all=
export COVERAGE_FILE="$d/data"
`

func pytestCover() []Cover {
	const line = source + `if "$@" pytest --help 2>/dev/null | grep -q -e --cov-report; then
  "$@" pytest -p no:cacheprovider --cov${all:+=$all} "--cov-report=xml:$d/report" >&2 || exit
elif "$@" coverage --version >/dev/null 2>&1; then
  "$@" coverage run ${all:+--source=$all} -m pytest -p no:cacheprovider >&2 || exit
  "$@" coverage xml -o "$d/report" >&2 || exit
else
  lack pytest-cov "pip install pytest-cov"
fi
show "$d/report"`
	return []Cover{{Name: "coverage.py", Format: "cobertura", Args: measured(line, "{run}")}}
}

func unittestCover() []Cover {
	const line = source + `"$@" python3 -m coverage --version >/dev/null 2>&1 || lack coverage "pip install coverage"
"$@" python3 -m coverage run ${all:+--source=$all} -m unittest discover -v >&2 || exit
"$@" python3 -m coverage xml -o "$d/report" >&2 || exit
show "$d/report"`
	return []Cover{{Name: "coverage.py", Format: "cobertura", Args: measured(line, "{run}")}}
}

func rustCover() []Cover {
	const line = `if command -v cargo-llvm-cov >/dev/null; then
  cargo llvm-cov --offline --workspace --lcov --output-path "$d/lcov.info" >&2 || exit
elif command -v cargo-tarpaulin >/dev/null; then
  cargo tarpaulin --offline --workspace --out Lcov --output-dir "$d" >&2 || exit
else
  lack cargo-llvm-cov "cargo install cargo-llvm-cov"
fi
show "$d/lcov.info"`
	return []Cover{{Name: "cargo llvm-cov or tarpaulin", Format: "lcov", Args: measured(line)}}
}

// modular shows reports of JaCoCo, each behind the directory of its module: what
// precedes $end in its path. In the reports are names of packages alone.
const modular = `
for f; do echo "<?nexus ${f%%/$end}?>"; show "$f"; echo; done`

func mavenCover() []Cover {
	const line = `"$@" -B -o -ntp test jacoco:report >&2 || exit
set -- $(find . -path '*/target/site/jacoco/jacoco.xml' -newer "$d")
[ $# -gt 0 ] || show
end=target/site/jacoco/jacoco.xml` + modular
	return []Cover{
		{If: "has:pom.xml:jacoco-maven-plugin", Name: "JaCoCo", Format: "jacoco", Args: measured(line, "{run}")},
		lacking("", "jacoco-maven-plugin", "add it to pom.xml, with its goal prepare-agent"),
	}
}

// gradleCover has a report written anew: Gradle leaves one as it is that is up
// to date, and so does what runs after the tests by itself.
func gradleCover() []Cover {
	const line = `"$@" --offline --no-daemon --console=plain --no-build-cache cleanJacocoTestReport test jacocoTestReport >&2 || exit
set -- $(find . -path '*/build/reports/jacoco/*.xml' -newer "$d")
[ $# -gt 0 ] || lack "XML" "jacocoTestReport { reports { xml.required = true } }"
end=build/reports/jacoco/*` + modular
	return []Cover{
		{If: "has:build.gradle:jacoco|has:build.gradle.kts:jacoco", Name: "JaCoCo", Format: "jacoco", Args: measured(line, "{run}")},
		lacking("", "jacoco", "add the plugin jacoco to the build"),
	}
}

// rubyCovers measures a command of Ruby with what the language itself has.
func rubyCovers(words ...string) []Cover {
	const line = `printf '%s\n' "$1" >"$d/nexus_cover.rb" && shift
export NEXUS_COVER="$d" RUBYOPT="${RUBYOPT:+$RUBYOPT }-r$d/nexus_cover.rb"
"$@" >&2 || exit
show "$d"/report.*`
	return []Cover{{Name: "Coverage of Ruby", Format: "lcov", Args: measured(line, append([]string{rubyCover}, words...)...)}}
}

func phpCover(tool string) []Cover {
	const line = `php -m | grep -qixE 'pcov|xdebug' || lack pcov "apt install php-pcov, or pecl install pcov"
tool=$(command -v "$1") || lack "$1" "composer require --dev phpunit/phpunit"
set --
grep -qsE '<(source|coverage|filter)[ >]' phpunit.xml phpunit.xml.dist || for s in src lib app; do [ -d "$s" ] && set -- "$@" --coverage-filter "$s"; done
XDEBUG_MODE=coverage php -d pcov.enabled=1 -d pcov.directory=. "$tool" --do-not-cache-result "$@" --coverage-cobertura "$d/report" >&2 || exit
show "$d/report"`
	return []Cover{{Name: "PHPUnit", Format: "cobertura", Args: measured(line, tool)}}
}

func dotnetCover() []Cover {
	const line = `dotnet test --nologo --collect "XPlat Code Coverage" --results-directory "$d" >&2 || exit
set -- "$d"/*/coverage.cobertura.xml
[ -s "$1" ] || lack coverlet.collector "dotnet add package coverlet.collector"
[ $# -eq 1 ] || { echo "$# projects wrote reports, of which one can be read: set done.coverage_command" >&2; exit 1; }
show "$1"`
	return []Cover{{Name: "Coverlet", Format: "cobertura", Args: measured(line)}}
}
