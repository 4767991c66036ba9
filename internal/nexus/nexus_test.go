package nexus_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestTierNext(t *testing.T) {
	for _, c := range []struct {
		from, to nexus.Tier
		ok       bool
	}{
		{"", nexus.Balanced, true},
		{nexus.Fast, nexus.Balanced, true},
		{nexus.Balanced, nexus.Strong, true},
		{nexus.Strong, nexus.Strong, false},
		{"gigantic", nexus.Strong, false},
	} {
		if to, ok := c.from.NextTier(); to != c.to || ok != c.ok {
			t.Errorf("%q.Next() = %q, %v; want %q, %v", c.from, to, ok, c.to, c.ok)
		}
	}
	if nexus.Tier("").IsKnown() || nexus.Tier("gigantic").IsKnown() || !nexus.Strong.IsKnown() {
		t.Error("Known does not tell the three tiers from others")
	}
}

func TestMoneyIsExact(t *testing.T) {
	for _, c := range []struct {
		m    nexus.Money
		json string
	}{
		{0, "0"},
		{1, "0.000000001"},
		{-1, "-0.000000001"},
		{nexus.Dollar, "1"},
		{10 * nexus.Dollar, "10"},
		{-1_500_000_000, "-1.5"},
		{123_456_789, "0.123456789"},
		{math.MaxInt64, "9223372036.854775807"},
		{math.MinInt64, "-9223372036.854775808"},
	} {
		data, err := json.Marshal(c.m)
		if err != nil || string(data) != c.json {
			t.Errorf("%d is written as %s (%v), want %s", int64(c.m), data, err, c.json)
		}
		var got nexus.Money
		if err := json.Unmarshal([]byte(c.json), &got); err != nil || got != c.m {
			t.Errorf("%s is read as %d (%v), want %d", c.json, int64(got), err, int64(c.m))
		}
	}
}

func TestMoneyReadsWhatPeopleWrite(t *testing.T) {
	for in, want := range map[string]nexus.Money{
		"5": 5 * nexus.Dollar, "5.0": 5 * nexus.Dollar, "2.5e1": 25 * nexus.Dollar, "1e-9": 1, "0.0000000019": 1,
	} {
		var got nexus.Money
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("%s is read as %d (%v), want %d", in, int64(got), err, int64(want))
		}
	}
	for _, in := range []string{`"5"`, "true", "{}", "9223372036.854775808", "1e300", "-1e11", "1e999999999", "1/3", "0x10", "Inf"} {
		m := nexus.Money(7)
		if err := m.UnmarshalJSON([]byte(in)); err == nil || m != 7 {
			t.Errorf("%s is read as %d (%v)", in, int64(m), err)
		}
	}
}

func TestMoneyForPeople(t *testing.T) {
	for want, m := range map[string]nexus.Money{
		"$0.00": 0, "$5.00": 5 * nexus.Dollar, "$0.0123": nexus.MoneyFromDollars(0.0123), "$-1.25": nexus.MoneyFromDollars(-1.25),
	} {
		if m.String() != want {
			t.Errorf("%d is shown as %s, want %s", int64(m), m, want)
		}
	}
}

func TestDollars(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want nexus.Money
	}{
		{0.1, 100_000_000},
		{1e-9, 1},
		{math.NaN(), 0},
		{math.Inf(1), math.MaxInt64},
		{math.Inf(-1), math.MinInt64},
		{1e300, math.MaxInt64},
	} {
		if got := nexus.MoneyFromDollars(c.in); got != c.want {
			t.Errorf("Dollars(%g) = %d, want %d", c.in, int64(got), int64(c.want))
		}
	}
}

func TestMoneySurvivesItsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := nexus.Money(rapid.Int64().Draw(t, "money"))
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got nexus.Money
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Fatalf("%d became %s and then %d (%v)", int64(want), data, int64(got), err)
		}
	})
}

func FuzzMoney(f *testing.F) {
	for _, s := range []string{"0", "1.5", "-0.000000001", "9223372036.854775807", "1e9", "1e400", "0x1p4", "1_0", "1/2", "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again nexus.Money
		if m.UnmarshalJSON(data) != nil {
			return
		}
		out, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &again); err != nil || again != m {
			t.Fatalf("%q was read as %d, written as %s and read as %d (%v)", data, int64(m), out, int64(again), err)
		}
	})
}

func TestUsage(t *testing.T) {
	u := nexus.Usage{Input: 1, Output: 2, CacheRead: 4, CacheWrite: 8}
	if got := u.Add(nexus.Usage{Input: 16, Output: 32, CacheRead: 64, CacheWrite: 128}); got != (nexus.Usage{Input: 17, Output: 34, CacheRead: 68, CacheWrite: 136}) {
		t.Errorf("Add = %+v", got)
	}
	if u.TotalTokens() != 15 || u.PromptTokens() != 13 {
		t.Errorf("Total = %d, Prompt = %d", u.TotalTokens(), u.PromptTokens())
	}
}

func TestErrorIs(t *testing.T) {
	err := fmt.Errorf("replay: %w", &nexus.Error{Code: nexus.CodeDiskFull, Message: "append", Cause: io.ErrShortWrite})
	for _, c := range []struct {
		target error
		want   bool
	}{
		{&nexus.Error{Code: nexus.CodeDiskFull}, true},
		{&nexus.Error{Code: nexus.CodeReadOnly}, false},
		{&nexus.Error{}, false},
		{&nexus.Error{Code: nexus.CodeDiskFull, Message: "another"}, false},
		{io.ErrShortWrite, true},
		{io.EOF, false},
	} {
		if errors.Is(err, c.target) != c.want {
			t.Errorf("Is(%v) is not %v", c.target, c.want)
		}
	}
	if want := "replay: append: short write"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestZeroIsSafe(t *testing.T) {
	if (nexus.GateEvidence{}).Passed() || (nexus.GateEvidence{State: nexus.Pass}).Passed() {
		t.Error("evidence of no tree passed")
	}
	if (nexus.GatesVerdict{}).Passed {
		t.Error("a verdict nobody gave passed")
	}
	if nexus.TaskStatus("").HasEnded() || nexus.RunStatus("").HasEnded() {
		t.Error("what nobody ended has ended")
	}
	if (nexus.ReviewerVerdictGiven{}).Reviewed || (nexus.ReviewerVerdictGiven{}).Approved {
		t.Error("a review nobody gave approves")
	}
}

// TestObjection tells what somebody wants instead from a plain no.
func TestObjection(t *testing.T) {
	for answer, want := range map[string]string{
		"": "", "no": "", " NO. ": "", "n": "", "rejected": "", "no!": "", "no: ": "",
		"no: use one task":   "use one task",
		"No, use one task":   "use one task",
		"no - one task, no:": "one task, no:",
		"no tests, please":   "no tests, please",
		"not like this":      "not like this",
		"split it":           "split it",
		"nein: anders":       "nein: anders",
	} {
		if got := nexus.RequestedChangeIn(answer); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}

// FuzzObjection reads whatever people answer: what they want is a part of it,
// and reading that again changes nothing that is not a no itself.
func FuzzObjection(f *testing.F) {
	for _, seed := range []string{"no", "no: why", "yes", ":", "no no: x", "\x00", "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got := nexus.RequestedChangeIn(answer)
		if !strings.Contains(answer, got) || strings.TrimSpace(got) != got {
			t.Errorf("%q: %q", answer, got)
		}
	})
}
