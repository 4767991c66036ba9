package review_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

// TestPluginsObject takes an approval back for what a plugin found and the tree
// has, and never gives one.
func TestPluginsObject(t *testing.T) {
	text := func(file string) (now, before []string, ok bool) {
		return []string{"one", "two"}, nil, file == "a.txt"
	}
	object := func(r nexus.ReviewerVerdictGiven, findings ...plugin.ReviewFinding) nexus.ReviewerVerdictGiven {
		return review.AddPluginFindings(r, []review.ReviewerOpinion{review.OpinionOfPlugin("p", plugin.ReviewerOutput{Summary: "s", Findings: findings}, text)})
	}
	approved := nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Summary: "Good.", Readers: []nexus.ChangeReviewer{{Session: "x", Reviewed: true, Approved: true}}}
	here := plugin.ReviewFinding{File: "a.txt", Line: 1, Quote: "two", Severity: nexus.Major, Message: "bad"}
	for name, c := range map[string]struct {
		given    nexus.ReviewerVerdictGiven
		findings []plugin.ReviewFinding
		approved bool
	}{
		"nothing":            {approved, nil, true},
		"a major one":        {approved, []plugin.ReviewFinding{here}, false},
		"a lesser one":       {approved, []plugin.ReviewFinding{{File: "a.txt", Line: 1, Severity: nexus.Minor, Message: "bad"}}, true},
		"not in the tree":    {approved, []plugin.ReviewFinding{{File: "b.txt", Line: 1, Severity: nexus.Critical, Message: "bad"}}, true},
		"a quote of nothing": {approved, []plugin.ReviewFinding{{File: "a.txt", Line: 1, Quote: "three", Severity: nexus.Critical, Message: "bad"}}, true},
		"nobody reviewed":    {nexus.ReviewerVerdictGiven{}, nil, false},
		"rejected":           {nexus.ReviewerVerdictGiven{Reviewed: true}, nil, false},
	} {
		got := object(c.given, c.findings...)
		if got.Approved != c.approved || got.Reviewed != c.given.Reviewed || len(got.Findings) != len(c.findings) || len(got.Readers) != len(c.given.Readers)+1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := object(approved, here)
	want := nexus.ReviewerVerdictGiven{
		Reviewed: true, Summary: "Good.\nplugin p: s",
		Findings: []nexus.Finding{{Gate: "review", File: "a.txt", Line: 2, Quote: "two", Severity: nexus.Major, Message: "bad", Persona: "plugin p"}},
		Readers:  []nexus.ChangeReviewer{{Session: "x", Reviewed: true, Approved: true}, {Plugin: "p", Reviewed: true}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	again := review.AddPluginFindings(nexus.ReviewerVerdictGiven{Reviewed: true, Findings: got.Findings[:1]}, []review.ReviewerOpinion{review.OpinionOfPlugin("p", plugin.ReviewerOutput{Findings: []plugin.ReviewFinding{here}}, text)})
	if len(again.Findings) != 1 {
		t.Errorf("what both found is told twice: %+v", again.Findings)
	}
}
