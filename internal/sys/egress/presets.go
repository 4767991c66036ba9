package egress

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Preset returns the hosts of a preset.
func Preset(name string) ([]string, error) {
	for _, p := range table() {
		if p.name == name {
			return p.hosts, nil
		}
	}
	return nil, &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no preset %q of hosts", sanitize.Cut(name, 40)), Hint: "Presets are " + strings.Join(Presets(), ", ") + ".",
	}
}

// Presets returns the names of all presets.
func Presets() []string {
	var names []string
	for _, p := range table() {
		names = append(names, p.name)
	}
	return names
}

type preset struct {
	name  string
	hosts []string
}

// table has the package hosts of each language's tools. Hosts that accept uploads from anybody
// without a key, and hosts of arbitrary content, are left out if the tools can do without them;
// github-source is such a host, by its nature.
func table() []preset {
	var all []preset
	for _, s := range stack.All() {
		for _, h := range s.Hosts {
			all = append(all, preset{h.Name, h.Hosts})
		}
	}
	return append(all, preset{"github-source", []string{
		"github.com", "codeload.github.com", "objects.githubusercontent.com", "raw.githubusercontent.com", "release-assets.githubusercontent.com",
	}})
}
