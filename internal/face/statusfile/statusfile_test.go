package statusfile

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 250_000_000, time.UTC)

// tape is a run with one task landed, one at work, one parked and two that
// are left.
func tape() []nexus.Fact {
	limits := nexus.DefaultLimits()
	return []nexus.Fact{
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "Add a parser\nand more"}, Base: "b0", Target: "main", Limits: limits},
		nexus.RunStarted{Process: nexus.RunProcess{PID: 7, Host: "h"}},
		nexus.PlanProposed{Plan: "blob", Tasks: 5},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Parser"}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Title: "Printer", Tier: nexus.Balanced}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T3", Title: "Docs"}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T4", Title: "Site", Needs: []nexus.TaskID{"T3"}}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T5", Title: "Last", Needs: []nexus.TaskID{"T2"}}},
		nexus.PlanApproved{By: "policy"},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: "b0"},
		nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1", Role: nexus.Coder, Model: "p/small"},
		nexus.BudgetReserved{ID: "r1", Task: "T1", Session: "T1.1/coder.1", Role: nexus.Coder, Model: "p/small", Money: nexus.Dollar},
		nexus.BudgetSettled{ID: "r1", Money: nexus.Dollar / 4},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c1", Tree: "t1"},
		nexus.LandingQueued{Task: "T1", Attempt: "T1.1"},
		nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b0"},
		nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1", Tree: "t1", Parent: "b0"},
		nexus.TaskParked{Task: "T3", Why: "nobody knows"},
		nexus.AttemptStarted{Attempt: "T2.1", Task: "T2", Tier: nexus.Balanced, Strategy: nexus.TestAfter, Base: "c1"},
		nexus.SessionStarted{Session: "T2.1/coder.1", Attempt: "T2.1", Role: nexus.Coder, Model: "p/large"},
	}
}

func fold(t *testing.T, facts []nexus.Fact) *state.State {
	t.Helper()
	s := state.NewState("r1")
	for i, f := range facts {
		if err := s.Apply(event(i, f)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func event(i int, f nexus.Fact) nexus.Event {
	return nexus.Event{Seq: int64(i) + 1, Run: "r1", At: start.Add(time.Duration(i) * time.Second), Fact: f}
}

// TestShape pins the file to the last byte: other people's tools read it.
func TestShape(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status.json")
	o := Options{PID: 4711}
	if err := WriteFile(path, NewStatusFile(fold(t, tape()), o, start.Add(90*time.Second))); err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": 1,
  "run": {
    "id": "r1",
    "feature": "Add a parser",
    "startedAt": "2026-11-21T10:00:00.250Z",
    "status": "running",
    "dryRun": false,
    "pid": 4711
  },
  "progress": {
    "total": 5,
    "passed": 1,
    "failed": 0,
    "paused": 1,
    "blocked": 1,
    "pending": 2
  },
  "cost": {
    "spent": 0.25,
    "limit": 5
  },
  "current": {
    "storyId": "T2",
    "title": "Printer",
    "complexity": "medium",
    "tddStrategy": "test-after",
    "model": "p/large",
    "attempt": 1,
    "phase": "implement"
  },
  "iterations": 2,
  "updatedAt": "2026-11-21T10:01:30.250Z",
  "durationMs": 89000,
  "lastHeartbeat": "2026-11-21T10:01:30.250Z",
  "parallel": {
    "enabled": true,
    "maxConcurrency": 4,
    "activeStories": [
      "T2"
    ]
  },
  "health": {
    "ok": true,
    "alerts": [],
    "silent_seconds": 71,
    "attempts": [
      {
        "attempt": "T2.1",
        "silent_seconds": 71
      }
    ],
    "queue": {
      "ready": 0,
      "train": 0,
      "people": 0,
      "oldest_seconds": 0
    }
  }
}
`
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(path + ".tmp"); !os.IsNotExist(err) {
		t.Errorf("the temporary file is still there: %v", err)
	}
}

// TestCrash pins the two fields that only a crashed run has, and the null of
// a run that works on nothing.
func TestCrash(t *testing.T) {
	f := NewStatusFile(fold(t, tape()[:2]), Options{}, start)
	f.Run.Status, f.Run.CrashedAt, f.Run.CrashSignal = Crashed, MillisecondTime{start}, "SIGTERM"
	got, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"run":{"id":"r1","feature":"Add a parser","startedAt":"2026-11-21T10:00:00.250Z","status":"crashed","dryRun":false,"pid":0,` +
		`"crashedAt":"2026-11-21T10:00:00.250Z","crashSignal":"SIGTERM"},` +
		`"progress":{"total":0,"passed":0,"failed":0,"paused":0,"blocked":0,"pending":0},"cost":{"spent":0,"limit":5},"current":null,"iterations":0,` +
		`"updatedAt":"2026-11-21T10:00:00.250Z","durationMs":0,"lastHeartbeat":"2026-11-21T10:00:00.250Z",` +
		`"parallel":{"enabled":true,"maxConcurrency":4,"activeStories":[]},` +
		`"health":{"ok":true,"alerts":[],"silent_seconds":0,"attempts":[],"queue":{"ready":0,"train":0,"people":0,"oldest_seconds":0}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestStatus(t *testing.T) {
	for from, want := range map[nexus.RunStatus]Status{
		nexus.StatusIdle: Running, nexus.StatusExecuting: Running, nexus.StatusPaused: Running, nexus.StatusDone: Completed,
		nexus.StatusPartial: Stalled, nexus.StatusStopped: Stalled, nexus.StatusFailed: Failed, nexus.StatusLimit: Failed,
	} {
		if got := statusOf(from); got != want {
			t.Errorf("%s is told as %s, want %s", from, got, want)
		}
	}
}

// TestFollow checks that the file is there from the start, beats while
// nothing happens, ends with the run, and stays.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status.json")
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		facts := append(tape(), nexus.RunEnded{Status: nexus.StatusPartial})
		var seen []string
		look := func() {
			synctest.Wait()
			var f File
			data, err := os.ReadFile(path)
			if err != nil {
				seen = append(seen, "none")
				return
			}
			if err := json.Unmarshal(data, &f); err != nil {
				t.Fatalf("%v in %s", err, data)
			}
			seen = append(seen, string(f.Run.Status)+" "+f.LastHeartbeat.Sub(began).String())
		}
		var events iter.Seq2[nexus.Event, error] = func(yield func(nexus.Event, error) bool) {
			for i, f := range facts {
				if i == 2 || i == len(facts)-1 {
					look()
				}
				if i == len(facts)-1 {
					time.Sleep(25 * time.Second)
					look()
				}
				if !yield(event(i, f), nil) {
					return
				}
			}
		}
		err := KeepFileUpToDate(t.Context(), "r1", events, Options{Path: path, Now: time.Now, Beat: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		look()
		want := []string{"running 0s", "running 0s", "running 20s", "stalled 25s"}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFollowStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status.json")
	ctx, stop := context.WithCancel(t.Context())
	events := func(yield func(nexus.Event, error) bool) {
		yield(event(0, tape()[0]), nil)
		<-ctx.Done()
	}
	stop()
	if err := KeepFileUpToDate(ctx, "r1", events, Options{Path: path, Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(path, "nowhere", "x"), File{}); err == nil {
		t.Error("wrote into a directory that is not there")
	}
}
