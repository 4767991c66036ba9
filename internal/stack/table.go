package stack

// Stack is a row of the table. Everything that can be said of a stack is said
// here, and what its tools print is read by a format of stack/read.
type Stack struct {
	Name    string
	Markers []string // a directory with one of these files, which may be patterns, is a package of the stack
	Runners []Runner // how the project's own tools are started; the first that fits
	Steps   []Step
	// Alone says that the stack is looked for only where no other one is.
	Alone bool
}

// Runner starts tools that a package manager installed.
type Runner struct {
	If     string // see [Step.If]
	Args   []string
	Script []string // runs a script of the manifest, where there are such
}

// Step is a command that a package of the stack can be judged by. Of the steps
// of one gate, the first that fits is taken.
type Step struct {
	Gate string // build, lint, type, format, test or e2e
	// Beside names a tool that judges beside others of its gate; of the steps
	// with the same one, the first that fits is taken.
	Beside string
	// If says when it fits, as words of which all must hold; | stands between
	// words of which one must. file:PATTERN is a file of the package,
	// has:FILE:TEXT a text in one, script:NAME a script of package.json,
	// runs:NAME:TEXT a script that
	// begins with the text, or, with $ after it, is it; _ stands for a space there,
	// dep:NAME something that package.json needs, target:NAME a rule of the
	// Makefile, plugin:NAME a plugin of Maven that checks in the build,
	// rake:NAME a task of the Rakefile. ! in front turns a word around. Empty: always.
	If     string
	Args   []string // {run} stands for the runner's words, {script} for those with which it runs a script
	Format string   // of stack/read; see nexus parse --list
	Tests  bool     // none is no pass
	// Reports are patterns of JUnit files that the command writes, for tools
	// that say too little.
	Reports []string
	// Early says, in the words of If, when a type check judges before the build:
	// where it is the cheaper, and needs nothing that the build makes.
	Early string
	// Related are commands that run only the tests that a change concerns; the
	// first that fits.
	Related []Part
	// Alone are commands that run one test and no other, to tell a flaky one
	// from a broken one; the first that fits.
	Alone []Lone
	// Held are commands that say what keeps the runner from exiting when its tests
	// are done, and that end; the first that fits.
	Held []Held
	// Cover are commands that say what the tests go through; the first that fits.
	Cover []Cover
	// Fix are commands that put right, by themselves, what the step would find;
	// all that fit.
	Fix []Fixer
}

// Fixer is a command that changes files for the better: a formatter, or a
// linter that is told to.
type Fixer struct {
	If   string   // see [Step.If]
	Args []string // {files} stands for the changed files, {dirs} for their directories
	Ends []string // of the names of files that it is for; empty: of all
	New  bool     // only files that are new: others may never have been in order
}

// Part is a command that runs some of the tests of a step.
type Part struct {
	If     string // see [Step.If]
	By     string // how the tests are found; see [ByRunner]
	Args   []string
	Format string // empty: the step's
	// Reports says that it writes the reports of the step, too.
	Reports bool
}

// Lone is a command that runs one test of a step by its name. In its words
// {test} stands for the name as a pattern that nothing else matches, or as it
// is, and {file} for the test's file; see [Lone.Name]. No shell reads the name.
type Lone struct {
	If     string // see [Step.If]
	Name   string // how findings call a test, and what the runner wants; one of the below
	Args   []string
	Format string // empty: the step's
	// Reports says that it, too, writes the reports of the step, and says nothing
	// of tests that pass but there.
	Reports bool
}

// Held is a command that runs the tests of a step, says what is still open when
// they are done, and exits then, whatever that is: by what the runner can do
// itself, or by a probe of ours, which writes lines as work/gate reads them.
type Held struct {
	If     string // see [Step.If]
	Args   []string
	Format string // of the step, where it is a script: whose words they are; empty: the step's
	Flag   string // what makes the runner exit by force, for people
	// Told is a pattern of a line that tells how one test ended, for a runner that
	// says nothing more when it cannot exit. After a long silence it is held.
	Told string
}

