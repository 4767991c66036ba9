package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// ExistingTreeFiles describes the existing code that a plan may break.
type ExistingTreeFiles struct {
	// Has reports whether the tree of the plan has a file or a directory.
	Has func(name string) bool
	// Gate returns the gate whose tests passed on that tree, by the directory of its package; ""
	// is that of the whole repository.
	Gate map[string]string
}

// AddRegressionCriteria adds to each task that changes existing code the criterion that this keeps
// working ([nexus.KeptText]), if tests can prove it. A task that has the most criteria already
// gets none: [Risks] reports that.
func AddRegressionCriteria(tasks []nexus.Task, e ExistingTreeFiles, most nexus.TaskSizeLimits) {
	most = prompt.TaskSizeWithDefaults(most)
	for i := range tasks {
		t := &tasks[i]
		gate := e.Gate[""]
		if own := e.Gate[t.Package]; own != "" {
			gate = own
		}
		code := t.Kind == "" || t.Kind == nexus.CodeTask
		room := len(t.Criteria) < most.Criteria && countCharacters(*t)+len(nexus.KeptText) <= most.Characters
		if gate == "" || !room || !code || !e.hasAnyFile(t.Files) || slices.ContainsFunc(t.Criteria, nexus.Criterion.IsRegressionOnly) {
			continue
		}
		t.Criteria = append(t.Criteria, nexus.Criterion{Text: nexus.KeptText, Check: gate})
	}
}

// hasAnyFile reports whether one of some declared files exists. A task that declares none may
// change any, and a pattern all files in its directory.
func (e ExistingTreeFiles) hasAnyFile(files []string) bool {
	return len(files) == 0 || slices.ContainsFunc(files, func(f string) bool {
		if i := strings.IndexAny(f, "*?[{"); i >= 0 {
			f = path.Dir(f[:i] + "x")
		}
		return f == "." || e.Has(f)
	})
}
