package discover

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/missingdocs"
	"github.com/nexus-ai-builder/nexus/internal/stack/toolreport"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

func syntax(t *testing.T, name string) stack.SourceSyntax {
	t.Helper()
	s, ok := stack.SyntaxOf(name)
	if !ok {
		t.Fatal(name)
	}
	return s
}

// TestMarks finds marks of unfinished work in comments alone.
func TestMarks(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.go", "	// TODO(ada): greet", "Resolve the TODO in a.go: greet"},
		{"a.go", `s := "TODO: not a comment"`, ""},
		{"a.go", `s := "// TODO: nor this"`, ""},
		{"a.go", `f(x) /* FIXME it leaks */`, "Resolve the FIXME in a.go: it leaks"},
		{"a.go", "// todos are small", ""},
		{"a.go", "// MYTODO: is a name", ""},
		{"a.sh", "echo $# TODO", ""},
		{"a.sh", "x # HACK", "Replace the HACK in a.sh"},
		{"a.py", "x = 1  # XXX: why", "Resolve the XXX in a.py: why"},
		{"a.js", " * TODO: in a block", "Resolve the TODO in a.js: in a block"},
	} {
		f, ok := parseTodo(c.name, syntax(t, c.name), 7, c.text)
		if got := f.Title; ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s: %q, not %q", c.text, got, c.want)
		}
	}
}

