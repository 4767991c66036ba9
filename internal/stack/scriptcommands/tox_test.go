package scriptcommands_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

func TestTox(t *testing.T) {
	for name, c := range map[string]struct {
		text, dir string
		want      []string
	}{
		"a directory": {"[tox]\nenvlist = py3\n[testenv]\nchangedir = tests\ncommands =\n  python -m unittest {posargs}\n", "tests", []string{"python3 -m unittest"}},
		"its own":     {"[testenv]\ncommands = pytest {posargs:tests -x}\n[testenv:docs]\ncommands = pytest docs\n", "", []string{"pytest -p no:cacheprovider tests -x"}},
		"measured":    {"[testenv]\nchange_dir={toxinidir}/t\ncommands =\n    # first\n    coverage run --branch -m pytest {toxinidir}/src\n    coverage report\n", "t", []string{"pytest -p no:cacheprovider ../src"}},
		"python":      {"[testenv]\ncommands = {envpython} -m unittest discover -s lib\n", "", []string{"python3 -m unittest discover -s lib"}},
		"unknown":     {"[testenv]\ncommands = pytest {env:X}\n  python run.py\n", "", nil},
		"outside":     {"[testenv]\nchangedir = ../x\ncommands = pytest\n", "", nil},
		"nothing":     {"", "", nil},
	} {
		dir, calls := scriptcommands.ToxTestCommands(c.text)
		var got []string
		for _, words := range calls {
			got = append(got, strings.Join(words, " "))
		}
		if d := cmp.Diff(c.want, got); d != "" || dir != c.dir {
			t.Errorf("%s: in %q, %s", name, dir, d)
		}
	}
}

func TestNox(t *testing.T) {
	text := `
@nox.session
def tests(session):
    session.install(".")
    session.run("pytest", "--cov", 'tests', *session.posargs, env={"A": "1"})
    session.run("python", "-m", "unittest", "discover")
    session.run("pytest", name)
    session.run("mypy", "src")
`
	want := [][]string{{"pytest", "-p", "no:cacheprovider", "--cov", "tests"}, {"python3", "-m", "unittest", "discover"}}
	if d := cmp.Diff(want, scriptcommands.NoxTestCommands(text)); d != "" {
		t.Error(d)
	}
}

func FuzzTox(f *testing.F) {
	f.Add("[testenv]\nchangedir = a\ncommands =\n  python -m unittest {posargs:x}\n", `session.run("pytest", 'a')`)
	f.Fuzz(func(t *testing.T, tox, nox string) {
		dir, calls := scriptcommands.ToxTestCommands(tox)
		if strings.HasPrefix(dir, "..") || strings.HasPrefix(dir, "/") {
			t.Errorf("it leads to %q", dir)
		}
		for _, words := range append(calls, scriptcommands.NoxTestCommands(nox)...) {
			if len(words) < 3 {
				t.Errorf("%q", words)
			}
		}
	})
}
