package toy

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// edit changes what the role is to change.
func (x *Actor) edit(role nexus.Role) tree {
	if x.scenario.know != nil && role == nexus.Coder {
		return x.learn()
	}
	t, task := x.tree(), x.View.Task
	content := x.id(string(x.a.ID) + ":")
	if x.scenario.stubborn[task.ID] || x.roll(x.scenario.bad) {
		content += "-"
	}
	if role == nexus.Merger {
		for f := range t.Files() {
			if strings.Contains(f.Content, "|") {
				t = t.With(f.Name, content)
			}
		}
		return t
	}
	if role == nexus.Tester || x.pick(3) == 0 {
		t = t.With(string(task.ID)+"_test", content)
	}
	if role == nexus.Coder {
		t = t.With(task.Files[x.pick(len(task.Files))], content)
	}
	if x.roll(x.scenario.stray) {
		t = t.With("shared", content)
	}
	return t
}