// What runners call a test.
const (
	NamePytest   = "pytest"   // file.py::Class::test[case], as it is
	NameUnittest = "unittest" // package.module.Class.test, as it is
	NameTitles   = "titles"   // suite > test, as a pattern of JavaScript over titles with spaces between
	NameInFile   = "in-file"  // file > suite > test, as the file and such a pattern
	NameLast     = "last"     // suite > test, as a pattern over the last title, with or without the others
	NameExact    = "exact"    // the name as it is
	NameCTest    = "ctest"    // a pattern of CMake
	NameRuby     = "ruby"     // a pattern of Ruby over the whole description
	NameNextest  = "nextest"  // binary test, as an expression of nextest
	NameMethod   = "method"   // package.Class.method, with # before the method
	NameDotted   = "dotted"   // package.Class.method, as it is
	NameMinitest = "minitest" // Class#test, as it is
	NamePlay     = "play"     // file > suite > test, as a pattern of JavaScript over all of that with spaces between
	NamePHP      = "php"      // Class::test with data set, as a pattern with slashes around it
)

// The ways in which the tests that a change concerns are found.
const (
	ByRunner = "runner" // by the runner itself: {changed} stands for the files that changed
	ByNode   = "node"   // by what files of JavaScript and TypeScript import: {tests} stands for test files
	ByPython = "python" // likewise
	ByCrate  = "crate"  // {crates} stands for -p and the name of each crate
	ByClass  = "class"  // by the types that files of the JVM name: {classes} stands for classes of tests, a word with {class} for one with each, {modules} for what keeps Maven to theirs
)

// Table returns all stacks but Go's, whose tools are used more deeply.
func Table() []Stack {
	return []Stack{nodeStack(), pythonStack(), rustStack(), mavenStack(), gradleStack(), cmakeStack(), mesonStack(), rubyStack(), phpStack(), dotnetStack(), makeStack(), shellStack()}
}

func shell(line string) []string { return []string{"sh", "-c", line} }

func pythonStack() Stack {
	const suites = "file:test_*.py|file:*_test.py|file:test/test_*.py|file:tests/test_*.py|file:tests/*/test_*.py|file:tests/*_test.py"
	return Stack{
		Name: "python", Markers: []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "tox.ini", "Pipfile", "pytest.ini"},
		Runners: []Runner{
			{If: "file:uv.lock", Args: []string{"uv", "run", "--no-sync"}},
			{If: "file:poetry.lock", Args: []string{"poetry", "run"}},
			{If: "file:Pipfile.lock", Args: []string{"pipenv", "run"}},
			{},
		},
		Steps: []Step{
			{Gate: "lint", If: "file:ruff.toml|file:.ruff.toml|has:pyproject.toml:[tool.ruff", Args: []string{"{run}", "ruff", "check", "--no-cache", "--output-format=json"}, Format: "ruff", Fix: []Fixer{{Args: []string{"{run}", "ruff", "check", "--no-cache", "--fix", "--quiet", "{files}"}, Ends: []string{".py", ".pyi"}}}},
			{Gate: "lint", If: "file:.flake8|has:setup.cfg:[flake8]|has:tox.ini:[flake8]", Args: []string{"{run}", "flake8"}, Format: "flake8"},
			{Gate: "format", If: "has:pyproject.toml:[tool.ruff.format|has:ruff.toml:[format]", Args: []string{"{run}", "ruff", "format", "--no-cache", "--check"}, Format: "ruff", Fix: []Fixer{{Args: []string{"{run}", "ruff", "format", "--no-cache", "--quiet", "{files}"}, Ends: []string{".py", ".pyi"}}}},
			{Gate: "type", If: "file:mypy.ini|file:.mypy.ini|has:pyproject.toml:[tool.mypy|has:setup.cfg:[mypy", Args: []string{"{run}", "mypy", "--cache-dir=/dev/null", "--show-column-numbers", "--show-error-end", "--show-error-codes", "."}, Format: "mypy"},
			{Gate: "type", If: "file:pyrightconfig.json|has:pyproject.toml:[tool.pyright|has:pyproject.toml:[tool.basedpyright", Args: []string{"{run}", "pyright", "--outputjson"}, Format: "pyright"},
			{Gate: "test", If: "file:pytest.ini|file:conftest.py|file:tests/conftest.py|has:pyproject.toml:pytest|has:setup.cfg:pytest|has:tox.ini:pytest|has:requirements.txt:pytest|has:requirements-dev.txt:pytest|has:Pipfile:pytest", Args: []string{"{run}", "pytest", "-p", "no:cacheprovider"}, Format: "pytest", Tests: true, Related: []Part{{By: ByPython, Args: []string{"{run}", "pytest", "-p", "no:cacheprovider", "{tests}"}}}, Alone: []Lone{{Name: NamePytest, Args: []string{"{run}", "pytest", "-p", "no:cacheprovider", "{test}"}}}, Held: pytestHeld(), Cover: pytestCover()},
			{Gate: "test", If: suites, Args: []string{"{run}", "python3", "-m", "unittest", "discover", "-v"}, Format: "unittest", Tests: true, Related: []Part{{By: ByPython, Args: []string{"{run}", "python3", "-m", "unittest", "-v", "{tests}"}}}, Alone: []Lone{{Name: NameUnittest, Args: []string{"{run}", "python3", "-m", "unittest", "-v", "{test}"}}}, Held: unittestHeld(), Cover: unittestCover()},
		},
	}
}

