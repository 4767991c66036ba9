package suite

import (
	"regexp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// BunBuild reads bun build: code, a caret below it, the message, and below them the position.
func BunBuild(in raw.ToolOutput) raw.OutputReport {
	all := in.AllLines()
	said := regexp.MustCompile(`^(error|warn): (.+)$`)
	where := regexp.MustCompile(`^\s+at (\S.*?):(\d+):(\d+)$`)
	var found []nexus.Finding
	for i, l := range all {
		m := said.FindStringSubmatch(l[:min(len(l), longest)])
		if m == nil || len(found) == raw.Enough {
			continue
		}
		f := nexus.Finding{Code: raw.CodeCompile, Message: m[2]}
		if m[1] == "warn" {
			f.Severity = nexus.Minor
		}
		if i+1 < len(all) {
			if m := where.FindStringSubmatch(all[i+1]); m != nil {
				f.File, f.Line, f.Column = in.RelativePath(m[1]), raw.ParseNumber(m[2]), raw.ParseNumber(m[3])
			}
		}
		if f.File != "" {
			found = append(found, f)
		}
	}
	return in.CheckReport(found, len(matchingLines(all, `^Bundled \d+ modules? in `)) > 0)
}
