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

// language is how tests of a language are written.
type language struct {
	endings  []string       // of its files
	declares *regexp.Regexp // a test; its last group that matched is the name
	skipping *regexp.Regexp // one that does not run
	focusing *regexp.Regexp // one that runs alone; nil where there is none
	assert   *regexp.Regexp // a line that checks something
}

// names returns the tests that a text declares.
func (l language) names(text string) []string {
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

// skip returns what keeps a test from running in a line, empty for nothing.
func (l language) skip(text string) string {
	if l.skipping == nil || comment(text) {
		return ""
	}
	return l.skipping.FindString(text)
}

// skips counts what is skipped in a text.
func (l language) skips(text string) int {
	n := 0
	for t := range strings.Lines(text) {
		if l.skip(strings.TrimSpace(t)) != "" {
			n++
		}
	}
	return n
}

// focus returns what keeps other tests from running in a line.
func (l language) focus(text string) string {
	if l.focusing == nil || comment(text) {
		return ""
	}
	return l.focusing.FindString(text)
}

// languageOf returns how tests are written in a file.
func (h *habits) languageOf(file string) language {
	ending := strings.ToLower(path.Ext(file))
	for _, l := range h.languages {
		if slices.Contains(l.endings, ending) {
			return l
		}
	}
	return h.languages[len(h.languages)-1]
}

// subject is what lines of a configuration say about the checks.
type subject struct {
	runs    *regexp.Regexp // what is run
	narrows *regexp.Regexp // that less is
	loads   *regexp.Regexp // what is there before anything else; nil for nothing
	whole   bool           // the file is about nothing else
}

// subjectOf returns what to look for in a configuration. Most are about checks
// alone; a manifest or a build file says much besides.
func (h *habits) subjectOf(file string) subject {
	c, ok := stack.ConfigOf(file)
	if !ok || c.Plain() {
		return subject{runs: h.runs, narrows: h.narrows, loads: h.loads, whole: true}
	}
	if c.Runner {
		return subject{runs: regexp.MustCompile(`.`), narrows: regexp.MustCompile(`.`)}
	}
	about := subject{runs: regexp.MustCompile(cmp.Or(c.Runs, `$^`)), narrows: regexp.MustCompile(cmp.Or(c.Narrows, `$^`))}
	if c.Loads != "" {
		about.loads = regexp.MustCompile(c.Loads)
	}
	return about
}

// wrapper reports whether a file is the program that runs the tests, or says
// which one does.
func wrapper(file string) bool {
	c, _ := stack.ConfigOf(file)
	return c.Runner
}

// snapshot reports whether tests compare with a file as it is.
func snapshot(file string) bool {
	return stack.IsExpectation(file) || strings.Contains("/"+file, "/snapshots/") && !strings.HasSuffix(file, ".py")
}

// config reports whether a file says how checks run.
func config(file string) bool {
	if _, ok := stack.ConfigOf(file); ok || file == flaky.QuarantineFile {
		return true
	}
	base := strings.ToLower(path.Base(file))
	switch base {
	case "nexus.toml", "justfile", "taskfile.yml", "taskfile.yaml", ".gitlab-ci.yml":
		return true
	}
	return strings.HasPrefix(file, ".github/workflows/") || strings.HasPrefix(file, ".circleci/")
}

// script reports whether a file is run as it stands.
func script(file string) bool {
	switch path.Ext(file) {
	case ".sh", ".bash", ".bats":
		return true
	}
	return false
}

// commands returns how the scripts and the set-up of the checks differ between
// two versions of a package.json.
func (h *habits) commands(old, now string) []string {
	var was, is struct {
		Scripts map[string]string `json:"scripts"`
		Jest    json.RawMessage   `json:"jest"`
		Mocha   json.RawMessage   `json:"mocha"`
		Vitest  json.RawMessage   `json:"vitest"`
		ESLint  json.RawMessage   `json:"eslintConfig"`
	}
	if json.Unmarshal([]byte(old), &was) != nil {
		return nil // there was nothing that could be run
	}
	if json.Unmarshal([]byte(now), &is) != nil {
		return []string{"it can no longer be read"}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(was.Scripts)) {
		switch now, ok := is.Scripts[name]; {
		case !h.checks.MatchString(name) || now == was.Scripts[name]:
		case !ok:
			all = append(all, fmt.Sprintf("the script %s is gone: %s", name, short(was.Scripts[name])))
		default:
			all = append(all, fmt.Sprintf("the script %s was %q and is %q", name, short(was.Scripts[name]), short(now)))
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
