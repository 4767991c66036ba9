package review_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

func TestParse(t *testing.T) {
	got, err := review.Parse([]byte(`{"approved":false,"summary":" It leaks. ","findings":[` +
		`{"severity":"critical","file":"./a/../b.go","line":7,"message":"the file stays open","advice":"close it"},` +
		`{"severity":"minor","message":"no changelog"}]}`))
	want := nexus.ReviewGiven{Reviewed: true, Summary: "It leaks.", Findings: []nexus.Finding{
		{Gate: "review", File: "b.go", Line: 7, Severity: nexus.Critical, Message: "the file stays open", Advice: "close it"},
		{Gate: "review", Severity: nexus.Minor, Message: "no changelog"},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestWhatCannotBeReadIsNoReview(t *testing.T) {
	cases := map[string]string{
		``:                                "it ends too early",
		`LGTM`:                            "invalid character",
		`{"summary":"x","findings":[]}`:   "approved is missing",
		`{"approved":true,"findings":[]}`: "summary is missing",
		`{"approved":null,"summary":"x","findings":[]}`:                                                               "approved is missing",
		`{"approved":"yes","summary":"x","findings":[]}`:                                                              `"approved" is a string`,
		`{"Approved":true,"summary":"x","findings":[]}`:                                                               `unknown field "Approved"`,
		`{"approved":false,"approved":true,"summary":"x","findings":[]}`:                                              `"approved" is there twice`,
		`{"approved":false,"summary":"x","findings":[]}`:                                                              "no finding says why",
		`{"approved":true,"summary":"x","findings":[{"severity":"bad","message":"m"}]}`:                               `severity "bad" is none of`,
		`{"approved":true,"summary":"x","findings":[{"severity":"minor"}]}`:                                           "message is missing",
		`{"approved":true,"summary":"x","findings":[{"severity":"minor","message":"m","line":-1}]}`:                   "line -1 is below 0",
		`{"approved":true,"summary":"x","findings":[` + strings.Repeat(`{},`, 100) + `{}]}`:                           "101 findings",
		`{"approved":true,"summary":"` + strings.Repeat("x", 1<<20) + `","findings":[]}`:                              "the most is 1048576",
		`{"approved":true,"summary":"x","findings":[]} {"approved":false}`:                                            "something follows",
		`{"approved":true,"summary":"x","findings":[{"severity":"minor","message":"m","line":99999999999999999999}]}`: "number",
	}
	for in, want := range cases {
		got, err := review.Parse([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", in, err, want)
		}
		if got.Reviewed || got.Approved || got.Summary == "" || !review.Blocks(got, 1) {
			t.Errorf("%.80s: %+v", in, got)
		}
	}
}

func TestFindingsAreHeldAgainstTheTree(t *testing.T) {
	lines := func(file string) (int, bool) { return 10, file == "a.go" }
	given := func(approved bool, f ...nexus.Finding) nexus.ReviewGiven {
		return nexus.ReviewGiven{Reviewed: true, Approved: approved, Summary: "s", Findings: f}
	}
	real := nexus.Finding{File: "a.go", Line: 10, Severity: nexus.Major, Message: "m"}
	after := nexus.Finding{File: "a.go", Line: 11, Severity: nexus.Major, Message: "m"}
	gone := nexus.Finding{File: "b.go", Severity: nexus.Critical, Message: "m"}
	whole := nexus.Finding{Severity: nexus.Major, Message: "m"}
	minor := nexus.Finding{File: "a.go", Severity: nexus.Minor, Message: "m"}
	cases := []struct {
		name             string
		in               nexus.ReviewGiven
		reviewed, blocks bool
		severities       []nexus.Severity
	}{
		{"real", given(false, real), true, true, []nexus.Severity{nexus.Major}},
		{"one real, one gone", given(false, real, gone), true, true, []nexus.Severity{nexus.Major, nexus.Suggestion}},
		{"only invented", given(false, after, gone, minor), false, true, []nexus.Severity{nexus.Suggestion, nexus.Suggestion, nexus.Minor}},
		{"approved, invented", given(true, gone), true, false, []nexus.Severity{nexus.Suggestion}},
		{"the change as a whole", given(false, whole), true, true, []nexus.Severity{nexus.Major}},
		{"rejected for little", given(false, minor), true, false, []nexus.Severity{nexus.Minor}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := append([]nexus.Finding(nil), c.in.Findings...)
			got := review.Verify(c.in, lines)
			var severities []nexus.Severity
			for _, f := range got.Findings {
				severities = append(severities, f.Severity)
			}
			if diff := cmp.Diff(c.severities, severities); diff != "" || got.Reviewed != c.reviewed || review.Blocks(got, 1) != c.blocks {
				t.Errorf("%+v %s", got, diff)
			}
			if diff := cmp.Diff(before, c.in.Findings); diff != "" {
				t.Errorf("the caller's findings changed: %s", diff)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	of := func(s ...nexus.Severity) nexus.ReviewGiven {
		r := nexus.ReviewGiven{Reviewed: true, Approved: true}
		for _, v := range s {
			r.Findings = append(r.Findings, nexus.Finding{Severity: v, Message: "m"})
		}
		return r
	}
	cases := []struct {
		r      nexus.ReviewGiven
		majors int
		want   bool
	}{
		{of(), 0, false},
		{of(nexus.Minor, nexus.Suggestion), 0, false},
		{of(nexus.Major), 0, true},
		{of(nexus.Major), 2, false},
		{of(nexus.Major, ""), 2, true},
		{of(nexus.Critical), 9, true},
		{nexus.ReviewGiven{Approved: true}, 9, true},
	}
	for _, c := range cases {
		if got := review.Blocks(c.r, c.majors); got != c.want {
			t.Errorf("%+v with %d majors: %v", c.r, c.majors, got)
		}
	}
}

func TestSchemaFitsWhatParseReads(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal(review.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]bool{
		`{"approved":true,"summary":"x","findings":[{"severity":"minor","message":"m","file":"a","line":0,"advice":""}]}`: true,
		`{"approved":true,"summary":"x"}`:                                                false,
		`{"approved":true,"summary":"x","findings":[{"severity":"huge","message":"m"}]}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); (err == nil) != want {
			t.Errorf("%s: %v", in, err)
		}
		if _, err := review.Parse([]byte(in)); want && err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"approved":true,"summary":"x","findings":[{"severity":"minor","message":"m"}]}`))
	f.Add([]byte(`{"approved":false,"summary":"x","findings":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := review.Parse(data)
		if (err == nil) != r.Reviewed || err != nil && r.Approved {
			t.Errorf("%+v %v", r, err)
		}
	})
}