func rustStack() Stack {
	return Stack{
		Name: "rust", Markers: []string{"Cargo.toml"},
		Steps: []Step{
			{Gate: "build", Args: []string{"cargo", "build", "--offline", "--workspace", "--all-targets", "--message-format=json"}, Format: "cargo"},
			{Gate: "lint", Args: []string{"cargo", "clippy", "--offline", "--workspace", "--all-targets", "--message-format=json"}, Format: "cargo"},
			{Gate: "test", If: "file:.config/nextest.toml", Args: []string{"cargo", "nextest", "run", "--offline", "--workspace", "--no-fail-fast"}, Format: "cargo-test", Tests: true, Related: []Part{{By: ByCrate, Args: []string{"cargo", "nextest", "run", "--offline", "--no-fail-fast", "{crates}"}}}, Alone: []Lone{{Name: NameNextest, Args: []string{"cargo", "nextest", "run", "--offline", "--workspace", "--no-fail-fast", "--retries=0", "-E", "{test}"}}}, Cover: rustCover()},
			{Gate: "test", Args: []string{"cargo", "test", "--offline", "--workspace", "--no-fail-fast"}, Format: "cargo-test", Tests: true, Related: []Part{{By: ByCrate, Args: []string{"cargo", "test", "--offline", "--no-fail-fast", "{crates}"}}}, Alone: []Lone{{Name: NameExact, Args: []string{"cargo", "test", "--offline", "--workspace", "--no-fail-fast", "--", "--exact", "{test}"}}}, Cover: rustCover()},
		},
	}
}

