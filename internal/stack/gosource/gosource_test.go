package gosource_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

func TestParseTest(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./...": "go test -run=^(TestA)$ m/a",
		"go test -json -count=1 -race ./a ./b -tags x,y":   "go test -json -count=1 -race -tags x,y -run=^(TestA)$ m/a",
		"go test -run TestB -timeout=3s ./...":             "go test -timeout=3s -run=^(TestA)$ m/a",
		"go test -skip=TestB --failfast -p 2 ./... -short": "go test --failfast -p 2 -short -run=^(TestA)$ m/a",
		"go vet ./...": "", "go": "", "go test ./... -args -x": "", "go test -own ./...": "", "make test": "",
	} {
		c, ok := gosource.ParseGoTestCommand(strings.Fields(line))
		if got := strings.Join(c.CommandFor([]string{"m/a"}, []string{"TestA"}), " "); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %t %q, want %q", line, ok, got, want)
		}
	}
	for line, want := range map[string]bool{
		"go test ./...": false, "go test -run X ./...": true, "go test -failfast ./...": true, "go test -own ./...": true, "go test -list=. ./...": true,
	} {
		if got := gosource.MayOmitTests(strings.Fields(line)); got != want {
			t.Errorf("%q picks: %t", line, got)
		}
	}
}

func TestTestName(t *testing.T) {
	for in, want := range map[string]string{
		"m.TestA": "m TestA", "gopkg.in/yaml.v3.TestA/sub.Test": "gopkg.in/yaml.v3 TestA/sub.Test", "a/b.FuzzX": "a/b FuzzX", "a/b": "",
	} {
		pkg, name, ok := gosource.SplitTestName(in)
		if ok != (want != "") || ok && pkg+" "+name != want {
			t.Errorf("%q: %q %q %t", in, pkg, name, ok)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTouched(t *testing.T) {
	const old = "package m\n\nimport \"testing\"\n\nvar n = 1\n\nfunc help() {}\n\nfunc TestA(t *testing.T) { help() }\n"
	for name, tt := range map[string]struct {
		now     string
		changed string
		want    bool
	}{
		"as it was":        {now: old},
		"another test":     {now: old + "\nfunc TestB(t *testing.T) {}\n\nfunc more() {}\n"},
		"itself":           {now: strings.Replace(old, "{ help() }", "{}", 1), want: true},
		"gone":             {now: strings.Replace(old, "TestA", "TestB", 1), want: true},
		"what it calls":    {now: strings.Replace(old, "help() {}", "help() { n++ }", 1), want: true},
		"what it reads":    {now: strings.Replace(old, "n = 1", "n = 2", 1), want: true},
		"what runs before": {now: old + "\nfunc init() { n = 2 }\n", want: true},
		"TestMain":         {now: old + "\nfunc TestMain(m *testing.M) {}\n", want: true},
		"its data":         {now: old, changed: "a/testdata/x", want: true},
		"other data":       {now: old, changed: "b/testdata/x"},
	} {
		base, now := t.TempDir(), t.TempDir()
		write(t, base, "a/a_test.go", old)
		write(t, now, "a/a_test.go", tt.now)
		if got := gosource.IsTestTouched(os.DirFS(base), os.DirFS(now), "a", "TestA/sub", []string{tt.changed}); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestExpect(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.org/m\n")
	write(t, dir, "a/a_test.go", "package a\n\nimport (\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {}\nfunc Testy(t *testing.T) {}\nfunc TestN(n int) {}\nfunc FuzzA(f *testing.F) {}\n")
	write(t, dir, "a/b_test.go", "//go:build never\n\npackage a\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) {}\n")
	write(t, dir, "a/c_windows_test.go", "package a\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) {}\n")
	write(t, dir, "a/d_test.go", "package a_test\n\nimport \"testing\"\n\nfunc TestD(t *testing.T) {}\n")
	write(t, dir, "a/e_test.go", "not go")
	want := gosource.ExpectedTests(os.DirFS(dir), gosource.GoModules(os.DirFS(dir)))
	if got := want("example.org/m/a"); !slices.Equal(got, []string{"TestA", "TestD"}) {
		t.Errorf("%v", got)
	}
	if got := want("example.com/else"); got != nil {
		t.Errorf("%v", got)
	}
	if got := gosource.ImportPath("a", gosource.GoModules(os.DirFS(dir))); got != "example.org/m/a" {
		t.Error(got)
	}
	if got := gosource.TestDirs(os.DirFS(dir)); !slices.Equal(got, []string{"a"}) {
		t.Error(got)
	}
}

// FuzzSource reads what an agent may have written.
func FuzzSource(f *testing.F) {
	f.Add("package m\n\nimport \"os\"\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n", "go test -run X ./...")
	f.Fuzz(func(t *testing.T, text, line string) {
		dir := t.TempDir()
		write(t, dir, "go.mod", "module m\n")
		write(t, dir, "x_test.go", text)
		if s, ok := gosource.ParseGoFile(os.DirFS(dir), "x_test.go"); ok {
			_ = s.CanFakeResults()
		}
		for _, name := range gosource.ExpectedTests(os.DirFS(dir), gosource.GoModules(os.DirFS(dir)))("m") {
			if !strings.HasPrefix(name, "Test") {
				t.Errorf("expects %q", name)
			}
		}
		gosource.IsTestTouched(os.DirFS(dir), os.DirFS(dir), ".", "TestA", nil)
		if c, ok := gosource.ParseGoTestCommand(strings.Fields(line)); ok && c.CommandFor(nil, nil)[1] != "test" {
			t.Errorf("%q", line)
		}
	})
}
