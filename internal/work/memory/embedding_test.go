package memory_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/textembedding"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// TestMeaning finds by words whatever the endpoint does, says once what is wrong with it, and
// asks about each text once.
func TestMeaning(t *testing.T) {
	p := newPlace(t)
	for name, text := range map[string]string{"near": "Far words.", "words": "About parser_tables."} {
		e := memoryentry.MemoryEntry{Kind: memoryentry.Pattern, State: memoryentry.Approved, Text: text}
		gittest.WriteFiles(t, p.Repo, map[string]string{memoryentry.Dir + "/" + name + ".md": e.String()})
	}
	asked, width := 0, 2
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		var all []string
		for _, text := range q.Input {
			asked++
			v := "1,0"
			if strings.HasPrefix(text, "About") {
				v = "0,1"
			}
			all = append(all, fmt.Sprintf(`{"embedding":[%s%s]}`, v, strings.Repeat(",0", width-2)))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(all, ","))
	}))
	defer s.Close()
	half, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	file := filepath.Join(t.TempDir(), "vectors.json")
	var said []error
	book := func(url string, limit time.Duration) *memory.MemoryEntryRetriever {
		said = nil
		return &memory.MemoryEntryRetriever{
			MemoryEntryStore: p.MemoryEntryStore, Tokens: 1000, Now: time.Now,
			Means: &memory.EmbeddingIndex{
				Endpoint: textembedding.EmbeddingEndpoint{URL: url, Model: "m", Time: limit}, File: file,
				Say: func(err error) { said = append(said, err) },
			},
		}
	}
	recall := func(b *memory.MemoryEntryRetriever) string {
		about := memoryentry.MemoryTaskQuery{Text: "Change the parser_tables."}
		all, err := b.FindRelevantEntries(t.Context(), p.repo, p.last, about, func(memoryentry.MemoryEntry) int64 { return 1 })
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range all {
			ids = append(ids, c.ID)
		}
		return strings.Join(ids, " ")
	}
	b := book(s.URL, time.Minute)
	if got := recall(b); got != "near words" || asked != 3 || len(said) > 0 {
		t.Errorf("%s, %d texts, %v", got, asked, said)
	}
	if got := recall(b); got != "near words" || asked != 3 {
		t.Errorf("again: %s, %d texts", got, asked)
	}
	if got := recall(book(s.URL, time.Minute)); got != "near words" || asked != 4 { // another process
		t.Errorf("later: %s, %d texts", got, asked)
	}
	width = 3 // another model of that name
	if got := recall(book(s.URL, time.Minute)); got != "near words" || asked != 7 || len(said) > 0 {
		t.Errorf("other width: %s, %d texts, %v", got, asked, said)
	}
	if got := recall(book(s.URL, time.Minute)); got != "near words" || asked != 8 {
		t.Errorf("other width, later: %s, %d texts", got, asked)
	}
	for _, damaged := range []string{"{", `{"a":"!"}`, `{"a":"AAA="}`} {
		if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		asked = 0
		if got := recall(book(s.URL, time.Minute)); got != "near words" || asked != 3 {
			t.Errorf("damaged: %s, %d texts", got, asked)
		}
	}
	b = book("http://"+half.Addr().String(), 50*time.Millisecond)
	for range 2 {
		if got := recall(b); got != "words" {
			t.Errorf("half open: %s", got)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0].Error(), "by words only") || !strings.Contains(said[0].Error(), "took too long") {
		t.Errorf("said %v", said)
	}
}
