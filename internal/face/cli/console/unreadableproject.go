package console

import "github.com/nexus-ai-builder/nexus/internal/view"

// WarnOfUnreadableProject warns that the project's settings cannot be read, and are missing in the
// command's output.
func (a *Console) WarnOfUnreadableProject() {
	if err := a.SkipUnreadableProject(); err != nil {
		a.Say("nexus.toml is left out, because it cannot be read: %s", view.EscapeForTerminal(err.Error()))
	}
}
