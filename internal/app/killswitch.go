package app

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/killswitch"
)

// KillSwitch returns the kill switch of a state directory: the machine's, the user's and the
// repository's own. An empty state is no repository.
func (a *App) KillSwitch(state string) killswitch.Switch {
	var all killswitch.Switch
	for dir := range strings.SplitSeq(cmp.Or(a.Env("XDG_CONFIG_DIRS"), "/etc/xdg"), ":") {
		if filepath.IsAbs(dir) {
			all = append(all, filepath.Join(dir, "nexus"))
		}
	}
	all = append(all, a.StateHome())
	if state != "" {
		all = append(all, state)
	}
	return all
}
