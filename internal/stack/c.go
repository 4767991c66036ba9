package stack

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

func cmakeStack() Stack {
	// The tree does not change: the build goes to a directory that is deleted when the gate
	// ends.
	const made = `d=$(mktemp -d) && trap 'rm -rf "$d"' EXIT && cmake -S . -B "$d" && cmake --build "$d"`
	return Stack{
		Name: "cmake", Syntax: cSyntax, Markers: []string{"CMakeLists.txt"},
		Tests: LanguageTestSyntax{
			Weak:   `EXPECT_TRUE\(true`,
			Quiets: `NOLINT`,
			Ends:   []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}, Within: []string{".c", ".cc", ".cpp", ".cmake", ".txt"},
			Declares: `\b(?:TYPED_)?TEST(?:_F|_P|_CASE)?\(\s*"?([^")]+)`,
			Skips:    `GTEST_SKIP|DISABLED_|\bdoctest::skip|\[!?(?:hide|\.)`,
			Asserts:  `\b(?:\w+_)?(?:ASSERT|EXPECT|CHECK|REQUIRE)\w*\(|\b(?:[a-z]+_)?assert\w*\(`,
		},
		Configs: []CheckConfigPatterns{
			{
				Files:   []string{"cmakelists.txt"},
				Runs:    `(?i)\b(?:add_test|set_tests_properties|enable_testing|gtest_discover_tests|catch_discover_tests)\b|include\(CTest\)`,
				Narrows: `(?i)\bWILL_FAIL\b|\bDISABLED\s+(?:TRUE|ON|1)|(?:PASS|SKIP)_REGULAR_EXPRESSION|SKIP_RETURN_CODE`,
			},
			{Files: []string{"ctestconfig.cmake", ".clang-tidy"}},
		},
		Namings: func() []TestNameConverter { return []TestNameConverter{regexpNaming(NameCTest, "^", "$")} },
		Running: func() []RunningTestFinder {
			return []RunningTestFinder{{"ctest", testrunners.UnfinishedTestReader(`^\s*Start +\d+: (\S+)$`, `^\s*\d+/\d+ Test +#\d+: `)}}
		},
		Environment: ToolEnvironment{Keeps: splitWords("CC CXX")},
		Servers:     []LanguageServer{{Name: "clangd", Commands: [][]string{{"clangd", "--background-index", "--limit-results=500"}}, Ends: splitWords(".c .h .cc .cpp .cxx .hh .hpp .hxx"), Watch: splitWords("compile_commands.json compile_flags.txt .clangd")}},
		Outlines:    cOutlines,
		Programs:    splitWords("cmake ctest"),
		Formats:     cFormats,
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "build", Args: shellCommand(made), Format: "gcc"},
				{Gate: "test", If: "has:CMakeLists.txt:enable_testing|has:CMakeLists.txt:CTest", Args: shellCommand(made + ` && ctest --test-dir "$d" --output-on-failure`), Format: "ctest", Tests: true, Alone: []SingleTestCommand{{Name: NameCTest, Args: append(shellCommand(made+` && ctest --test-dir "$d" --output-on-failure -R "$1"`), "sh", "{test}")}}},
			}
		},
	}
}

func mesonStack() Stack {
	// As for CMake. Compilers print paths relative to the build directory, people expect paths
	// relative to the tree.
	const made = `d=$(mktemp -d) && trap 'rm -rf "$d"' EXIT && { meson setup --wrap-mode=nodownload "$d/b" && meson compile -C "$d/b"; } >"$d/log" 2>&1
e=$?; sed "s#$(realpath --relative-to="$d/b" .)/##g" "$d/log"`
	const own = "has:meson.build:project( !file:CMakeLists.txt"
	return Stack{
		Name: "meson", Markers: []string{"meson.build"},
		CommandRules: mesonCommandRules,
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "build", If: own, Args: shellCommand(made + `; exit $e`), Format: "gcc"},
				{Gate: "test", If: own + " has:meson.build:test(|has:test/meson.build:test(|has:tests/meson.build:test(|has:src/meson.build:test(", Args: shellCommand(made + ` >&2; [ $e = 0 ] || exit $e
meson test -C "$d/b" --no-rebuild --print-errorlogs >&2; e=$?; cat "$d/b/meson-logs/testlog.junit.xml"; exit $e`), Format: "junit", Tests: true},
			}
		},
	}
}

