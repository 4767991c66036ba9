package tamper

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// testLanguagePatterns lists the patterns of tests in a language.
type testLanguagePatterns struct {
	endings  []string       // file extensions
	declares *regexp.Regexp // a test; its last group that matched is the name
	skipping *regexp.Regexp // a test that is skipped
	focusing *regexp.Regexp // a test that runs alone; nil: not available
	assert   *regexp.Regexp // a line that checks something
}

// declaredTests returns the tests that a text declares.
func (l testLanguagePatterns) declaredTests(text string) []string {
	if l.declares == nil {
		return nil
	}
	var all []string
	for _, m := range l.declares.FindAllStringSubmatch(text, -1) {
		for i := len(m) - 1; i > 0; i-- {
			if m[i] != "" {
				all = append(all, m[i])
				break
			}
		}
	}
	return all
}

// skipMark returns the part of a line that skips a test, or "".
func (l testLanguagePatterns) skipMark(text string) string {
	if l.skipping == nil || isComment(text) {
		return ""
	}
	return l.skipping.FindString(text)
}

// countSkips counts the skips in a text.
func (l testLanguagePatterns) countSkips(text string) int {
	n := 0
	for t := range strings.Lines(text) {
		if l.skipMark(strings.TrimSpace(t)) != "" {
			n++
		}
	}
	return n
}

// focusMark returns the part of a line that excludes other tests, or "".
func (l testLanguagePatterns) focusMark(text string) string {
	if l.focusing == nil || isComment(text) {
		return ""
	}
	return l.focusing.FindString(text)
}

// languageOf returns the test patterns for a file.
func (h *tamperPatterns) languageOf(file string) testLanguagePatterns {
	ending := strings.ToLower(path.Ext(file))
	for _, l := range h.languages {
		if slices.Contains(l.endings, ending) {
			return l
		}
	}
	return h.languages[len(h.languages)-1]
}

// checkConfigPatterns lists the patterns of a configuration file's lines about checks.
type checkConfigPatterns struct {
	runs    *regexp.Regexp // commands that are run
	narrows *regexp.Regexp // restrictions
	loads   *regexp.Regexp // files that are loaded first; nil: none
	whole   bool           // the whole file is about checks
}

// configPatternsOf returns the patterns for a configuration file. Most are about checks only; a
// manifest or a build file has other content too.
func (h *tamperPatterns) configPatternsOf(file string) checkConfigPatterns {
	c, ok := stack.CheckConfigOf(file)
	if !ok || c.ConfiguresOnlyChecks() {
		return checkConfigPatterns{runs: h.runs, narrows: h.narrows, loads: h.loads, whole: true}
	}
	if c.Runner {
		return checkConfigPatterns{runs: regexp.MustCompile(`.`), narrows: regexp.MustCompile(`.`)}
	}
	about := checkConfigPatterns{runs: regexp.MustCompile(cmp.Or(c.Runs, `$^`)), narrows: regexp.MustCompile(cmp.Or(c.Narrows, `$^`))}
	if c.Loads != "" {
		about.loads = regexp.MustCompile(c.Loads)
	}
	return about
}

// isTestRunnerFile reports whether a file is the program that runs the tests, or names that program.
func isTestRunnerFile(file string) bool {
	c, _ := stack.CheckConfigOf(file)
	return c.Runner
}

// isSnapshotFile reports whether tests compare their output with a file.
func isSnapshotFile(file string) bool {
	return stack.IsSnapshotOrGoldenFile(file) || strings.Contains("/"+file, "/snapshots/") && !strings.HasSuffix(file, ".py")
}

// isCheckConfig reports whether a file configures checks.
func isCheckConfig(file string) bool {
	if _, ok := stack.CheckConfigOf(file); ok || file == flaky.QuarantineFile {
		return true
	}
	base := strings.ToLower(path.Base(file))
	switch base {
	case "nexus.toml", "justfile", "taskfile.yml", "taskfile.yaml", ".gitlab-ci.yml":
		return true
	}
	return strings.HasPrefix(file, ".github/workflows/") || strings.HasPrefix(file, ".circleci/")
}

// isScriptFile reports whether a file is run directly.
func isScriptFile(file string) bool {
	switch path.Ext(file) {
	case ".sh", ".bash", ".bats":
		return true
	}
	return false
}

// changedCommands returns the differences in the scripts and the set-up of the checks between two
// versions of a package.json.
func (h *tamperPatterns) changedCommands(old, now string) []string {
	var was, is struct {
		Scripts map[string]string `json:"scripts"`
		Jest    json.RawMessage   `json:"jest"`
		Mocha   json.RawMessage   `json:"mocha"`
		Vitest  json.RawMessage   `json:"vitest"`
		ESLint  json.RawMessage   `json:"eslintConfig"`
	}
	if json.Unmarshal([]byte(old), &was) != nil {
		return nil // it had no scripts
	}
	if json.Unmarshal([]byte(now), &is) != nil {
		return []string{"it can no longer be read"}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(was.Scripts)) {
		switch now, ok := is.Scripts[name]; {
		case !h.checks.MatchString(name) || now == was.Scripts[name]:
		case !ok:
			all = append(all, fmt.Sprintf("the script %s is gone: %s", name, shortenText(was.Scripts[name])))
		default:
			all = append(all, fmt.Sprintf("the script %s was %q and is %q", name, shortenText(was.Scripts[name]), shortenText(now)))
		}
	}
	for _, c := range []struct {
		name    string
		was, is json.RawMessage
	}{{"jest", was.Jest, is.Jest}, {"mocha", was.Mocha, is.Mocha}, {"vitest", was.Vitest, is.Vitest}, {"eslintConfig", was.ESLint, is.ESLint}} {
		if len(c.was) > 0 && string(c.was) != string(c.is) {
			all = append(all, "the configuration of "+c.name+" was changed")
		}
	}
	return all
}
