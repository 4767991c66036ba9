package testrunners

import (
	"regexp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadBunBuild reads bun build: code, a caret below it, the message, and below them the position.
func ReadBunBuild(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := in.AllLines()
	said := regexp.MustCompile(`^(error|warn): (.+)$`)
	where := regexp.MustCompile(`^\s+at (\S.*?):(\d+):(\d+)$`)
	var found []nexus.Finding
	for i, l := range all {
		m := said.FindStringSubmatch(l[:min(len(l), longest)])
		if m == nil || len(found) == parserbase.Enough {
			continue
		}
		f := nexus.Finding{Code: parserbase.CodeCompile, Message: m[2]}
		if m[1] == "warn" {
			f.Severity = nexus.Minor
		}
		if i+1 < len(all) {
			if m := where.FindStringSubmatch(all[i+1]); m != nil {
				f.File, f.Line, f.Column = in.RelativePath(m[1]), parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3])
			}
		}
		if f.File != "" {
			found = append(found, f)
		}
	}
	return in.CheckerReport(found, len(matchingLines(all, `^Bundled \d+ modules? in `)) > 0)
}
