package stack

import "testing"

func TestPart(t *testing.T) {
	for file, want := range map[string][2]bool{
		"a_test.go": {true, true}, "x/test_a.py": {true, true}, "a.test.ts": {true, true}, "a.spec.js": {true, true}, "tests/a.rs": {true, true}, "src/__tests__/a.tsx": {true, true},
		"testdata/x.golden": {false, true}, "pkg/testdata/in.json": {false, true}, "conftest.py": {false, true}, "src/test/java/FooTest.java": {false, true}, "FooTests.cs": {false, true},
		"spec/a_spec.rb": {false, true}, "__snapshots__/a.snap": {false, true},
		"test.js": {true, true}, "app/tests.py": {true, true}, "src/tests.rs": {true, true}, "test.go": {}, "test.md": {}, "a.go": {}, "testing.go": {}, "contest.py": {}, "latest.go": {}, "test": {}, "nexus.toml": {}, "Makefile": {}, "testfile/a.go": {}, "Contest.java": {}, "a_test/a.go": {}, "protest/a.go": {},
	} {
		if IsTest(file) != want[0] || ServesTests(file) != want[1] {
			t.Errorf("%s: %v, %v", file, IsTest(file), ServesTests(file))
		}
	}
}
