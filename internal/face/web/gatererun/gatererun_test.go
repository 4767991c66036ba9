package gatererun

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestRerunsAreEndedByName holds that a gate that takes long is not forgotten for those that
// ran again after it: the server ends it, and counts it.
func TestRerunsAreEndedByName(t *testing.T) {
	var all GateReruns
	begin := func(task string) *GateRerun {
		t.Helper()
		one := &GateRerun{Run: "r", Task: nexus.TaskID(task), Gate: "test"}
		one.end = func(error) { one.Text = "interrupted" }
		if err := all.addRerun(one); err != nil {
			t.Fatal(err)
		}
		return one
	}
	long := begin("long")
	for i := range 2 * kept {
		begin(string(rune('a' + i))).Ended = time.Unix(1, 0)
		all.work.Done()
	}
	if n := len(all.all); n != kept {
		t.Errorf("%d are remembered", n)
	}
	all.work.Done() // so that it is not waited for
	if said := all.stopRunningReruns(); len(said) != 1 || long.Text != "interrupted" {
		t.Errorf("the server ends %q, and not what is under way", said)
	}
}
