package externalagent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/work/externalagent"
)

func TestLearned(t *testing.T) {
	for name, c := range map[string]struct{ text, rest, found string }{
		"none":         {"Done.", "Done.", ""},
		"at the end":   {`Done. {"learned":[{"kind":"gotcha","text":"a"}]}`, "Done.", `[{"kind":"gotcha","text":"a"}]`},
		"in a block":   {"Done.\n\n```json\n{\"learned\": [{\"text\": \"a\"}, {\"text\": \"b\"}]}\n```\n", "Done.", `[{"text": "a"},{"text": "b"}]`},
		"and a notice": {"{\"learned\":[{\"text\":\"a\"}]}\nBye.", "Bye.", `[{"text":"a"}]`},
		"no list":      {`Done. {"learned":"a"}`, `Done. {"learned":"a"}`, ""},
		"an empty one": {`Done. {"learned":[]}`, `Done. {"learned":[]}`, ""},
		"cut":          {`Done. {"learned":[{"te`, `Done. {"learned":[{"te`, ""},
		"another last": {`{"learned":[{"text":"a"}]} {"b":1}`, `{"learned":[{"text":"a"}]} {"b":1}`, ""},
		"much":         {`{"learned":["` + strings.Repeat("x", 20_000) + `"]}`, `{"learned":["` + strings.Repeat("x", 20_000) + `"]}`, ""},
	} {
		if rest, found := externalagent.ExtractLessons(c.text); rest != c.rest || string(found) != c.found {
			t.Errorf("%s: %q %s", name, rest, found)
		}
	}
}

func FuzzLearned(f *testing.F) {
	f.Add("Done. ```json\n{\"learned\":[{\"text\":\"a\"}]}\n```")
	f.Fuzz(func(t *testing.T, text string) {
		rest, found := externalagent.ExtractLessons(text)
		if found == nil && rest != text {
			t.Errorf("%q became %q", text, rest)
		}
		if found != nil && (!json.Valid(found) || len(rest) >= len(text)) {
			t.Errorf("%q: %q %s", text, rest, found)
		}
	})
}