func makefileStack() Stack {
	return Stack{
		Name: "make", Offers: func() []ScriptFile {
			return []ScriptFile{{Files: splitWords("GNUmakefile makefile Makefile"), Run: "make", Names: makeTargets}}
		}, Markers: []string{"Makefile", "GNUmakefile", "makefile"}, Alone: true,
		Configs: []CheckConfigPatterns{
			{Files: []string{"makefile", "gnumakefile"}},
		},
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
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
			}
		},
	}
}

// cFormats returns the output formats of its tools.
func cFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: "gcc", About: "gcc, clang, the linker, make and CMake", Warns: true, Commands: []string{"gcc", "g++", "cc", "c++", "clang", "clang++"}, Starts: []string{"make", "cmake", "ninja"}, Marks: `(?m)^\S+\.(?:c|cc|cpp|cxx|h|hpp|m):\d+:\d+: [^\s:][^:\n]{0,40}: |^g?make(?:\[\d+\])?: \*\*\*|: undefined reference to|^\S+\.(?:c|cc|cpp|cxx):\(\.\w+[^)\n]*\)[ \x{a0}]?: `, Read: lint.ReadGCC},
		{Name: "ctest", About: "ctest", Tests: true, Commands: []string{"ctest"}, Marks: `(?m)^\d+% tests passed, \d+ tests? failed out of|^No tests were found!!!|^Test project /`, Over: `^\d+% tests passed, `, Read: testrunners.ReadCTest},
	}
}

// cOutlines returns the declaration patterns of its files.
func cOutlines() []OutlinePatterns {
	return []OutlinePatterns{
		{Name: "C", Members: true, Ends: []string{".h", ".hpp", ".hh"}, Declares: []string{"class ", "struct ", "enum ", "typedef ", "namespace ", "template"}, Imports: []string{`#include "`}},
	}
}

// mesonCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const mesonCommandRules = `
deny  | publish  | conan | upload
ask   | deps.new | conan vcpkg | install add | +
allow | build    | meson | compile test introspect
allow | build    | ctest |  | !-S !--script !--build-and-test
`

// cSyntax returns the syntax of its files.
func cSyntax() []SourceSyntax {
	s := braceSyntax(splitWords(".c .cc .cpp .cxx .h .hpp"), LineMutations{Calls: true, Nothing: ";"}).withExports(cExports).
		withFunctionHeads(`^(?:[A-Za-z_][\w:<>,]*[\s*&]+)+((?:\w+::)*~?\w+) ?\([^;]*$`)
	s.Quotes, s.Unbuilt = `"`, true
	return []SourceSyntax{s}
}

// makeTargets returns the targets of a Makefile that people would call by name.
func makeTargets(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		target, rest, ok := strings.Cut(line, ":")
		sets := strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":=")
		if !ok || sets || strings.ContainsAny(line[:1], "\t #.") || strings.ContainsAny(target, "=$%") {
			continue
		}
		names = append(names, strings.Fields(target)...)
	}
	return slices.DeleteFunc(names, func(n string) bool { return strings.ContainsAny(n, "./") })
}

// cExports matches the names that its files export.
const cExports = `(?m)^[A-Za-z_][\w\s*&:<>,]*?\b(\w+)\s*\([^;{}]*\)\s*(?:const\s*)?[{;]\s*$|^#define (\w+)|^(?:class|struct|enum|union) (\w+)`
