package stack

import (
	"path"
	"regexp"
	"strings"
)

// IsSnapshotOrGoldenFile reports whether a file is, by its name, an expected result that a test runner
// can write itself: a stored snapshot or a golden file. A test whose expectation was written in
// the same run has compared nothing.
func IsSnapshotOrGoldenFile(file string) bool {
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
			return !strings.Contains(file, "/__diff_output__/") // these show how a picture differs, not the expectation
		case strings.HasSuffix(dir, "-snapshots") && IsTest(strings.TrimSuffix(dir, "-snapshots")):
			return true // of Playwright, in a directory beside the test and named after it
		case (dir == "golden" || dir == "goldens") && ServesTests(file):
			return true
		}
	}
	return false
}

// recorded matches the messages of runners that wrote expectations, with their number: Jest,
// Vitest, syrupy, Bun, insta, Deno.
const recorded = `(?m)^\s*(?:\x{203a} |> )?([1-9]\d* (?:inline )?snapshots? (?:written|generated|updated))\b` +
	`|^\s*(Snapshots:? +(?:.*, )?[1-9]\d* (?:written|updated))\b` +
	`|^\s*(?:\d+ snapshots? \w+\. )+([1-9]\d* snapshots? (?:generated|updated))\.` +
	`|^\s*(snapshots: \+[1-9]\d* added)\b` +
	`|^\s*(stored new snapshot \S+)` +
	`|^\s*(updated snapshot \S+)` +
	`|("snapshot": ?\{"added": ?[1-9]\d*)`

// RecordedExpectations returns the first message in an output by which a test runner reports
// that it wrote expectations itself, or "" if there is none.
func RecordedExpectations(output string) string {
	m := regexp.MustCompile(recorded).FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	return strings.Join(m[1:], "") // exactly one group matched
}
