package textindex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/textindex"
)

func names(hits []textindex.TextSearchHit) []string {
	var all []string
	for _, h := range hits {
		all = append(all, h.Name)
	}
	return all
}

// TestSearch finds texts by any of the words, whatever their form, and puts those
// first that have more and rarer ones.
func TestSearch(t *testing.T) {
	x, err := textindex.NewTextIndex(t.Context(), []textindex.IndexedText{
		{Name: "both", Body: "The parser fails when a comment ends the file."},
		{Name: "one", Body: "A parser of dates."},
		{Name: "tagged", Body: "Something else.", Tags: "parser"},
		{Name: "other", Body: "Nothing of the kind, \u00dcbung aside."},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, c := range []struct {
		words string
		n     int
		want  []string
	}{
		{"comments parser", 9, []string{"both", "tagged", "one"}},
		{"comments parser", 1, []string{"both"}},
		{"ubung", 9, []string{"other"}},
		{"missing", 9, nil},
		{"", 9, nil},
		{`" OR name:both NEAR( * ^ -`, 9, nil}, // never an operator
	} {
		hits, err := x.Search(t.Context(), strings.Fields(c.words), c.n)
		if err != nil {
			t.Fatalf("%q: %v", c.words, err)
		}
		if got := names(hits); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
		if len(hits) > 0 && hits[0].Match != 1 {
			t.Errorf("%q: the best match is %v", c.words, hits[0].Match)
		}
	}
}

// FuzzSearch holds that no word is an error.
func FuzzSearch(f *testing.F) {
	x, err := textindex.NewTextIndex(f.Context(), []textindex.IndexedText{{Name: "a", Body: "b"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`a"b`)
	f.Add("NOT")
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, word string) {
		if _, err := x.Search(t.Context(), []string{word}, 5); err != nil {
			t.Errorf("%q: %v", word, err)
		}
	})
}

// BenchmarkTenThousand makes an index of as many texts as a memory may have, and
// searches it.
func BenchmarkTenThousand(b *testing.B) {
	all := make([]textindex.IndexedText, 10_000)
	for i := range all {
		all[i] = textindex.IndexedText{Name: fmt.Sprint(i), Body: strings.Repeat(fmt.Sprintf("The gate build%d failed when file%d changed. ", i%97, i%301), 5)}
	}
	for b.Loop() {
		x, err := textindex.NewTextIndex(b.Context(), all)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := x.Search(b.Context(), []string{"build7", "file9"}, 50); err != nil {
			b.Fatal(err)
		}
		_ = x.Close()
	}
}
