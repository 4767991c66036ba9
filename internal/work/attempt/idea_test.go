package attempt

import (
	"encoding/json"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// TestIdea is what an agent submitted, or what it said last, or at least its subject.
func TestIdea(t *testing.T) {
	s, _, _ := workertest.NewTestWorker(t)
	put := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		blob, err := s.Site.Blobs.Put(data)
		if err != nil {
			t.Fatal(err)
		}
		return blob
	}
	says := func(from llm.MessageAuthor, text string) string {
		return put(llm.Message{From: from, Parts: []llm.MessagePart{{Text: text}}})
	}
	whole, subject := put(map[string]string{"summary": "Weeks are added.", "subject": "Add weeks"}), put(map[string]string{"summary": " ", "subject": "Add weeks"})
	first, last := says(llm.Assistant, "I read it."), says(llm.Assistant, " I add weeks. ")
	user, blank := says(llm.User, "Go on."), says(llm.Assistant, " ")
	for name, c := range map[string]struct {
		words attempthistory.AuthorTextRefs
		want  string
	}{
		"nothing":                     {attempthistory.AuthorTextRefs{}, ""},
		"a summary":                   {attempthistory.AuthorTextRefs{Result: whole, Messages: []string{first}}, "Weeks are added."},
		"a subject alone":             {attempthistory.AuthorTextRefs{Result: subject}, "Add weeks"},
		"a subject, and said nothing": {attempthistory.AuthorTextRefs{Result: subject, Messages: []string{user, blank}}, "Add weeks"},
		"a subject, and said more":    {attempthistory.AuthorTextRefs{Result: subject, Messages: []string{first, user, last, user, blank}}, "I add weeks."},
		"it is lost, and said more":   {attempthistory.AuthorTextRefs{Result: "lost", Messages: []string{user, first}}, "I read it."},
		"what it said is lost":        {attempthistory.AuthorTextRefs{Result: subject, Messages: []string{first, "lost"}}, ""},
	} {
		if got := agentSummary(s, c.words); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
