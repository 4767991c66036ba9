package gate_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestTheTimeOfAHang sees that a gate whose runner hangs, and hangs again when
// it is asked why, took all the time that it says it had.
func TestTheTimeOfAHang(t *testing.T) {
	const limit = 2 * time.Second
	hangs := []string{"sh", "-c", "echo ok 1 - it; sleep 60"}
	e, err := runner(t, sandbox.Off).Judge(t.Context(), files(t, nil), gate.Gate{
		Name: "test", Args: hangs, Format: "tap", Tests: true, Timeout: limit, Linger: 50 * time.Millisecond, Hold: stack.Held{Args: hangs, Told: `^ok \d`},
	})
	if err != nil {
		t.Fatal(err)
	}
	if e.State != nexus.Timeout || e.Why != "did not end within 2s" || e.Duration < limit-100*time.Millisecond {
		t.Errorf("%s, %s, after %s", e.State, e.Why, e.Duration)
	}
}

// TestARunnerMayTakeLongToTellWhatIsOpen sees that a runner which is made to
// exit may be silent for longer than one that should do so by itself.
func TestARunnerMayTakeLongToTellWhatIsOpen(t *testing.T) {
	const jest = `echo "PASS ./a.test.js"; echo "Tests:       1 passed, 1 total"; echo "Time:        0.1 s"; echo "Ran all test suites."; `
	e, err := runner(t, sandbox.Off).Judge(t.Context(), files(t, nil), gate.Gate{
		Name: "test", Args: []string{"sh", "-c", jest + "exec sleep 60"}, Format: "jest", Tests: true, Timeout: time.Minute, Linger: time.Second,
		Hold: stack.Held{Args: []string{"sh", "-c", jest + `sleep 2; echo "Jest has detected the following 1 open handle potentially keeping Jest from exiting:"; printf "\n  \342\227\217  TCPSERVERWRAP\n\n"; echo "      at Object.listen (a.test.js:3:5)"`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Findings) != 1 || e.Findings[0].File != "a.test.js" || e.Findings[0].Line != 3 {
		t.Errorf("%s, %s: %+v", e.State, e.Why, e.Findings)
	}
}
