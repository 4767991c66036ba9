package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestTheTimeOfAHang sees that a gate whose runner hangs, and hangs again when
// it is asked why, took all the time that it says it had.
func TestTheTimeOfAHang(t *testing.T) {
	const limit = 2 * time.Second
	hangs := []string{"sh", "-c", "echo ok 1 - it; sleep 60"}
	e, err := runner(t, sandbox.ModeOff).RunGate(t.Context(), files(t, nil), gate.QualityGate{
		Name: "test", Args: hangs, Format: "tap", Tests: true, Timeout: limit, Linger: 50 * time.Millisecond, Hold: stack.OpenResourceTestCommand{Args: hangs, Told: `^ok \d`},
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
	e, err := runner(t, sandbox.ModeOff).RunGate(t.Context(), files(t, nil), gate.QualityGate{
		Name: "test", Args: []string{"sh", "-c", jest + "exec sleep 60"}, Format: "jest", Tests: true, Timeout: time.Minute, Linger: time.Second,
		Hold: stack.OpenResourceTestCommand{Args: []string{"sh", "-c", jest + `sleep 2; echo "Jest has detected the following 1 open handle potentially keeping Jest from exiting:"; printf "\n  \342\227\217  TCPSERVERWRAP\n\n"; echo "      at Object.listen (a.test.js:3:5)"`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Findings) != 1 || e.Findings[0].File != "a.test.js" || e.Findings[0].Line != 3 {
		t.Errorf("%s, %s: %+v", e.State, e.Why, e.Findings)
	}
}

// TestARunnerThatIsHeld runs its tests a second time, made to exit, and says of
// it what both runs told: what is red stays red, and a pass it is not.
func TestARunnerThatIsHeld(t *testing.T) {
	const linger, limit = 500 * time.Millisecond, 6 * time.Second // half of linger is the longest time to exit, on a busy machine too
	const passed, failed = "echo 1..1; echo ok 1 - it; ", "echo 1..1; echo not ok 1 - it; "
	const over = "echo '# duration_ms 3'; "
	for name, c := range map[string]struct {
		first, second string // what both runs do; no second: there is no way to hold it
		flag          string
		state         nexus.GateState
		why           string
		open          string // what the last finding says of what is open; empty: nothing is said of it
		counts        nexus.TestCounts
	}{
		"told how all ended":            {passed + over + "exec sleep 60", passed + over, "", nexus.Environmental, "every test passed, and it did not exit within 500ms after that", "something keeps it from exiting", nexus.TestCounts{Passed: 1}},
		"and failed":                    {failed + over + "exec sleep 60", failed + over + "exit 1", "--exit", nexus.Fail, "its tests ended, and it did not exit within 500ms after that", "something keeps it from exiting", nexus.TestCounts{Failed: 1}},
		"told, and cannot be held":      {passed + over + "exec sleep 60", "", "", nexus.Environmental, "every test passed, and it did not exit within 500ms after that", "something keeps it from exiting", nexus.TestCounts{Passed: 1}},
		"told, and hangs again":         {passed + over + "exec sleep 60", passed + over + "exec sleep 60", "", nexus.Environmental, "every test passed, and it did not exit", "something keeps it from exiting", nexus.TestCounts{Passed: 1}},
		"was silent, and ended":         {passed + "exec sleep 60", passed, "--exit", nexus.Environmental, "every test passed, and it did not exit: it printed nothing for 3s, and ended when it was forced to", "something keeps it from exiting", nexus.TestCounts{Passed: 1}},
		"was silent, and failed":        {passed + "exec sleep 60", failed + "exit 1", "", nexus.Fail, "ended when it was forced to", "something keeps it from exiting", nexus.TestCounts{Failed: 1}},
		"was silent, and hangs again":   {passed + "exec sleep 60", "echo ok 1 - it; exec sleep 60", "", nexus.Timeout, "did not end within 6s", "", nexus.TestCounts{}},
		"was silent, cannot be held":    {passed + "exec sleep 60", "", "", nexus.Timeout, "did not end within 6s", "", nexus.TestCounts{}},
		"a slow start is no silence":    {passed + over + "exec sleep 60", "sleep 2; " + passed + over, "", nexus.Environmental, "every test passed, and it did not exit within 500ms after that", "something keeps it from exiting", nexus.TestCounts{Passed: 1}},
		"exits slowly":                  {passed + over + "sleep 1", passed + over + "sleep 1", "", nexus.Pass, "", "", nexus.TestCounts{Passed: 1}},
		"a slow test, and held":         {passed + over + "exec sleep 60", "echo ok 1 - it; sleep 2; echo ok 2 - that; " + over, "", nexus.Environmental, "every test passed, and it did not exit within 500ms after that", "something keeps it from exiting", nexus.TestCounts{Passed: 1}},
		"was silent for another reason": {passed + "sleep 4", passed + "sleep 4", "", nexus.Pass, "", "", nexus.TestCounts{Passed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := limit
			if c.state == nexus.Pass || strings.Contains(c.why, "after that") { // it does not end by its limit, on a busy machine neither
				limit = time.Minute
			}
			g := gate.QualityGate{Name: "test", Args: []string{"sh", "-c", c.first}, Format: "tap", Tests: true, Timeout: limit, Linger: linger, Hold: stack.OpenResourceTestCommand{Told: `^(not )?ok \d`, Flag: c.flag}}
			if c.second != "" {
				g.Hold.Args = []string{"sh", "-c", c.second}
			}
			e, err := runner(t, sandbox.ModeOff).RunGate(t.Context(), files(t, nil), g)
			if err != nil {
				t.Fatal(err)
			}
			if e.State != c.state || !strings.Contains(e.Why, c.why) || e.Counts != c.counts && c.counts != (nexus.TestCounts{}) {
				t.Errorf("%s, %q, %+v", e.State, e.Why, e.Counts)
			}
			var last nexus.Finding
			if len(e.Findings) > 0 {
				last = e.Findings[len(e.Findings)-1]
			}
			if c.open == "" {
				if last.Code == parserbase.CodeHang {
					t.Errorf("%+v", last)
				}
				return
			}
			advice := "Close it when the tests are done."
			if c.flag != "" {
				advice = "Close it when the tests are done, or make the gate's command force an exit with --exit."
			}
			if last.Code != parserbase.CodeHang || last.Gate != "test" || !strings.Contains(last.Message, c.open) || last.Advice != advice {
				t.Errorf("%+v", last)
			}
			if e.Exit != -1 {
				t.Errorf("exit %d of what was ended", e.Exit)
			}
		})
	}
}
