package definitionofdone_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestTaken holds which files are deleted or rewritten beyond a task, and what
// that comes to with and without an explanation.
func TestTaken(t *testing.T) {
	gone := definitionofdone.FileChange{Path: "lib/old.go", Gone: true, Removed: 200}
	long := func(removed, was int) definitionofdone.FileChange {
		return definitionofdone.FileChange{Path: "lib/long.go", Removed: removed, Was: was}
	}
	fresh := func(f definitionofdone.FileChange) definitionofdone.FileChange {
		f.Added = []definitionofdone.AddedPatchLine{{Number: 1, Text: "stub"}}
		return f
	}
	said := func(names ...string) (all []nexus.RemovalExplanation) {
		for _, n := range names {
			all = append(all, nexus.RemovalExplanation{Name: n, Why: "unused"})
		}
		return all
	}
	for name, c := range map[string]struct {
		files []definitionofdone.FileChange
		plan  []string
		task  *definitionofdone.TaskWording
		state nexus.GateState // zero: nothing is told
		names []string        // of what is to be agreed to
	}{
		"deleted":                     {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{}, state: nexus.Fail},
		"deleted and explained":       {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Said: said("./lib/old.go")}, state: nexus.Pass, names: []string{"lib/old.go"}},
		"one of two explained":        {files: []definitionofdone.FileChange{gone, long(30, 40)}, task: &definitionofdone.TaskWording{Said: said("lib/old.go")}, state: nexus.Fail, names: []string{"lib/old.go"}},
		"explained by another name":   {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Said: said("old.go")}, state: nexus.Fail},
		"explained with no reason":    {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Said: []nexus.RemovalExplanation{{Name: "lib/old.go", Why: " "}}}, state: nexus.Fail},
		"nobody is there to explain":  {files: []definitionofdone.FileChange{gone}, state: nexus.Pass},
		"moved":                       {files: []definitionofdone.FileChange{{Path: "lib/old.go", Gone: true, Removed: 200, MovedTo: "pkg/new.go"}}, task: &definitionofdone.TaskWording{}},
		"moved among the hidden":      {files: []definitionofdone.FileChange{{Path: ".a/old.go", Gone: true, Removed: 200, MovedTo: ".b/old.go"}}, task: &definitionofdone.TaskWording{}},
		"put aside by its ending":     {files: []definitionofdone.FileChange{{Path: "lib/old.go", Gone: true, Removed: 200, MovedTo: "lib/old.go.txt"}}, task: &definitionofdone.TaskWording{}, state: nexus.Fail},
		"put aside as a copy":         {files: []definitionofdone.FileChange{{Path: "lib/old.go", Gone: true, Removed: 200, MovedTo: "lib/old.bak"}}, task: &definitionofdone.TaskWording{}, state: nexus.Fail},
		"put aside by a mark":         {files: []definitionofdone.FileChange{{Path: "lib/old.go", Gone: true, Removed: 200, MovedTo: "lib/_old.go"}}, task: &definitionofdone.TaskWording{}, state: nexus.Fail},
		"put aside in a directory":    {files: []definitionofdone.FileChange{{Path: "lib/old.go", Gone: true, Removed: 200, MovedTo: ".attic/old.go"}}, task: &definitionofdone.TaskWording{Said: said("lib/old.go")}, state: nexus.Pass, names: []string{"lib/old.go"}},
		"a lock file":                 {files: []definitionofdone.FileChange{{Path: "go.sum", Removed: 200, Was: 200}}, task: &definitionofdone.TaskWording{}},
		"rewritten":                   {files: []definitionofdone.FileChange{long(20, 40)}, task: &definitionofdone.TaskWording{}, state: nexus.Fail},
		"less than half":              {files: []definitionofdone.FileChange{long(20, 41)}, task: &definitionofdone.TaskWording{}},
		"few lines":                   {files: []definitionofdone.FileChange{fresh(long(19, 20))}, task: &definitionofdone.TaskWording{}},
		"a stub for a short file":     {files: []definitionofdone.FileChange{fresh(long(5, 5))}, task: &definitionofdone.TaskWording{}, state: nexus.Fail},
		"all of four lines":           {files: []definitionofdone.FileChange{fresh(long(4, 4))}, task: &definitionofdone.TaskWording{}},
		"emptied":                     {files: []definitionofdone.FileChange{long(2, 2)}, task: &definitionofdone.TaskWording{}, state: nexus.Fail},
		"lines taken away":            {files: []definitionofdone.FileChange{long(2, 3)}, task: &definitionofdone.TaskWording{}},
		"nobody counted":              {files: []definitionofdone.FileChange{{Path: "a.go"}}, task: &definitionofdone.TaskWording{}},
		"a check runs its directory":  {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Checks: []string{"go test ./lib/..."}}, state: nexus.Fail},
		"a check has its name":        {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Checks: []string{"test ! -e ./lib/old.go"}}},
		"the plan names it":           {files: []definitionofdone.FileChange{gone}, plan: []string{"lib"}, task: &definitionofdone.TaskWording{}},
		"the brief names it":          {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Texts: []string{"Delete `old.go`."}}},
		"a text names its directory":  {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Texts: []string{"Remove ./lib/, all of it"}}},
		"a text has a pattern":        {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Texts: []string{"no lib/*.go"}}},
		"a word is no file":           {files: []definitionofdone.FileChange{{Path: "cmd/main", Gone: true}}, task: &definitionofdone.TaskWording{Texts: []string{"the main point"}}, state: nexus.Fail},
		"a lone star names nothing":   {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Texts: []string{"a * b, and */ ends it"}}, state: nexus.Fail},
		"a file with a capital":       {files: []definitionofdone.FileChange{{Path: "Makefile", Gone: true}}, task: &definitionofdone.TaskWording{Texts: []string{"drop the Makefile"}}},
		"a name that ends like it":    {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Texts: []string{"see very-old.go"}}, state: nexus.Fail},
		"another file of that folder": {files: []definitionofdone.FileChange{gone}, task: &definitionofdone.TaskWording{Texts: []string{"change lib/new.go"}}, state: nexus.Fail},
	} {
		r := nexus.DefaultDefinitionOfDone()
		r.Modes = map[string]nexus.BoundMode{nexus.DeletionBound: nexus.BoundBlock}
		var state nexus.GateState
		var names []string
		all := definitionofdone.CheckBounds(r, definitionofdone.MeasuredChange{Files: c.files, Planned: c.plan, Whole: true, Task: c.task})
		for _, e := range all {
			state = e.State
		}
		for _, f := range definitionofdone.ExplainedFindings(all) {
			names = append(names, f.Name)
		}
		if state != c.state {
			t.Errorf("%s: %q, and not %q", name, state, c.state)
		}
		if diff := cmp.Diff(c.names, names); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestTakenOfEachBound holds that what is deleted and what is built is agreed to
// by name where it is explained, and nothing else.
func TestTakenOfEachBound(t *testing.T) {
	explained, plain := nexus.Finding{Name: "a", Explained: "needed"}, nexus.Finding{Name: "b"}
	for name, want := range map[string]int{nexus.DeletionBound: 1, nexus.BuiltBound: 1, nexus.ScopeBound: 0} {
		if got := definitionofdone.ExplainedFindings([]nexus.GateEvidence{{Gate: nexus.DonePrefix + name, Findings: []nexus.Finding{explained, plain}}}); len(got) != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestCounted asks for how many lines a file had where that may matter.
func TestCounted(t *testing.T) {
	one := []definitionofdone.AddedPatchLine{{Number: 1, Text: "x"}}
	for name, c := range map[string]struct {
		f         definitionofdone.FileChange
		rewritten int
		want      bool
	}{
		"emptied":             {definitionofdone.FileChange{Removed: 1}, 0, true},
		"nothing taken away":  {definitionofdone.FileChange{}, 100, false},
		"new":                 {definitionofdone.FileChange{New: true, Removed: 1}, 100, false},
		"gone":                {definitionofdone.FileChange{Gone: true, Removed: 1}, 100, false},
		"less than a stub":    {definitionofdone.FileChange{Removed: 4, Added: one}, 100, false},
		"a stub":              {definitionofdone.FileChange{Removed: 5, Added: one}, 100, true},
		"less than the rules": {definitionofdone.FileChange{Removed: 2, Added: one}, 3, false},
		"as the rules":        {definitionofdone.FileChange{Removed: 3, Added: one}, 3, true},
		"no such rule":        {definitionofdone.FileChange{Removed: 500, Added: one}, 0, false},
	} {
		r := nexus.DefaultDefinitionOfDone()
		r.Rewritten = c.rewritten
		if got := c.f.NeedsLineCount(r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