func mavenStack() Stack {
	return Stack{
		Name: "maven", Markers: []string{"pom.xml"}, Runners: []Runner{{If: "file:mvnw", Args: []string{"./mvnw"}}, {Args: []string{"mvn"}}},
		Steps: []Step{
			{Gate: "build", Args: []string{"{run}", "-B", "-o", "-ntp", "test-compile"}, Format: "maven"},
			{Gate: "lint", If: "has:pom.xml:maven-checkstyle-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "checkstyle:check"}, Format: "maven"},
			{Gate: "lint", Beside: "pmd", If: "plugin:maven-pmd-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "pmd:check"}, Format: "maven"},
			{Gate: "lint", Beside: "spotbugs", If: "plugin:spotbugs-maven-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "test-compile", "spotbugs:check"}, Format: "maven"},
			{Gate: "format", If: "plugin:spotless-maven-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "spotless:check"}, Format: "maven"},
			{Gate: "test", Args: []string{"{run}", "-B", "-o", "-ntp", "-fae", "test"}, Format: "maven-test", Tests: true, Reports: []string{"target/surefire-reports/TEST-*.xml", "*/target/surefire-reports/TEST-*.xml", "*/*/target/surefire-reports/TEST-*.xml"}, Related: []Part{{By: ByClass, Args: []string{"{run}", "-B", "-o", "-ntp", "-fae", "test", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dtest={classes}", "{modules}"}, Reports: true}}, Alone: []Lone{{Name: NameMethod, Args: []string{"{run}", "-B", "-o", "-ntp", "test", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dsurefire.rerunFailingTestsCount=0", "-Dtest={test}"}, Reports: true}}, Cover: mavenCover()},
		},
	}
}

// someOfGradle runs some classes. A project without any of them would be a
// failure, and no option says that it is none.
func someOfGradle() []string {
	const line = `d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
echo 'allprojects { tasks.withType(Test) { filter.failOnNoMatchingTests = false } }' >"$d/some.gradle"
"$@" -I "$d/some.gradle"`
	return []string{"sh", "-c", line, "sh", "{run}", "--offline", "--no-daemon", "--console=plain", "--info", "--no-build-cache", "cleanTest", "test", "--continue", "--tests={class}"}
}

func gradleStack() Stack {
	return Stack{
		Name: "gradle", Markers: []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
		Runners: []Runner{{If: "file:gradlew", Args: []string{"./gradlew"}}, {Args: []string{"gradle"}}},
		Steps: []Step{
			{Gate: "build", Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "testClasses"}, Format: "maven"},
			{Gate: "format", If: "has:build.gradle:com.diffplug.spotless|has:build.gradle.kts:com.diffplug.spotless", Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "spotlessCheck"}, Format: "maven"},
			{Gate: "test", Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "--info", "--no-build-cache", "cleanTest", "test", "--continue"}, Format: "gradle-test", Tests: true, Reports: []string{"build/test-results/test/*.xml", "*/build/test-results/test/*.xml", "*/*/build/test-results/test/*.xml"}, Related: []Part{{By: ByClass, Args: someOfGradle(), Reports: true}}, Alone: []Lone{{Name: NameDotted, Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "--info", "--no-build-cache", "cleanTest", "test", "--tests={test}"}, Reports: true}}, Cover: gradleCover()},
		},
	}
}

func cmakeStack() Stack {
	// The tree stays as it is: what is built goes to a directory that ends with
	// the gate.
	const made = `d=$(mktemp -d) && trap 'rm -rf "$d"' EXIT && cmake -S . -B "$d" && cmake --build "$d"`
	return Stack{
		Name: "cmake", Markers: []string{"CMakeLists.txt"},
		Steps: []Step{
			{Gate: "build", Args: shell(made), Format: "gcc"},
			{Gate: "test", If: "has:CMakeLists.txt:enable_testing|has:CMakeLists.txt:CTest", Args: shell(made + ` && ctest --test-dir "$d" --output-on-failure`), Format: "ctest", Tests: true, Alone: []Lone{{Name: NameCTest, Args: append(shell(made+` && ctest --test-dir "$d" --output-on-failure -R "$1"`), "sh", "{test}")}}},
		},
	}
}

func mesonStack() Stack {
	// As for CMake. Compilers name files as seen from where they are built, and
	// people as seen from the tree.
	const made = `d=$(mktemp -d) && trap 'rm -rf "$d"' EXIT && { meson setup --wrap-mode=nodownload "$d/b" && meson compile -C "$d/b"; } >"$d/log" 2>&1
e=$?; sed "s#$(realpath --relative-to="$d/b" .)/##g" "$d/log"`
	const own = "has:meson.build:project( !file:CMakeLists.txt"
	return Stack{
		Name: "meson", Markers: []string{"meson.build"},
		Steps: []Step{
			{Gate: "build", If: own, Args: shell(made + `; exit $e`), Format: "gcc"},
			{Gate: "test", If: own + " has:meson.build:test(|has:test/meson.build:test(|has:tests/meson.build:test(|has:src/meson.build:test(", Args: shell(made + ` >&2; [ $e = 0 ] || exit $e
meson test -C "$d/b" --no-rebuild --print-errorlogs >&2; e=$?; cat "$d/b/meson-logs/testlog.junit.xml"; exit $e`), Format: "junit", Tests: true},
		},
	}
}

