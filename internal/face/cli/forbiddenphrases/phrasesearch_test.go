package forbiddenphrases

import (
	"strings"
	"testing"
)

func TestFindPhrase(t *testing.T) {
	for _, c := range []struct {
		phrase, text string
		hit          bool
	}{
		{"production database", "Migrate the Production  DATABASE now", true},
		{"production database", "migrate the production-database", true},
		{"production database", "the database of production", false},
		{"production database", "production databases", false},
		{"prod", "a product", false},
		{"drop * table", "please drop the old users table", true},
		{"drop * table", "drop table", true},
		{"drop * table", "drop it. " + strings.Repeat("word ", 12) + "table", false},
		{"drop * users * table", "drop old users and the table", true},
		{"drop * users * table", "drop old users and the chair", false},
		{"a * b", "a a x b", true},
		{"* secret *", "a SECRET", true},
		{"secret", "se\u200bcret", true},
		{"gr\u00f6\u00dfe", "GR\u00d6\u00dfE", true},
		{"", "anything", false},
		{"*", "anything", false},
		{"!!", "anything!!", false},
		{"drop", "", false},
	} {
		if got := findPhrase(c.text, []string{"never there at all", c.phrase}); (got != "") != c.hit || c.hit && got != c.phrase {
			t.Errorf("%q in %q: %q", c.phrase, c.text, got)
		}
	}
}

// FuzzFind holds that what has no star is found exactly where its words are,
// and that a phrase is found in itself.
func FuzzFindPhrase(f *testing.F) {
	f.Add("drop * table", "drop the table")
	f.Add("a * a * b", "a a a a a b")
	f.Add("\u0301x", "x\u0301")
	f.Fuzz(func(t *testing.T, phrase, text string) {
		if got := findPhrase(text, []string{phrase}); got != "" && got != phrase {
			t.Errorf("found %q", got)
		}
		plain := strings.ReplaceAll(phrase, "*", " ")
		if found := findPhrase("x "+plain+" y", []string{plain}); found == "" && findPhrase(plain, []string{plain}) != "" {
			t.Errorf("%q is not found among other words", plain)
		}
	})
}
