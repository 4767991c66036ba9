package numberedfiles_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/numberedfiles"
)

func files(names ...string) []numberedfiles.SequenceFile {
	var all []numberedfiles.SequenceFile
	for _, n := range names {
		name, text, _ := strings.Cut(n, "\n")
		all = append(all, numberedfiles.SequenceFile{Path: name, Text: text})
	}
	return all
}

// TestCollisions of each kind of sequence, and of what only looks like one.
func TestCollisions(t *testing.T) {
	alembic := func(name, revision, down string) string {
		return "db/versions/" + name + ".py\nrevision = '" + revision + "'\ndown_revision: Union[str, None] = '" + down + "'\n"
	}
	django := func(name string, needs ...string) string {
		text := "shop/migrations/" + name + ".py\nclass Migration(migrations.Migration):\n    dependencies = [\n"
		for _, n := range needs {
			app, of, _ := strings.Cut(n, ".")
			text += "        (\"" + app + "\", \"" + of + "\"),\n"
		}
		return text + "    ]\n"
	}
	for name, c := range map[string]struct {
		added, had []string
		want, next string
	}{
		"a migration": {
			[]string{"m/0002_size.sql"},
			[]string{"m/0001_init.sql", "m/0002_color.sql"},
			"m/0002_size.sql: the number 0002 is taken by m/0002_color.sql",
			"the number 0003",
		},
		"of both ways": {
			[]string{"m/2_size.up.sql", "m/2_size.down.sql"},
			[]string{"m/1_a.up.sql", "m/1_a.down.sql", "m/2_color.up.sql", "m/2_color.down.sql"},
			"m/2_size.up.sql: the number 2 is taken by m/2_color.down.sql\n" +
				"m/2_size.down.sql: the number 2 is taken by m/2_color.down.sql",
			"the number 3",
		},
		"of Flyway": {
			[]string{"db/V2__size.sql"},
			[]string{"db/V1__a.sql", "db/V2__color.sql"},
			"db/V2__size.sql: the number 2 is taken by db/V2__color.sql",
			"the number 3",
		},
		"a decision": {
			[]string{"docs/adr/0002-size.md"},
			[]string{"docs/adr/0001-a.md", "docs/adr/0002-color.md"},
			"docs/adr/0002-size.md: the number 0002 is taken by docs/adr/0002-color.md",
			"the number 0003",
		},
		"the first of all": {
			[]string{"m/001_b.sql"},
			[]string{"m/001_a.sql"},
			"m/001_b.sql: the number 001 is taken by m/001_a.sql",
			"the number 002",
		},
		"a time of Rails": {
			[]string{"db/20240501120000_b.rb"},
			[]string{"db/20240501120000_a.rb"},
			"db/20240501120000_b.rb: the number 20240501120000 is taken by db/20240501120000_a.rb",
			"the number 20240501120001",
		},
		"an Alembic head": {
			[]string{alembic("b", "b2", "a1")},
			[]string{alembic("a", "a1", ""), alembic("c", "c2", "a1")},
			"db/versions/b.py: the place behind a1 is taken by db/versions/c.py",
			"the place behind c2",
		},
		"a leaf of Django": {
			[]string{django("size", "shop.first")},
			[]string{django("first"), django("color", "shop.first", "auth.x")},
			"shop/migrations/size.py: the place behind first is taken by shop/migrations/color.py",
			"the place behind color",
		},
		"a merge of Django":       {[]string{django("merge", "shop.a", "shop.b")}, []string{django("c", "shop.a")}, "", ""},
		"needs of another app":    {[]string{django("size", "auth.first")}, []string{django("color", "auth.first")}, "", ""},
		"the next number":         {[]string{"m/0003_size.sql"}, []string{"m/0001_init.sql", "m/0002_color.sql"}, "", ""},
		"another directory":       {[]string{"n/0002_size.sql"}, []string{"m/0001_init.sql", "m/0002_color.sql"}, "", ""},
		"another sequence":        {[]string{"db/U2__size.sql"}, []string{"db/V1__a.sql", "db/V2__color.sql"}, "", ""},
		"the other way of it":     {[]string{"m/2_color.down.sql"}, []string{"m/1_a.up.sql", "m/2_color.up.sql"}, "", ""},
		"a date":                  {[]string{"posts/2024-05-01-b.md"}, []string{"posts/2024-05-01-a.md"}, "", ""},
		"a date without its day":  {[]string{"posts/202405_b.md"}, []string{"posts/202405_a.md"}, "", ""},
		"a changelog fragment":    {[]string{"news/12.bugfix.md"}, []string{"news/12.feature.md"}, "", ""},
		"one with a name":         {[]string{"changelog.d/12-bugfix.md"}, []string{"changelog.d/12-feature.md"}, "", ""},
		"numbers that were twice": {[]string{"ch/01-c.md"}, []string{"ch/01-a.md", "ch/01-b.md", "ch/02-a.md"}, "", ""},
		"a number out of order": {
			[]string{"m/0002_b.sql", "i/900-b.md"},
			[]string{"i/900-a.md", "i/1-x.md"},
			"i/900-b.md: the number 900 is taken by i/900-a.md",
			"the number 901",
		},
		"no number":                 {[]string{"a.sql", "b_2.sql", "2.sql"}, []string{"c.sql", "2_a.sql"}, "", ""},
		"a repeatable of Flyway":    {[]string{"db/R__b.sql"}, []string{"db/R__a.sql"}, "", ""},
		"the file itself":           {[]string{"m/0002_a.sql"}, []string{"m/0001_a.sql", "m/0002_a.sql"}, "", ""},
		"a number that is too long": {[]string{"m/1234567_b.sql"}, []string{"m/1234567_a.sql"}, "", ""},
	} {
		var got []string
		for _, x := range numberedfiles.FindCollisions(files(c.added...), files(c.had...)) {
			got = append(got, x.Path+": "+x.String())
			if x.Next != c.next {
				t.Errorf("%s: next is %q", name, x.Next)
			}
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestMeet of what plans name.
func TestMeet(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"one number":     {"x.go m/0002_a.sql", "m/0002_b.sql y.go", true},
		"two numbers":    {"m/0002_a.sql", "m/0003_b.sql", false},
		"one file":       {"m/0002_a.sql", "m/0002_a.sql", false},
		"Alembic":        {"db/versions/a.py", "db/versions/b.py", true},
		"Django":         {"shop/migrations/a.py", "shop/migrations/b.py", true},
		"another app":    {"shop/migrations/a.py", "user/migrations/a.py", false},
		"another folder": {"m/0002_a.sql", "n/0002_b.sql", false},
		"nothing":        {"", "", false},
	} {
		a, b := strings.Fields(c.a), strings.Fields(c.b)
		if got := numberedfiles.MayCollide(a, b); got != c.want || numberedfiles.MayCollide(b, a) != got {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FuzzCollisions never says that a file collides with itself, nor with one of
// another directory.
func FuzzCollisions(f *testing.F) {
	f.Add("m/0002_a.sql", "", "m/0002_b.sql", "")
	f.Add("db/versions/a.py", "down_revision = 'x'", "db/versions/b.py", "down_revision = 'x'\nrevision = 'y'")
	f.Add("a/migrations/0002_x.py", "  dependencies = [('a', 'b')]", "a/migrations/0003_x.py", "  dependencies = [('a', 'b')]")
	f.Add("V9__/x", "", "V99999999999999__x", "")
	f.Fuzz(func(t *testing.T, a, textA, b, textB string) {
		one, two := numberedfiles.SequenceFile{Path: a, Text: textA}, numberedfiles.SequenceFile{Path: b, Text: textB}
		if got := numberedfiles.FindCollisions([]numberedfiles.SequenceFile{one}, []numberedfiles.SequenceFile{one}); len(got) > 0 {
			t.Errorf("%+v", got)
		}
		for _, c := range numberedfiles.FindCollisions([]numberedfiles.SequenceFile{one}, []numberedfiles.SequenceFile{two}) {
			if c.Path != a || c.With != b || c.What == "" || c.Next == "" || c.What == c.Next {
				t.Errorf("%+v", c)
			}
		}
		if numberedfiles.MayCollide([]string{a}, []string{b}) != numberedfiles.MayCollide([]string{b}, []string{a}) {
			t.Error("who is first counts")
		}
	})
}
