package shell_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func TestSyntax(t *testing.T) {
	for _, line := range []string{
		"make test", "go test -run '^TestX$' ./... | tee log", `test "$(wc -l < a.txt)" -eq 3`, "! grep -r TODO .",
		"for f in *.sh; do sh -n \"$f\" || exit 1; done", "test -f a && { echo yes; }", "cat <<E\nx\nE", "A=1 env", "(cd a && make)",
		"case $x in a) true;; *) false;; esac", "echo $((1 + 2))", "f() { true; }; f", "cd web; npm test", "if test -f x; then true; fi",
	} {
		if err := shell.CheckSyntax(line); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	for line, want := range map[string]string{
		`test "$(wc -l < a.txt" -eq 3`: "character", `echo "x`: "character", "go test ./... &&": "character", "if true; then": "character",
		"(make": "character", "make )": "character", "": "no command", "  \n": "no command", "# nothing": "no command", "| make": "character",
		"diff <(a) <(b)": "character", "for x in; do": "character", "echo 'a": "character", "a;;b": "character", "make\x00": "zero byte",
	} {
		if err := shell.CheckSyntax(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want something with %q", line, err, want)
		}
	}
}

// TestSyntaxAgreesWithTheShell compares with what sh itself can read.
func TestSyntaxAgreesWithTheShell(t *testing.T) {
	testenv.NeedTool(t, "sh")
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"make test", "a &&", "(a", "a)", "if a; then b; fi", "if a; then b", "echo 'x", `echo "$(x)"`, "a | b", "a |", "while a; do b; done",
		"case a in b) c;; esac", "case a in b) c", "{ a; }", "{ a;", "! a", "a > b", "a >", "a 2>&1", "f() { a; }", "done", "a; b", "; a", "$((1+", "`a`", "`a",
	} {
		accepts := exec.CommandContext(t.Context(), sh, "-n", "-c", line).Run() == nil
		if ours := shell.CheckSyntax(line) == nil; ours != accepts {
			t.Errorf("%q: sh reads it: %t, we: %t", line, accepts, ours)
		}
	}
}

// TestLineIsReadBack has bash say which words it got.
func TestLineIsReadBack(t *testing.T) {
	words := []string{"sh", "-c", "make -j 4 'a b'", "$HOME", "`x`", "a\nb", "", "*", "\u00fc \u4e16", "-n", "a'b\"c\\"}
	line, err := shell.QuoteWords(append([]string{"printf", `%s\0`}, words...))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "bash", "-c", line).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, words) {
		t.Errorf("%s: %q, %v", line, got, err)
	}
	if _, err := shell.QuoteWords([]string{"a", "b\x00"}); err == nil {
		t.Error("a zero byte is a word")
	}
}

func FuzzSyntax(f *testing.F) {
	for _, line := range []string{"make test", "a && (b", "echo \"$(x)\"", "", "\x00", "# x", "<<E", "case"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		err := shell.CheckSyntax(line)
		if err == nil && strings.TrimSpace(line) == "" {
			t.Error("nothing is a command")
		}
		if err != nil && (err.Error() == "" || strings.Contains(err.Error(), "\n")) {
			t.Errorf("it says %q", err)
		}
		if err == nil != (shell.CheckSyntax("true; "+line) == nil) && !strings.HasPrefix(strings.TrimSpace(line), "#") && err == nil && !strings.ContainsAny(line, "\x00") {
			t.Errorf("%q is fine, and not behind a command", line)
		}
		if words, ok := shell.ParseWords(line); ok {
			quoted, err := shell.QuoteWords(words)
			if again, ok := shell.ParseWords(quoted); err == nil && ok && !slices.Equal(again, words) {
				t.Errorf("%q is read as %q, and that as %q", line, words, again)
			}
		}
	})
}

// TestWords reads a line that is one command, and no other.
func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"go test -run '^TestA$' ./...":       {"go", "test", "-run", "^TestA$", "./..."},
		`go test -run "^(TestA|TestB)$" ./x`: {"go", "test", "-run", "^(TestA|TestB)$", "./x"},
		"go test -run ^TestA$ ./...":         {"go", "test", "-run", "^TestA$", "./..."},
		"pytest a.py::b":                     {"pytest", "a.py::b"},
		"a b | c":                            nil,
		"a && b":                             nil,
		"a; b":                               nil,
		"! a":                                nil,
		"a &":                                nil,
		"X=1 a":                              nil,
		"a > b":                              nil,
		"a $X":                               nil,
		`a "$X"`:                             nil,
		"a *.go":                             nil,
		"a ~/b":                              nil,
		`a \$b`:                              nil,
		"a $(b)":                             nil,
		"":                                   nil,
		"a '":                                nil,
	} {
		got, ok := shell.ParseWords(line)
		if !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%q: %q, %v", line, got, ok)
		}
	}
}
