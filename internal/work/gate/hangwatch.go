package gate

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// HangDetectionRules define how a hanging runner is detected. The zero HangDetectionRules detect nothing.
type HangDetectionRules struct {
	// pattern of the line that completes the test results; empty: they are complete only at the
	// exit
	Over   string
	Linger time.Duration // longest silence after that; 0: unlimited
	Told   string        // pattern of a line with the result of one test, for a runner without Over
	Quiet  time.Duration // longest silence of such a runner after a test's result; 0: unlimited
}

// ErrHung is the cause with which a hanging runner is ended.
var ErrHung = errors.New("the test runner does not exit")

// WatchedRunEnd describes the end of a watched run.
type WatchedRunEnd struct {
	Over bool // all test results were reported
	Hung bool // it was ended, as it was silent for too long after that

	// longest silences until the next output or the end: after the first test's result, and after
	// all of them; 0 if none was recognized
	TestSilence, ExitSilence time.Duration

	// files written by a gate that must only read, or whose tests must not write their
	// expectations
	Wrote WrittenFiles
}

// HangWatch watches the output of a runner.
type HangWatch struct {
	mu   sync.Mutex // guards the fields below between the timer's goroutine and the output's
	end  WatchedRunEnd
	told bool
	last time.Time // of the last output
	line []byte    // incomplete line
	over *regexp.Regexp
	test *regexp.Regexp
	s    HangDetectionRules
	wait *time.Timer
	stop context.CancelCauseFunc
}

// maxWatchedLine limits the part of a line that is matched.
const maxWatchedLine = 4 << 10

// WatchForHang returns a context that ends, with [ErrHung], when the watched runner hangs.
// [HangWatch.Close] releases it.
func WatchForHang(ctx context.Context, s HangDetectionRules) (context.Context, *HangWatch) {
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

// needsOutput reports whether there is any sign to watch for.
func (s HangDetectionRules) needsOutput() bool { return s.Over != "" || s.Told != "" }

// ReceiveOutput receives output as it arrives.
func (w *HangWatch) ReceiveOutput(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.measureSilence()
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.line = append(w.line, p[:min(len(p), max(0, maxWatchedLine-len(w.line)))]...)
			break
		}
		w.searchLineForHangSigns(append(w.line, p[:min(i, max(0, maxWatchedLine-len(w.line)))]...))
		w.line, p = w.line[:0], p[i+1:]
	}
	w.restartSilenceTimer()
}

// searchLineForHangSigns processes a complete line.
func (w *HangWatch) searchLineForHangSigns(line []byte) {
	if w.end.Over || w.over == nil && (w.test == nil || w.told) {
		return
	}
	text := parserbase.CleanLine(line)
	if w.over != nil && w.over.MatchString(text) {
		w.end.Over = true
	}
	if w.test != nil && w.test.MatchString(text) {
		w.told = true
	}
}

// measureSilence ends a silence, with new output or with the end of the watched run.
func (w *HangWatch) measureSilence() {
	now := time.Now() //nolint:forbidigo // measures the silence that a timer limits
	long := now.Sub(w.last)
	switch w.last = now; {
	case w.end.Hung:
	case w.end.Over:
		w.end.ExitSilence = max(w.end.ExitSilence, long)
	case w.told:
		w.end.TestSilence = max(w.end.TestSilence, long)
	}
}

// restartSilenceTimer restarts the wait after new output.
func (w *HangWatch) restartSilenceTimer() {
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
		w.wait = time.AfterFunc(long, w.stopHungCommand)
	default:
		w.wait.Reset(long)
	}
}

func (w *HangWatch) stopHungCommand() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		w.measureSilence()
		w.end.Hung = true
		w.stop(ErrHung)
	}
}

// isAsSlow reports whether a second run, which was forced to exit, was about as silent as one that
// was ended for its silence: then a test or the exit takes long, and nothing keeps it from exiting.
func (e WatchedRunEnd) isAsSlow(forced WatchedRunEnd) bool {
	if e.Over {
		return forced.ExitSilence > e.ExitSilence/2
	}
	return max(forced.TestSilence, forced.ExitSilence) > e.TestSilence/2
}

// Close ends the watch and returns its result. Cause is why the watched run ended, nil if it
// ended by itself.
func (w *HangWatch) Close(cause error) WatchedRunEnd {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait != nil {
		w.wait.Stop()
	}
	w.measureSilence()
	if len(w.line) > 0 {
		w.searchLineForHangSigns(w.line)
	}
	w.stop(nil)
	w.stop = nil
	w.end.Hung = w.end.Hung && errors.Is(cause, ErrHung) // otherwise it exited in the last moment
	return w.end
}
