package review_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

func TestPersonasAreThoseOfTheConfiguration(t *testing.T) {
	var names []string
	for _, p := range review.BuiltinPersonas() {
		names = append(names, p.Name)
		if p.Charge == "" || len(p.Categories) == 0 || len(p.Charge) > 600 {
			t.Errorf("%+v", p)
		}
	}
	if d := cmp.Diff(config.ReviewPersonas(), names); d != "" {
		t.Error(d)
	}
	all, err := review.PersonasNamed([]string{"security", "tests", "security"})
	if err != nil || len(all) != 2 || all[1].Name != "tests" {
		t.Errorf("%+v %v", all, err)
	}
	if _, err := review.PersonasNamed([]string{"boss"}); err == nil {
		t.Error("a boss")
	}
	if all, err := review.PersonasNamed(nil); err != nil || len(all) != 1 || all[0].Name != "" {
		t.Errorf("%+v %v", all, err)
	}
}

func file(name string, hunks ...string) string {
	text := fmt.Sprintf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n", name, name, name, name)
	for i, h := range hunks {
		text += fmt.Sprintf("@@ -%d,1 +%d,1 @@\n%s", i+1, i+1, h)
	}
	return text
}

func TestCut(t *testing.T) {
	line := strings.Repeat("x", 78) + "\n"
	small, middle := file("a", "+"+line), file("b", strings.Repeat("+"+line, 6))
	hunky := file("c", strings.Repeat("+"+line, 8), strings.Repeat("+"+line, 8))
	large := file("d", strings.Repeat("+"+line, 30))
	for name, c := range map[string]struct {
		diff string
		want []string // what each part begins with
	}{
		"small enough":      {small, []string{"diff --git a/a"}},
		"between files":     {small + middle + middle + small, []string{"diff --git a/a", "diff --git a/b"}},
		"between hunks":     {middle + hunky, []string{"diff --git a/b", "diff --git a/c", "diff --git a/c"}},
		"between lines":     {large, []string{"diff --git a/d", "diff --git a/d", "diff --git a/d"}},
		"one line":          {file("e", "+"+strings.Repeat("y", 1500)), []string{"diff --git a/e", "diff --git a/e", "diff --git a/e"}},
		"nothing that ends": {strings.Repeat("z", 2500), []string{"zzz", "zzz", "zzz"}},
	} {
		got := review.CutDiff(c.diff, 1_000)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d parts, want %d: %q", name, len(got), len(c.want), got)
			continue
		}
		for i, part := range got {
			if !strings.HasPrefix(part, c.want[i]) || len(part) > 1_000 {
				t.Errorf("%s: part %d of %d bytes: %.60q", name, i, len(part), part)
			}
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add(file("a", "+x\n")+file("b", "+y\n", "-z\n"), 60)
	f.Add("@@ x\n@@ y\ndiff --git \n", 4)
	f.Fuzz(func(t *testing.T, diff string, bytes int) {
		bytes = 1 + (bytes&0xffff)%500
		kept := map[rune]int{}
		for i, part := range review.CutDiff(diff, bytes) {
			if len(part) > bytes {
				t.Fatalf("part %d has %d bytes of %d", i, len(part), bytes)
			}
			for _, b := range []byte(part) {
				kept[rune(b)]++
			}
		}
		for _, b := range []byte(diff) { // nothing is left out; heads are said again
			if kept[rune(b)]--; kept[rune(b)] < 0 {
				t.Fatalf("%q is lost", b)
			}
		}
	})
}

func TestSeats(t *testing.T) {
	people, err := review.PersonasNamed([]string{"security", "tests"})
	if err != nil {
		t.Fatal(err)
	}
	big := file("a", "+"+strings.Repeat("x\n+", 20_000)) + file("b", "+"+strings.Repeat("y\n+", 20_000))
	var ids []nexus.SessionID
	for _, s := range review.AssignReviewers(people, big) {
		ids = append(ids, s.SessionID("T1.2", 3))
		if b := s.PartInstruction(); !strings.Contains(b, "reviewer for "+s.Name) || !strings.Contains(b, fmt.Sprintf("split into %d parts", s.Parts)) {
			t.Error(b)
		}
	}
	want := []nexus.SessionID{
		"T1.2/reviewer.3-security-1", "T1.2/reviewer.3-tests-1", "T1.2/reviewer.3-security-2", "T1.2/reviewer.3-tests-2",
		"T1.2/reviewer.3-security-3", "T1.2/reviewer.3-tests-3", "T1.2/reviewer.3-security-4", "T1.2/reviewer.3-tests-4",
	}
	if d := cmp.Diff(want, ids); d != "" {
		t.Error(d)
	}
	all := review.AssignReviewers([]review.ReviewPersona{{}}, file("a", "+x\n"))
	if len(all) != 1 || all[0].SessionID("T1.1", 1) != "T1.1/reviewer.1" || all[0].PartInstruction() != "" {
		t.Errorf("%+v", all)
	}
	if got := review.AssignReviewers(people, strings.Repeat(file("a", strings.Repeat("+x\n", 16_000)), review.MaxParts+1)); got != nil {
		t.Errorf("%d seats for what nobody reads", len(got))
	}
}

func TestHold(t *testing.T) {
	people, err := review.PersonasNamed([]string{"security", "tests"})
	if err != nil {
		t.Fatal(err)
	}
	seats := review.AssignReviewers(people, "diff")
	var both sync.WaitGroup
	both.Add(2)
	got, err := review.RunReviewers(t.Context(), seats, 1, func(_ context.Context, s review.DiffReviewer) (review.ReviewerOpinion, error) {
		both.Done()
		both.Wait() // both read at once
		f := nexus.Finding{Severity: nexus.Major, Message: "bad " + s.Name}
		return review.ReviewerOpinion{Reader: nexus.ChangeReviewer{Session: s.SessionID("T1.1", 1)}, Given: nexus.ReviewerVerdictGiven{Reviewed: true, Summary: s.Name, Findings: []nexus.Finding{f}}}, nil
	})
	want := nexus.ReviewerVerdictGiven{
		Reviewed: true, Summary: "security: security\ntests: tests",
		Findings: []nexus.Finding{
			{Severity: nexus.Major, Message: "bad security", Persona: "security", Category: "security"},
			{Severity: nexus.Major, Message: "bad tests", Persona: "tests", Category: "tests"},
		},
		Readers: []nexus.ChangeReviewer{
			{Session: "T1.1/reviewer.1-security", Persona: "security", Reviewed: true}, {Session: "T1.1/reviewer.1-tests", Persona: "tests", Reviewed: true},
		},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
	broken := errors.New("broken")
	if _, err := review.RunReviewers(t.Context(), seats, 1, func(ctx context.Context, s review.DiffReviewer) (review.ReviewerOpinion, error) {
		if s.Name == "tests" {
			return review.ReviewerOpinion{}, broken
		}
		<-ctx.Done()
		return review.ReviewerOpinion{}, ctx.Err()
	}); !errors.Is(err, broken) {
		t.Error(err)
	}
}
