package acpcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// aTracker returns one that shows a run in a session that has no client.
func aTracker() *runTracker {
	g := &editorAgent{host.Host{Console: &console.Console{App: app.App{Mask: secret.NewMasker(nil)}}}}
	return &runTracker{s: &editorSession{agent: g, top: "/w"}, calls: map[nexus.TaskID]*taskCall{}, state: state.NewState("r")}
}

// TestDrawn holds that diffs are sent when they change, or what is said about them, and
// not with each event.
func TestDrawn(t *testing.T) {
	for _, size := range []int{100, maxAgain + 1} {
		k := aTracker()
		v, task := view.RunView{ID: "r", Held: &nexus.RunProcess{}}, view.TaskView{ID: "T1", Title: "Do it", Status: nexus.Running}
		c := k.taskCall("T1")
		c.said, c.diffs, c.size, c.version = []string{"one"}, []acpserver.FileDiff{acpserver.NewFileDiff("/w/a", nil, "a")}, size, 1
		seen := func() string {
			one, changed := k.updateCall(v, task)
			if !changed {
				return "nothing"
			}
			text := one.Status
			for _, part := range one.Content {
				if d, ok := part.(acpserver.FileDiff); ok {
					text += " " + d.Path
				} else {
					text += " " + strings.ReplaceAll(fmt.Sprint(part), "\n", " ")
				}
			}
			return text
		}
		said := func(text string) string {
			return fmt.Sprintf("map[content:map[text:```text %s ``` type:text] type:content] /w/a", text)
		}
		want := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%d bytes, %s: %s, want %s", size, what, got, want)
			}
		}
		want("first", seen(), "in_progress "+said("one"))
		want("again", seen(), "nothing")
		c.said = append(c.said, "two")
		if size > maxAgain {
			want("said", seen(), "nothing")
		} else {
			want("said", seen(), "in_progress "+said("one two"))
		}
		c.version++
		want("diffs", seen(), "in_progress "+said("one two"))
		task.Status = nexus.Landed
		want("landed", seen(), "completed")
		c.said = append(c.said, "three")
		k.over = true
		want("over", seen(), "completed "+said("one two three"))
	}
}

// TestLost holds that a run which cannot be shown any more is stopped, and that why is
// known. One that nobody wants to see any more is not.
func TestLost(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, ended := range []bool{false, true} {
		k := aTracker()
		var why error
		k.stop = func(err error) { why = err }
		ctx, end := context.WithCancelCause(t.Context())
		k.showEvents(ctx, func(yield func(nexus.Event, error) bool) {
			if ended {
				end(nil)
			}
			yield(nexus.Event{}, broken)
		})
		end(nil)
		if lost := errors.Is(k.failed, broken) && errors.Is(why, broken); lost == ended || ended && why != nil {
			t.Errorf("ended %t: %v, %v", ended, k.failed, why)
		}
	}
	k := aTracker()
	k.showEvents(t.Context(), func(yield func(nexus.Event, error) bool) {
		yield(nexus.Event{Seq: 1, Fact: nexus.AttemptStarted{Task: "T1", Attempt: "T1.1"}}, nil) // of no task
	})
	if k.failed == nil {
		t.Error("an event that does not fit is shown")
	}
}

// TestSame holds that a diff that is another one is sent.
func TestSame(t *testing.T) {
	a, b := "a", "b"
	d := acpserver.NewFileDiff("p", &a, "now")
	for _, other := range []acpserver.FileDiff{
		acpserver.NewFileDiff("q", &a, "now"), acpserver.NewFileDiff("p", &b, "now"), acpserver.NewFileDiff("p", nil, "now"), acpserver.NewFileDiff("p", &a, "then"),
	} {
		if equalDiffs(d, other) || equalDiffs(other, d) {
			t.Errorf("%+v", other)
		}
	}
	again := "a"
	if !equalDiffs(d, acpserver.NewFileDiff("p", &again, "now")) {
		t.Error("the same diff")
	}
	if diffSize(d) != 4 || diffSize(acpserver.NewFileDiff("p", nil, "now")) != 3 {
		t.Error("what was there before counts")
	}
}

// TestAlarm holds that an alert which pauses runs is seen by a person before the run
// continues, also one that a person had paused already, and once.
func TestAlarm(t *testing.T) {
	for reaction, want := range map[nexus.AlertReaction]string{nexus.ReactPause: "3 refused", nexus.ReactTell: ""} {
		k, seq := aTracker(), int64(0)
		k.silent = true
		hear := func(f nexus.Fact) {
			t.Helper()
			seq++
			if err := k.applyEvent(t.Context(), nexus.Event{Seq: seq, Run: "r", At: time.Unix(seq, 0), Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
		hear(nexus.GoalAccepted{Goal: nexus.Goal{Text: "Write."}, Limits: nexus.Limits{Alerts: nexus.AlertThresholds{Denied: reaction}}})
		hear(nexus.RunStarted{})
		hear(nexus.RunPaused{Why: "asked by ada"})
		if k.alertReason() != "" {
			t.Error("a person has paused it")
		}
		for _, alert := range []nexus.AlertRaised{{Kind: nexus.AlertDenials, Why: "3 refused"}, {Kind: nexus.AlertStuck, Why: "silent"}} {
			hear(alert)
			k.updatePause(alert)
			if k.s.alarm != want || !k.s.paused {
				t.Errorf("with %s, after %s: %q", reaction, alert.Why, k.s.alarm)
			}
		}
		hear(nexus.RunResumed{})
		k.updatePause(nexus.RunResumed{})
		if k.s.alarm != "" || k.s.paused || k.alertReason() != "" {
			t.Errorf("it continues with %q", k.s.alarm)
		}
		hear(nexus.RunPaused{Why: "asked by ada"})
		if k.alertReason() != "" {
			t.Error("what a person saw is an alarm again")
		}
	}
}
