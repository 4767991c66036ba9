package run

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite golden files")

// situations plays the tapes of the scheduler, and one of what a process leaves
// open, and shows each moment of each: all events so far.
func situations(t *testing.T, show func(events []nexus.Event)) {
	t.Helper()
	files, err := filepath.Glob("../decide/schedule/testdata/*.tape")
	if err != nil || len(files) < 30 {
		t.Fatal(err, files)
	}
	for _, file := range append(files, "testdata/open.tape") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var events []nexus.Event
		for line := range strings.Lines(string(text)) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "> ")
			if line == "" || strings.ContainsAny(line[:1], "#?") || strings.HasPrefix(line, "wake ") {
				continue
			}
			f, err := eventtapetest.ParseFact(line)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, line, err)
			}
			n := len(events) + 1
			events = append(events, nexus.Event{Seq: int64(n), Run: "r", At: eventtapetest.TapeStartTime().Add(time.Duration(n) * time.Second), Fact: f})
			show(events)
		}
	}
}

// said writes what was recorded after the first events.
func said(m *memory, after int) string {
	var all []string
	for _, e := range m.events[after:] {
		all = append(all, eventtapetest.FormatFact(e.Fact))
	}
	return strings.Join(all, "\n    ")
}

// numbers are what tells tasks, attempts, questions and reservations of one
// kind apart.
var numbers = regexp.MustCompile(`\b(FIX-|[A-Za-z]|seq=)\d+(\.\d+)?\b`)

// golden holds rows against a file, without numbers, in their order and each
// once.
func golden(t *testing.T, file string, rows map[string]bool) {
	t.Helper()
	plain := map[string]bool{}
	for row := range rows {
		plain[numbers.ReplaceAllString(row, "${1}N")] = true
	}
	got := strings.Join(slices.Sorted(maps.Keys(plain)), "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestTakenUp takes runs up whose process died at any moment, in every way in
// which that can be asked for, and holds what is recorded first.
func TestTakenUp(t *testing.T) {
	rows := map[string]bool{}
	limits := &nexus.Limits{Parallel: 3}
	situations(t, func(events []nexus.Event) {
		for name, o := range map[string]StartOptions{
			"resume":  {Limits: limits},
			"reopen":  {Reopen: true},
			"deliver": {Deliver: true},
			"stop":    {Stop: "that is enough"},
		} {
			if _, ended := events[len(events)-1].Fact.(nexus.RunEnded); !ended && (o.Reopen || o.Deliver) {
				continue // as resume
			}
			o.Fence, o.Spent, o.Sandbox, o.Process = 9, 7, "native", nexus.RunProcess{PID: 5}
			m := &memory{events: slices.Clone(events)}
			c, err := BeginRun(t.Context(), m, "r", o)
			switch {
			case err != nil:
				rows[fmt.Sprintf("%s: %v", name, err)] = true
				continue
			case len(m.appends) == 0 && !c.State.Status.HasEnded():
				t.Errorf("%s after %s: nothing was recorded", name, eventtapetest.FormatFact(events[len(events)-1].Fact))
			case len(m.appends) > 0:
				rows[name+"\n    "+said(m, len(events))] = true
			}
			if s := c.State; len(s.ActiveAttempts()) > 0 || len(s.Ledger.UnsettledIDs()) > 0 || !c.isIdle() {
				t.Errorf("%s after %s: something still seems to work", name, eventtapetest.FormatFact(events[len(events)-1].Fact))
			}
		}
	})
	golden(t, "testdata/taken-up.golden", rows)
}

// TestReturned takes workers back that end in any way, at any moment of a run,
// and holds what that means for their work.
func TestReturned(t *testing.T) {
	ends := map[string]error{
		"without a word":         nil,
		"it failed":              errors.New("it failed"),
		"it was interrupted":     ErrInterrupted,
		"it was told to stop":    fmt.Errorf("work: %w", workerStoppedError{"no money"}),
		"it was cancelled":       context.Canceled,
		"nobody has a key":       &nexus.Error{Code: nexus.CodeNoKey, Message: "no key", Hint: "Set one."},
		"a person is needed":     &nexus.Error{Code: nexus.CodeNeedsPerson, Message: "may it?"},
		"the budget is used up":  &nexus.Error{Code: nexus.CodeBudget, Message: "no more"},
		"the disk is full":       &nexus.Error{Code: nexus.CodeDiskFull, Message: "full"},
		"something else is said": &nexus.Error{Code: nexus.CodeInternal, Message: "odd"},
	}
	rows := map[string]bool{}
	var intents []nexus.Fact
	situations(t, func(events []nexus.Event) {
		last := events[len(events)-1].Fact
		if _, back := last.(nexus.RunRewound); back || len(events) == 1 {
			intents = nil // nobody works while a run goes back
		}
		fresh := func() (*RunCore, *memory) {
			m := &memory{events: slices.Clone(events)}
			s, err := state.ReplayRun("r", m.Events(t.Context(), 0))
			if err != nil {
				t.Fatal(err)
			}
			return &RunCore{State: s, journal: m, working: map[WorkKey]bool{}}, m
		}
		c, _ := fresh()
		if now := c.addWork(nil, last); len(now) > 0 {
			intents = append(intents, last)
		}
		for n := range len(intents) + 1 {
			work := func(c *RunCore) []RecordedIntent {
				if n == len(intents) {
					return c.addResultWork(nil)
				}
				return c.addWork(nil, intents[n])
			}
			clear(c.working)
			all := work(c)
			if len(all) == 0 {
				continue
			}
			w := all[0]
			if len(c.addResultWork(nil)) > 0 && n == len(intents) {
				t.Errorf("%s is started twice", w.Key)
			}
			what := fmt.Sprintf("%s %s of %q", nexus.FactKind(w.Intent), w.Key, w.View.Task.ID)
			if w.View.Attempt != nil {
				what += " in " + string(w.View.Attempt.ID)
			}
			if w.View.Merge != nil {
				what += " merges " + string(w.View.Merge.ID)
			}
			if n < len(intents) && !c.isUnconfirmed(w) {
				continue // somebody else has confirmed it
			}
			for name, end := range ends {
				c, m := fresh()
				w := work(c)[0]
				err := c.FinishWork(t.Context(), w, nil, end)
				row := what + ", " + name
				if err != nil {
					row += "\n    ends the run: " + err.Error()
				} else {
					row += "\n    " + said(m, len(events))
				}
				rows[row] = true
				if !c.isIdle() {
					t.Errorf("%s: it still works", row)
				}
			}
		}
	})
	golden(t, "testdata/returned.golden", rows)
}
