package accept_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestReadWish(t *testing.T) {
	for text, want := range map[string]accept.MentionedNames{
		"Add a --json flag to list":                          {},
		"TestParse fails: got 3, want 4":                     {Tests: []string{"TestParse"}},
		"TestParse/empty and FuzzRead fail":                  {Tests: []string{"TestParse/empty", "FuzzRead"}},
		"fix TestParse, but not TestRead":                    {Tests: []string{"TestParse"}, Aside: []string{"TestRead"}},
		"Fix the failing tests except TestRead and TestRow":  {Aside: []string{"TestRead", "TestRow"}, All: true},
		"TestParse fails. TestRead is known to fail":         {Tests: []string{"TestParse"}, Aside: []string{"TestRead"}},
		"TestParse does not pass":                            {Tests: []string{"TestParse"}},
		"leave TestRead alone":                               {Aside: []string{"TestRead"}},
		"tests/test_size.py::test_kib[3] is red":             {Tests: []string{"tests/test_size.py::test_kib[3]"}},
		"test_kib fails":                                     {Tests: []string{"test_kib"}},
		"tests/test_calc.py:12 fails":                        {Places: []accept.FileLine{{"tests/test_calc.py", 12}}},
		"tests/test_calc.py fails":                           {Tests: []string{"tests/test_calc.py"}},
		"see calc/add_test.go:12, it is wrong":               {Places: []accept.FileLine{{"calc/add_test.go", 12}}},
		`it prints "index out of range [3]" and stops`:       {Errors: []string{"index out of range [3]"}},
		"`go run . --help` exits with 2":                     {Commands: []string{"go run . --help"}},
		"`./check.sh` must pass":                             {Commands: []string{"./check.sh"}},
		"add the command `go run . --help`":                  {},
		"make `parse_size` fail early":                       {},
		"fix the failing tests":                              {All: true},
		"Fix all failing unit tests in calc/size":            {All: true, Within: "calc/size"},
		"make the tests pass":                                {All: true},
		"the tests are red":                                  {All: true},
		"fix the failing test TestParse":                     {Tests: []string{"TestParse"}},
		"calc/add_test.go and base_test.sh fail":             {Tests: []string{"calc/add_test.go", "base_test.sh"}},
		"Fix the failing tests, but not test three_test.sh.": {Aside: []string{"three_test.sh"}, All: true},
		"add a case to calc/add_test.go":                     {},
		"write tests for the parser":                         {},
		"all tests pass":                                     {},
	} {
		want.Exact = text
		if diff := cmp.Diff(want, accept.ParseMentioned(text)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestMeans(t *testing.T) {
	f := func(test string) nexus.Finding {
		return nexus.Finding{Test: test, File: "calc/add_test.go", Line: 9, Message: "panic: index out of range [3]\n\tmore"}
	}
	lint := nexus.Finding{File: "calc/add.go", Line: 12, Message: "unused variable x"}
	for _, c := range []struct {
		text string
		f    nexus.Finding
		want bool
	}{
		{"TestAdd fails", f("x.org/calc.TestAdd"), true},
		{"TestAdd fails", f("x.org/calc.TestAdd/one"), true},
		{"TestAdd fails", f("x.org/calc.TestAddAll"), false},
		{"TestAdd/one fails", f("x.org/calc.TestAdd/two"), false},
		{"test_add fails", f("tests/test_calc.py::test_add"), true},
		{"test_add fails", f("tests/test_calc.py::test_add[1-2]"), true},
		{"test_add fails", f("tests.test_calc.CalcTest.test_add"), true},
		{"test_add fails", f("tests/test_calc.py::test_add_all"), false},
		{`"adds two numbers" fails`, f("calc > adds two numbers"), true},
		{`it adds two numbers`, f("calc > adds"), false},
		{"add_test.go:9 fails", f("x.org/calc.TestAdd"), true},
		{"other_test.go:9 fails", f("x.org/calc.TestAdd"), false},
		{"calc/add.go:12 is not used", lint, true},
		{"calc/add.go:13 is not used", lint, false},
		{"it says `index out of range [3]`", f("x.org/calc.TestAdd"), true},
		{"fix the failing tests", f("x.org/calc.TestAdd"), true},
		{"fix the failing tests", lint, false},
		{"fix the failing tests in calc", f("x.org/calc.TestAdd"), true},
		{"fix the failing tests in size", f("x.org/calc.TestAdd"), false},
		{"fix the failing tests except TestAdd", f("x.org/calc.TestAdd"), false},
		{"TestSub fails, not TestAdd", f("x.org/calc.TestAdd"), false},
		{"add_test.go fails", f("x.org/calc.TestAdd"), true},
		{"sub_test.go fails", f("x.org/calc.TestAdd"), false},
		{"base_test.sh passes", nexus.Finding{Test: "base_test.sh"}, true},
		{"calc > adds numbers", f("calc > adds numbers"), true},
		{"", nexus.Finding{}, false},
	} {
		if got := accept.ParseMentioned(c.text).MatchesFinding(c.f); got != c.want {
			t.Errorf("%q means %s %s: %v", c.text, c.f.Test, c.f.File, got)
		}
	}
}

// TestPlacesOnABase takes a line at which a test fails for that test alone, also
// where its line is another one later.
func TestPlacesOnABase(t *testing.T) {
	at := func(test string, line int) nexus.Finding {
		return nexus.Finding{Test: test, File: "calc/add_test.go", Line: line}
	}
	base := []nexus.Finding{at("TestAdd", 12), at("TestSub", 20), {File: "calc/add_test.go", Line: 30, Message: "unused"}}
	for _, c := range []struct {
		text string
		f    nexus.Finding
		want bool
	}{
		{"add_test.go:12 fails", at("TestAdd", 12), true},
		{"add_test.go:12 fails", at("TestAdd", 14), true},
		{"add_test.go:12 fails", at("TestSub", 20), false},
		{"add_test.go:12 fails", at("TestSub", 12), false}, // it moved there
		{"add_test.go:10 fails", at("TestAdd", 12), true},  // where the test begins, say
		{"add_test.go:10 fails", at("TestSub", 20), true},
		{"add_test.go:12 and add_test.go:20 fail", at("TestSub", 21), true},
		{"add_test.go:30 is wrong", nexus.Finding{File: "calc/add_test.go", Line: 30}, true},
		{"add_test.go:12 fails, not TestAdd", at("TestAdd", 12), false},
	} {
		if got := accept.ParseMentions([]string{c.text}).ResolvePlaces(base).MatchesFinding(c.f); got != c.want {
			t.Errorf("%q means %s of line %d: %v", c.text, c.f.Test, c.f.Line, got)
		}
	}
}

// FuzzReadWish finds nothing in a goal that is not in it, and a bounded number.
func FuzzReadWish(f *testing.F) {
	f.Add("fix TestParse in calc_test.go:12, but not TestRead: `go test ./...` fails with \"no such file\"", "x.TestParse", "m")
	f.Fuzz(func(t *testing.T, text, test, message string) {
		w := accept.ParseMentioned(text)
		for _, all := range [][]string{w.Tests, w.Aside, w.Errors, w.Commands} {
			if len(all) > 20 {
				t.Errorf("%d of a kind", len(all))
			}
			for _, s := range all {
				if s == "" || !utf8.ValidString(s) {
					t.Errorf("%q", s)
				}
			}
		}
		for _, name := range w.Aside {
			for _, other := range w.Tests {
				if name == other {
					t.Errorf("%s is meant and is not", name)
				}
			}
		}
		finding := nexus.Finding{Test: test, Message: message}
		if w.MatchesFinding(finding) && w.ExcludesFinding(finding) {
			t.Error("it is meant and left alone")
		}
	})
}
