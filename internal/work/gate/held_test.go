package gate_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/stack"
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
