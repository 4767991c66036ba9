package config

import (
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// RepositoryPackageSettings has the settings of a package of the repository that differ from the common ones.
type RepositoryPackageSettings struct {
	Commands map[string]string // by purpose of the gate: build, test and so on; empty: turned off; absent: detected
	Rules    []string          // files, from the root, whose rules agents in it receive
	Tier     nexus.Tier        // tier in which its tasks start
}

// packageGateSteps returns the purposes of a package's gates.
func packageGateSteps() []string { return []string{"build", "type", "lint", "format", "test", "e2e"} }

func packageKeys() []SettingKey {
	all := func(c *Config) *map[string]RepositoryPackageSettings { return &c.Gates.Packages }
	var gates []SettingKey
	for _, step := range packageGateSteps() {
		name := "packages.*." + step
		gates = append(gates, SettingKey{
			Name: name, kind: valuekind.CommandLineKind(),
			set: func(c *Config, of string, v any) {
				p := c.Gates.Packages[of]
				line, _ := v.(string)
				storeMapEntry(&p.Commands, step, line)
				storeMapEntry(all(c), of, p)
			},
			get: func(c Config) []settingKeyValue {
				var set []settingKeyValue
				for _, of := range slices.Sorted(maps.Keys(c.Gates.Packages)) {
					if line, ok := c.Gates.Packages[of].Commands[step]; ok {
						set = append(set, settingKeyValue{fillWildcard(name, of), line})
					}
				}
				return set
			},
		})
	}
	return []SettingKey{
		familyKey("packages.*.*", "command that is a gate of this package, a name or a directory of nexus map --packages; it runs in the directory of the package, and false turns the gate off", gates...),
		newMapFieldKey("packages.*.rules", valuekind.TextListKind(), "files, from the root of the repository, that agents get for tasks in this package, like its AGENTS.md", all, func(p *RepositoryPackageSettings) *[]string { return &p.Rules }),
		newMapFieldKey("packages.*.tier", valuekind.OneOfKind("fast", "balanced", "strong"), "tier where tasks of this package start, if the plan does not say", all, func(p *RepositoryPackageSettings) *nexus.Tier { return &p.Tier }),
	}
}
