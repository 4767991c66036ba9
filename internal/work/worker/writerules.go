package worker

import (
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// roleWriteRule returns a rule about the files that a role may not write in an attempt with a
// strategy: those that its row of the permission matrix forbids, and those that the strategy
// forbids. It is nil if all may be written.
func roleWriteRule(way nexus.WritingStrategy, role agent.RoleDefinition) func(file string) error {
	own, more := role.Writes.MakeWriteCheck(), repair.FileWriteRule(way, role.Name)
	switch {
	case role.Writes == agent.WriteNothing:
		return own
	case role.Writes == agent.WriteTests && repair.MayWriteBeyondRights(way, role.Name):
		return more
	default:
		return tool.CombineWriteRules(own, more)
	}
}

// unchangeableFilesRule returns a rule that forbids changes of files; nil if there are none.
func unchangeableFilesRule(files []string) func(file string) error {
	if len(files) == 0 {
		return nil
	}
	return func(file string) error {
		if !slices.Contains(files, file) {
			return nil
		}
		return fmt.Errorf("%s is refused (task.keep): it judges this work, which may not change it", file)
	}
}
