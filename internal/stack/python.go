package stack

import (
	_ "embed"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

func pythonStack() Stack {
	const suites = "file:test_*.py|file:*_test.py|file:test/test_*.py|file:tests/test_*.py|file:tests/*/test_*.py|file:tests/*_test.py"
	return Stack{
		Name: "python", Skeleton: pythonSkeleton(), Markers: []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "tox.ini", "Pipfile", "pytest.ini"},
		Unmarked: splitWords("**/test_*.py **/*_test.py"),
		Docs:     DocsToolMarkers{By: []string{"conf.py"}, Beside: []string{"requirements*.txt"}}, // of Sphinx
		Lent:     []DependencyDir{{Dir: ".venv"}, {Dir: "venv"}},
		Syntax:   pythonSyntax,
		Counts:   []string{"pytest"},
		Sources:  pythonSources,
		Names:    pythonPackageNaming,
		Runners: []InstalledToolRunner{
			{If: "file:uv.lock", Args: []string{"uv", "run", "--no-sync"}},
			{If: "file:poetry.lock", Args: []string{"poetry", "run"}},
			{If: "file:Pipfile.lock", Args: []string{"pipenv", "run"}},
			{},
		},
		Installs: pythonInstalls, Programs: splitWords("python python3 pip pip3 pytest py.test uv uvx poetry pipenv ruff flake8 pylint mypy pyright basedpyright black isort tox nox coverage django-admin manage.py"),
		covers: func(outer packageInspector, rel, gate string) bool { return gate != "test" || outer.collectsBelow(rel) },
		refine: addPythonTestCommands,
		Tests: LanguageTestSyntax{
			Weak:     `assertTrue\(True|assertIsNotNone|assert True\b|is not None\b`,
			Swallows: `\braise SystemExit\b|\bsys\.exit\(\s*\)|\bsys\.exit\(0\)|\bos\._exit\(0\)|--exit-zero|^-\s*pytest test`,
			Quiets:   `#\s*noqa|#\s*type:\s*ignore|pylint:\s*disable|pyright:\s*ignore`,
			Mocks:    `\bpatch(?:\.object)?\(\s*['"]?([\w./]+)|monkeypatch\.setattr\(\s*['"]?([\w.]+)`,
			Reports:  `\bpytest_(?:runtest_\w+|pyfunc_call|sessionfinish|collection_modifyitems|report_teststatus|exception_interact|ignore_collect|terminal_summary)\b|\bdef load_tests\(`,
			Ends:     []string{".py"},
			Declares: `(?m)^\s*(?:async )?def (test\w*)\(|^class (Test\w*)`,
			Skips:    `pytest\.mark\.(?:skip|skipif|xfail)|unittest\.(?:skip|expectedFailure)|pytest\.(?:skip|xfail|importorskip)\(|self\.skipTest\(|__test__\s*=\s*False|collect_ignore|pytest_ignore_collect`,
			Asserts:  `^\s*assert\b|\bself\.assert\w+\(|pytest\.raises\(|\.assert_(?:called|not_called|has_calls|any_call)`,
			Only:     true,
			Names:    []string{"conftest.py"},
		},
		Configs: []CheckConfigPatterns{
			{Files: []string{"sitecustomize.py", "usercustomize.py"}, Loads: `^import\b|^from\b`},
			{Files: []string{"pytest.ini", "tox.ini", "noxfile.py", "setup.cfg", "pyproject.toml", ".coveragerc", "mypy.ini", "ruff.toml", ".flake8", ".pylintrc", "pyrightconfig.json"}},
		},
		Environment: pythonEnvironment(),
		Namings: func() []TestNameConverter {
			return []TestNameConverter{{NamePytest, testrunners.PytestTestArgument}, {NameUnittest, testrunners.UnittestTestArgument}}
		}, Running: pythonRunningTestFinders,
		Hosts:        []RegistryHosts{{"pypi", splitWords("pypi.org files.pythonhosted.org")}},
		Servers:      []LanguageServer{{Name: "pyright", Commands: [][]string{{"basedpyright-langserver", "--stdio"}, {"pyright-langserver", "--stdio"}, {"pylsp"}}, Ends: splitWords(".py .pyi"), Watch: splitWords("pyproject.toml pyrightconfig.json setup.cfg")}},
		Written:      splitWords("poetry.lock pdm.lock uv.lock pipfile.lock"),
		CommandRules: pythonCommandRules,
		Outlines:     pythonOutlines,
		Licences:     []LicenceFinder{{KindPython, pythonLicence}},
		Listings:     []PackageListFormat{{[]string{"uv.lock", "poetry.lock", "pdm.lock"}, tomlPackageReader(KindPython)}, {[]string{"requirements.txt"}, requirementPackages}, {[]string{"Pipfile.lock"}, pipfilePackages}},
		Stores: []PackageDownloadCache{
			{Name: "pip", Tools: []string{"pip", "pip3", "python3", "poetry", "pipenv"}, Home: ".cache/pip", From: "PIP_CACHE_DIR", Var: "PIP_CACHE_DIR"},
			{Name: "uv", Tools: []string{"uv", "uvx"}, Home: ".cache/uv", From: "UV_CACHE_DIR", Var: "UV_CACHE_DIR"},
			{Name: "poetry", Tools: []string{"poetry"}, Home: ".cache/pypoetry", From: "POETRY_CACHE_DIR", Var: "POETRY_CACHE_DIR"},
		},
		Formats: pythonFormats,
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "lint", If: "file:ruff.toml|file:.ruff.toml|has:pyproject.toml:[tool.ruff", Args: []string{"{run}", "ruff", "check", "--no-cache", "--output-format=json"}, Format: "ruff", Fix: []FixCommand{{Args: []string{"{run}", "ruff", "check", "--no-cache", "--fix", "--quiet", "{files}"}, Ends: []string{".py", ".pyi"}}}},
				{Gate: "lint", If: "file:.flake8|has:setup.cfg:[flake8]|has:tox.ini:[flake8]", Args: []string{"{run}", "flake8"}, Format: "flake8"},
				{Gate: "format", If: "has:pyproject.toml:[tool.ruff.format|has:ruff.toml:[format]", Args: []string{"{run}", "ruff", "format", "--no-cache", "--check"}, Format: "ruff", Fix: []FixCommand{{Args: []string{"{run}", "ruff", "format", "--no-cache", "--quiet", "{files}"}, Ends: []string{".py", ".pyi"}}}},
				{Gate: "type", If: "file:mypy.ini|file:.mypy.ini|has:pyproject.toml:[tool.mypy|has:setup.cfg:[mypy", Args: []string{"{run}", "mypy", "--cache-dir=/dev/null", "--show-column-numbers", "--show-error-end", "--show-error-codes", "."}, Format: "mypy"},
				{Gate: "type", If: "file:pyrightconfig.json|has:pyproject.toml:[tool.pyright|has:pyproject.toml:[tool.basedpyright", Args: []string{"{run}", "pyright", "--outputjson"}, Format: "pyright"},
				{Gate: "test", If: "file:pytest.ini|file:conftest.py|file:tests/conftest.py|has:pyproject.toml:pytest|has:setup.cfg:pytest|has:tox.ini:pytest|has:requirements.txt:pytest|has:requirements-dev.txt:pytest|has:Pipfile:pytest", Args: []string{"{run}", "pytest", "-p", "no:cacheprovider"}, Format: "pytest", Tests: true, Related: []PartialTestCommand{{By: "python", Args: []string{"{run}", "pytest", "-p", "no:cacheprovider", "{tests}"}}}, Alone: []SingleTestCommand{{Name: NamePytest, Args: []string{"{run}", "pytest", "-p", "no:cacheprovider", "{test}"}}}, Held: pytestHandleCheck(), Cover: pytestCoverageCommands()},
				{Gate: "test", If: suites, Args: []string{"{run}", "python3", "-m", "unittest", "discover", "-v"}, Format: "unittest", Tests: true, Related: []PartialTestCommand{{By: "python", Args: []string{"{run}", "python3", "-m", "unittest", "-v", "{tests}"}}}, Alone: []SingleTestCommand{{Name: NameUnittest, Args: []string{"{run}", "python3", "-m", "unittest", "-v", "{test}"}}}, Held: unittestHandleCheck(), Cover: unittestCoverageCommands()},
			}
		},
	}
}

