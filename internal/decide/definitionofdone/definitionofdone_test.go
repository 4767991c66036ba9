package definitionofdone_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func file(path string, added ...string) definitionofdone.FileChange {
	f := definitionofdone.FileChange{Path: path}
	for i, l := range added {
		f.Added = append(f.Added, definitionofdone.AddedPatchLine{Number: i + 1, Text: l})
	}
	return f
}

func made(path string, added ...string) definitionofdone.FileChange {
	f := file(path, added...)
	f.New = true
	return f
}

func judged(all []nexus.GateEvidence) []string {
	var got []string
	for _, e := range all {
		text := fmt.Sprintf("%s %s", strings.TrimPrefix(e.Gate, nexus.DonePrefix), e.State)
		for _, f := range e.Findings {
			text += fmt.Sprintf("; %s:%d %s", f.File, f.Line, f.Severity)
		}
		got = append(got, text)
	}
	return got
}

func TestEachBound(t *testing.T) {
	many := make([]definitionofdone.FileChange, 21)
	for i := range many {
		many[i] = file(fmt.Sprintf("f%d.go", i))
	}
	gone := definitionofdone.FileChange{Path: "old.go", Gone: true, Removed: 501}
	rewritten := file("a.go", make([]string, 400)...)
	rewritten.Removed = 600
	for name, c := range map[string]struct {
		m    definitionofdone.MeasuredChange
		want []string
	}{
		"nothing odd":               {definitionofdone.MeasuredChange{Files: []definitionofdone.FileChange{file("a.go", "x := 1")}}, nil},
		"outside of the plan":       {definitionofdone.MeasuredChange{Planned: []string{"a.go", "docs/", "x/*.go"}, Files: []definitionofdone.FileChange{file("a.go"), file("b.go"), file("a_test.go"), file("go.sum"), file("docs/a/b.md"), file("x/y.go")}}, []string{"scope pass; b.go:0 minor"}},
		"no plan":                   {definitionofdone.MeasuredChange{Files: []definitionofdone.FileChange{file("b.go")}}, nil},
		"a run has none":            {definitionofdone.MeasuredChange{Run: true, Planned: []string{"a.go"}, Files: many}, nil},
		"too many files":            {definitionofdone.MeasuredChange{Files: many}, []string{"large-diff pass; :0 minor"}},
		"as many as may be":         {definitionofdone.MeasuredChange{Files: append(many[:20:20], file("go.sum", make([]string, 5000)...))}, nil},
		"lines taken away":          {definitionofdone.MeasuredChange{Files: []definitionofdone.FileChange{gone}}, []string{"deletion pass; old.go:0 minor"}},
		"lines written anew":        {definitionofdone.MeasuredChange{Files: []definitionofdone.FileChange{rewritten}}, []string{"deletion pass; a.go:0 minor"}},
		"a file of secrets":         {definitionofdone.MeasuredChange{Files: []definitionofdone.FileChange{file("app/.env"), file(".env.example"), file(".env.local"), file("prod.env"), file("deploy/id_rsa")}}, []string{"env-files fail; app/.env:0 major; .env.local:0 major; prod.env:0 major; deploy/id_rsa:0 major"}},
		"a program that was built":  {definitionofdone.MeasuredChange{Task: &definitionofdone.TaskWording{Texts: []string{"units -decimal 3000 prints 3KB"}, Said: []nexus.RemovalExplanation{{Name: "lib.a", Why: "it is vendored"}}}, Planned: []string{"bin/tool"}, Files: []definitionofdone.FileChange{made("units", "\x7fELF\x02\x01"), made("bin/tool", "\x7fELF"), made("testdata/x.elf", "\x7fELF"), made("lib.a", "!<arch>"), made("a.exe", "MZ\x90\x00"), made("MZ.md", "MZ is a magic"), file("old", "\x7fELF")}}, []string{"scope pass; units:0 minor; lib.a:0 minor; a.exe:0 minor; MZ.md:0 minor; old:0 minor", "built-files fail; units:0 major; lib.a:0 minor; a.exe:0 major"}},
		"each compiled format":      {definitionofdone.MeasuredChange{Task: &definitionofdone.TaskWording{}, Files: []definitionofdone.FileChange{made("a", "\xcf\xfa\xed\xfe"), made("b", "\xce\xfa\xed\xfe"), made("c", "\xca\xfe\xba\xbe"), made("d", "\x00asm"), made("e.a", "!<arch>"), made("f", "text", "\x7fELF"), made("g", "a \x7fELF"), made("h", "\x00text"), made("i")}}, []string{"built-files fail; a:0 major; b:0 major; c:0 major; d:0 major; e.a:0 major"}},
		"nobody to explain it":      {definitionofdone.MeasuredChange{Files: []definitionofdone.FileChange{made("a", "\x7fELF")}}, []string{"built-files pass; a:0 minor"}},
		"one that is taken away":    {definitionofdone.MeasuredChange{Files: []definitionofdone.FileChange{{Path: ".env", Gone: true}}}, []string{"deletion pass; .env:0 minor"}},
		"a shell":                   {definitionofdone.MeasuredChange{Files: []definitionofdone.FileChange{file("a.py", "x", "os.system(cmd)"), file("a_test.py", "os.system(cmd)"), file("a.md", "os.system(cmd)")}}, []string{"sinks pass; a.py:2 minor"}},
		"not read to its end":       {definitionofdone.MeasuredChange{Files: []definitionofdone.FileChange{file("a.go")}, Whole: false}, []string{"unwhole"}},
		"a licence":                 {definitionofdone.MeasuredChange{Deps: []definitionofdone.AddedDependency{{Name: "x@1", File: "go.mod", Line: 3, Licence: "GPL-3.0"}, {Name: "y@1", Licence: "(MIT OR GPL-2.0)"}, {Name: "z@1", Licence: "MIT AND ISC"}}}, []string{"licences pass; go.mod:3 minor"}},
		"a licence that none knows": {definitionofdone.MeasuredChange{Deps: []definitionofdone.AddedDependency{{Name: "x@1"}}}, []string{"licences unverifiable"}},
	} {
		c.m.Whole = len(c.want) != 1 || c.want[0] != "unwhole"
		got := judged(definitionofdone.CheckBounds(nexus.DefaultDefinitionOfDone(), c.m))
		if !c.m.Whole {
			if len(got) != len(nexus.DefinitionOfDoneBounds())-2 {
				t.Errorf("%s: %v", name, got)
			}
			for _, g := range got {
				if !strings.HasSuffix(g, "unverifiable") {
					t.Errorf("%s: %v", name, got)
				}
			}
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestWhatToLookAt says it of a change as a whole, too.
func TestWhatToLookAt(t *testing.T) {
	many := make([]definitionofdone.FileChange, 21)
	for i := range many {
		many[i] = file(fmt.Sprintf("f%d.go", i))
	}
	all := definitionofdone.CheckBounds(nexus.DefaultDefinitionOfDone(), definitionofdone.MeasuredChange{Files: many, Whole: true})
	if len(all) != 1 || !strings.HasPrefix(all[0].Why, "1 to look at: ") || !strings.Contains(all[0].Why, "21 files") {
		t.Errorf("%+v", all)
	}
}

// TestEachDeletionIsTold names all files that a change takes away, each of which
// has to be explained, and no more than fifty of what other bounds find.
func TestEachDeletionIsTold(t *testing.T) {
	var gone, shells []definitionofdone.FileChange
	for i := range 60 {
		gone = append(gone, definitionofdone.FileChange{Path: fmt.Sprintf("f%d.go", i), Gone: true, Removed: 501})
		shells = append(shells, file(fmt.Sprintf("f%d.py", i), "os.system(cmd)"))
	}
	for bound, files := range map[string][]definitionofdone.FileChange{nexus.DeletionBound: gone, nexus.SinksBound: shells} {
		want := map[string]int{nexus.DeletionBound: 60, nexus.SinksBound: 50}[bound]
		for _, e := range definitionofdone.CheckBounds(nexus.DefaultDefinitionOfDone(), definitionofdone.MeasuredChange{Files: files, Whole: true}) {
			if e.Gate == nexus.DonePrefix+bound {
				if len(e.Findings) != want || !strings.Contains(e.Why, "60 to look at: ") || !strings.HasSuffix(e.Why, " and 40 more") {
					t.Errorf("%s: %d findings: %s", bound, len(e.Findings), e.Why)
				}
				want = 0
			}
		}
		if want > 0 {
			t.Errorf("%s was not looked at", bound)
		}
	}
}

func TestCoverage(t *testing.T) {
	r := nexus.DefaultDefinitionOfDone()
	r.Modes = map[string]nexus.BoundMode{nexus.CoverageBound: nexus.BoundBlock}
	for name, c := range map[string]struct {
		cover *definitionofdone.CoveragePercentage
		want  string
	}{
		"nobody measured":            {nil, "unverifiable"},
		"the command failed":         {&definitionofdone.CoveragePercentage{Why: "it printed no report"}, "unverifiable"},
		"enough":                     {&definitionofdone.CoveragePercentage{Now: 80}, ""},
		"below the target":           {&definitionofdone.CoveragePercentage{Now: 79.9}, "pass suggestion 79.9 % of the lines; the target is 80 %"},
		"below the minimum":          {&definitionofdone.CoveragePercentage{Now: 69.9}, "fail major 69.9 % of the lines; the minimum is 70 %"},
		"it fell below it":           {&definitionofdone.CoveragePercentage{Now: 69.5, Before: 70.2, Had: true}, "fail major 69.5 % of the lines, before it was 70.2 %; the minimum is 70 %"},
		"it was below it before":     {&definitionofdone.CoveragePercentage{Now: 40, Before: 40.5, Had: true}, "pass suggestion 40.0 % of the lines, before it was 40.5 %; the target is 80 %"},
		"lower by more than it may":  {&definitionofdone.CoveragePercentage{Now: 38, Before: 40, Had: true}, "fail major 38.0 % of the lines now, before it was 40.0 %"},
		"high, and much lower":       {&definitionofdone.CoveragePercentage{Now: 90, Before: 92, Had: true}, "fail major 90.0 % of the lines now, before it was 92.0 %"},
		"high, and a little lower":   {&definitionofdone.CoveragePercentage{Now: 91, Before: 92, Had: true}, ""},
		"what was measured is lower": {&definitionofdone.CoveragePercentage{Now: 80, Before: 81, Had: true}, ""},
	} {
		got := ""
		for _, e := range definitionofdone.CheckBounds(r, definitionofdone.MeasuredChange{Whole: true, Cover: c.cover}) {
			got += string(e.State)
			for _, f := range e.Findings {
				got += " " + string(f.Severity) + " " + strings.TrimPrefix(f.Message, "tests run ")
			}
			if definitionofdone.DecidesAboutChange(r, e) != (e.State != nexus.Pass) {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestNewLines names what a change adds and no test goes through: as much of it
// as the target wants is wrong, the rest is told. What nobody measured is no
// percent.
func TestNewLines(t *testing.T) {
	r := nexus.DefaultDefinitionOfDone()
	r.Modes = map[string]nexus.BoundMode{nexus.CoverageBound: nexus.BoundBlock}
	row := func(file string, from, lines int) nexus.UncoveredLines {
		return nexus.UncoveredLines{File: file, From: from, To: from + lines - 1, Lines: lines, Text: "x()"}
	}
	rows := []nexus.UncoveredLines{row("a.go", 10, 4), row("b.go", 3, 2), row("b.go", 9, 1)}
	for name, c := range map[string]struct {
		is   nexus.TestCoverage
		want string
	}{
		"nothing measured": {nexus.TestCoverage{}, "pass"},
		"enough":           {nexus.TestCoverage{New: nexus.CoverageShare{Covered: 9, Total: 10}, Missed: rows[2:]}, "pass, b.go:9-0 suggestion"},
		"a little":         {nexus.TestCoverage{New: nexus.CoverageShare{Covered: 7, Total: 10}, Missed: rows[1:]}, "pass, :0-0 suggestion, b.go:3-4 suggestion, b.go:9-0 suggestion"},
		"too few":          {nexus.TestCoverage{New: nexus.CoverageShare{Covered: 3, Total: 10}, Missed: rows}, "fail, :0-0 major, a.go:10-13 major, b.go:3-4 major, b.go:9-0 suggestion"},
		"none":             {nexus.TestCoverage{New: nexus.CoverageShare{Total: 4}, Missed: rows[:1]}, "fail, :0-0 major, a.go:10-13 major"},
		"unknown":          {nexus.TestCoverage{Unknown: []string{"c.go"}}, "fail, c.go:0-0 major"},
	} {
		all := definitionofdone.CheckBounds(r, definitionofdone.MeasuredChange{Whole: true, Cover: &definitionofdone.CoveragePercentage{Now: 90, Measured: &c.is}})
		if len(all) != 1 || all[0].Coverage == nil {
			t.Fatalf("%s: %+v", name, all)
		}
		got := string(all[0].State)
		for _, f := range all[0].Findings {
			got += fmt.Sprintf(", %s:%d-%d %s", f.File, f.Line, f.EndLine, f.Severity)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := definitionofdone.CoverageSummary(nexus.TestCoverage{
		Lines: nexus.CoverageChange{CoverageShare: nexus.CoverageShare{Covered: 1, Total: 2}, Before: &nexus.CoverageShare{Covered: 3, Total: 4}}, New: nexus.CoverageShare{Covered: 1, Total: 3},
	}); got != "lines 50.0 % (-25.0), new lines 33.3 % (1 of 3)" {
		t.Error(got)
	}
}

// TestModes lets nothing that only warns decide, and nothing that is off be
// heard of.
func TestModes(t *testing.T) {
	m := definitionofdone.MeasuredChange{Whole: true, Files: []definitionofdone.FileChange{file(".env"), file("a.py", "eval(x)")}, Deps: []definitionofdone.AddedDependency{{Name: "x@1"}}}
	for mode, want := range map[nexus.BoundMode][3]string{
		nexus.BoundOff:   {"", "", ""},
		nexus.BoundWarn:  {"pass false", "pass false", "unverifiable false"},
		nexus.BoundBlock: {"fail true", "fail true", "unverifiable true"},
	} {
		r := nexus.DefaultDefinitionOfDone()
		for n := range r.Modes {
			r.Modes[n] = mode
		}
		got := map[string]string{}
		for _, e := range definitionofdone.CheckBounds(r, m) {
			got[strings.TrimPrefix(e.Gate, nexus.DonePrefix)] = fmt.Sprint(e.State, " ", definitionofdone.DecidesAboutChange(r, e))
		}
		if have := [3]string{got[nexus.SecretsBound], got[nexus.SinksBound], got[nexus.LicencesBound]}; have != want {
			t.Errorf("%s: %v", mode, have)
		}
	}
	if got := definitionofdone.CheckBounds(nexus.DefinitionOfDone{}, m); got != nil {
		t.Errorf("no rules: %v", got)
	}
}

func TestSinks(t *testing.T) {
	harm := map[string][]string{
		"go": {`exec.Command("sh", "-c", cmd)`, `exec.CommandContext(ctx, "/bin/bash", "-c", s)`, `c := &tls.Config{InsecureSkipVerify: true}`, `return template.HTML(name)`, `fmt.Sprintf("SELECT * FROM t WHERE id = %s", id)`},
		"py": {`eval(x)`, `subprocess.run(cmd, shell=True)`, `pickle.loads(data)`, `yaml.load(f)`, `requests.get(u, verify=False)`, `cur.execute(f"select {x}")`, `cur.execute("select " + "%s" % x)`},
		"ts": {`eval(code)`, "exec(`rm ${dir}`)", `el.innerHTML = name`, `rejectUnauthorized: false`, "db.query(`select ${id}`)"},
		"rb": {`eval(x)`, `Marshal.load(x)`}, "php": {`unserialize($x)`}, "c": {`strcpy(a, b);`, `system(cmd);`}, "rs": {`unsafe { x }`}, "sh": {`eval "$x"`}, "java": {`Runtime.getRuntime().exec(cmd)`},
	}
	for end, lines := range harm {
		for _, l := range lines {
			if got := definitionofdone.CheckBounds(nexus.DefaultDefinitionOfDone(), definitionofdone.MeasuredChange{Whole: true, Files: []definitionofdone.FileChange{file("a."+end, l)}}); len(got) != 1 {
				t.Errorf("%s: %s is not found", end, l)
			}
		}
	}
	for end, lines := range map[string][]string{
		"go": {`exec.Command("git", "status")`, `template.HTML("<b>")`, `// exec.Command("sh", "-c", x)`, `fmt.Sprintf("selected %s", x)`},
		"py": {`model.eval()`, `subprocess.run([a, b])`, `yaml.load(f, Loader=yaml.SafeLoader)`, `cur.execute("select 1 where a = %s", (x,))`, `retrieval(x)`},
		"ts": {`regexp.exec(text)`, `el.textContent = name`, `el.innerHTML = ""`}, "c": {`snprintf(a, 4, "x");`}, "rs": {`// unsafe { x }`}, "sh": {`medieval x`},
	} {
		for _, l := range lines {
			if got := definitionofdone.CheckBounds(nexus.DefaultDefinitionOfDone(), definitionofdone.MeasuredChange{Whole: true, Files: []definitionofdone.FileChange{file("a."+end, l)}}); len(got) != 0 {
				t.Errorf("%s: %s is found: %+v", end, l, got)
			}
		}
	}
}

const patch = "diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -3 +3,2 @@ func A\n-old\n+new\n++++ b/x\n" +
	"@@ -9,2 +10,0 @@\n--- a/y\n-gone\n\\ No newline at end of file\n" +
	"diff --git \"a/b\\tc\" \"b/b\\tc\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/b\\tc\"\n@@ -0,0 +1 @@\n+one\n" +
	"diff --git a/d e b/d e\ndeleted file mode 100644\n--- a/d e\t\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\n" +
	"diff --git a/empty b/empty\nnew file mode 100644\nindex 0..0\n"

func TestRead(t *testing.T) {
	want := []definitionofdone.FileChange{
		{Path: "a.go", Added: []definitionofdone.AddedPatchLine{{3, "new"}, {4, "+++ b/x"}}, Removed: 3},
		{Path: "b\tc", New: true, Added: []definitionofdone.AddedPatchLine{{1, "one"}}},
		{Path: "d e", Gone: true, Removed: 1},
		{Path: "empty", New: true},
	}
	if d := cmp.Diff(want, definitionofdone.ParsePatch(patch)); d != "" {
		t.Error(d)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(patch)
	f.Add("@@ -1 +1 @@\n+x\ndiff --git \n+++ \n@@ -1,99999999999999999999 +1 @@\n")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for _, f := range definitionofdone.ParsePatch(text) {
			n += len(f.Added) + f.Removed
		}
		if n > strings.Count(text, "\n")+1 {
			t.Errorf("%d lines of %q", n, text)
		}
		definitionofdone.CheckBounds(nexus.DefaultDefinitionOfDone(), definitionofdone.MeasuredChange{Files: definitionofdone.ParsePatch(text), Whole: true})
	})
}
