package spec

import (
	"strings"
	"testing"
)

func TestAssess(t *testing.T) {
	for _, c := range []struct {
		goal  string
		files int
		want  SpecDepth
		why   string
	}{
		{"Fix a typo in the help", 50, Quick, "1 statement, 6 words"},
		{"Fix a typo. Test it.", 5_000, Quick, "2 statements"},
		{"Fix it. Test it. Say so.", 50, Standard, "3 statements and 6 words"},
		{"Let people log in with OAuth", 50, Standard, "about access rights"},
		{"Let people log in with OAuth", 1_000, Deep, "in a repository of 1000 files"},
		{"Migrate the payments", 50, Deep, "a migration, money"},
		{strings.Repeat("Do one thing. ", 10), 50, Deep, "has 10 statements"},
		{strings.Repeat("word ", 300), 50, Deep, "300 words"},
	} {
		if got, why := AssessDepth(c.goal, c.files); got != c.want || len(why) == 0 || !strings.Contains(strings.Join(why, "; "), c.why) {
			t.Errorf("%.40q of %d files: %s, %q", c.goal, c.files, got, why)
		}
	}
}

func TestName(t *testing.T) {
	for goal, want := range map[string]string{
		"Let people log in, with OAuth 2 & more words": "let-people-log-in-with-oauth", "../..": "spec", "": "spec", strings.Repeat("a", 80): "spec",
	} {
		if got := SpecFileName(goal); got != want {
			t.Errorf("%q: %q", goal, got)
		}
	}
}
