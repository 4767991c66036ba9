package config

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
)

// doneKeys are the settings of the definition of done.
func doneKeys() []Key {
	var keys []Key
	for _, b := range nexus.DoneBounds() {
		modes, doc := []string{string(nexus.BoundOff), string(nexus.BoundWarn), string(nexus.BoundBlock)}, b.Doc+"; warn tells of it, block sends it back to the coder"
		if b.Name == nexus.CoverageBound {
			modes, doc = append(modes, string(nexus.BoundAuto)), doc+"; auto tells of it at the end of a run, where the stack says how it is measured and that takes no longer than two minutes"
		}
		keys = append(keys, entry("done."+b.Name, kind.Words(modes...), doc, b.Name, func(c *Config) *map[string]nexus.BoundMode { return &c.Done.Modes }))
	}
	return append(keys,
		one("done.files", kind.Whole(0, 100_000), "most files of the work on one task, see done.large-diff; 0: no bound", func(c *Config) *int { return &c.Done.Files }),
		one("done.lines", kind.Whole(0, 10_000_000), "most lines added and taken away; 0: no bound", func(c *Config) *int { return &c.Done.Lines }),
		one("done.rewritten_lines", kind.Whole(0, 10_000_000), "a file that lost at least so many lines and done.rewritten_percent of them is rewritten, see done.deletion; 0: none is", func(c *Config) *int { return &c.Done.Rewritten }),
		one("done.rewritten_percent", kind.Whole(0, 100), "share of the lines that a file had before", func(c *Config) *int { return &c.Done.RewrittenOf }),
		one("done.coverage_command", kind.Command(), "command that runs the tests and prints their coverage alone, in the sandbox, beside the gates, on the base and on the work; empty: what docs/done.md has for the stacks of the tree", func(c *Config) *string { return &c.Done.Command }),
		one("done.coverage_format", kind.Words("go-cover", "lcov", "cobertura", "jacoco"), "what it prints", func(c *Config) *string { return &c.Done.Format }),
		one("done.coverage_minimum", kind.Whole(0, 100), "least percent of the lines that tests go through; work on what had fewer before may not make it fewer", func(c *Config) *int { return &c.Done.Minimum }),
		one("done.coverage_target", kind.Whole(0, 100), "percent below which it is told, which blocks nothing", func(c *Config) *int { return &c.Done.Target }),
		one("done.coverage_new_minimum", kind.Whole(0, 100), "least percent of the new lines that tests go through, of those that can be run", func(c *Config) *int { return &c.Done.NewMinimum }),
		one("done.coverage_new_target", kind.Whole(0, 100), "percent of them below which it is told, which blocks nothing", func(c *Config) *int { return &c.Done.NewTarget }),
		one("done.coverage_except", kind.Texts(), "files whose new lines need no test, as patterns such as scripts/* or a directory", func(c *Config) *[]string { return &c.Done.Except }),
		one("done.coverage_drop", kind.Whole(0, 100), "most points that it may fall", func(c *Config) *int { return &c.Done.Drop }),
		one("done.allowed_licences", kind.Texts(), "licences that new dependencies may have, by their SPDX names; an empty list beside done.denied_licences allows all others", func(c *Config) *[]string { return &c.Done.Licences }),
		one("done.denied_licences", kind.Texts(), "licences that they may not have, even where another of their parts is allowed; GPL-3.0 stands for its -only and -or-later, too", func(c *Config) *[]string { return &c.Done.Denied }),
	)
}
