package suite

import (
	"regexp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// BunBuild reads bun build: code, a caret below it, the message, and below them the position.
func BunBuild(in raw.Input) raw.Report {
	all := in.Text()
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
				f.File, f.Line, f.Column = in.Place(m[1]), raw.Number(m[2]), raw.Number(m[3])
			}
		}
		if f.File != "" {
			found = append(found, f)
		}
	}
	return in.Check(found, len(lines(all, `^Bundled \d+ modules? in `)) > 0)
}
