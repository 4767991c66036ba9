package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

const patch = `diff --git a/a.go b/b.go
similarity index 90%
rename from a.go
rename to b.go
--- a/a.go
+++ b/b.go
@@ -3,0 +4,2 @@ func x
+one
+@@ -1 +1 @@
@@ -10 +12 @@
--- old
+++ new
@@ -20,3 +21,0 @@
-x
-y
-z
diff --git a/c.go b/c.go
index 1..2 100644
--- a/c.go
+++ b/c.go
@@ -1,2 +1,4 @@
-a
-b
+1
+2
+3
+4
`

func TestMoves(t *testing.T) {
	m := gate.ParseLineMoves(patch)
	for _, tt := range []struct {
		file string
		line int
		want string
	}{
		{"a.go", 0, "b.go:0"},
		{"a.go", 3, "b.go:3"},
		{"a.go", 4, "b.go:6"},
		{"a.go", 10, "b.go:12"},
		{"a.go", 11, "b.go:13"},
		{"a.go", 21, "b.go:21"},
		{"a.go", 23, "b.go:22"},
		{"c.go", 2, "c.go:2"},
		{"c.go", 3, "c.go:5"},
		{"d.go", 7, "d.go:7"},
	} {
		f := m.MoveFinding(nexus.Finding{File: tt.file, Line: tt.line})
		if got := fmt.Sprintf("%s:%d", f.File, f.Line); got != tt.want {
			t.Errorf("%s:%d is at %s, want %s", tt.file, tt.line, got, tt.want)
		}
	}
}

// TestAgainstManyFindings weighs a thousand findings: what moved, or is in a
// file with another name, is what it was, and of several that read alike the
// one that is new is named.
func TestAgainstManyFindings(t *testing.T) {
	base := nexus.GateEvidence{Gate: "lint", State: nexus.Fail, Tree: "base"}
	now := nexus.GateEvidence{Gate: "lint", State: nexus.Fail, Tree: "now"}
	for i := range 1000 {
		f := nexus.Finding{Gate: "lint", File: fmt.Sprintf("%d.go", i%7), Line: 10 + i, Message: "unused, declared at line " + fmt.Sprint(10+i)}
		base.Findings = append(base.Findings, f)
		if f.Line += 2; f.File == "0.go" {
			f.File = "moved.go"
		}
		f.Message = "unused, declared at line " + fmt.Sprint(f.Line)
		now.Findings = append(now.Findings, f)
	}
	var patch strings.Builder
	for i := range 7 {
		to := fmt.Sprintf("%d.go", i)
		if i == 0 {
			to = "moved.go"
		}
		fmt.Fprintf(&patch, "diff --git a/%d.go b/%s\n", i, to)
		if i == 0 {
			patch.WriteString("rename from 0.go\nrename to moved.go\n")
		}
		patch.WriteString("@@ -0,0 +1,2 @@\n+a\n+b\n")
	}
	moves := gate.ParseLineMoves(patch.String())
	for i, f := range base.Findings {
		base.Findings[i] = moves.MoveFinding(f)
	}
	if e := gate.CompareWithBase(base, now, nil); e.State != nexus.Pass || !strings.Contains(e.Why, "1000 findings that are also on the base") {
		t.Errorf("%s, %s, %d findings", e.State, e.Why, len(e.Findings))
	}
	fresh := now.Findings[500]
	fresh.Line = 7
	now.Findings = append([]nexus.Finding{fresh}, now.Findings...)
	if e := gate.CompareWithBase(base, now, nil); e.State != nexus.Fail || len(e.Findings) != 1 || e.Findings[0].Line != 7 {
		t.Errorf("%s, %s, %v", e.State, e.Why, e.Findings)
	}
}

// FuzzMoves never makes a place that cannot be.
func FuzzMoves(f *testing.F) {
	f.Add(patch, "a.go", 4)
	f.Add("diff --git a/x b/x\n@@ -9999999999999999999,3 +1,0 @@\n", "x", 2)
	f.Fuzz(func(t *testing.T, patch, file string, line int) {
		line = max(0, line%1_000_000)
		if got := gate.ParseLineMoves(patch).MoveFinding(nexus.Finding{File: file, Line: line}); line == 0 && got.Line != 0 {
			t.Errorf("%s:%d is at %d", file, line, got.Line)
		}
	})
}

// TestMovesKeepOrder checks that lines that stay do not change places.
func TestMovesKeepOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("diff --git a/x b/x\n")
		at, shift := 1, 0
		gone := map[int]bool{}
		for range rapid.IntRange(0, 5).Draw(t, "hunks") {
			at += rapid.IntRange(1, 4).Draw(t, "kept")
			del, add := rapid.IntRange(0, 3).Draw(t, "deleted"), rapid.IntRange(0, 3).Draw(t, "added")
			from, to := at, at+shift
			if del == 0 {
				from--
			}
			if add == 0 {
				to--
			}
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s%s", from, del, to, add, strings.Repeat("-x\n", del), strings.Repeat("+x\n", add))
			for i := range del {
				gone[at+i] = true
			}
			at, shift = at+del, shift+add-del
		}
		m, last := gate.ParseLineMoves(b.String()), 0
		for line := 1; line < at+5; line++ {
			if got := m.MoveFinding(nexus.Finding{File: "x", Line: line}).Line; !gone[line] {
				if got <= last {
					t.Fatalf("line %d is at %d, the one before at %d:\n%s", line, got, last, b.String())
				}
				last = got
			}
		}
	})
}
