// Package critical lists the files that a person should look at when a change
// touches them, and why: those that decide what is installed, what runs by
// itself, or what is sent to others. It forbids nothing.
package critical

import (
	_ "embed" // the table
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

//go:embed files.txt
var table string

// Gate names the evidence that holds what was found. It never fails a change.
const Gate = "files"

// Why says why a file, named from the root of its tree with slashes, is
// critical; empty for one that is not.
func Why(file string) string {
	file = strings.ToLower(path.Clean(strings.ReplaceAll(file, `\`, "/")))
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		why, patterns, _ := strings.Cut(line, "|")
		for p := range strings.FieldsSeq(patterns) {
			if matches(p, file) {
				return strings.TrimSpace(why)
			}
		}
	}
	return ""
}

func matches(pattern, file string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.Contains("/"+file, "/"+pattern)
	}
	ok, _ := path.Match(pattern, path.Base(file))
	return ok
}

// Of returns a finding for each critical file among those that a change
// touches, none of which blocks.
func Of(files []string) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range files {
		if why := Why(f); why != "" {
			found = append(found, nexus.Finding{
				Gate: Gate, File: f, Severity: nexus.Suggestion, Code: "critical-file", Message: "the change touches it, and it decides " + why,
			})
		}
	}
	return found
}

// Evidence says which files of a change to a tree a person should look at, and
// false where there are none. It decides nothing.
func Evidence(files []string, tree string) (nexus.Evidence, bool) {
	found := Of(files)
	return nexus.Evidence{
		Gate: Gate, State: nexus.Pass, Tree: tree, Command: "look for critical files in the change", Why: "it touches " + Line(found), Findings: found,
	}, len(found) > 0
}

// Line names the files of findings in one line, the first ten.
func Line(found []nexus.Finding) string {
	const most = 10
	var names []string
	for i, f := range found {
		if i == most {
			names = append(names, "and more")
			break
		}
		names = append(names, f.File)
	}
	return strings.Join(names, ", ")
}