func rubyStack() Stack {
	const minitest = `Dir["test/**/{test_*,*_test}.rb"].sort.each { |f| require "./#{f}" }`
	return Stack{
		Name: "ruby", Markers: []string{"Gemfile", "*.gemspec", ".rspec", ".rubocop.yml"},
		Runners: []Runner{{If: "file:Gemfile.lock", Args: []string{"bundle", "exec"}}, {}},
		Steps: []Step{
			{Gate: "lint", If: "file:.rubocop.yml", Args: []string{"{run}", "rubocop", "--format", "json", "--cache", "false"}, Format: "rubocop", Fix: []Fixer{{Args: []string{"{run}", "rubocop", "--autocorrect", "--cache", "false", "{files}"}, Ends: []string{".rb"}}}},
			{Gate: "test", If: "file:.rspec|file:spec/*_spec.rb|file:spec/*/*_spec.rb", Args: []string{"{run}", "rspec"}, Format: "rspec", Tests: true, Alone: []Lone{{Name: NameRuby, Args: []string{"{run}", "rspec", "--example-matches", "{test}"}}}, Cover: rubyCovers("{run}", "rspec")},
			{Gate: "test", If: "file:bin/rails", Args: []string{"bin/rails", "test"}, Format: "minitest", Tests: true, Alone: []Lone{{Name: NameMinitest, Args: []string{"bin/rails", "test", "--name={test}"}}}, Cover: rubyCovers("bin/rails", "test")},
			{Gate: "test", If: "file:test/run.rb", Args: []string{"{run}", "ruby", "-Ilib", "test/run.rb"}, Format: "minitest", Tests: true},
			{Gate: "test", If: "file:test/run-test.rb", Args: []string{"{run}", "ruby", "-Ilib", "test/run-test.rb"}, Format: "minitest", Tests: true},
			{Gate: "test", If: "file:test/test_*.rb|file:test/*_test.rb", Args: []string{"{run}", "ruby", "-Ilib", "-Itest", "-e", minitest}, Format: "minitest", Tests: true, Alone: []Lone{{Name: NameMinitest, Args: []string{"{run}", "ruby", "-Ilib", "-Itest", "-e", minitest, "--", "--name={test}"}}}},
			{Gate: "test", If: "rake:test|has:Rakefile:Rake::TestTask", Args: []string{"{run}", "rake", "test"}, Format: "exit", Tests: true},
			{Gate: "test", If: "rake:spec", Args: []string{"{run}", "rake", "spec"}, Format: "exit", Tests: true},
		},
	}
}

func phpLone(tool string) []Lone {
	return []Lone{{Name: NamePHP, Args: []string{tool, "--do-not-cache-result", "--filter={test}"}}}
}

