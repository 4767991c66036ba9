package journal_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestAppendIsCheap holds that what an append reads and writes does not grow with the run's length: so does no checkpoint,
// which is one.
func TestAppendIsCheap(t *testing.T) {
	j := open(t)
	lease := acquire(t, j, "r")
	f := nexus.CheckpointMade{Name: "noon", Reason: nexus.ByHand, Tip: strings.Repeat("a", 40)}
	least := func() int64 {
		best := int64(-1)
		for range 20 { // what else the process does at the same time is none of it
			from := transferred(t)
			if _, err := lease.Append(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			if n := transferred(t) - from; best < 0 || n < best {
				best = n
			}
		}
		return best
	}
	short := least()
	many := make([]nexus.Fact, 100)
	for i := range many {
		many[i] = f
	}
	for range 50 {
		if _, err := lease.Append(t.Context(), many...); err != nil {
			t.Fatal(err)
		}
	}
	if long := least(); short <= 0 || long > short+64<<10 {
		t.Errorf("an append reads and writes %d bytes in a short run, and %d in one of 5,000 events", short, long)
	}
}

// transferred returns how many bytes this process has read and written.
func transferred(t *testing.T) (n int64) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(data)) {
		for _, name := range []string{"rchar", "wchar"} {
			var one int64
			if _, err := fmt.Sscanf(line, name+": %d", &one); err == nil {
				n += one
			}
		}
	}
	return n
}
