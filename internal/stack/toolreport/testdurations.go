package toolreport

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// TestDuration is a test and its duration.
type TestDuration struct {
	Name    string
	Seconds float64
}

// TestDurationsReader returns a function that reads the durations of single tests from the output of their
// runner, and the words that make the runner print them; ok is false if it cannot. Format is
// that of its output, args its command, and lone the command that runs one of its tests.
func TestDurationsReader(format string, args, lone []string) (more []string, reads func(printed string) []TestDuration, ok bool) {
	switch {
	case format == "pytest" && slices.ContainsFunc(args, func(word string) bool { return strings.HasSuffix(word, "pytest") }):
		return []string{"--durations=20", "-vv"}, parsePytestDurations, true
	case len(lone) > 1 && lone[0] == "node" && lone[1] == "--test":
		return nil, parseNodeTestDurations, true
	}
	return nil, nil, false
}

var (
	tapTest    = regexp.MustCompile(`^(\s*)ok \d+ - (.+?)(?: # .*)?$`)
	tapTook    = regexp.MustCompile(`^\s*duration_ms: ([\d.]+)$`)
	specTest   = regexp.MustCompile(`^\s*\x{2714} (.+) \(([\d.]+)ms\)$`)
	pytestTook = regexp.MustCompile(`^([\d.]+)s (?:call|setup|teardown)\s+(\S.*)$`)
)

// parseNodeTestDurations reads the output of node --test: TAP, or a list for people. It skips groups of
// tests.
func parseNodeTestDurations(printed string) []TestDuration {
	var all []TestDuration
	name, groups := "", map[string]bool{}
	for line := range strings.Lines(printed) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "type: 'suite'" {
			groups[name] = true
		}
		if m := tapTest.FindStringSubmatch(line); m != nil {
			name = m[2]
		} else if m := tapTook.FindStringSubmatch(line); m != nil && name != "" {
			all = appendDuration(all, name, m[1], 1000)
		} else if m := specTest.FindStringSubmatch(line); m != nil {
			all = appendDuration(all, m[1], m[2], 1000)
		}
	}
	return SortBySlowest(slices.DeleteFunc(all, func(t TestDuration) bool { return groups[t.Name] }))
}

// parsePytestDurations reads the slowest durations that pytest lists; the setup of a test counts.
func parsePytestDurations(printed string) []TestDuration {
	var all []TestDuration
	for line := range strings.Lines(printed) {
		if m := pytestTook.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			all = appendDuration(all, strings.TrimSpace(m[2]), m[1], 1)
		}
	}
	return SortBySlowest(all)
}

// appendDuration adds the duration of a test, in parts of a second.
func appendDuration(all []TestDuration, name, took string, parts float64) []TestDuration {
	n, err := strconv.ParseFloat(took, 64)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return all
	}
	for i := range all {
		if all[i].Name == name {
			all[i].Seconds += n / parts
			return all
		}
	}
	return append(all, TestDuration{name, n / parts})
}

// SortBySlowest sorts the slowest tests first.
func SortBySlowest(all []TestDuration) []TestDuration {
	slices.SortStableFunc(all, func(a, b TestDuration) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Name, b.Name))
	})
	return all
}