func pythonEnvironment() ToolEnvironment {
	return ToolEnvironment{
		Sets:    splitWords("PYTHONDONTWRITEBYTECODE=1"),
		Offline: splitWords("PIP_RETRIES=0 PIP_DISABLE_PIP_VERSION_CHECK=1 UV_OFFLINE=1 UV_PYTHON_DOWNLOADS=never POETRY_REQUESTS_MAX_RETRIES=0"),
		Trusts:  splitWords("REQUESTS_CA_BUNDLE PIP_CERT"),
		Unreached: []string{
			`\(from versions: none\)`, `[Nn]etwork was disabled`, `network connectivity is disabled`, `could not be found in registry index`, `Could not find a suitable TLS CA certificate bundle`, `invalid path: /etc/ssl/certs`,
		},
	}
}

// source chooses the Python files whose coverage is measured: all below the directory,
// including those that no test loads, unless the project configures it.
const source = `all=.; { [ -f .coveragerc ] || grep -qsE '^\[(tool\.)?coverage[.:]' pyproject.toml setup.cfg tox.ini; } && all=
export COVERAGE_FILE="$d/data"
`

func pytestCoverageCommands() []CoverageCommand {
	const line = source + `if "$@" pytest --help 2>/dev/null | grep -q -e --cov-report; then
  "$@" pytest -p no:cacheprovider --cov${all:+=$all} "--cov-report=xml:$d/report" >&2 || exit
elif "$@" coverage --version >/dev/null 2>&1; then
  "$@" coverage run ${all:+--source=$all} -m pytest -p no:cacheprovider >&2 || exit
  "$@" coverage xml -o "$d/report" >&2 || exit
else
  lack pytest-cov "pip install pytest-cov"
fi
show "$d/report"`
	return []CoverageCommand{{Name: "coverage.py", Format: "cobertura", Args: coverageShellCommand(line, "{run}")}}
}

