package config

import (
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
)

// Package has the settings of a package of the repository that differ from the common ones.
type Package struct {
	Commands map[string]string // by purpose of the gate: build, test and so on; empty: turned off; absent: detected
	Rules    []string          // files, from the root, whose rules agents in it receive
	Tier     nexus.Tier        // tier in which its tasks start
}

// steps returns the purposes of a package's gates.
func steps() []string { return []string{"build", "type", "lint", "format", "test", "e2e"} }

func packageKeys() []Key {
	all := func(c *Config) *map[string]Package { return &c.Gates.Packages }
	var keys []Key
	for _, step := range steps() {
		name := "packages.*." + step
		keys = append(keys, Key{
			Name: name, kind: kind.Command(), Doc: "command that is the gate " + step + " of this package, a name or a directory of nexus map --packages; it runs in the directory of the package, and false turns the gate off",
			set: func(c *Config, of string, v any) {
				p := c.Gates.Packages[of]
				line, _ := v.(string)
				store(&p.Commands, step, line)
				store(all(c), of, p)
			},
			get: func(c Config) []setting {
				var set []setting
				for _, of := range slices.Sorted(maps.Keys(c.Gates.Packages)) {
					if line, ok := c.Gates.Packages[of].Commands[step]; ok {
						set = append(set, setting{fill(name, of), line})
					}
				}
				return set
			},
		})
	}
	return append(keys,
		mapFieldKey("packages.*.rules", kind.Texts(), "files, from the root of the repository, that agents get for tasks in this package, like its AGENTS.md", all, func(p *Package) *[]string { return &p.Rules }),
		mapFieldKey("packages.*.tier", kind.Words("fast", "balanced", "strong"), "tier where tasks of this package start, if the plan does not say", all, func(p *Package) *nexus.Tier { return &p.Tier }),
	)
}
