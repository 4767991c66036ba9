package flaky_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func day(text string) flaky.QuarantineDay {
	var d flaky.QuarantineDay
	if err := d.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return d
}

func entry(test string) flaky.QuarantineEntry {
	return flaky.QuarantineEntry{Test: test, Reason: "a port is taken", Since: day("2026-11-01"), Until: day("2026-11-15")}
}

const record = `# Ours.

[[test]]
test = "tests/test_a.py::test_x[a b]"
gate = "test"
reason = "a port is taken"   # now and then
since = 2026-11-01
until = "2026-11-15"
owner = "ann"
issue = "#12"

# Another.
[[test]]
test = "example.com/m.TestX"
reason = "the clock"
since = 2026-11-01
until = 2027-01-30
`

// allowed is the same test of two gates, with as much said as may be.
var allowed = "[[test]]\ntest = 'a\u00a0b'\ngate = 'x'\nreason = '" + strings.Repeat("b", 1000) + "'\nsince = 2026-11-01\nuntil = 2026-11-02\n" +
	"[[test]]\ntest = 'a\u00a0b'\ngate = 'y'\nreason = 'b'\nsince = 2026-11-01\nuntil = 2026-11-02\n"

func TestParse(t *testing.T) {
	all, err := flaky.ParseQuarantine([]byte(record))
	want := flaky.QuarantineList{
		{Test: "tests/test_a.py::test_x[a b]", Gate: "test", Reason: "a port is taken", Since: day("2026-11-01"), Until: day("2026-11-15"), Owner: "ann", Issue: "#12"},
		{Test: "example.com/m.TestX", Reason: "the clock", Since: day("2026-11-01"), Until: day("2027-01-30")},
	}
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if note := all[0].NoteText(); note != "until 2026-11-15: a port is taken (ann, #12)" {
		t.Error(note)
	}
	edge := strings.Repeat("#", 256<<10-len("\n"+allowed)) + "\n" + allowed
	if all, err := flaky.ParseQuarantine([]byte(edge)); len(all) != 2 || err != nil {
		t.Error(all, err)
	}
	if _, err := flaky.ParseQuarantine([]byte("#" + edge)); err == nil {
		t.Error("a byte too many")
	}
	var full strings.Builder
	for i := range 500 {
		fmt.Fprintf(&full, "[[test]]\ntest = '%d'\nreason = 'b'\nsince = 2026-11-01\nuntil = 2026-11-02\n", i)
	}
	if all, err := flaky.ParseQuarantine([]byte(full.String())); len(all) != 500 || err != nil {
		t.Error(len(all), err)
	}
	if all, err := flaky.ParseQuarantine(nil); len(all) > 0 || err != nil {
		t.Error(all, err)
	}
}

func TestParseIsStrict(t *testing.T) {
	const good = "[[test]]\ntest = 'a'\nreason = 'b'\nsince = 2026-11-01\nuntil = 2026-11-02\n"
	for name, tt := range map[string]struct{ text, want string }{
		"no TOML":         {"[[test", "line 1, column"},
		"an unknown key":  {strings.Replace(good, "reason", "forever = true\nreason", 1), "line 3: unknown key test.forever"},
		"another table":   {"[tests]\n", "unknown key tests"},
		"no reason":       {strings.Replace(good, "'b'", "' '", 1), "entry 1 (a): it has no reason"},
		"no test":         {strings.Replace(good, "'a'", "''", 1), "entry 1 (no test): it has no test"},
		"all tests":       {strings.Replace(good, "'a'", "'*'", 1), "one entry is one test"},
		"no end":          {strings.Replace(good, "until = 2026-11-02\n", "", 1), "it has no until"},
		"no beginning":    {strings.Replace(good, "since = 2026-11-01\n", "", 1), "it has no since"},
		"a time":          {strings.Replace(good, "until = 2026-11-02", "until = 2026-11-02T10:00:00Z", 1), "until is not a date"},
		"no such day":     {strings.Replace(good, "until = 2026-11-02", "until = '2026-11-31'", 1), "until is not a date"},
		"too long":        {strings.Replace(good, "until = 2026-11-02", "until = 2027-01-31", 1), "more than 90 days"},
		"backwards":       {strings.Replace(good, "until = 2026-11-02", "until = 2026-10-02", 1), "before it starts"},
		"twice":           {good + good, "a already has an entry"},
		"hidden letters":  {strings.Replace(good, "'a'", `"a\u0007"`, 1), "has invisible characters"},
		"the second one":  {good + strings.NewReplacer("'a'", "'b'", "'b'", "' '").Replace(good), "entry 2 (b): it has no reason"},
		"a control":       {strings.Replace(good, "'a'", `"a\u0080"`, 1), "has invisible characters"},
		"another control": {strings.Replace(good, "'a'", `"a\u007f"`, 1), "has invisible characters"},
		"a long name":     {strings.Replace(good, "'a'", "' "+strings.Repeat("n", 80)+"'", 1), `" ` + strings.Repeat("n", 79) + `..." is not the name of a test`},
		"another kind":    {strings.Replace(good, "'a'", "7", 1), "line 2, column"},
		"far too many":    {strings.Repeat(good, 501), "more than 500"},
		"far too large":   {strings.Repeat("#", 300<<10), "bytes, more than"},
		"a reason no end": {strings.Replace(good, "'b'", "'"+strings.Repeat("b", 1001)+"'", 1), "longer than 1000 bytes"},
	} {
		all, err := flaky.ParseQuarantine([]byte(tt.text))
		var said *nexus.Error
		if !errors.As(err, &said) || said.Code != nexus.CodeInvalidConfig || !strings.Contains(said.Message, tt.want) || len(all) > 0 {
			t.Errorf("%s: %v, %v; want %q", name, all, err, tt.want)
		}
	}
}