func unittestCoverageCommands() []CoverageCommand {
	const line = source + `"$@" python3 -m coverage --version >/dev/null 2>&1 || lack coverage "pip install coverage"
"$@" python3 -m coverage run ${all:+--source=$all} -m unittest discover -v >&2 || exit
"$@" python3 -m coverage xml -o "$d/report" >&2 || exit
show "$d/report"`
	return []CoverageCommand{{Name: "coverage.py", Format: "cobertura", Args: coverageShellCommand(line, "{run}")}}
}

// pythonProbe is a program for the runner's own process that reports the resources which are
// still open.
//
//go:embed probe/nexus_open.py
var pythonProbe string

func pytestHandleCheck() []OpenResourceTestCommand {
	return []OpenResourceTestCommand{{Args: commandWithProbe(`PYTHONPATH="$d${PYTHONPATH:+:$PYTHONPATH}" exec "$@" -p nexus_open`, pythonProbe, "{run}", "pytest", "-p", "no:cacheprovider")}}
}

func unittestHandleCheck() []OpenResourceTestCommand {
	return []OpenResourceTestCommand{{Args: commandWithProbe(`exec "$@" "$d/nexus_open.py" discover -v`, pythonProbe, "{run}", "python3")}}
}

// pythonFormats returns the output formats of its tools.
func pythonFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: "ruff", About: "Ruff check and format: text or JSON", Commands: []string{"ruff"}, Marks: `"noqa_row"|(?m)^All checks passed!|^Would reformat: |^\[\*\] \d+ (?:potentially )?fixable|\n\s+--> \S+\.pyi?:\d+:\d+\n`, Well: `^All checks passed!|already formatted`, Read: lint.ReadRuff},
		{Name: "flake8", About: "Flake8 and pycodestyle", Commands: []string{"flake8", "pycodestyle", "pyflakes"}, Marks: `(?m)^\S+\.py:\d+:\d+: [EFWC]\d{3} `, Read: lint.ReadFlake8},
		{Name: "mypy", About: "mypy", Warns: true, Commands: []string{"mypy", "dmypy"}, Marks: `(?m)^Found \d+ errors? in \d+ files? \(|^Success: no issues found in `, Well: `^Success: no issues found`, Read: lint.ReadMypy},
		{Name: "pyright", About: "Pyright: text or --outputjson", Warns: true, Commands: []string{"pyright", "basedpyright"}, Marks: `"generalDiagnostics"|(?m)^\d+ errors?, \d+ warnings?, \d+ (?:informations?|notes?)`, Well: `^0 errors, `, Read: lint.ReadPyright},
		{Name: "pytest", About: "pytest", Tests: true, Commands: []string{"pytest", "py.test"}, Marks: `(?m)^=+ test session starts =+|^(?:=+ .*)?(?:\d+ (?:passed|failed|skipped|errors?|xfailed)|no tests ran).* in [\d.]+s`, Over: `^(?:=+ )?(?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+ in [\d.]+s`, Read: testrunners.ReadPytest},
		{Name: "unittest", About: "Python's unittest, also through Django", Tests: true, Commands: []string{"unittest", "manage.py test"}, Marks: `(?m)^Ran \d+ tests? in [\d.]+s$`, Over: `^Ran \d+ tests? in [\d.]+s$`, Read: testrunners.ReadUnittest},
	}
}

