package tui

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestOwnRun holds that the screen of a run that its process conducts closes once that is
// over and nobody uses it, and that Ctrl-C is handed on, once.
func TestOwnRun(t *testing.T) {
	now, interrupted := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC), 0
	quits := func(m *Model, status nexus.RunStatus) bool {
		snap := RunSnapshot{Now: now}
		snap.Run.Status = status
		cmd := m.applySnapshot(snapshotReadMsg{snap: snap, ask: m.snapshotRequest()})
		if cmd == nil {
			return false
		}
		_, quit := cmd().(tea.QuitMsg)
		return quit
	}
	begun := func() *Model {
		return NewModel(t.Context(), Options{Run: "r", Interrupt: func() { interrupted++ }, Clock: func() time.Time { return now }})
	}
	m := begun()
	if quits(m, nexus.StatusExecuting) || !quits(m, nexus.StatusDone) {
		t.Error("it does not close when the run is over, or before")
	}
	m = begun()
	m.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
	if now = now.Add(lingers - time.Second); quits(m, nexus.StatusDone) || m.notice == "" {
		t.Errorf("it closes under the hands of a person, or does not say that the run is over: %q", m.notice)
	}
	m.Update(tea.KeyPressMsg{Code: ':', Text: ":"})
	if now = now.Add(time.Hour); quits(m, nexus.StatusDone) {
		t.Error("it closes while something is written")
	}
	m.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	if now = now.Add(lingers); !quits(m, nexus.StatusDone) {
		t.Error("it stays after that")
	}
	for _, opened := range []bool{false, true} {
		if m, interrupted = begun(), 0; opened {
			m.Update(tea.KeyPressMsg{Code: ':', Text: ":"})
		}
		m.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
		m.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
		if interrupted != 1 {
			t.Errorf("Ctrl-C was handed on %d times: a second signal ends the process while the terminal is drawn on", interrupted)
		}
	}
	other := NewModel(t.Context(), Options{Run: "r", Clock: func() time.Time { return now }})
	if quits(other, nexus.StatusDone) {
		t.Error("the screen of another process's run closes by itself")
	}
}

// TestWatchLetsGoOfTheKeys holds that nothing reads the terminal any more once the
// screen is gone: it would take the first key from whoever reads next.
func TestWatchLetsGoOfTheKeys(t *testing.T) {
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer keys.Close()
	for range 20 {
		ctx, leave := context.WithCancelCause(t.Context())
		drawn := &once{shown: make(chan struct{})}
		go func() {
			<-drawn.shown
			leave(errors.New("it is over"))
		}()
		if _, err := RunInterface(ctx, Options{Run: "r", Source: &stage{p: recorded(t)}, In: in, Out: drawn}); !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
		stacks := make([]byte, 1<<20)
		if all := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(all, "cancelreader") {
			t.Fatalf("keys are still read:\n%s", all)
		}
	}
}

// once tells when something is drawn for the first time.
type once struct {
	sync.Once
	shown chan struct{}
}

func (o *once) Write(text []byte) (int, error) {
	o.Do(func() { close(o.shown) })
	return len(text), nil
}
