package review_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

func TestParse(t *testing.T) {
	got, err := review.ParseReview([]byte(`{"approved":false,"summary":" It leaks. ","findings":[` +
		`{"severity":"critical","category":" Security","file":"./a/../b.go","line":7,"quote":"open(f)","message":"the file stays open","advice":"close it"},` +
		`{"severity":"minor","message":"no changelog"}]}`))
	want := nexus.ReviewerVerdictGiven{Reviewed: true, Summary: "It leaks.", Findings: []nexus.Finding{
		{Gate: "review", File: "b.go", Line: 7, Severity: nexus.Critical, Category: "security", Message: "the file stays open", Advice: "close it", Quote: "open(f)"},
		{Gate: "review", Severity: nexus.Minor, Message: "no changelog"},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// TestTasteIsMinor whatever the reviewer says, so that it sends nothing back.
func TestTasteIsMinor(t *testing.T) {
	for _, c := range []struct{ severity, category, want string }{
		{"critical", "style", "minor"},
		{"major", "Style", "minor"},
		{"major", "taste", "minor"},
		{"major", "code-style", "minor"},
		{"major", "naming", "minor"},
		{"critical", "readability", "minor"},
		{"suggestion", "style", "suggestion"},
		{"minor", "style", "minor"},
		{"major", "correctness", "major"},
		{"critical", "security", "critical"},
		{"major", "lifestyle", "major"},
		{"major", "", "major"},
	} {
		got, err := review.ParseReview([]byte(fmt.Sprintf(`{"approved":false,"summary":"no","findings":[{"severity":%q,"category":%q,"message":"m"}]}`, c.severity, c.category)))
		if err != nil || string(got.Findings[0].Severity) != c.want {
			t.Errorf("%s of %s: %+v, %v", c.severity, c.category, got.Findings, err)
		}
		if blocks := review.BlocksLanding(got, 1); blocks != (c.want == "major" || c.want == "critical") {
			t.Errorf("%s of %s blocks: %v", c.severity, c.category, blocks)
		}
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
		`{"approved":false,"approved":true,"summary":"x","findings":[]}`:                                              `"approved" is given twice`,
		`{"approved":false,"summary":"x","findings":[]}`:                                                              "no finding says why",
		`{"approved":true,"summary":"x","findings":[{"severity":"bad","message":"m"}]}`:                               `severity "bad" is not one of`,
		`{"approved":true,"summary":"x","findings":[{"severity":"minor"}]}`:                                           "message is missing",
		`{"approved":true,"summary":"x","findings":[{"severity":"minor","message":"m","line":-1}]}`:                   "line -1 is below 0",
		`{"approved":true,"summary":"x","findings":[` + strings.Repeat(`{},`, 100) + `{}]}`:                           "101 findings",
		`{"approved":true,"summary":"` + strings.Repeat("x", 1<<20) + `","findings":[]}`:                              "the maximum is 1048576",
		`{"approved":true,"summary":"x","findings":[]} {"approved":false}`:                                            "text after the end",
		`{"approved":true,"summary":"x","findings":[{"severity":"minor","message":"m","line":99999999999999999999}]}`: "number",
	}
	for in, want := range cases {
		got, err := review.ParseReview([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", in, err, want)
		}
		if got.Reviewed || got.Approved || got.Summary == "" || !review.BlocksLanding(got, 1) {
			t.Errorf("%.80s: %+v", in, got)
		}
	}
}

func TestFindingsAreHeldAgainstTheTree(t *testing.T) {
	text := func(file string) (now, before []string, ok bool) {
		switch file {
		case "a.go":
			return []string{"package a", "", "func A() {", "\tclose(x)", "}", "", "func B() {", "\tclose(x)", "}", "// end"}, []string{"package a", "var gone int"}, true
		case "old.go":
			return nil, []string{"one", "two"}, true
		}
		return nil, nil, false
	}
	given := func(approved bool, f ...nexus.Finding) nexus.ReviewerVerdictGiven {
		return nexus.ReviewerVerdictGiven{Reviewed: true, Approved: approved, Summary: "s", Findings: f}
	}
	at := func(file string, line int, quote string) nexus.Finding {
		return nexus.Finding{File: file, Line: line, Severity: nexus.Major, Message: "m", Quote: quote}
	}
	minor := nexus.Finding{File: "a.go", Severity: nexus.Minor, Message: "m"}
	cases := []struct {
		name             string
		in               nexus.ReviewerVerdictGiven
		reviewed, blocks bool
		found            []string
	}{
		{"the last line", given(false, at("a.go", 10, "")), true, true, []string{"10"}},
		{"one real, one gone", given(false, at("a.go", 10, ""), at("b.go", 1, "")), true, true, []string{"10", "1 there is no such file"}},
		{"only invented", given(false, at("a.go", 11, ""), at("b.go", 0, ""), minor), false, true, []string{"11 the file has no such line", "0 there is no such file", "0"}},
		{"approved, invented", given(true, at("b.go", 2, "")), true, false, []string{"2 there is no such file"}},
		{"the change as a whole", given(false, nexus.Finding{Severity: nexus.Major, Message: "m"}), true, true, []string{"0"}},
		{"rejected for little", given(false, minor), true, false, []string{"0"}},
		{"quoted", given(false, at("a.go", 3, "func A() {")), true, true, []string{"3"}},
		{"quoted at another line", given(false, at("a.go", 9, "  close(x)  ")), true, true, []string{"8"}},
		{"quoted as the diff has it", given(false, at("a.go", 4, "+\tclose(x)")), true, true, []string{"4"}},
		{"two lines", given(false, at("a.go", 1, "close(x)\n}\nfunc B")), true, true, []string{"4"}},
		{"a line that the file does not have, but the quote", given(false, at("a.go", 400, "// end")), true, true, []string{"10"}},
		{"quoted, and not there", given(false, at("a.go", 4, "open(x)")), false, true, []string{"4 what it quotes is not in the file"}},
		{"what was deleted", given(false, at("a.go", 2, "-var gone int")), true, true, []string{"2"}},
		{"a deleted file", given(false, at("old.go", 2, "")), true, true, []string{"2"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := append([]nexus.Finding(nil), c.in.Findings...)
			got := review.VerifyFindings(c.in, text)
			var found []string
			for _, f := range got.Findings {
				found = append(found, strings.TrimSpace(fmt.Sprint(f.Line, " ", f.Unverified)))
			}
			if diff := cmp.Diff(c.found, found); diff != "" || got.Reviewed != c.reviewed || review.BlocksLanding(got, 1) != c.blocks {
				t.Errorf("%+v %s", got, diff)
			}
			if diff := cmp.Diff(before, c.in.Findings); diff != "" {
				t.Errorf("the caller's findings changed: %s", diff)
			}
		})
	}
}

func TestNewNitsComeTwice(t *testing.T) {
	nit := nexus.Finding{Gate: "review", File: "a.go", Line: 3, Severity: nexus.Minor, Message: "the name says little"}
	told := nexus.Finding{Gate: "review", File: "a.go", Line: 5, Severity: nexus.Minor, Message: "the comment repeats the code"}
	again := nexus.Finding{Gate: "review", File: "a.go", Line: 6, Severity: nexus.Suggestion, Message: "comment still repeats the code"}
	fresh := nexus.Finding{Gate: "review", File: "a.go", Line: 9, Severity: nexus.Minor, Message: "two loops for one"}
	major := nexus.Finding{Gate: "review", File: "a.go", Line: 3, Severity: nexus.Major, Message: "it divides by zero"}
	now := nexus.ReviewerVerdictGiven{Reviewed: true, Findings: []nexus.Finding{nit, again, fresh, major}}
	seen := func(_ string, line int) bool { return line < 9 }
	one := nexus.ReviewerVerdictGiven{Reviewed: true, Findings: []nexus.Finding{told}}
	for name, c := range map[string]struct {
		earlier []nexus.ReviewerVerdictGiven
		want    []nexus.Finding
	}{
		"the first":                 {nil, []nexus.Finding{nit, again, fresh, major}},
		"the second":                {[]nexus.ReviewerVerdictGiven{one}, []nexus.Finding{nit, again, fresh, major}},
		"the third":                 {[]nexus.ReviewerVerdictGiven{one, {Reviewed: true}}, []nexus.Finding{again, fresh, major}},
		"one before was none":       {[]nexus.ReviewerVerdictGiven{one, {}}, []nexus.Finding{nit, again, fresh, major}},
		"the fourth, told of later": {[]nexus.ReviewerVerdictGiven{{Reviewed: true}, {Reviewed: true}, one}, []nexus.Finding{again, fresh, major}},
	} {
		got := review.MarkLateFindings(now, c.earlier, seen)
		if diff := cmp.Diff(c.want, review.FindingsForAuthor(got.Findings)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(got.Findings) != 4 || now.Findings[0].Code != "" {
			t.Errorf("%s: something is lost, or the caller's changed: %+v", name, got.Findings)
		}
	}
}

func opinion(persona string, given nexus.ReviewerVerdictGiven) review.ReviewerOpinion {
	return review.ReviewerOpinion{Reader: nexus.ChangeReviewer{Session: nexus.SessionID("T1.1/" + persona), Persona: persona}, Given: given}
}

func TestMerge(t *testing.T) {
	race := nexus.Finding{File: "a.go", Line: 10, Severity: nexus.Major, Message: "the map is written by two goroutines at once"}
	minor := race
	minor.Line, minor.Severity, minor.Message, minor.Advice = 11, nexus.Minor, "two goroutines write the map at once", "lock it"
	elsewhere := race
	elsewhere.Line = 40
	nit := nexus.Finding{File: "a.go", Line: 10, Severity: nexus.Minor, Message: "the name says little"}
	lost := race
	lost.Severity, lost.Unverified = nexus.Critical, "there is no such file"
	yes := func(f ...nexus.Finding) nexus.ReviewerVerdictGiven {
		return nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Summary: "fine", Findings: f}
	}
	no := func(f ...nexus.Finding) nexus.ReviewerVerdictGiven {
		return nexus.ReviewerVerdictGiven{Reviewed: true, Summary: "bad", Findings: f}
	}
	none := nexus.ReviewerVerdictGiven{Summary: "the review could not be read"}
	for name, c := range map[string]struct {
		all                []review.ReviewerOpinion
		reviewed, approved bool
		summary            string
		found              []string
	}{
		"nobody":                       {nil, false, false, "", nil},
		"one":                          {[]review.ReviewerOpinion{opinion("", no(race, nit))}, true, false, "bad", []string{"10 major  ", "10 minor  "}},
		"all like it":                  {[]review.ReviewerOpinion{opinion("tests", yes()), opinion("security", yes(nit))}, true, true, "tests: fine\nsecurity: fine", []string{"10 minor security "}},
		"one does not":                 {[]review.ReviewerOpinion{opinion("tests", yes(nit)), opinion("security", no(race))}, true, false, "tests: fine\nsecurity: bad", []string{"10 major security ", "10 minor tests "}},
		"both find it":                 {[]review.ReviewerOpinion{opinion("tests", yes(minor)), opinion("security", no(race))}, true, false, "tests: fine\nsecurity: bad", []string{"10 major tests,security lock it"}},
		"one finds it twice":           {[]review.ReviewerOpinion{opinion("tests", no(race, minor))}, true, false, "tests: bad", []string{"10 major tests ", "11 minor tests lock it"}},
		"two places":                   {[]review.ReviewerOpinion{opinion("tests", no(race)), opinion("security", no(elsewhere))}, true, false, "tests: bad\nsecurity: bad", []string{"10 major tests ", "40 major security "}},
		"one stands nowhere":           {[]review.ReviewerOpinion{opinion("tests", yes(lost)), opinion("security", no(minor))}, true, false, "tests: fine\nsecurity: bad", []string{"11 minor tests,security lock it"}},
		"one did not read":             {[]review.ReviewerOpinion{opinion("tests", yes(nit)), opinion("security", none)}, false, false, "security: the review could not be read\ntests: fine", []string{"10 minor tests "}},
		"one did not read, one blocks": {[]review.ReviewerOpinion{opinion("tests", no(race)), opinion("security", none)}, true, false, "security: the review could not be read\ntests: bad", []string{"10 major tests "}},
	} {
		got := review.MergeReviews(c.all, 1)
		var found []string
		for _, f := range got.Findings {
			found = append(found, fmt.Sprint(f.Line, " ", f.Severity, " ", f.Persona, " ", f.Advice))
		}
		if diff := cmp.Diff(c.found, found); diff != "" || got.Reviewed != c.reviewed || got.Approved != c.approved || got.Summary != c.summary {
			t.Errorf("%s: %+v %s", name, got, diff)
		}
		if len(got.Readers) != len(c.all) {
			t.Errorf("%s: readers %+v", name, got.Readers)
		}
	}
}

func TestBlocks(t *testing.T) {
	of := func(s ...nexus.Severity) nexus.ReviewerVerdictGiven {
		r := nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true}
		for _, v := range s {
			r.Findings = append(r.Findings, nexus.Finding{Severity: v, Message: "m"})
		}
		return r
	}
	cases := []struct {
		r      nexus.ReviewerVerdictGiven
		majors int
		want   bool
	}{
		{of(), 0, false},
		{of(nexus.Minor, nexus.Suggestion), 0, false},
		{of(nexus.Major), 0, true},
		{of(nexus.Major), 2, false},
		{of(nexus.Major, ""), 2, true},
		{of(nexus.Critical), 9, true},
		{nexus.ReviewerVerdictGiven{Approved: true}, 9, true},
	}
	for _, c := range cases {
		if got := review.BlocksLanding(c.r, c.majors); got != c.want {
			t.Errorf("%+v with %d majors: %v", c.r, c.majors, got)
		}
	}
}

func TestSchemaFitsWhatParseReads(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal(review.HandinSchema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]bool{
		`{"approved":true,"summary":"x","findings":[{"severity":"minor","message":"m","file":"a","line":0,"advice":""}]}`: true,
		`{"approved":true,"summary":"x"}`: true, // no list is an empty one
		`{"approved":true}`:               false,
		`{"approved":true,"summary":"x","findings":[{"severity":"huge","message":"m"}]}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); (err == nil) != want {
			t.Errorf("%s: %v", in, err)
		}
		if _, err := review.ParseReview([]byte(in)); want && err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"approved":true,"summary":"x","findings":[{"severity":"minor","message":"m"}]}`))
	f.Add([]byte(`{"approved":false,"summary":"x","findings":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := review.ParseReview(data)
		if (err == nil) != r.Reviewed || err != nil && r.Approved {
			t.Errorf("%+v %v", r, err)
		}
	})
}