func TestActive(t *testing.T) {
	e := entry("a")
	for text, want := range map[string][2]bool{"2026-10-31": {false, false}, "2026-11-01": {true, false}, "2026-11-15": {true, false}, "2026-11-16": {false, true}} {
		if got := [2]bool{e.IsActive(day(text)), e.IsExpired(day(text))}; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if d := flaky.DayOf(time.Date(2026, 11, 15, 23, 30, 0, 0, time.FixedZone("", -3600))); d.String() != "2026-11-16" {
		t.Error(d)
	}
	if (flaky.QuarantineEntry{}).IsActive(day("2026-11-01")) {
		t.Error("an entry that says nothing protects")
	}
}

// TestJSON holds that a day is one for programs, too.
func TestJSON(t *testing.T) {
	data, err := json.Marshal(entry("a"))
	if want := `{"test":"a","reason":"a port is taken","since":"2026-11-01","until":"2026-11-15"}`; err != nil || string(data) != want {
		t.Fatalf("%s, %v", data, err)
	}
	var e flaky.QuarantineEntry
	if err := json.Unmarshal(data, &e); err != nil || e != entry("a") {
		t.Errorf("%+v, %v", e, err)
	}
	for _, text := range []string{`"tomorrow"`, `7`} {
		var d flaky.QuarantineDay
		if json.Unmarshal([]byte(text), &d) == nil {
			t.Errorf("%s is a day", text)
		}
	}
}

func TestOf(t *testing.T) {
	web, over := entry("a"), entry("b")
	web.Gate, over.Until = "test-web", day("2026-11-02")
	again := over
	again.Gate, again.Since, again.Until = "test", day("2026-11-03"), day("2026-11-20")
	early, late := entry("c"), entry("c")
	early.Gate, late.Reason = "test-go", "first"
	l := flaky.QuarantineList{web, over, again, entry("m.TestX"), late, early}
	for _, tt := range []struct {
		gate, test string
		want       flaky.QuarantineEntry
	}{
		{"test-web", "a", web},
		{"test", "a", flaky.QuarantineEntry{}},
		{"test", "b", again},
		{"other", "b", over},
		{"test-go", "c", late},
		{"test", "m.TestX/sub", entry("m.TestX")},
		{"test", "m.TestXY", flaky.QuarantineEntry{}},
		{"test", "", flaky.QuarantineEntry{}},
	} {
		if e, ok := l.EntryFor(tt.gate, tt.test, day("2026-11-10")); e != tt.want || ok != (tt.want.Test != "") {
			t.Errorf("%s %s: %+v", tt.gate, tt.test, e)
		}
	}
}

func TestAddAndRemove(t *testing.T) {
	text, err := flaky.AddQuarantineEntry(nil, entry("it's \"a\" > b\\c"))
	if err != nil || !strings.HasPrefix(string(text), "# Tests whose") {
		t.Fatal(err, string(text))
	}
	more := entry("x")
	more.Gate, more.Owner, more.Issue = "test", "ann", "https://example.com/1"
	if text, err = flaky.AddQuarantineEntry(text, more); err != nil {
		t.Fatal(err)
	}
	all, err := flaky.ParseQuarantine(text)
	if diff := cmp.Diff(flaky.QuarantineList{entry("it's \"a\" > b\\c"), more}, all); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := flaky.AddQuarantineEntry(text, more); err == nil || !strings.Contains(err.Error(), "x already has an entry") {
		t.Error(err)
	}
	long := entry("y")
	long.Until = long.Since.AddDays(91)
	if _, err := flaky.AddQuarantineEntry(text, long); err == nil {
		t.Error("91 days")
	}
	less, n, err := flaky.RemoveQuarantineEntries(text, "x", "")
	if err != nil || n != 1 || strings.Contains(string(less), "ann") || !strings.Contains(string(less), "# Tests whose") {
		t.Error(n, err, string(less))
	}
	if _, n, err := flaky.RemoveQuarantineEntries(text, "x", "other"); n != 0 || err != nil {
		t.Error(n, err)
	}
	kept, n, err := flaky.RemoveQuarantineEntries([]byte(record), "tests/test_a.py::test_x[a b]", "")
	if err != nil || n != 1 || !strings.HasPrefix(string(kept), "# Ours.\n") || !strings.Contains(string(kept), "TestX") {
		t.Error(n, err, string(kept))
	}
	if kept, n, err := flaky.RemoveQuarantineEntries([]byte("?"), "a", ""); kept != nil || n != 0 || err == nil {
		t.Error(string(kept), n, err)
	}
	if same, n, _ := flaky.RemoveQuarantineEntries(text, "none", ""); n != 0 || string(same) != string(text) {
		t.Error(n, string(same))
	}
	undated := entry("z")
	undated.Until = flaky.QuarantineDay{}
	if err := undated.Check(); err == nil || err.Error() != "it has no since and until" {
		t.Error(err)
	}
	hidden := "[[test]]\ntest = 'a'\nreason = \"\"\"\n[[test]]\nx\"\"\"\nsince = 2026-11-01\nuntil = 2026-11-02\n"
	if _, _, err := flaky.RemoveQuarantineEntries([]byte(hidden), "a", ""); err == nil {
		t.Error("what only looks like an entry was taken for one")
	}
	inline := "test = [{test = 'a', reason = 'b', since = 2026-11-01, until = 2026-11-02}]\n"
	if _, _, err := flaky.RemoveQuarantineEntries([]byte(inline), "a", ""); err == nil {
		t.Error("an inline table was taken out")
	}
	if _, err := flaky.AddQuarantineEntry([]byte(inline), entry("b")); err == nil {
		t.Error("a table was put behind inline ones")
	}
}

func TestSpare(t *testing.T) {
	at := func(text string) flaky.DatedQuarantine {
		return flaky.DatedQuarantine{List: flaky.QuarantineList{entry("a"), entry("b")}, Day: day(text)}
	}
	today := at("2026-11-10")
	fails := func(findings ...nexus.Finding) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: "test", State: nexus.Fail, Tree: "t", Findings: findings}
	}
	a, b, c := nexus.Finding{Code: "test", Test: "a", Message: "no"}, nexus.Finding{Code: "test", Test: "b", Message: "no"}, nexus.Finding{Code: "test", Test: "c", Message: "no"}
	panics := nexus.Finding{Code: "panic", Test: "a", Message: "nil"}
	for name, tt := range map[string]struct {
		record flaky.DatedQuarantine
		gate   string
		e      nexus.GateEvidence
		wanted string
		state  nexus.GateState
		spared int
	}{
		"one in quarantine":               {today, "test", fails(a), "", nexus.Pass, 1},
		"two":                             {today, "test", fails(a, b), "", nexus.Pass, 2},
		"one that is not":                 {today, "test", fails(a, c), "", nexus.Fail, 1},
		"none":                            {today, "test", fails(c), "", nexus.Fail, 0},
		"no record":                       {flaky.DatedQuarantine{Day: day("2026-11-10")}, "test", fails(a), "", nexus.Fail, 0},
		"its time is over":                {at("2026-11-16"), "test", fails(a), "", nexus.Fail, 0},
		"its time has not come":           {at("2026-10-31"), "test", fails(a), "", nexus.Fail, 0},
		"a panic":                         {today, "test", fails(panics), "", nexus.Fail, 0},
		"a test that a criterion names":   {today, "test", fails(a, b), "b", nexus.Fail, 1},
		"the command of a criterion":      {today, nexus.AcceptGate + "x", fails(a), "", nexus.Fail, 0},
		"findings that were left out":     {today, "test", fails(a, nexus.Finding{Code: "more", Message: "and 3"}), "", nexus.Fail, 0},
		"something that is no test":       {today, "test", fails(a, nexus.Finding{Message: "no", File: "x"}), "", nexus.Fail, 1},
		"only remarks beside it":          {today, "test", fails(a, nexus.Finding{Severity: nexus.Minor, Message: "x"}), "", nexus.Pass, 1},
		"a state that is no failure":      {today, "test", nexus.GateEvidence{Gate: "test", State: nexus.Timeout, Findings: []nexus.Finding{a}}, "", nexus.Timeout, 0},
		"environmental stays as it is":    {today, "test", nexus.GateEvidence{Gate: "test", State: nexus.Environmental}, "", nexus.Environmental, 0},
		"a test that has no name of ours": {today, "test", fails(nexus.Finding{Code: "test", Message: "1 tests failed"}), "", nexus.Fail, 0},
	} {
		before := len(tt.e.Findings)
		e := tt.record.ApplyQuarantine(tt.e, tt.gate, func(test string) bool { return test == tt.wanted && test != "" })
		if e.State != tt.state || len(e.Flaky) != tt.spared || len(e.Findings) != before {
			t.Errorf("%s: %+v", name, e)
		}
		for _, x := range e.Flaky {
			if x.Quarantine != "until 2026-11-15: a port is taken" {
				t.Errorf("%s: %+v", name, x)
			}
		}
		if tt.spared > 0 && tt.e.Findings[0].Code != "test" {
			t.Errorf("%s: what was given was changed", name)
		}
	}
	e := today.ApplyQuarantine(nexus.GateEvidence{Gate: "test", State: nexus.Fail, Findings: []nexus.Finding{a, b}, Why: "2 failed"}, "test", func(string) bool { return false })
	if e.Why != "2 failed; in quarantine: a, b" {
		t.Errorf("why: %q", e.Why)
	}
	if e = today.ApplyQuarantine(fails(a), "test", func(string) bool { return false }); e.Why != "in quarantine: a" {
		t.Errorf("why: %q", e.Why)
	}
	e = at("2026-12-01").ApplyQuarantine(fails(a), "test", func(string) bool { return false })
	if e.Findings[0].Advice != "Its quarantine ended on 2026-11-15." {
		t.Errorf("%+v", e)
	}
	e = nexus.GateEvidence{Gate: "test", State: nexus.Pass, Flaky: []nexus.FlakyTestCount{{Test: "a", Failed: 1, Runs: 2}, {Test: "c"}, {Test: "b", Base: true}}}
	if got := today.ApplyQuarantine(e, "test", nil); got.Flaky[0].Quarantine == "" || got.Flaky[1].Quarantine != "" || got.Flaky[2].Quarantine != "" || e.Flaky[0].Quarantine != "" {
		t.Errorf("%+v of %+v", got, e)
	}
	if got := at("2026-12-01").ApplyQuarantine(e, "test", nil); got.Flaky[0].Quarantine != "" {
		t.Errorf("its time is over: %+v", got)
	}
}

