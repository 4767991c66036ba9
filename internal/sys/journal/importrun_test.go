package journal

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
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
	events := []ImportableEvent{{Seq: 7, At: at, Kind: "run.paused", Data: []byte("{}")}, {Seq: 9, At: at.Add(time.Second), Kind: "run.resumed", Data: []byte("{}")}}
	for name, bad := range map[string][]ImportableEvent{
		"twice":        {events[0], events[0]},
		"in disorder":  {events[1], events[0]},
		"no fact":      {events[0], {Seq: 8, Kind: "nothing.known", Data: []byte("{}")}},
		"not readable": {events[0], {Seq: 8, Kind: "run.resumed", Data: []byte("{")}},
	} {
		if err := j.ImportRun(t.Context(), "r", bad); err == nil {
			t.Errorf("%s: it is taken in", name)
		}
	}
	j.StoreSmallBlob("h1", []byte("said"))
	more := j.nextAppendChannel()
	if err := j.ImportRun(t.Context(), "r", events); err != nil {
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
	if err := j.ImportRun(t.Context(), "r", events); err == nil || !strings.Contains(err.Error(), "is here already, with 2 events") {
		t.Errorf("again: %v", err)
	}
	var kinds []string
	for e, err := range j.Events(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, nexus.FactKind(e.Fact)+" "+e.At.UTC().Format(time.TimeOnly))
	}
	if got := strings.Join(kinds, ", "); got != "run.paused 22:13:20, run.resumed 22:13:21" {
		t.Errorf("it has %q", got)
	}
}

// TestAdoptRenumbers: what events say of one another's numbers is true here, too; a number
// between two of them is that of the one before. What they say of others stays.
func TestAdoptRenumbers(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"))
	l, err := j.Acquire(t.Context(), "here", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), nexus.RunResumed{}, nexus.RunResumed{}, nexus.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	var events []ImportableEvent
	for seq, f := range map[int64]nexus.Fact{
		101: nexus.GoalAccepted{Fork: &nexus.ForkOrigin{Run: "other", Seq: 7}},
		105: nexus.RequestMade{},
		106: nexus.RequestSettled{Seq: 105},
		111: nexus.RunRewound{To: 105},
		112: nexus.RunRewound{To: 109},
	} {
		kind, data, err := nexus.EncodeFact(f)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ImportableEvent{Seq: seq, At: time.Unix(1700000000, 0), Kind: kind, Data: data})
	}
	slices.SortFunc(events, func(a, b ImportableEvent) int { return cmp.Compare(a.Seq, b.Seq) })
	if err := j.ImportRun(t.Context(), "r", events); err != nil {
		t.Fatal(err)
	}
	var said []string
	for e, err := range j.Events(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch f := e.Fact.(type) { //nolint:gochecksumtype // the numbers of others do not change
		case nexus.GoalAccepted:
			said = append(said, fmt.Sprintf("%d forked at %d", e.Seq, f.Fork.Seq))
		case nexus.RequestSettled:
			said = append(said, fmt.Sprintf("%d settles %d", e.Seq, f.Seq))
		case nexus.RunRewound:
			said = append(said, fmt.Sprintf("%d goes back to %d", e.Seq, f.To))
		}
	}
	if got := strings.Join(said, ", "); got != "4 forked at 7, 6 settles 5, 7 goes back to 5, 8 goes back to 6" {
		t.Errorf("they say: %s", got)
	}
	if r, err := j.Verify(t.Context()); err != nil || !r.Sound || r.Events != 8 {
		t.Errorf("%+v, %v", r, err)
	}
}
