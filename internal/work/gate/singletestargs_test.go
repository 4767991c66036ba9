package gate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// with is a command of a runner that calls its tests so.
func with(name string) stack.SingleTestCommand {
	l := stack.SingleTestCommand{Name: name, Args: []string{"run", "--only={test}"}}
	if name == stack.NameInFile {
		l.Args = append(l.Args, "{file}")
	}
	return l
}

func TestArgs(t *testing.T) {
	for _, tt := range []struct{ name, dir, test, want string }{
		{stack.NamePytest, "", "tests/test_a.py::T::test_b[x y]", "run --only=tests/test_a.py::T::test_b[x y]"},
		{stack.NamePytest, "", "test_b", ""},
		{stack.NamePytest, "", "--co::x", ""},
		{stack.NamePytest, "", "@file::x", ""},
		{stack.NameUnittest, "", "tests.test_a.T.test_b (i=1)", "run --only=tests.test_a.T.test_b"},
		{stack.NameUnittest, "", "unittest.loader._FailedTest.tests", ""},
		{stack.NameUnittest, "", "T; rm", ""},
		{stack.NameExact, "", "tests::odd", "run --only=tests::odd"},
		{stack.NameExact, "", "--ignored", ""},
		{stack.NameCTest, "", "a.b", `run --only=^a\.b$`},
		{stack.NameRuby, "", "a (b)", `run --only=\Aa \(b\)\z`},
		{stack.NamePHP, "", `A\BTest::testC with data set "x/y" (1)`, `run --only=/^A\\BTest::testC(?:[ #@].*)?$/`},
		{stack.NamePHP, "", "testC", ""},
		{stack.NameTitles, "", "a > b.c", `run --only=^a (?:> )?b\.c$`},
		{stack.NameInFile, "", "src/a.test.ts > b > c", "run --only=^ ?b (?:> )?c$ src/a.test.ts"},
		{stack.NameInFile, "web", "web/src/a.test.ts > b", "run --only=^ ?b$ src/a.test.ts"},
		{stack.NameInFile, "web", "src/a.test.ts > b", ""},
		{stack.NameInFile, "web", "web/-a.test.ts > b", ""},
		{stack.NameInFile, "", "b > c", ""},
		{stack.NameLast, "", "b > c", "run --only=^(?:b )?c$"},
		{stack.NameLast, "", "c\n", ""},
		{stack.NameLast, "", strings.Repeat("c", 2000), ""},
		{stack.NameNextest, "", "sums tests::adds", "run --only=binary_id(=sums) and test(=tests::adds)"},
		{stack.NameNextest, "", "sums::it adds", "run --only=binary_id(=sums::it) and test(=adds)"},
		{stack.NameNextest, "", "adds", ""},
		{stack.NameNextest, "", "sums adds) or all(", ""},
		{stack.NameMethod, "", "a.b.SumTest.adds", "run --only=a.b.SumTest#adds"},
		{stack.NameMethod, "", "a.b.Sum$Inner.adds(int)[2]", "run --only=a.b.Sum$Inner#adds"},
		{stack.NameMethod, "", "adds", ""},
		{stack.NameMethod, "", "a.*.adds", ""},
		{stack.NameMethod, "", "a.B.adds,a.B.subs", ""},
		{stack.NameDotted, "", "Tests.CalcTest.Adds(a: 1, b: \"|\")", "run --only=Tests.CalcTest.Adds"},
		{stack.NameDotted, "", "Tests.CalcTest.Adds|x", ""},
		{stack.NameMinitest, "", "M::TestCalc#test_adds two", "run --only=M::TestCalc#test_adds two"},
		{stack.NameMinitest, "", "TestCalc#/./", ""},
		{stack.NameMinitest, "", "-e", ""},
		{stack.NamePlay, "", "a.spec.js > sum > adds (1)", `run --only=(?:^| )a\.spec\.js (?:> )?sum (?:> )?adds \(1\)$`},
		{stack.NamePlay, "", "adds", ""},
		{"", "", "c", ""},
	} {
		args, ok := gate.SingleTestArgs(with(tt.name), tt.dir, tt.test)
		if got := strings.Join(args, " "); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s %q: %q, %v; want %q", tt.name, tt.test, got, ok, tt.want)
		}
	}
	if _, ok := gate.SingleTestArgs(stack.SingleTestCommand{}, "", "a"); ok {
		t.Error("a runner that cannot")
	}
	if args, ok := gate.SingleTestArgs(stack.SingleTestCommand{Name: stack.NameLast, Args: []string{"run", "./{file}", "-t", "{test}"}}, "", "b > c"); ok {
		t.Errorf("a runner that wants a file, and a test that names none: %q", args)
	}
}

