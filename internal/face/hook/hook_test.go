package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// TestObservers tells a hook what it asked for, in order, and after its
// process died exactly what it was not told to its end.
func TestObservers(t *testing.T) {
	j, lease := running(t, "r1")
	put := func(facts ...nexus.Fact) {
		t.Helper()
		if _, err := lease.Append(t.Context(), facts...); err != nil {
			t.Fatal(err)
		}
	}
	task := nexus.Task{ID: "T1", Title: "Do T1"}
	var told []string
	dead := errors.New("the process died")
	die := false
	o := RepositoryObservers{
		Journal: j, Dir: filepath.Join(t.TempDir(), "hooks"), Grace: time.Minute,
		Say: func(format string, args ...any) { told = append(told, "said: "+fmt.Sprintf(format, args...)) },
		All: []EventObserver{NewHookObserver(hookcmd.DeclaredHook{Name: "h", HookSettings: config.HookSettings{On: []string{"plan.ready", "task.failed", "budget.threshold", "run.end"}}}, func(_ context.Context, _ hookcmd.DeclaredHook, e hookcmd.HookEvent) (hookcmd.HookOutcome, error) {
			told = append(told, fmt.Sprintf("%s %s %s %d %s", e.Point, e.Task, e.Title, e.Percent, e.Reason))
			if die && e.Point == nexus.HookBudget {
				return hookcmd.HookOutcome{}, dead
			}
			if e.Point == nexus.HookPlanReady {
				return hookcmd.HookOutcome{State: nexus.HookFailed, Why: "exit code 1"}, nil
			}
			return hookcmd.HookOutcome{State: nexus.HookOK}, nil
		})},
	}
	during := func(facts ...nexus.Fact) {
		t.Helper()
		stop, err := o.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		put(facts...)
		stop()
	}
	during(nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: task}, nexus.PlanApproved{})
	// It dies with the event half told; a process without hooks goes on.
	at, _ := readCursor(o.cursorPath(o.All[0]))
	die = true
	stopped, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	d := &observerDelivery{o: o, who: o.All[0], after: at, runs: nil}
	d.runs = map[nexus.RunID]*state.State{}
	put(nexus.TaskParked{Task: "T1", Why: "bad", Failed: true}, nexus.BudgetPercentReached{Percent: 75})
	for e, err := range j.Events(t.Context(), "", at) {
		if err != nil {
			t.Fatal(err)
		}
		if err := d.handleEvent(stopped, e); err != nil {
			t.Fatal(err)
		}
		if e.Seq > at && die && len(told) > 3 {
			kill(dead)
		}
	}
	put(nexus.RunEnded{Status: nexus.StatusFailed, Why: "over"})
	die = false
	during()
	during()
	want := []string{
		"plan.ready   0 ", "said: hook h at plan.ready: failed: exit code 1", "task.failed T1 Do T1 0 bad",
		"budget.threshold   75 ", "budget.threshold   75 ", "run.end   0 over",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// TestAReporterThatBreaksDown is not started again by the same process, and is
// told by the next one what came after the event that it broke down at.
func TestAReporterThatBreaksDown(t *testing.T) {
	j, lease := running(t, "r1")
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	runner := &usercmd.UserCommandRunner{
		Box: box, Unboxed: box, Dir: t.TempDir(), State: t.TempDir(), Env: func(string) string { return "" },
		Trust: trust.OpenStore(t.TempDir()), Mark: "test/plugin",
	}
	const reads = `echo start >>"$NEXUS_PLUGIN_DIR/log"; id=0
		read -r l; echo '{"type":"hello","protocol":1,"name":"a reporter","version":"1.0","kinds":["reporter"]}'
		while read -r l; do
			id=$((id+1)); echo "$l" | grep -o '"hook_event_name":"[a-z.]*"' >>"$NEXUS_PLUGIN_DIR/log"
			case $l in
			*task.failed*) exit 3 ;;
			*budget.threshold*) echo '{"type":"error","id":'$id',"message":"not now"}' ;;
			*) echo '{"type":"answer","id":'$id',"output":{}}' ;;
			esac
		done`
	var said []string
	during := func(facts ...nexus.Fact) {
		t.Helper()
		r := &plugin.EventReporter{Runner: runner, Plugin: plugin.DeclaredPlugin{Name: "p", Own: true, PluginSettings: config.PluginSettings{
			Command: "sh", Args: []string{"-c", reads}, Kinds: []string{"reporter"},
		}}}
		defer r.Close()
		o := RepositoryObservers{
			Journal: j, Dir: filepath.Join(runner.State, "hooks"), Grace: time.Minute, All: []EventObserver{NewPluginObserver(r)},
			Say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
		}
		stop, err := o.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lease.Append(t.Context(), facts...); err != nil && len(facts) > 0 {
			t.Fatal(err)
		}
		stop()
	}
	during(nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Do T1"}}, nexus.PlanApproved{},
		nexus.TaskParked{Task: "T1", Why: "bad", Failed: true}, nexus.BudgetPercentReached{Percent: 75}, nexus.BudgetPercentReached{Percent: 90})
	during(nexus.RunEnded{Status: nexus.StatusFailed, Why: "over"})
	during()
	log, err := os.ReadFile(filepath.Join(runner.CommandDataDir("plugins", "p"), "log"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"start", `"hook_event_name":"plan.ready"`, `"hook_event_name":"task.failed"`,
		"start", `"hook_event_name":"budget.threshold"`, `"hook_event_name":"budget.threshold"`, `"hook_event_name":"run.end"`,
	}
	if diff := cmp.Diff(want, strings.Fields(string(log))); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"plugin p at task.failed: ended: it ended before it answered, with exit code 3; it is left out until Nexus starts again, and then receives the rest",
		"plugin p at budget.threshold: failed: not now",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}

// running returns a journal with a run, and its lease.
func running(t *testing.T, run nexus.RunID) (*journal.Journal, *journal.Lease) {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	lease, err := j.Acquire(t.Context(), run, journal.CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lease.Append(t.Context(), nexus.GoalAccepted{Goal: nexus.Goal{Text: "Write"}, Base: "c0ffee"}); err != nil {
		t.Fatal(err)
	}
	return j, lease
}

// TestANewHookIsToldNothingOld, even where a run of long ago goes on.
func TestANewHookIsToldNothingOld(t *testing.T) {
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	for _, run := range []nexus.RunID{"old", "since"} {
		lease, err := j.Acquire(t.Context(), run, journal.CallingProcess(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lease.Append(t.Context(), nexus.GoalAccepted{Goal: nexus.Goal{Text: "Write"}, Base: "c0ffee"}, nexus.RunStarted{}, nexus.RunEnded{Status: nexus.StatusFailed, Why: "over"}); err != nil {
			t.Fatal(err)
		}
	}
	told := 0
	o := RepositoryObservers{
		Journal: j, Dir: filepath.Join(t.TempDir(), "hooks"), Grace: time.Minute, Say: func(string, ...any) {},
		All: []EventObserver{NewHookObserver(hookcmd.DeclaredHook{Name: "h", HookSettings: config.HookSettings{On: []string{"run.end"}}}, func(context.Context, hookcmd.DeclaredHook, hookcmd.HookEvent) (hookcmd.HookOutcome, error) {
			told++
			return hookcmd.HookOutcome{State: nexus.HookOK}, nil
		})},
	}
	stop, err := o.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if stop(); told != 0 {
		t.Errorf("it was told %d events of before", told)
	}
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte(`{"after":7}`))
	f.Add([]byte(`{"after":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if after, ok := parseCursor(data); ok != (after > 0) {
			t.Errorf("%q: %d, %t", data, after, ok)
		}
	})
}
