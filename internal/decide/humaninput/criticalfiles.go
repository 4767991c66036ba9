package humaninput

import (
	_ "embed" // the list
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// criticalFiles lists the files that a person should review when a change touches them, with
// reasons: files that decide which software is installed, which code runs automatically, or
// which data is sent to others.
//
//go:embed criticalfiles.txt
var criticalFiles string

// CriticalGate is the name of the evidence with the critical files. It never fails a change.
const CriticalGate = "files"

// criticalFileReason returns why a file, named from the root of its tree with slashes, is critical,
// or "".
func criticalFileReason(file string) string {
	file = strings.ToLower(path.Clean(strings.ReplaceAll(file, `\`, "/")))
	for line := range strings.Lines(criticalFiles) {
		why, patterns, ok := strings.Cut(line, "|")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for p := range strings.FieldsSeq(patterns) {
			if matchesFile(p, file) {
				return strings.TrimSpace(why)
			}
		}
	}
	return ""
}

func matchesFile(pattern, file string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.Contains("/"+file, "/"+pattern)
	}
	ok, _ := path.Match(pattern, path.Base(file))
	return ok
}

// CriticalFiles returns a finding for each critical file of a change. None of them blocks.
func CriticalFiles(files []string) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range files {
		if why := criticalFileReason(f); why != "" {
			found = append(found, nexus.Finding{
				Gate: CriticalGate, File: f, Severity: nexus.Suggestion, Code: "critical-file", Message: "the change touches it; it decides " + why,
			})
		}
	}
	return found
}

// CriticalFileEvidence returns evidence with the critical files of a change to a tree, or false
// if there are none. It decides nothing.
func CriticalFileEvidence(files []string, tree string) (nexus.GateEvidence, bool) {
	found := CriticalFiles(files)
	return nexus.GateEvidence{
		Gate: CriticalGate, State: nexus.Pass, Tree: tree, Command: "look for critical files in the change", Why: "it touches " + FindingFilesText(found), Findings: found,
	}, len(found) > 0
}

// FindingFilesText returns the first ten files of findings in one line.
func FindingFilesText(found []nexus.Finding) string {
	const most = 10
	names := make([]string, 0, most+1)
	for i, f := range found {
		if i == most {
			names = append(names, "and more")
			break
		}
		names = append(names, f.File)
	}
	return strings.Join(names, ", ")
}
