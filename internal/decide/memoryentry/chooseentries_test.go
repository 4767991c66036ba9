package memoryentry_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
)

func candidate(id, text string, files ...string) memoryentry.EntryCandidate {
	c := memoryentry.EntryCandidate{MemoryEntry: memoryentry.MemoryEntry{ID: id, State: memoryentry.Approved, Text: text, Learned: memoryentry.DayOf(landedAt)}, Match: 0.5}
	for _, f := range files {
		c.Files = append(c.Files, memoryentry.SubjectFile{Path: f})
	}
	return c
}

// TestChoose tells a task what has to do with it, the best first, within its
// budget, and says why.
func TestChoose(t *testing.T) {
	symbol := candidate("symbol", "Be careful.")
	symbol.Symbols = []string{"Parse"}
	no := candidate("no symbol", "Be careful.")
	no.Symbols = []string{"Par"}
	old := candidate("old", "Be careful.", "a/x.go")
	old.Learned = memoryentry.DayOf(landedAt.Add(-10 * memoryentry.HalfLife))
	used := old
	used.ID, used.Used, used.Hits = "used", landedAt, 3
	all := []memoryentry.EntryCandidate{
		candidate("nothing", "Something else."), candidate("one word", "The comments."), candidate("coined", "The name read_all is taken."), candidate("words", "A comment breaks the readers."),
		candidate("plain words", "this that which tests should change"),
		candidate("directory", "Be careful.", "a/other.go"), candidate("file", "Be careful.", "z.go", "a/x.go"), candidate("below", "Be careful.", "lib/deep/y.go"), symbol, no, old, used,
		candidate("long", strings.Repeat("word ", 500), "a/x.go"),
	}
	w := memoryentry.MemoryTaskQuery{Files: []string{"a/x.go", "lib"}, Text: "Parse the comments in the reader with read_all; this and that test should change"}
	cost := func(e memoryentry.MemoryEntry) int64 { return int64(len(e.Text)) }
	got := memoryentry.ChooseEntries(all, w, landedAt, 250, cost)
	var told, left []string
	for _, c := range got {
		if c.Left != "" {
			left = append(left, c.ID)
			continue
		}
		told = append(told, c.ID+": "+c.Why)
	}
	want := []string{
		"used: file a/x.go", "below: file lib/deep/y.go", "file: file a/x.go", "symbol: symbol Parse; words parse",
		"directory: directory a", "words: words comment, readers", "coined: words read_all", "old: file a/x.go",
	}
	slices.Sort(want)
	sorted := slices.Sorted(slices.Values(told))
	if !slices.Equal(sorted, want) || !slices.Equal(left, []string{"long"}) {
		t.Errorf("told %q, left %q", told, left)
	}
	if !strings.HasPrefix(told[0], "used") || slices.Index(told, "old: file a/x.go") < slices.Index(told, "symbol: symbol Parse; words parse") {
		t.Errorf("in the order %q", told)
	}
	if got := memoryentry.ChooseEntries(all, w, landedAt, 0, cost); slices.ContainsFunc(got, func(c memoryentry.EntryDecision) bool { return c.Left == "" }) {
		t.Errorf("without a budget: %+v", got)
	}
}

// TestStand finds what changed and what is gone.
func TestStand(t *testing.T) {
	now := map[string]string{"same": "1", "other": "2"}
	for _, c := range []struct {
		files []memoryentry.SubjectFile
		want  memoryentry.EntryFreshness
		file  string
	}{
		{nil, memoryentry.Fresh, ""},
		{[]memoryentry.SubjectFile{{Path: "same", Blob: "1"}, {Path: "other"}}, memoryentry.Fresh, ""},
		{[]memoryentry.SubjectFile{{Path: "same", Blob: "1"}, {Path: "other", Blob: "1"}}, memoryentry.Stale, "other"},
		{[]memoryentry.SubjectFile{{Path: "other", Blob: "1"}, {Path: "gone", Blob: "1"}}, memoryentry.Gone, "gone"},
		{[]memoryentry.SubjectFile{{Path: "gone"}, {Path: "same"}}, memoryentry.Fresh, ""},
		{[]memoryentry.SubjectFile{{Path: "gone"}, {Path: "away"}}, memoryentry.Gone, "away"},
	} {
		s, file := memoryentry.MemoryEntry{Files: c.files}.CheckFreshness(func(p string) string { return now[p] })
		if s != c.want || file != c.file {
			t.Errorf("%+v: %s %s", c.files, s, file)
		}
	}
}

// TestExpired removes what is of no use any more, and nothing else.
func TestExpired(t *testing.T) {
	day := 24 * time.Hour
	keep := memoryentry.RetentionPeriods{Proposals: 30 * day, Unused: 60 * day}
	for _, c := range []struct {
		name  string
		state memoryentry.EntryApprovalState
		s     memoryentry.EntryFreshness
		age   int
		used  int // days ago; 0: never
		keep  memoryentry.RetentionPeriods
		want  bool
	}{
		{"new", memoryentry.Proposed, memoryentry.Fresh, 30, 0, keep, false},
		{"not approved", memoryentry.Proposed, memoryentry.Fresh, 31, 0, keep, true},
		{"not approved, and used", memoryentry.Proposed, memoryentry.Fresh, 31, 1, keep, true},
		{"unused", memoryentry.Approved, memoryentry.Fresh, 61, 0, keep, true},
		{"used", memoryentry.Approved, memoryentry.Fresh, 300, 60, keep, false},
		{"kept for ever", memoryentry.Approved, memoryentry.Fresh, 3000, 0, memoryentry.RetentionPeriods{}, false},
		{"gone", memoryentry.Approved, memoryentry.Gone, 1, 1, keep, true},
		{"stale", memoryentry.Approved, memoryentry.Stale, 1, 1, keep, false},
		{"forgotten", memoryentry.Forgotten, memoryentry.Gone, 300, 0, keep, false},
	} {
		e := candidate("e", "text")
		e.State, e.Learned = c.state, memoryentry.DayOf(landedAt.Add(-time.Duration(c.age)*day))
		if c.used > 0 {
			e.Used = landedAt.Add(-time.Duration(c.used) * day)
		}
		if why := memoryentry.ExpiryReason(e, c.s, "a.go", c.keep, memoryentry.DayOf(landedAt).Time); (why != "") != c.want {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

// TestSame finds what was said before in other words, about the same files.
func TestSame(t *testing.T) {
	a := memoryentry.MemoryEntry{Kind: memoryentry.Gotcha, Text: "Run make generate before go build, or it fails", Files: []memoryentry.SubjectFile{{Path: "a.go"}}}
	b := a
	b.Text = "Run `make generate` before go build or it fails."
	if !memoryentry.IsSameEntry(a, b) {
		t.Error("they are the same")
	}
	c, d, e := b, b, b
	c.Kind, d.Files, e.Text = memoryentry.Fix, nil, "Run make clean"
	for i, o := range []memoryentry.MemoryEntry{c, d, e} {
		if memoryentry.IsSameEntry(a, o) {
			t.Errorf("%d is another one: %+v", i, o)
		}
	}
	again := memoryentry.MemoryEntry{From: []memoryentry.EntryOrigin{{Run: "r2", Task: "T1"}}}
	if !a.MergeOrigins(again) || a.MergeOrigins(again) || len(a.From) != 1 {
		t.Errorf("merged to %+v", a.From)
	}
}
