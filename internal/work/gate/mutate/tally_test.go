package mutate_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
)

// tally counts what came of faults.
type tally map[mutate.MutantState]int

func (s tally) noticed() int { return s[mutate.Killed] + s[mutate.TimedOut] }

// percent is how many of the faults with a clear result were noticed.
func (s tally) percent() float64 {
	return 100 * float64(s.noticed()) / float64(max(1, s.noticed()+s[mutate.Survived]))
}

// fewest is how many clear results it takes to tell anything of the tests.
const fewest = 4

// below reports whether the tests notice too few faults. Fewer results than
// fewest never say so.
func (s tally) below(least float64) bool {
	return s.noticed()+s[mutate.Survived] >= fewest && s.percent() < least
}

func TestTallyBelow(t *testing.T) {
	for _, c := range []struct {
		killed, late, survived, unclear int
		want                            bool
	}{
		{killed: 4, survived: 4},
		{killed: 2, late: 1, survived: 4, want: true},
		{killed: 3, late: 1, survived: 4},
		{survived: 3, unclear: 5},
		{survived: 4, want: true},
		{killed: 1, survived: 2, unclear: 5},
		{unclear: 8},
	} {
		s := tally{mutate.Killed: c.killed, mutate.TimedOut: c.late, mutate.Survived: c.survived, mutate.Unclear: c.unclear}
		if got := s.below(50); got != c.want {
			t.Errorf("%+v: below 50 %% is %v", c, got)
		}
	}
}
