package repair_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestSameFinding tells one finding that is said twice from two: by file, by how
// far apart they are, and by half of their words.
func TestSameFinding(t *testing.T) {
	at := func(file string, line int, message string) nexus.Finding {
		return nexus.Finding{File: file, Line: line, Message: message}
	}
	for name, c := range map[string]struct {
		a, b nexus.Finding
		want bool
	}{
		"the same":               {at("a.go", 10, "file never closed"), at("a.go", 10, "file never closed"), true},
		"another file":           {at("a.go", 10, "file never closed"), at("b.go", 10, "file never closed"), false},
		"two lines below":        {at("a.go", 10, "file never closed"), at("a.go", 12, "file never closed"), true},
		"two lines above":        {at("a.go", 12, "file never closed"), at("a.go", 10, "file never closed"), true},
		"three lines below":      {at("a.go", 10, "file never closed"), at("a.go", 13, "file never closed"), false},
		"three lines above":      {at("a.go", 13, "file never closed"), at("a.go", 10, "file never closed"), false},
		"one of no line":         {at("a.go", 0, "file never closed"), at("a.go", 90, "file never closed"), true},
		"the other of no line":   {at("a.go", 90, "file never closed"), at("a.go", 0, "file never closed"), true},
		"the first line":         {at("a.go", 1, "file never closed"), at("a.go", 90, "file never closed"), false},
		"half of the words":      {at("a.go", 0, "file never closed"), at("a.go", 0, "handle never closed"), true},
		"fewer":                  {at("a.go", 0, "file never closed"), at("a.go", 0, "handle stays closed"), false},
		"no word in common":      {at("a.go", 0, "file"), at("a.go", 0, "handle"), false},
		"no words":               {at("a.go", 0, "it is"), at("a.go", 0, "it is"), false},
		"letters in any case":    {at("a.go", 0, "File, never: CLOSED"), at("a.go", 0, "file never closed"), true},
		"first and last letters": {at("a.go", 0, "aaa zzz"), at("a.go", 0, "aaa zzz"), true},
		"signs apart":            {at("a.go", 0, "x{aaa}zzz"), at("a.go", 0, "x aaa zzz"), true},
		"short words say little": {at("a.go", 0, "to closed"), at("a.go", 0, "of is it closed"), true},
		"a digit is a word":      {at("a.go", 0, "0"), at("a.go", 0, "0"), true},
		"two digits are":         {at("a.go", 0, "99"), at("a.go", 0, "99"), true},
		"digits that differ":     {at("a.go", 0, "want 3"), at("a.go", 0, "want 4 5 6"), false},
		"letters are none":       {at("a.go", 0, "ab"), at("a.go", 0, "ab"), false},
		"words of other scripts": {at("a.go", 0, "\u00fcber"), at("a.go", 0, "\u00fcber"), true},
	} {
		if got := repair.IsSameFinding(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSignatureOfAFailure is the same for what differs from run to run, and only
// for that.
func TestSignatureOfAFailure(t *testing.T) {
	sign := func(messages ...string) string {
		var all []nexus.Finding
		for _, m := range messages {
			all = append(all, nexus.Finding{Message: m})
		}
		return repair.FailureSignature("test", all)
	}
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"numbers":                {"took 12 ms at line 7", "took 3456 ms at line 81", true},
		"numbers in words":       {"a1b2", "a33b44", true},
		"a number and none":      {"took 12 ms", "took ms", false},
		"how many numbers":       {"a1b2", "a1b", false},
		"addresses":              {"at 0xc000123, again", "at (0xdeadbeef), again", true},
		"an address and none":    {"at 0xc000123 again", "at again", false},
		"three digits are one":   {"at 0xabc", "at 0xdef1", true},
		"two are none":           {"at 0xab", "at 0xcd", false},
		"letters that are none":  {"at 0xghij", "at 0xabcd", false},
		"white space":            {"one  two\n\tthree", "one two three", true},
		"where words end":        {"no table", "not able", false},
		"letters in any case":    {"Got nil", "got NIL", true},
		"another word":           {"got nil", "got all", false},
		"a digit before letters": {"1st", "st", false},
	} {
		if got := sign(c.a) == sign(c.b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if sign("a", "b") != sign("b", "a", "a") {
		t.Error("the order of findings, or one that is said twice, makes it another failure")
	}
}

// TestMendedIsOfOneThing takes a finding for mended where no test of that name, and
// nothing of the same words, file and code, is found any more.
func TestMendedIsOfOneThing(t *testing.T) {
	round := func(s nexus.GateState, found ...nexus.Finding) *state.AttemptRound {
		return &state.AttemptRound{Evidence: []nexus.GateEvidence{{Gate: "test", State: s, Findings: found}}}
	}
	was := nexus.Finding{File: "a.go", Code: "unused", Message: "x is unused"}
	moved, coded, said, named := was, was, was, was
	moved.File, coded.Code, said.Message, named.Test = "b.go", "shadow", "y is unused", "One"
	spaced := was
	spaced.Message = " x is unused\n"
	mended := []nexus.Finding{was}
	for name, c := range map[string]struct {
		now  *state.AttemptRound
		want []nexus.Finding
	}{
		"the same":       {round(nexus.Fail, was), []nexus.Finding{}},
		"with space":     {round(nexus.Fail, spaced), []nexus.Finding{}},
		"another file":   {round(nexus.Fail, moved), mended},
		"another code":   {round(nexus.Fail, coded), mended},
		"other words":    {round(nexus.Fail, said), mended},
		"of a test":      {round(nexus.Fail, named), mended},
		"it passes":      {round(nexus.Pass), nil},
		"it did not run": {round(nexus.NotRun), nil},
	} {
		if diff := cmp.Diff(c.want, repair.FixedFindings([]*state.AttemptRound{round(nexus.Fail, was), c.now}, "test")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	two := named
	two.Test, two.Message = "Two", named.Message
	if got := repair.FixedFindings([]*state.AttemptRound{round(nexus.Fail, named), round(nexus.Fail, two)}, "test"); !cmp.Equal(got, []nexus.Finding{named}) {
		t.Errorf("another test that says the same: %v", got)
	}
}
