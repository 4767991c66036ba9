package stack

import (
	"path"
	"strings"
)

// IsTest reports whether a file is a test.
func IsTest(file string) bool {
	base := path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.HasSuffix(stem, "_test") || strings.HasPrefix(base, "test_") ||
		onlyTest(stem, path.Ext(base)) ||
		strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") ||
		strings.Contains("/"+file, "/tests/") || strings.Contains("/"+file, "/__tests__/")
}

// onlyTest reports whether a file is all the tests that there are, like test.js of
// a small package, or tests.py of an application.
func onlyTest(stem, ending string) bool {
	switch ending {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rs", ".rb", ".php":
		return stem == "test" || stem == "tests" || stem == "spec"
	}
	return false
}

// ServesTests reports whether a file is a test or serves tests alone: their data,
// their helpers.
func ServesTests(file string) bool {
	if IsTest(file) {
		return true
	}
	base := path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch path.Ext(base) {
	case ".java", ".kt", ".scala", ".cs", ".swift", ".php":
		if strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "Spec") {
			return true
		}
	case ".rb", ".ex", ".exs":
		if strings.HasSuffix(stem, "_spec") {
			return true
		}
	}
	if base == "conftest.py" {
		return true
	}
	for dir := range strings.SplitSeq(path.Dir(file), "/") {
		switch dir {
		case "test", "testdata", "__snapshots__", "__mocks__", "__fixtures__", "spec", "e2e":
			return true
		}
	}
	return false
}
