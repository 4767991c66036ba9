package changemetrics_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
)

const tracefile = "TN:\nSF:src/a.js\nFN:1,f\nFNDA:2,f\nFNF:1\nFNH:1\nDA:1,2\nDA:2,0\nBRF:4\nBRH:1\nend_of_record\n" +
	"SF:./src/b.js\r\nDA:3,1,abcdef\r\nBRDA:3,0,0,-\r\nBRDA:3,0,1,5\r\nend_of_record\r\nwarning: DA:9,9\n"

const coberturaParserPosition = `<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage lines-valid="3" lines-covered="2" branches-valid="0" branches-covered="0">
<sources><source>/build/tree/src</source></sources><packages><package><classes>
<class name="a.py" filename="pkg/a.py"><methods><method name="f"><lines><line number="1" hits="1"/></lines></method></methods>
<lines><line number="1" hits="1"/><line number="2" hits="0" branch="true" condition-coverage="50% (1/2)"/><line number="4" hits="3"/></lines></class>
</classes></package></packages></coverage>
some noise <line number="9" hits="9"/>`

const readGoProfile = "mode: set\nexample.org/x/p.go:3.21,4.11 1 0\nexample.org/x/p.go:4.11,6.3 2 0\nexample.org/x/p.go:3.21,4.11 1 4\nexample.org/x/p.go:9.2,9.3 0 0\nok  \texample.org/x\t0.1s\n"

