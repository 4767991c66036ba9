package egress

import (
	_ "embed" // the presets
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

//go:embed presets.txt
var presets string

// Preset returns the hosts of a preset.
func Preset(name string) ([]string, error) {
	for _, p := range table() {
		if p.name == name {
			return p.hosts, nil
		}
	}
	return nil, &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("no preset %q of hosts", legible.Cut(name, 40)), Hint: "There are " + strings.Join(Presets(), ", ") + ".",
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

func table() []preset {
	var all []preset
	for line := range strings.Lines(presets) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, hosts, _ := strings.Cut(line, "|")
		all = append(all, preset{strings.TrimSpace(name), strings.Fields(hosts)})
	}
	return all
}