func phpStack() Stack {
	return Stack{
		Name: "php", Markers: []string{"composer.json", "phpunit.xml", "phpunit.xml.dist"},
		Steps: []Step{
			{Gate: "build", Args: shell(`find . -name '*.php' -not -path './vendor/*' -print0 | xargs -0 -r -n1 php -l`), Format: "php"},
			{Gate: "lint", If: "file:phpstan.neon|file:phpstan.neon.dist|file:phpstan.dist.neon", Args: []string{"vendor/bin/phpstan", "analyse", "--error-format=json", "--no-progress"}, Format: "phpstan"},
			{Gate: "lint", Beside: "phpcs", If: "file:phpcs.xml|file:phpcs.xml.dist|file:.phpcs.xml|file:.phpcs.xml.dist", Args: []string{"vendor/bin/phpcs", "-q", "--report=checkstyle"}, Format: "checkstyle-xml"},
			{Gate: "lint", Beside: "psalm", If: "file:psalm.xml|file:psalm.xml.dist", Args: []string{"vendor/bin/psalm", "--no-progress", "--no-cache", "--output-format=checkstyle"}, Format: "checkstyle-xml"},
			{Gate: "test", If: "file:vendor/bin/phpunit", Args: []string{"vendor/bin/phpunit", "--do-not-cache-result"}, Format: "phpunit", Tests: true, Alone: phpLone("vendor/bin/phpunit"), Cover: phpCover("vendor/bin/phpunit")},
			{Gate: "test", If: "file:phpunit.xml|file:phpunit.xml.dist|has:composer.json:phpunit/phpunit", Args: []string{"phpunit", "--do-not-cache-result"}, Format: "phpunit", Tests: true, Alone: phpLone("phpunit"), Cover: phpCover("phpunit")},
		},
	}
}

func dotnetStack() Stack {
	return Stack{
		Name: "dotnet", Markers: []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj"},
		Steps: []Step{
			{Gate: "build", Args: []string{"dotnet", "build", "--nologo"}, Format: "dotnet"},
			{Gate: "test", Args: []string{"dotnet", "test", "--nologo"}, Format: "dotnet-test", Tests: true, Alone: []Lone{{Name: NameDotted, Args: []string{"dotnet", "test", "--nologo", "--filter", "FullyQualifiedName={test}"}}}, Cover: dotnetCover()},
		},
	}
}

func makeStack() Stack {
	return Stack{
		Name: "make", Markers: []string{"Makefile", "GNUmakefile", "makefile"}, Alone: true,
		Steps: []Step{
			{Gate: "build", If: "file:*.c|file:*.cc|file:*.cpp|file:src/*.c|file:src/*.cc|file:src/*.cpp", Args: []string{"make"}, Format: "gcc"},
			{Gate: "lint", If: "target:lint", Args: []string{"make", "lint"}, Format: "exit"},
			{Gate: "test", If: "target:test", Args: []string{"make", "test"}, Format: "exit", Tests: true},
			{Gate: "test", If: "target:check", Args: []string{"make", "check"}, Format: "exit", Tests: true},
			{Gate: "test", If: "target:tests", Args: []string{"make", "tests"}, Format: "exit", Tests: true},
			{Gate: "test", If: "target:unittest", Args: []string{"make", "unittest"}, Format: "exit", Tests: true},
			{Gate: "test", If: "target:unit-test", Args: []string{"make", "unit-test"}, Format: "exit", Tests: true},
			{Gate: "test", If: "target:unit-tests", Args: []string{"make", "unit-tests"}, Format: "exit", Tests: true},
			{Gate: "test", If: "target:test-unit", Args: []string{"make", "test-unit"}, Format: "exit", Tests: true},
			{Gate: "test", If: "target:run-tests", Args: []string{"make", "run-tests"}, Format: "exit", Tests: true},
			{Gate: "test", If: "target:runtests", Args: []string{"make", "runtests"}, Format: "exit", Tests: true},
		},
	}
}

func shellStack() Stack {
	const files = `set --; for f in *.bats test/*.bats; do [ -e "$f" ] && set -- "$@" "$f"; done; `
	return Stack{
		Name: "shell", Markers: []string{".shellcheckrc", "*.bats"},
		Steps: []Step{
			{Gate: "lint", If: "file:.shellcheckrc", Args: shell(`find . -name '*.sh' -not -path '*/.*/*' -not -path '*/node_modules/*' -print0 | xargs -0 -r shellcheck -f json1`), Format: "shellcheck"},
			{Gate: "test", If: "file:*.bats|file:test/*.bats", Args: shell(files + `bats -t "$@"`), Format: "tap", Tests: true, Alone: []Lone{{Name: NameCTest, Args: append(shell("t=$1; "+files+`bats -t --filter "$t" "$@"`), "sh", "{test}")}}},
		},
	}
}
