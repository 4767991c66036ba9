package gate_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// tap runs the tests of a tree, each a file in t, or the one that it is given. It
// tells each how often it ran before, and whether it is alone.
const tap = `n=0; bad=0
for name in ${1:-$(ls t)}; do
	n=$((n+1)); runs=$(cat "$COUNTS/$name" 2>/dev/null | wc -c); printf x >>"$COUNTS/$name"
	if runs=$runs alone=$1 sh "t/$name"; then echo "ok $n - $name"; else echo "not ok $n - $name"; bad=1; fi
done
echo "1..$n"
exit $bad
`

// TestDoubtOfOneTest is [TestDoubt] for a runner that is told to run one test:
// one that passes alone must not fail each time among the others.
func TestDoubtOfOneTest(t *testing.T) {
	for name, c := range map[string]struct {
		tests   []doubted
		changed []string
		wants   []string
		state   nexus.GateState
	}{
		"they are forgiven": {state: nexus.Pass, tests: []doubted{
			{name: "nowandthen", was: `test ! -e broken || test $runs -gt 0`, flaky: "1 of 3"},
			{name: "twiceoffour", was: `test ! -e broken || test $runs -gt 1`, flaky: "2 of 4"},
			{name: "onthebase", was: `test ! -e broken && test $((runs % 2)) -eq 0`, counts: true, flaky: "1 of 2"},
			{name: "fine", was: `true`},
		}},
		"they count": {state: nexus.Fail, changed: []string{"lib.sh"}, wants: []string{"the test wantedone passes"}, tests: []doubted{
			{name: "always", was: `test ! -e broken`, text: "failed without a message"},
			{name: "amongothers", was: `test ! -e broken || test -n "$alone"`, text: "failed without a message"},
			{name: "itsown", was: `test ! -e broken || test $runs -gt 0`, text: "failed without a message"},
			{name: "wantedone", was: `test ! -e broken || test $runs -gt 0`, text: "failed without a message"},
		}},
		"they were red before": {state: nexus.Pass, tests: []doubted{{name: "before", was: `false`}, {name: "fine", was: `true`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts := t.TempDir()
			was := map[string]string{"run.sh": tap, "lib.sh": ""}
			for _, d := range c.tests {
				was["t/"+d.name] = d.was
			}
			base := files(t, was)
			was["broken"], was["lib.sh"] = "x\n", "itsown() { true; }\n"
			tree := files(t, was)
			base.Hash = "base"
			g := gate.QualityGate{Name: "test", Args: []string{"sh", "run.sh"}, Format: "tap", Tests: true, Lone: stack.SingleTestCommand{Name: stack.NameExact, Args: []string{"sh", "run.sh", "{test}"}}}
			weighing := weighs(t, base, g, c.tests, c.wants, append(c.changed, "broken"), counts)
			e, err := weighing.JudgeAgainstBase(t.Context(), tree, g)
			if err != nil || e.State != c.state {
				t.Errorf("%s, %q, %+v, %v", e.State, e.Why, e.Findings, err)
			}
			for _, d := range c.tests {
				d.check(t, d.name, e)
			}
		})
	}
}
