package bounds

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// built names the compiled files that a change adds and the plan of its task
// does not name, each with what its submission says. A word of the task that is
// the file's name is not one of the plan's: a program is called as the task calls
// it, and is made by whoever tries it.
func built(m Measured) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range m.Files {
		if !f.New || len(f.Added) == 0 || !compiled(f.Added[0].Text) || m.planned(f.Path) || stack.ServesTests(f.Path) {
			continue
		}
		found = append(found, nexus.Finding{
			File: f.Path, Name: f.Path, Message: "the change adds a compiled file that the task's plan does not name",
			Advice: "Delete it. To try a program, build it below /tmp.",
		})
	}
	if m.Task != nil {
		found = tamper.Explain(found, m.Task.Said)
	}
	return found
}

// compiled reports whether a file starts as what compilers and linkers write.
func compiled(start string) bool {
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\x00asm", "!<arch>"} {
		if strings.HasPrefix(start, magic) {
			return true
		}
	}
	return strings.HasPrefix(start, "MZ") && strings.Contains(start, "\x00")
}