// TestBlocks reads the commands of a README.
func TestBlocks(t *testing.T) {
	text := "```sh\nmake\n# words\n\nmake test\n```\n```go\nfunc f()\n```\n````console\n$ nexus run\noutput\n```\n````\n```sh\nopen"
	var got []string
	for _, b := range parseShellBlocks(strings.Split(text, "\n")) {
		for _, c := range b {
			got = append(got, c.text)
		}
		got = append(got, "--")
	}
	if diff := cmp.Diff([]string{"make", "make test", "--", "nexus run", "--"}, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []string{"go install x@latest", "curl x", "./x --name <NAME>", "npm start", "git clone https://x.y"} {
		if !elsewhere.MatchString(c) {
			t.Errorf("%s would be run", c)
		}
	}
}

// TestFileChecks gives a file of a linter's findings a check of its own only where the linter writes
// its places that way.
func TestFileChecks(t *testing.T) {
	g := gate.QualityGate{Name: "lint", Args: []string{"vet", "./..."}}
	for _, c := range []struct {
		printed string
		exit    int
		file    string
		ok      bool
	}{
		{"# pkg\n./a.go:3:1: bad\n", 1, "a.go", true},
		{"a.go\n", 0, "a.go", true},
		{`{"file":"a.go","line":3}`, 1, "a.go", false},
		{"xa.go:3: bad\n", 1, "a.go", false},
		{"aago:3: bad\n", 1, "a.go", false},
		{"a.go:3: bad\n", 2, "a.go", false},
	} {
		if got := lintFileCheckCommand(g, c.file, c.printed, c.exit); (got != "") != c.ok {
			t.Errorf("%q: %q", c.printed, got)
		}
	}
}

// TestRepeats runs a flaky test so often that it hardly passes by chance.
func TestRepeats(t *testing.T) {
	for _, c := range []struct{ failed, runs, want int }{{1, 2, 7}, {1, 10, 44}, {1, 1000, mostTimes}, {9, 10, 3}, {2, 2, mostTimes}, {0, 0, mostTimes}} {
		if got := flakyRepeatCount(c.failed, c.runs); got != c.want {
			t.Errorf("%d of %d: %d, not %d", c.failed, c.runs, got, c.want)
		}
	}
}

// TestElapsed reads what tests took, and makes a finding whose check asks for half of it.
func TestElapsed(t *testing.T) {
	printed := `{"Action":"pass","Package":"m/a","Test":"TestSlow","Elapsed":12.5}
{"Action":"pass","Package":"m/a","Test":"TestSlow/sub","Elapsed":12.4}
{"Action":"fail","Package":"m/a","Test":"TestRed","Elapsed":30}
{"Action":"pass","Package":"m/a","Elapsed":13}
not JSON
{"Action":"pass","Package":"m/a","Test":"TestFast","Elapsed":0.01}
`
	got := parseGoTestDurations(printed)
	want := []toolreport.TestDuration{{Name: "m/a.TestSlow", Seconds: 12.5}, {Name: "m/a.TestFast", Seconds: 0.01}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	g := gate.QualityGate{Name: "test", Format: "go-test-json", Args: []string{"go", "test", "-json", "-count=1", "./..."}}
	if check := singleTestCommand(g, got[0].Name, "-timeout=6.2s"); check != `go test -count=1 -timeout=6.2s '-run=^(TestSlow)$' m/a` {
		t.Error(check)
	}
}

// TestBlamed reads since when lines are there.
func TestBlamed(t *testing.T) {
	id, other := strings.Repeat("a", 40), strings.Repeat("b", 40)
	out := id + " 1 2 1\nauthor A\nauthor-time 1700000000\nfilename x\n\t// TODO\n" + other + " 9 5\nauthor-time 1600000000\n\tauthor-time 1\n" + id + " 3 7\n\tx\n"
	times := func(w git.BlameResult) map[int]time.Time {
		all := map[int]time.Time{}
		for n, commit := range w.Lines {
			all[n] = w.Times[commit]
		}
		return all
	}
	got := times(git.ParseBlame(out, false))
	want := map[int]time.Time{2: time.Unix(1700000000, 0).UTC(), 5: time.Unix(1600000000, 0).UTC(), 7: time.Unix(1700000000, 0).UTC()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	cut := strings.Replace(out, "filename x", "boundary\nfilename x", 1)
	delete(want, 2)
	delete(want, 7)
	if diff := cmp.Diff(want, times(git.ParseBlame(cut, true))); diff != "" {
		t.Errorf("in a shallow clone: %s", diff)
	}
	if diff := cmp.Diff(got, times(git.ParseBlame(cut, false))); diff != "" {
		t.Errorf("of the first commit: %s", diff)
	}
}

// TestListed leaves out what is of others and what is hidden.
func TestListed(t *testing.T) {
	hidden, err := ignore.NewIgnoreSet(map[string]string{".nexusignore": "secret\n"})
	if err != nil {
		t.Fatal(err)
	}
	in := []string{
		"100644 blob 1\ta.go", "100755 blob 2\tb/c.sh", "120000 blob 3\tlink", "160000 commit 4\tsub", "100644 blob 5\tvendor/x.go",
		"100644 blob 6\tsecret/x", "100644 blob 7\tgo.sum", "100644 blob 8\tsp ace.go", "odd",
	}
	var got []string
	for _, f := range parseTreeListing(strings.Join(in, "\x00"), hidden) {
		got = append(got, f.path)
	}
	if diff := cmp.Diff([]string{"a.go", "b/c.sh", "go.sum", "sp ace.go"}, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzEntry reads what was kept, whatever is in its file, and keeps nothing half.
func FuzzEntry(f *testing.F) {
	whole, err := json.Marshal(cachedStrategyResult{At: time.Unix(1, 0), StrategyResult: StrategyResult{Findings: []discoveredwork.WorkFinding{{ID: "a/b", Strategy: "a", Title: "t"}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parseCacheEntry(data)
		if err != nil {
			return
		}
		if e.At.IsZero() || slices.ContainsFunc(e.Findings, func(f discoveredwork.WorkFinding) bool { return f.ID == "" }) {
			t.Errorf("%+v", e)
		}
	})
}

// FuzzOutputs reads what git, go test, READMEs and our own commands print.
func FuzzOutputs(f *testing.F) {
	f.Add("```sh\nmake\n```\n" + mark + "1 0\n" + strings.Repeat("a", 40) + " 1 1\nauthor-time 5\n\tx")
	f.Add(`{"Action":"pass","Package":"p","Test":"T","Elapsed":1}`)
	f.Add("// TODO: x\x00/* FIXME */")
	f.Fuzz(func(t *testing.T, text string) {
		w := git.ParseBlame(text, true)
		for n := range w.Lines {
			if at := w.Times[w.Lines[n]]; at.IsZero() || at.Location() != time.UTC {
				t.Error(n, at)
			}
		}
		parseGoTestDurations(text)
		parseCheckExitCodes(text)
		parseTreeListing(text, ignore.IgnoreSet{})
		lines := strings.Split(text, "\n")
		for _, b := range parseShellBlocks(lines) {
			for _, c := range b {
				if !isSafeInCheck(c.text) || c.n < 1 || c.n > len(lines) {
					t.Errorf("%+v", c)
				}
			}
		}
		s, _ := stack.SyntaxOf("a.go")
		for n, l := range lines {
			if f, ok := parseTodo("a.go", s, n+1, l); ok && strings.ContainsAny(f.Check, "\n\x00") {
				t.Errorf("%q", f.Check)
			}
		}
		privateModules("src/lib.rs", lines)
		for _, name := range []string{"a.go", "a.rs", "a.ts", "a.py", "A.java", "lib/a.rb", "a.kt"} {
			d, _ := missingdocs.LanguageOf(name)
			if f, ok := undescribedNamesFinding(d, name, lines); ok && (f.Count == 0 || f.Places[0].Line > len(lines)) {
				t.Errorf("%+v", f)
			}
		}
	})
}

// FuzzIdeas reads what a model submitted.
func FuzzIdeas(f *testing.F) {
	f.Add([]byte(`{"ideas":[{"title":"a","why":"b","kind":"security","files":["x","../y"],"check":"false","minutes":900}]}`))
	f.Add([]byte(`{"ideas":[{"title":"a\u001b[2J","why":"b"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := ParseIdeas(data, func(file string) bool { return file == "x" })
		if err != nil {
			return
		}
		for _, i := range all {
			bad := strings.ContainsFunc(i.Title+i.Why, func(r rune) bool { return r < ' ' })
			if i.ID == "" || i.Title == "" || bad || i.Minutes > 60 || len(i.Places) > 1 || i.State != "" {
				t.Errorf("%+v", i)
			}
		}
	})
}

// TestSchema holds that the schema is JSON, as the providers want it.
func TestSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(IdeasSchema(), &schema); err != nil {
		t.Error(err)
	}
}

// TestChoose takes strategies by name, and says which there are.
func TestChoose(t *testing.T) {
	names := func(given ...string) (all []string) {
		chosen, err := SelectStrategies(given)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range chosen {
			all = append(all, s.Name)
		}
		return all
	}
	if got := names("todo", "ideas"); !slices.Equal(got, []string{"todo", "ideas"}) {
		t.Error(got)
	}
	if _, err := SelectStrategies([]string{"-cheap", "-tools"}); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
		t.Error("nothing is left to look, and nobody says so:", err)
	}
	all, but := names(), names("-todo")
	if slices.Contains(all, "ideas") || slices.Contains(all, "issues") || !slices.Contains(all, "todo") || len(but) != len(all)-1 {
		t.Error(all, but)
	}
	if at := slices.Index(all, "type-errors"); at < 0 || at > slices.Index(all, "build-errors") {
		t.Error("types come before the build")
	}
	if _, err := SelectStrategies([]string{"-none"}); err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Error(err)
	}
}
