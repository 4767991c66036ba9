package config

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
)

// definitionOfDoneKeys returns the keys of the definition of done.
func definitionOfDoneKeys() []SettingKey {
	var rules []SettingKey
	for _, b := range nexus.DoneBounds() {
		modes, doc := []string{string(nexus.BoundOff), string(nexus.BoundWarn), string(nexus.BoundBlock)}, b.Doc
		if b.Name == nexus.CoverageBound {
			modes, doc = append(modes, string(nexus.BoundAuto)), doc+"; auto reports it at the end of a run, if Nexus can measure it for this stack in two minutes or less"
		}
		rules = append(rules, mapEntryKey("done."+b.Name, kind.OneOf(modes...), doc, b.Name, func(c *Config) *map[string]nexus.BoundMode { return &c.Done.Modes }))
	}
	return []SettingKey{
		familyKey("done.*", "rule for what may land: off; warn reports what breaks it; block sends it back to the coder", rules...),
		singleKey("done.lines", kind.WholeNumber(0, 10_000_000), "maximum number of lines that it may add and remove, see done.large-diff; 0: no limit", func(c *Config) *int { return &c.Done.Lines }),
		singleKey("done.coverage_command", kind.CommandLine(), "command that runs the tests and prints only their coverage; it runs in the sandbox, besides the gates, on the base and on the work; empty: the built-in way, see docs/gates.md", func(c *Config) *string { return &c.Done.Command }),
		singleKey("done.coverage_format", kind.OneOf("go-cover", "lcov", "cobertura", "jacoco"), "format of the report that done.coverage_command prints", func(c *Config) *string { return &c.Done.Format }),
		singleKey("done.coverage_minimum", kind.WholeNumber(0, 100), "minimum percent of lines, and of new lines that can run, that tests run; a tree that was below it before may not get worse", func(c *Config) *int { return &c.Done.Minimum }),
		singleKey("done.coverage_except", kind.TextList(), "files whose new lines need no test, as patterns such as scripts/* or a directory", func(c *Config) *[]string { return &c.Done.Except }),
		singleKey("done.allowed_licences", kind.TextList(), "licences that new dependencies may have, by SPDX name; empty, with done.denied_licences set: all others", func(c *Config) *[]string { return &c.Done.Licences }),
		singleKey("done.denied_licences", kind.TextList(), "licences that new dependencies may not have, even if another of their licences is allowed; GPL-3.0 includes -only and -or-later", func(c *Config) *[]string { return &c.Done.Denied }),
	}
}
