package config

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// definitionOfDoneKeys returns the keys of the definition of done.
func definitionOfDoneKeys() []SettingKey {
	var rules []SettingKey
	for _, b := range nexus.DefinitionOfDoneBounds() {
		modes, doc := []string{string(nexus.BoundOff), string(nexus.BoundWarn), string(nexus.BoundBlock)}, b.Doc
		if b.Name == nexus.CoverageBound {
			modes, doc = append(modes, string(nexus.BoundAuto)), doc+"; auto reports it at the end of a run, if Nexus can measure it for this stack in two minutes or less"
		}
		rules = append(rules, newMapEntryKey("done."+b.Name, valuekind.OneOfKind(modes...), doc, b.Name, func(c *Config) *map[string]nexus.BoundMode { return &c.Done.Modes }))
	}
	rules = append(rules, newSingleKey("done.mutation", valuekind.OneOfKind("off", "warn", "block"), "faults put into new lines that no test catches (mutation.sample)", func(c *Config) *string { return &c.Mutation.Mode }))
	return []SettingKey{
		familyKey("done.*", "rule for what may land: off; warn reports what breaks it; block sends it back to the coder", rules...),
		newSingleKey("done.lines", valuekind.WholeNumberKind(0, 10_000_000), "maximum number of lines that it may add and remove, see done.large-diff; 0: no limit", func(c *Config) *int { return &c.Done.Lines }),
		newSingleKey("done.coverage_command", valuekind.CommandLineKind(), "command that runs the tests and prints only their coverage; it runs in the sandbox, besides the gates, on the base and on the work; empty: the built-in way, see docs/gates.md", func(c *Config) *string { return &c.Done.Command }),
		newSingleKey("done.coverage_format", valuekind.OneOfKind("go-cover", "lcov", "cobertura", "jacoco"), "format of the report that done.coverage_command prints", func(c *Config) *string { return &c.Done.Format }),
		newSingleKey("done.coverage_minimum", valuekind.WholeNumberKind(0, 100), "minimum percent of lines, and of new lines that can run, that tests run; a tree that was below it before may not get worse", func(c *Config) *int { return &c.Done.Minimum }),
		newSingleKey("done.coverage_except", valuekind.TextListKind(), "files whose new lines need no test, as patterns such as scripts/* or a directory", func(c *Config) *[]string { return &c.Done.Except }),
		newSingleKey("done.allowed_licences", valuekind.TextListKind(), "licences that new dependencies may have, by SPDX name; empty, with done.denied_licences set: all others", func(c *Config) *[]string { return &c.Done.Licences }),
		newSingleKey("done.denied_licences", valuekind.TextListKind(), "licences that new dependencies may not have, even if another of their licences is allowed; GPL-3.0 includes -only and -or-later", func(c *Config) *[]string { return &c.Done.Denied }),
	}
}
