package journal

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestAdopt takes a run in whole: followers hear of it at once, what waited on the shelf
// is in the file with it, and nothing of one that is refused stays.
func TestAdopt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	at := time.Unix(1700000000, 0)
	events := []Foreign{{Seq: 7, At: at, Kind: "run.paused", Data: []byte("{}")}, {Seq: 9, At: at.Add(time.Second), Kind: "run.resumed", Data: []byte("{}")}}
	for name, bad := range map[string][]Foreign{
		"twice":        {events[0], events[0]},
		"no fact":      {events[0], {Seq: 8, Kind: "nothing.known", Data: []byte("{}")}},
		"not readable": {events[0], {Seq: 8, Kind: "run.resumed", Data: []byte("{")}},
	} {
		if err := j.Adopt(t.Context(), "r", bad); err == nil {
			t.Errorf("%s: it is taken in", name)
		}
	}
	j.Shelve("h1", []byte("said"))
	more := j.woken()
	if err := j.Adopt(t.Context(), "r", events); err != nil {
		t.Fatal(err)
	}
	select {
	case <-more:
	default:
		t.Error("followers do not hear of it")
	}
	j.mu.Lock()
	waits := len(j.shelf)
	j.mu.Unlock()
	if got := onDisk(t, path, "h1"); got != "said" || waits != 0 {
		t.Errorf("the file has %q, and %d blobs still wait", got, waits)
	}
	if err := j.Adopt(t.Context(), "r", events); err == nil || !strings.Contains(err.Error(), "is here already, with 2 events") {
		t.Errorf("again: %v", err)
	}
	var kinds []string
	for e, err := range j.Events(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, nexus.Kind(e.Fact)+" "+e.At.UTC().Format(time.TimeOnly))
	}
	if got := strings.Join(kinds, ", "); got != "run.paused 22:13:20, run.resumed 22:13:21" {
		t.Errorf("it has %q", got)
	}
}
