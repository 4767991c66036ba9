package stack

import "testing"

// TestExpectations by their names, and by what runners say when they write some.
func TestExpectations(t *testing.T) {
	for file, want := range map[string]bool{
		"src/__snapshots__/a.test.js.snap": true, "__snapshots__/test_a/test_b.png": true, "test/__snapshots__/test_a.ambr": true, "tests/snapshots/a__b.snap": true,
		"src/snapshots/m__t.snap.new": true, "test/snapshots/test.js.snap": true, "ui/__image_snapshots__/home-snap.png": true,
		"ui/__image_snapshots__/__diff_output__/home-diff.png": false, "e2e/home.spec.ts-snapshots/home-1-chromium-linux.png": true,
		"pkg/testdata/out.golden": true, "out.golden": true, "pkg/testdata/golden/out.txt": true, "test/goldens/button.png": true, "golden/retriever.txt": false,
		"A.Test.approved.txt": true, "A.Test.verified.txt": true, "A.Test.received.txt": false, "__Snapshots__/View/1.png": true, "a.test.js.snapshot": true,
		"data-snapshots/1.img": false, "testdata/in.json": false, "a.go": false, ".snap": false, "snapshot.go": false, "": false,
	} {
		if got := IsSnapshotOrGoldenFile(file); got != want {
			t.Errorf("%s: %v", file, got)
		}
	}
	for output, want := range map[string]string{
		"\n \u203a 1 snapshot written.\nTests: 1 passed": "1 snapshot written", "Snapshots:   1 written, 3 passed, 4 total": "Snapshots:   1 written",
		"Snapshots:   3 passed, 2 written, 5 total": "Snapshots:   3 passed, 2 written", "  Snapshots  2 written": "Snapshots  2 written",
		"1 snapshot generated.": "1 snapshot generated", "2 snapshots passed. 1 snapshot generated.": "1 snapshot generated", "2 snapshots updated.": "2 snapshots updated",
		"snapshots: +1 added": "snapshots: +1 added", "stored new snapshot src/a.snap": "stored new snapshot src/a.snap",
		`{"numTotalTests":1,"snapshot":{"added":1,"didUpdate":false}}`: `"snapshot":{"added":1`, " > 1 snapshot updated.": "1 snapshot updated",
		"Snapshots:   2 passed, 2 total": "", "0 snapshots written": "", `"snapshot":{"added":0,"didUpdate":false}`: "", "2 snapshots passed.": "",
		"the backup says: 3 snapshots written to disk": "", "": "",
	} {
		if got := RecordedExpectations(output); got != want {
			t.Errorf("%q: %q, not %q", output, got, want)
		}
	}
}
