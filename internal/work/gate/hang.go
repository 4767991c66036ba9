package gate

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// HangSigns say how a runner is seen to hang. The zero HangSigns see nothing.
type HangSigns struct {
	Over   string        // pattern of the line with which it has told how all its tests ended; empty: it says that only when it exits
	Linger time.Duration // how long it may be silent after that; 0: for ever
	Told   string        // pattern of a line that tells how one test ended, for a runner without Over
	Quiet  time.Duration // how long such a runner may be silent once it told about a test; 0: for ever
}

// ErrHung is the cause with which a runner is ended that hangs.
var ErrHung = errors.New("the test runner does not exit")

// HangEnd is what was seen of a run.
type HangEnd struct {
	Over bool // it told how all its tests ended
	Hung bool // it was ended, as it was silent for too long after that

	Wrote WrittenFiles // files that a gate wrote which is only to look, or whose tests must not write what they expect
}

// HangWatch listens to a runner.
type HangWatch struct {
	mu   sync.Mutex // the timer's goroutine and the listener
	end  HangEnd
	told bool
	line []byte // that has no end yet
	over *regexp.Regexp
	test *regexp.Regexp
	s    HangSigns
	wait *time.Timer
	stop context.CancelCauseFunc
}

// maxWatchedLine is the part of a line that is looked at.
const maxWatchedLine = 4 << 10

// WatchHang returns a context that ends, with [ErrHung], when the runner that is
// heard hangs. [HangWatch.Close] gives it back.
func WatchHang(ctx context.Context, s HangSigns) (context.Context, *HangWatch) {
	ctx, stop := context.WithCancelCause(ctx)
	w := &HangWatch{s: s, stop: stop}
	if s.Over != "" {
		w.over = regexp.MustCompile(s.Over)
	}
	if s.Told != "" {
		w.test = regexp.MustCompile(s.Told)
	}
	return ctx, w
}

// hears reports whether there is anything to listen to.
func (s HangSigns) hears() bool { return s.Over != "" || s.Told != "" && s.Quiet > 0 }

// Heard takes output as it arrives.
func (w *HangWatch) Heard(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.line = append(w.line, p[:min(len(p), max(0, maxWatchedLine-len(w.line)))]...)
			break
		}
		w.look(append(w.line, p[:min(i, max(0, maxWatchedLine-len(w.line)))]...))
		w.line, p = w.line[:0], p[i+1:]
	}
	w.rest()
}

// look takes a whole line.
func (w *HangWatch) look(line []byte) {
	if w.end.Over || w.over == nil && (w.test == nil || w.told) {
		return
	}
	text := raw.Clean(line)
	if w.over != nil && w.over.MatchString(text) {
		w.end.Over = true
	}
	if w.test != nil && w.test.MatchString(text) {
		w.told = true
	}
}

// rest begins to wait again: something was said.
func (w *HangWatch) rest() {
	var long time.Duration
	switch {
	case w.end.Over:
		long = w.s.Linger
	case w.told:
		long = w.s.Quiet
	}
	switch {
	case long <= 0 || w.end.Hung:
	case w.wait == nil:
		w.wait = time.AfterFunc(long, w.hung)
	default:
		w.wait.Reset(long)
	}
}

func (w *HangWatch) hung() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		w.end.Hung = true
		w.stop(ErrHung)
	}
}

// Close ends the watch and returns what was seen. Cause is why the run ended
// that was watched, if not by itself.
func (w *HangWatch) Close(cause error) HangEnd {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait != nil {
		w.wait.Stop()
	}
	if len(w.line) > 0 {
		w.look(w.line)
	}
	w.stop(nil)
	w.stop = nil
	w.end.Hung = w.end.Hung && errors.Is(cause, ErrHung) // else it exited in the last moment
	return w.end
}