func TestLook(t *testing.T) {
	r := flaky.DatedQuarantine{List: flaky.QuarantineList{entry("a"), entry("gone")}, Day: day("2026-11-10")}
	there := func(test string) bool { return test == "a" }
	if found := r.CheckEntries(there); len(found) != 1 || found[0].Code != "quarantine.unknown" || found[0].Test != "gone" || !strings.HasPrefix(found[0].Advice, "Remove it") {
		t.Errorf("%+v", found)
	}
	if found := r.CheckEntries(nil); len(found) != 0 {
		t.Errorf("%+v", found)
	}
	r.Day = day("2026-12-01")
	if found := r.CheckEntries(there); len(found) != 2 || found[0].Code != "quarantine.expired" || !strings.HasPrefix(found[0].Advice, "Fix the test") {
		t.Errorf("%+v", found)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(record, "x")
	f.Add("[[test]]\ntest = 'a'\nreason = 'b'\nsince = 2026-11-01\nuntil = 2026-11-02\n", "a")
	f.Add("[[ test ]]\ntest = '''\n[[test]]\n'''\nreason = 'b'\nsince = 2026-11-01\nuntil = 2026-11-02\n", "\n")
	f.Fuzz(func(t *testing.T, text, test string) {
		all, err := flaky.ParseQuarantine([]byte(text))
		if err != nil {
			if len(all) > 0 {
				t.Fatal("what is not understood protects")
			}
			return
		}
		for _, e := range all {
			if e.Check() != nil || e.Until.Sub(e.Since.Time) > flaky.MaxDays*24*time.Hour {
				t.Fatalf("%+v", e)
			}
			if left, n, err := flaky.RemoveQuarantineEntries([]byte(text), e.Test, e.Gate); err == nil {
				rest, err := flaky.ParseQuarantine(left)
				if err != nil || len(rest)+n != len(all) {
					t.Fatalf("%d of %d left, %v", len(rest), len(all), err)
				}
			}
		}
		e := flaky.QuarantineEntry{Test: test, Reason: test, Since: day("2026-11-01"), Until: day("2026-11-02")}
		if more, err := flaky.AddQuarantineEntry([]byte(text), e); err == nil {
			now, err := flaky.ParseQuarantine(more)
			if err != nil || fmt.Sprint(now) != fmt.Sprint(append(all, now[len(now)-1])) {
				t.Fatalf("%v, %v", now, err)
			}
		}
	})
}