func TestTouched(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.py": "def add(): pass\n", "test_a.py": "def test_add(): pass\n", "test_b.py": "def test_sub(): pass\n", "tests/conftest.py": "", "spec/helper.rb": "",
		"lib.rs": "fn odd() {}\n", "odd.c": "int main(void) { return 0; }\n", "CMakeLists.txt": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		how, changed, test, file string
		want                     bool
	}{
		{stack.NamePytest, "a.py", "test_a.py::test_add", "test_a.py", false},
		{stack.NamePytest, "a.py", "test_a.py::test_add", "a.py", true},
		{stack.NamePytest, "test_a.py", "test_a.py::test_add[1]", "", true},
		{stack.NamePytest, "test_b.py", "test_a.py::test_add", "", false},
		{stack.NamePytest, "test_gone.py", "test_a.py::test_add", "", true},
		{stack.NamePytest, "tests/conftest.py", "test_a.py::test_add", "", true},
		{stack.NameRuby, "spec/helper.rb", "a is odd", "", true},
		{stack.NameExact, "lib.rs", "tests::odd", "", true},
		{stack.NameExact, "lib.rs", "tests::even", "", false},
		{stack.NameCTest, "odd.c", "other", "", true},
		{stack.NameCTest, "CMakeLists.txt", "other", "", true},
		{stack.NameCTest, "a.py", "other", "", false},
	} {
		if got := gate.MayAffectTest(with(tt.how), dir, dir, []string{tt.changed}, tt.test, tt.file); got != tt.want {
			t.Errorf("%s %s after %s: %v", tt.how, tt.test, tt.changed, got)
		}
	}
}

func TestWanted(t *testing.T) {
	for _, tt := range []struct {
		test, text string
		want       bool
	}{
		{"tests/test_a.py::test_add[1]", "pytest -k test_add", true},
		{"tests/test_a.py::test_add", "test_adding works", false},
		{"suite > adds none", "It adds none.", true},
		{"tests.test_a.T.test_b (i=1)", "test_b passes", true},
		{"suite > adds none", "it adds", false},
		{`a\BTest::adds with data set "two" (2)`, "adds counts", true},
		{`a\BTest::adds with data set "two" (2)`, "a set of data", false},
	} {
		if got := gate.IsTestNamed(tt.test, []string{tt.text}); got != tt.want {
			t.Errorf("%q in %q: %v", tt.test, tt.text, got)
		}
	}
}

// FuzzArgs checks that no name of a test becomes more than one argument, an
// option, or a pattern that says something else.
func FuzzArgs(f *testing.F) {
	for _, s := range []string{"a", "a > b", "t.py::x[1]", "-x", "$(x)", "A::b with data set #0", "a\x00b", "/a/i", `\E.*`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, test string) {
		for _, how := range []string{stack.NamePytest, stack.NameUnittest, stack.NameTitles, stack.NameInFile, stack.NameLast, stack.NameExact, stack.NameCTest, stack.NameRuby, stack.NamePHP, stack.NameNextest, stack.NameMethod, stack.NameDotted, stack.NameMinitest, stack.NamePlay} {
			l := stack.SingleTestCommand{Name: how, Args: []string{"run", "{test}"}}
			args, ok := gate.SingleTestArgs(l, "", test)
			if !ok {
				continue
			}
			if len(args) != 2 || strings.HasPrefix(args[1], "-") || strings.HasPrefix(args[1], "@") || slices.ContainsFunc([]byte(args[1]), func(b byte) bool { return b < ' ' }) {
				t.Errorf("%s %q: %q", how, test, args)
			}
			if how == stack.NameLast || how == stack.NameCTest {
				re, err := regexp.Compile(args[1])
				if err != nil {
					t.Fatalf("%s %q: %q, %v", how, test, args, err)
				}
				own := test
				if titles := strings.Split(test, " > "); how == stack.NameLast {
					own = titles[len(titles)-1]
				}
				if !re.MatchString(own) || re.MatchString(own+"x") {
					t.Errorf("%s %q: %q", how, test, args)
				}
			}
			gate.MayAffectTest(l, ".", ".", []string{test}, test, "")
			gate.IsTestNamed(test, []string{test})
		}
	})
}