// pythonOutlines returns the declaration patterns of its files.
func pythonOutlines() []OutlinePatterns {
	return []OutlinePatterns{
		{Name: "Python", Ends: []string{".py", ".pyi"}, Tests: []string{"test_*", "*_test.py", "conftest.py"}, Declares: []string{"def ", "async def ", "class "}, Hides: "underscore", Imports: []string{"from ", "import "}, Between: ".", Stands: []string{"__init__"}},
	}
}

// pythonCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const pythonCommandRules = `
read  | poetry uv | publish | --dry-run !--no-dry-run
deny  | publish  | twine flit hatch poetry uv pdm maturin | upload publish register
ask   | deps.new | pip pipx pip3 | install download wheel | + !-r !--requirement !-e !--editable !--no-index
ask   | deps.new | pipx | run inject upgrade upgrade-all
ask   | deps.new | uv poetry pdm pipenv hatch rye | add update upgrade tool:install tool:run self | +
ask   | deps.new | pipenv | install | +
ask   | deps.new | uv | pip:install | + !-r !--requirement !-e !--editable
ask   | deps.new | uvx easy_install |
allow | build    | pytest | | !-c !--rootdir !-p !--confcutdir !-o !--override-ini
allow | build    | unittest json.tool compileall py_compile |
allow | build    | ruff | check format | !--config
allow | build    | mypy flake8 pyright | | !--config !--config-file !--python-executable
`

func pythonRunningTestFinders() []RunningTestFinder {
	return []RunningTestFinder{
		{"pytest", testrunners.RunningPytestTest},
		{"unittest", testrunners.UnfinishedTestReader(`^(\w+ \([\w.<>]+\))(?: \.\.\. ?)?$`, `^(?:ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$|\.\.\. (?:ok|FAIL|ERROR|skipped|expected failure|unexpected success)`)},
	}
}

// pythonSyntax returns the syntax of its files.
func pythonSyntax() []SourceSyntax {
	return []SourceSyntax{{
		Ends: splitWords(".py .pyi"), Comments: []string{"#"}, Long: []string{`"""`, `'''`}, Quotes: "\"'",
		Heads: `^\s*(?:async )?def (\w+)[\[(]`, Dented: true,
		Exports: `(?m)^(?:async )?def ([A-Za-z]\w*)\(|^class ([A-Za-z]\w*)\b|^([A-Z][A-Z0-9_]*)\s*(?::[^=\n]+)?=[^=]`,
		Faults: LineMutations{
			Swaps: append(slices.Concat(comparisonSwaps(), wordSwaps(), booleanSwaps("True", "False")),
				[3]string{"equality", " is not ", " is "}, [3]string{"equality", " not in ", " in "}),
			Calls: true, Nothing: "pass", Returns: returnsLine, None: "None",
		},
	}}
}

// pythonSkeleton returns a package that greets, with its test; it needs no packages.
func pythonSkeleton() ProjectSkeleton {
	return ProjectSkeleton{
		Needs: splitWords("python3"), Named: splitWords("python django flask fastapi pandas numpy"),
		Fits: splitWords("data analysis csv science scientific learning model statistics notebook scrape plot"), For: "data and analysis",
		Test: "tests/test_greeting.py", Files: []SkeletonFile{
			{".gitignore", "__pycache__/\n.venv/\n"},
			{"README.md", "# {name}\n\n    python3 -m {name}\n    python3 -m unittest\n"},
			{"pyproject.toml", "[project]\nname = \"{name}\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\n"},
			{"nexus.toml", "[gates]\nbuild = \"python3 -W error -m compileall -q -f {name}\"\nlint = \"python3 -m tabnanny -v {name} tests\"\ntest = \"python3 -m unittest discover -v -s tests -t .\"\n"},
			{"{name}/__init__.py", "\"\"\"{name} greets.\"\"\"\n\n\ndef greeting():\n    \"\"\"Return what the program says.\"\"\"\n    return \"Hello from {name}\"\n"},
			{"{name}/__main__.py", "from . import greeting\n\nprint(greeting())\n"},
			{"tests/__init__.py", ""},
			{"tests/test_greeting.py", "import unittest\n\nfrom {name} import greeting\n\n\nclass GreetingTest(unittest.TestCase):\n    def test_names_the_project(self):\n        self.assertEqual(greeting(), \"Hello from {name}\")\n"},
		},
	}
}
