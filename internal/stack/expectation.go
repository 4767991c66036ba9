package stack

import (
	"path"
	"regexp"
	"strings"
)

// IsExpectation reports whether a file is by its name what tests compare results
// with and their runner can write by itself: a stored snapshot, a golden file. A
// test that such a file was written for in the same run compared with nothing.
func IsExpectation(file string) bool {
	file = strings.ToLower(file)
	base := path.Base(file)
	for _, end := range []string{".snap", ".snap.new", ".ambr", ".golden", ".snapshot", ".approved", ".verified"} {
		if strings.HasSuffix(base, end) && base != end {
			return true
		}
	}
	if strings.Contains(base, ".golden.") || strings.Contains(base, ".approved.") || strings.Contains(base, ".verified.") {
		return true
	}
	for dir := range strings.SplitSeq(path.Dir(file), "/") {
		switch {
		case dir == "__snapshots__", dir == "__image_snapshots__", dir == "__file_snapshots__":
			return !strings.Contains(file, "/__diff_output__/") // how a picture differs, not what is expected
		case strings.HasSuffix(dir, "-snapshots") && IsTest(strings.TrimSuffix(dir, "-snapshots")):
			return true // of Playwright, beside the test that the directory is called after
		case (dir == "golden" || dir == "goldens") && ServesTests(file):
			return true
		}
	}
	return false
}

// recorded are the texts by which runners say that they wrote expectations, each
// with how many: Jest, Vitest, syrupy, Bun, insta, Deno.
const recorded = `(?m)^\s*(?:\x{203a} |> )?([1-9]\d* (?:inline )?snapshots? (?:written|generated|updated))\b` +
	`|^\s*(Snapshots:? +(?:.*, )?[1-9]\d* (?:written|updated))\b` +
	`|^\s*(?:\d+ snapshots? \w+\. )+([1-9]\d* snapshots? (?:generated|updated))\.` +
	`|^\s*(snapshots: \+[1-9]\d* added)\b` +
	`|^\s*(stored new snapshot \S+)` +
	`|^\s*(updated snapshot \S+)` +
	`|("snapshot": ?\{"added": ?[1-9]\d*)`

// RecordedExpectations returns the first text of an output by which a test runner
// says that it wrote expectations itself, or "" if there is none.
func RecordedExpectations(output string) string {
	m := regexp.MustCompile(recorded).FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	return strings.Join(m[1:], "") // one of them is there
}
