package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/nexus-ai-builder/nexus/internal/decide/people"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// drawn is a page whose every value is v.
func drawn(v string, choices ...string) string {
	var b strings.Builder
	var offers []people.Offer
	if len(choices) == 0 {
		offers = []people.Offer{{Label: v, Answer: v, Default: true}, {Label: v, Answer: v}}
	}
	form{&b}.draw(view{Place: v, Said: v, Bad: true, CSRF: v, Items: []people.Item{{
		Run: nexus.RunID(v), ID: v, Trigger: v, Severity: people.Severity(v), Text: v, Choices: choices, Offers: offers, Fallback: v, Deadline: time.Unix(1, 0),
	}}})
	return b.String()
}

// tags returns the elements of a page and the names of their attributes, and
// all that a reader or a form gets of it.
func tags(t *testing.T, page string) (names, values []string) {
	t.Helper()
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return names, values
		case html.TextToken:
			values = append(values, z.Token().Data)
		default:
			token := z.Token()
			names = append(names, kind.String()+" "+token.Data)
			for _, a := range token.Attr {
				names, values = append(names, a.Key), append(values, a.Val)
			}
		}
	}
}

// TestNoValueIsMarkup draws values that would be markup, and finds them again
// as they are.
func TestNoValueIsMarkup(t *testing.T) {
	for _, choices := range []bool{false, true} {
		draw := func(v string) string {
			if choices {
				return drawn(v, v, v)
			}
			return drawn(v)
		}
		plain, _ := tags(t, draw("x"))
		for _, evil := range []string{`"><script>alert(1)</script>`, `' onclick=alert(1) x='`, `</pre></title></textarea><b>`, `<!--`, `&quot;&lt;`, `%s%d%!`} {
			names, values := tags(t, draw(evil))
			if !slices.Equal(plain, names) {
				t.Errorf("%q changes the page:\n%s", evil, draw(evil))
			}
			want := 22
			if choices {
				want = 18
			}
			if n := strings.Count(strings.Join(values, "\n"), evil); n != want {
				t.Errorf("%q is there %d times, want %d:\n%s", evil, n, want, draw(evil))
			}
		}
	}
}
