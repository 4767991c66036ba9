package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// Existing is what a plan may break.
type Existing struct {
	// Has reports whether the tree that the plan is made for has a file or a directory.
	Has func(name string) bool
	// Gate names the gate whose tests passed on that tree, by the directory of the package that
	// they are of; "" is that of the whole repository.
	Gate map[string]string
}

// AddKeptCriteria gives each task that changes what exists the criterion that this keeps working
// ([nexus.KeptText]), where tests can show it. A task that has as many criteria as it may
// have gets none: [Risks] says that.
func AddKeptCriteria(tasks []nexus.Task, e Existing, most nexus.Size) {
	most = prompt.SizeWithDefaults(most)
	for i := range tasks {
		t := &tasks[i]
		gate := e.Gate[""]
		if own := e.Gate[t.Package]; own != "" {
			gate = own
		}
		code := t.Kind == "" || t.Kind == nexus.CodeTask
		room := len(t.Criteria) < most.Criteria && letters(*t)+len(nexus.KeptText) <= most.Characters
		if gate == "" || !room || !code || !e.touched(t.Files) || slices.ContainsFunc(t.Criteria, nexus.Criterion.Kept) {
			continue
		}
		t.Criteria = append(t.Criteria, nexus.Criterion{Text: nexus.KeptText, Check: gate})
	}
}

// touched reports whether one of some declared files is there. A task that declares none
// may change any, and a pattern all that its directory holds.
func (e Existing) touched(files []string) bool {
	return len(files) == 0 || slices.ContainsFunc(files, func(f string) bool {
		if i := strings.IndexAny(f, "*?[{"); i >= 0 {
			f = path.Dir(f[:i] + "x")
		}
		return f == "." || e.Has(f)
	})
}