const modules = `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report name="a"><sessioninfo id="x" start="1" dump="2"/>
<package name="org/x"><class name="org/x/A" sourcefilename="A.java"><method name="f"><counter type="METHOD" missed="9" covered="9"/></method></class>
<sourcefile name="A.java"><line nr="3" mi="0" ci="2" mb="1" cb="1"/><line nr="4" mi="1" ci="0" mb="0" cb="0"/><counter type="BRANCH" missed="1" covered="1"/><counter type="METHOD" missed="0" covered="1"/></sourcefile>
<counter type="BRANCH" missed="1" covered="1"/></package></report>
<?xml version="1.0"?><report name="b"><package name="org/y"><sourcefile name="B.java"><line nr="7" mi="3" ci="0"/></sourcefile></package></report>`

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		format, text string
		want         changemetrics.CoverageReport
	}{
		"lcov": {changemetrics.LCOV, tracefile, changemetrics.CoverageReport{
			Files: []*changemetrics.FileCoverage{
				{Names: []string{"src/a.js"}, Lines: map[int]int{1: 2, 2: 0}, Branches: nexus.CoverageShare{Covered: 1, Total: 4}, Functions: nexus.CoverageShare{Covered: 1, Total: 1}},
				{Names: []string{"src/b.js"}, Lines: map[int]int{3: 1}, Branches: nexus.CoverageShare{Covered: 1, Total: 2}},
			},
		}},
		"cobertura": {changemetrics.Cobertura, coberturaParserPosition, changemetrics.CoverageReport{
			Files: []*changemetrics.FileCoverage{{Names: []string{"pkg/a.py", "/build/tree/src/pkg/a.py"}, Lines: map[int]int{1: 1, 2: 0, 4: 3}, Branches: nexus.CoverageShare{Covered: 1, Total: 2}, Functions: nexus.CoverageShare{Covered: 1, Total: 1}}},
		}},
		"a profile of Go": {changemetrics.GoCover, readGoProfile, changemetrics.CoverageReport{
			Files: []*changemetrics.FileCoverage{{Names: []string{"example.org/x/p.go"}, Lines: map[int]int{3: 4, 4: 4, 5: 0, 6: 0}, Statements: nexus.CoverageShare{Covered: 1, Total: 3}}},
		}},
		"jacoco": {changemetrics.JaCoCo, modules, changemetrics.CoverageReport{
			Files: []*changemetrics.FileCoverage{
				{Of: changemetrics.CoverageReportModule{Number: 1, Name: "a"}, Names: []string{"org/x/A.java"}, Lines: map[int]int{3: 2, 4: 0}, Branches: nexus.CoverageShare{Covered: 1, Total: 2}, Functions: nexus.CoverageShare{Covered: 1, Total: 1}},
				{Of: changemetrics.CoverageReportModule{Number: 2, Name: "b"}, Names: []string{"org/y/B.java"}, Lines: map[int]int{7: 0}},
			},
		}},
		"another": {"junit", tracefile, changemetrics.CoverageReport{}},
	} {
		if d := cmp.Diff(c.want, changemetrics.ReadCoverageReport(c.format, c.text)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestPlace finds the files of a report in a tree, and takes none for another
// that has its name.
func TestPlace(t *testing.T) {
	tree := []string{"a.js", "src/a.js", "src/b.js", "web/lib/c.js", "web/lib/d.js", "gen.go", "sub/p.go", "p.go"}
	modules := map[string]string{"example.org/x": ".", "example.org/x/sub": "sub"}
	for name, c := range map[string]struct {
		names []string
		want  map[string]bool
	}{
		"from the root":            {[]string{"src/a.js", "src/b.js"}, map[string]bool{"src/a.js": true, "src/b.js": true}},
		"of the machine":           {[]string{"/b/tree/src/a.js", "/b/tree/src/b.js", "/b/tree/gen/a.js"}, map[string]bool{"src/a.js": true, "src/b.js": true}},
		"from a package":           {[]string{"lib/c.js", "lib/d.js"}, map[string]bool{"web/lib/c.js": true, "web/lib/d.js": true}},
		"of modules":               {[]string{"example.org/x/gen.go", "example.org/x/sub/p.go"}, map[string]bool{"gen.go": true, "sub/p.go": true}},
		"of a package that is not": {[]string{"example.org/x/gone/p.go"}, nil},
		"of another module":        {[]string{"example.net/y/p.go"}, nil},
		"nowhere":                  {[]string{"/usr/lib/node.js", ""}, nil},
	} {
		r := changemetrics.CoverageReport{}
		for _, n := range c.names {
			r.Files = append(r.Files, &changemetrics.FileCoverage{Names: []string{n}, Lines: map[int]int{1: 1}})
		}
		p := changemetrics.PlaceCoverage(r, tree, modules)
		for _, file := range tree {
			if got := p.LineHits(file) != nil; got != c.want[file] {
				t.Errorf("%s: %s told of: %v", name, file, got)
			}
		}
		if p.CoversFileKind("x.js") != (c.want["src/a.js"] || c.want["web/lib/c.js"]) {
			t.Errorf("%s: tells of x.js: %v", name, p.CoversFileKind("x.js"))
		}
	}
}

// TestPlaceOfModules finds the files of JaCoCo's modules, whose names begin with
// their packages, each in its own.
func TestPlaceOfModules(t *testing.T) {
	report := func(lead, name string, files ...string) string {
		text := lead + `<report name="` + name + `">`
		for _, f := range files {
			dir, base := path.Split(f)
			text += `<package name="` + strings.TrimSuffix(dir, "/") + `"><sourcefile name="` + base + `"><line nr="1" ci="1"/></sourcefile></package>`
		}
		return text + `</report>`
	}
	tree := []string{
		"pom.xml", "src/main/java/org/x/Main.java", "core/src/main/java/org/x/Main.java", "core/src/main/java/org/x/A.java", "core/src/main/kotlin/org/x/B.kt",
		"web/src/main/java/org/x/Main.java", "web/src/main/java/org/x/A.java", "web/src/main/java/org/x/Gen.java", "web/deep/src/org/x/D.java",
	}
	for name, c := range map[string]struct {
		text, below string
		want        []string
	}{
		"each by its directory": {
			report("<?nexus .?>", "all", "org/x/Main.java") + report("<?nexus ./core?>", "c", "org/x/Main.java", "org/x/B.kt", "org/x/Gen.java") + report("<?nexus ./web/deep?>", "d", "org/x/D.java", "org/x/A.java"), "",
			[]string{"src/main/java/org/x/Main.java", "core/src/main/java/org/x/Main.java", "core/src/main/kotlin/org/x/B.kt", "web/deep/src/org/x/D.java"},
		},
		"below a directory": {report("<?nexus .?>", "w", "org/x/Main.java"), "web", []string{"web/src/main/java/org/x/Main.java"}},
		"each by its files": {
			report("", "1", "org/x/Gen.java", "org/x/A.java") + report("", "2", "org/x/D.java"), "",
			[]string{"web/src/main/java/org/x/Gen.java", "web/src/main/java/org/x/A.java", "web/deep/src/org/x/D.java"},
		},
		"each by its name": {
			report("", "core", "org/x/A.java") + report("", "web", "org/x/A.java"), "",
			[]string{"core/src/main/java/org/x/A.java", "web/src/main/java/org/x/A.java"},
		},
		"groups of one": {
			`<report name="all"><group name="web"><package name="org/x"><sourcefile name="A.java"><line nr="1" ci="1"/></sourcefile></package></group><group name="core"><package name="org/x"><sourcefile name="A.java"><line nr="1" ci="0"/></sourcefile></package></group></report>`, "",
			[]string{"core/src/main/java/org/x/A.java", "web/src/main/java/org/x/A.java"},
		},
	} {
		p := changemetrics.PlaceCoverage(changemetrics.ReadCoverageReport(changemetrics.JaCoCo, c.text).WithDirectory(c.below), tree, nil)
		for _, file := range tree {
			if got := p.LineHits(file) != nil; got != slices.Contains(c.want, file) {
				t.Errorf("%s: %s told of: %v", name, file, got)
			}
		}
	}
}

func TestAdded(t *testing.T) {
	lines := []changemetrics.ChangeAddedLine{{1, "a()"}, {2, "b()"}, {3, "// why"}, {4, "c()"}, {5, "}"}, {6, "d()"}, {9, "e()"}, {10, "f()"}, {11, "not told of"}}
	hits := map[int]int{1: 1, 2: 0, 3: 0, 4: 0, 5: 0, 6: 1, 7: 0, 9: 0, 10: 0}
	share, missed := changemetrics.MeasureAddedLines("x.go", lines, hits)
	want := []nexus.UncoveredLines{{File: "x.go", From: 2, To: 4, Lines: 2, Text: "b()"}, {File: "x.go", From: 9, To: 10, Lines: 2, Text: "e()"}}
	if d := cmp.Diff(want, missed); d != "" || share != (nexus.CoverageShare{Covered: 2, Total: 6}) {
		t.Error(share, d)
	}
}

func FuzzRead(f *testing.F) {
	for i, text := range []string{tracefile, coberturaParserPosition, readGoProfile, modules} {
		f.Add(uint8(i), text)
	}
	f.Add(uint8(2), "mode: set\na:1.1,999999999.1 1 1\na:1.1,999999999.1 1 1\n")
	f.Fuzz(func(t *testing.T, format uint8, text string) {
		r := changemetrics.ReadCoverageReport([]string{changemetrics.LCOV, changemetrics.Cobertura, changemetrics.GoCover, changemetrics.JaCoCo}[format%4], text)
		for _, file := range r.Files {
			for line, hits := range file.Lines {
				if line < 1 || hits < 0 {
					t.Fatalf("%s:%d was run %d times", file.Names[0], line, hits)
				}
			}
		}
		p := changemetrics.PlaceCoverage(r, []string{"a.js", "src/a.js", "pkg/a.py", "p.go"}, map[string]string{"example.org/x": "."})
		all := p.SumCoverage(func(string) bool { return true })
		for _, s := range []nexus.CoverageShare{all.Lines, all.Branches, all.Functions, all.Statements} {
			if s.Covered < 0 || s.Covered > s.Total {
				t.Fatalf("%d of %d", s.Covered, s.Total)
			}
		}
		changemetrics.MeasureAddedLines("a.js", []changemetrics.ChangeAddedLine{{1, text}}, p.LineHits("a.js"))
	})
}
