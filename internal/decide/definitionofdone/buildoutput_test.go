package definitionofdone_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestLeftovers are what nobody commits: found by their names and their content,
// the files of a cache once, and nothing that is planned, of tests, or in a cache
// that the base has.
func TestLeftovers(t *testing.T) {
	elf, large := "\x7fELF\x02", "\x00"+strings.Repeat("x", 600<<10)
	rules := nexus.DefinitionOfDone{Modes: map[string]nexus.BoundMode{nexus.BuiltBound: nexus.BoundBlock}}
	for name, c := range map[string]struct{ path, text, found, says string }{
		"python's cache":       {"a/__pycache__/b.cpython-313.pyc", "x", "a/__pycache__/", "a cache"},
		"of tests, too":        {"tests/__pycache__/b.pyc", "x", "tests/__pycache__/", "a cache"},
		"installed packages":   {"node_modules/x/index.js", "x", "node_modules/", "installed packages"},
		"a build of cargo":     {"target/debug/app.d", "x", "target/", "a cache"},
		"a build of maven":     {"sub/target/classes/A.class", "x", "sub/target/", "a cache"},
		"another target":       {"src/target/a.go", "x", "", ""},
		"a system's file":      {"docs/.DS_Store", "x", "docs/.DS_Store", "an editor"},
		"an editor's":          {".a.go.swp", "x", ".a.go.swp", "an editor"},
		"a backup":             {"a.go.orig", "x", "a.go.orig", "an editor"},
		"a core dump":          {"core.4711", elf, "core.4711", "a core dump"},
		"another core":         {"core", "the core of it", "", ""},
		"a program":            {"tool", elf, "tool", "a compiled file"},
		"a program of a test":  {"testdata/tool", elf, "", ""},
		"a log":                {"server.log", "x", "server.log", "printed"},
		"a log of a test":      {"testdata/server.log", "x", "", ""},
		"a large binary":       {"data.bin", large, "data.bin", "more than 512 KB"},
		"a small binary":       {"logo.png", "\x00", "", ""},
		"a large text":         {"data.csv", large[1:], "", ""},
		"a planned log":        {"planned.log", "x", "", ""},
		"code":                 {"a.go", "x", "", ""},
		"a cache of the base":  {"vendor/node_modules/x.js", "x", "", ""},
		"no name but an end":   {".tmp", "x", "", ""},
		"a directory with egg": {"a.egg-info/PKG-INFO", "x", "a.egg-info/", "a cache"},
	} {
		f := definitionofdone.FileChange{Path: c.path, New: true, Added: []definitionofdone.AddedPatchLine{{Number: 1, Text: c.text}}}
		m := definitionofdone.MeasuredChange{
			Tree: "t", Whole: true, Task: &definitionofdone.TaskWording{}, Planned: []string{"planned.log"},
			Caches: []string{"vendor/node_modules/"}, Files: []definitionofdone.FileChange{f, f},
		}
		var found []nexus.Finding
		for _, e := range definitionofdone.CheckBounds(rules, m) {
			found = append(found, e.Findings...)
		}
		if c.found == "" {
			if len(found) > 0 {
				t.Errorf("%s: %+v", name, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Name != c.found || !strings.Contains(found[0].Message, c.says) || found[0].Severity != nexus.Major {
			t.Errorf("%s: %+v", name, found)
		}
		m.Task.Said = []nexus.RemovalExplanation{{Name: c.found, Why: "it is needed"}}
		if all := definitionofdone.CheckBounds(rules, m); len(all) != 1 || !all[0].Passed() {
			t.Errorf("%s: explained: %+v", name, all)
		}
		m.Files[0].New, m.Files[1].New = false, false
		if all := definitionofdone.CheckBounds(rules, m); len(all) > 0 && len(all[0].Findings) > 0 {
			t.Errorf("%s: it was there before: %+v", name, all)
		}
	}
}
