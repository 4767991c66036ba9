package portslot

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTake(t *testing.T) {
	dir := t.TempDir()
	seen := map[int]bool{}
	var all []*PortSlot
	for i := range 64 {
		s, err := AcquirePortSlot(dir, fmt.Sprintf("run/T%d.1", i))
		if err != nil {
			t.Fatal(err)
		}
		base, n := s.portRange()
		if seen[s.N] || base < firstPort || base+n > firstPort+slotCount*portsPerSlot {
			t.Errorf("slot %d, ports from %d", s.N, base)
		}
		seen[s.N] = true
		all = append(all, s)
	}
	// The same attempt has the same slot again, when it is free.
	was := all[7].N
	if again, err := AcquirePortSlot(dir, "run/T7.1"); err != nil || again.N == was {
		t.Errorf("two have slot %d, %v", was, err)
	}
	for _, s := range all {
		if err := s.Release(); err != nil {
			t.Fatal(err)
		}
	}
	one, err := AcquirePortSlot(dir, "run/T7.1")
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Release(); err != nil {
		t.Fatal(err)
	}
	two, err := AcquirePortSlot(dir, "run/T7.1")
	if err != nil || two.N != one.N {
		t.Errorf("%d and %d, %v", one.N, two.N, err)
	}
}

func TestEnv(t *testing.T) {
	s := &PortSlot{N: 3}
	want := []string{"NEXUS_PORT_BASE=16060", "PORT=16060", "COMPOSE_PROJECT_NAME=nexus-20261121-abc-t1-2", "TMPDIR=/tmp"}
	if d := cmp.Diff(want, s.EnvironmentVariables("20261121-aBc/T1.2", true)); d != "" {
		t.Error(d)
	}
}
