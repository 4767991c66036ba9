package egress

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// PresetHosts returns the hosts of a preset.
func PresetHosts(name string) ([]string, error) {
	for _, p := range presetTable() {
		if p.name == name {
			return p.hosts, nil
		}
	}
	return nil, &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no preset %q of hosts", sanitize.TruncateText(name, 40)), Hint: "Presets are " + strings.Join(PresetNames(), ", ") + ".",
	}
}

// PresetNames returns the names of all presets.
func PresetNames() []string {
	var names []string
	for _, p := range presetTable() {
		names = append(names, p.name)
	}
	return names
}

type hostPreset struct {
	name  string
	hosts []string
}

// presetTable has the package hosts of each language's tools. Hosts that accept uploads from anybody
// without a key, and hosts of arbitrary content, are left out if the tools can do without them;
// github-source is such a host, by its nature.
func presetTable() []hostPreset {
	var all []hostPreset
	for _, s := range stack.AllStacks() {
		for _, h := range s.Hosts {
			all = append(all, hostPreset{h.Name, h.Hosts})
		}
	}
	return append(all, hostPreset{"github-source", []string{
		"github.com", "codeload.github.com", "objects.githubusercontent.com", "raw.githubusercontent.com", "release-assets.githubusercontent.com",
	}})
}
