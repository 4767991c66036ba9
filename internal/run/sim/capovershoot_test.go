package sim

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestOvershoot plays crowded runs with tight caps. NEXUS_SIM_CROWDS says how
// many.
func TestOvershoot(t *testing.T) {
	crowds := 200
	if testenv.IsRaceEnabled() {
		crowds = 20 // without it, all are
	}
	n := number(t, "NEXUS_SIM_CROWDS", crowds)
	r, err := MeasureOvershoot(1, n)
	if err != nil {
		t.Fatal(err)
	}
	if r.Worst != nil {
		t.Fatalf("%d of %d runs violate something; the first:\n# seed %d: %s\n%s", r.Violations, n, r.Worst.Seed, r.Worst.Violation, r.Worst.Tape)
	}
	for _, c := range r.Caps {
		t.Logf("%+v", c)
	}
	if n < 200 {
		return
	}
	if len(r.Caps) != 5 || r.Most < 32 || r.Crowded < n/10 || r.DiedFull < n/10 {
		t.Errorf("the runs are too tame: %+v", r)
	}
	for _, c := range r.Caps {
		if c.Held < n/10 || c.Passed == 0 {
			t.Errorf("nothing ever comes near the %s's cap: %+v", c.Name, c)
		}
	}
}
