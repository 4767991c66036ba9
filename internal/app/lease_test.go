package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

var errBusy = &nexus.Error{Code: nexus.CodeStorage, Message: "the journal is locked"}

// TestRenewRetries lets renewals fail for a while, which a lease outlives,
// and for good, which it does not.
func TestRenewRetries(t *testing.T) {
	lost := &nexus.Error{Code: nexus.CodeLeaseLost, Message: "somebody else has the run"}
	full := &nexus.Error{Code: nexus.CodeDiskFull, Message: "renew the lease", Cause: fmt.Errorf("%w: no space", journal.ErrBroken)}
	gone := &nexus.Error{Code: nexus.CodeStorage, Message: "journal j", Cause: journal.ErrGone}
	for name, c := range map[string]struct {
		fails func(at time.Duration) error
		ends  time.Duration // 0 for never
	}{
		"hiccup":   {func(at time.Duration) error { return when(at > 15*time.Second && at < 40*time.Second, errBusy) }, 0},
		"for good": {func(at time.Duration) error { return when(at > 15*time.Second, errBusy) }, 40 * time.Second},
		"broken":   {func(at time.Duration) error { return when(at > 15*time.Second, full) }, 20 * time.Second},
		"gone":     {func(at time.Duration) error { return when(at > 15*time.Second, gone) }, 20 * time.Second},
		"taken":    {func(at time.Duration) error { return when(at > 15*time.Second, lost) }, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				over := errors.New("the run is over")
				start := time.Now()
				time.AfterFunc(10*time.Minute, func() { cancel(over) })
				err := renewLease(ctx, 30*time.Second, func(context.Context) error { return c.fails(time.Since(start)) })
				took := time.Since(start)
				if c.ends == 0 && !errors.Is(err, over) {
					t.Errorf("ended after %s: %v", took, err)
				}
				code := nexus.CodeLeaseLost
				switch name {
				case "broken":
					code = nexus.CodeDiskFull
				case "gone":
					code = nexus.CodeStorage
				}
				if c.ends != 0 && (took != c.ends || !errors.Is(err, &nexus.Error{Code: code})) {
					t.Errorf("ended after %s: %v", took, err)
				}
				cancel(over)
			})
		})
	}
}

func when(cond bool, err error) error {
	if cond {
		return err
	}
	return nil
}

// TestForwardRetries lets the journal fail in the middle of the requests.
func TestForwardRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := 3
		follow := func(ctx context.Context, after int64) iter.Seq2[nexus.Event, error] {
			return func(yield func(nexus.Event, error) bool) {
				for seq := after + 1; seq <= 4; seq++ {
					if seq == 3 && broken > 0 {
						broken--
						yield(nexus.Event{}, errBusy)
						return
					}
					if !yield(nexus.Event{Seq: seq, Fact: nexus.RequestMade{}}, nil) {
						return
					}
				}
				<-ctx.Done()
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		requests, done := make(chan nexus.Event), make(chan error, 1)
		go func() { done <- forwardRequests(ctx, follow, requests) }()
		for want := int64(1); want <= 4; want++ {
			select {
			case e := <-requests:
				if e.Seq != want {
					t.Errorf("request %d came, want %d", e.Seq, want)
				}
			case err := <-done:
				t.Fatalf("it went deaf before request %d: %v", want, err)
			}
		}
		cancel(errors.New("the run is over"))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestForwardEndsTheRun lets the journal fail for good: that must be said.
func TestForwardEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		follow := func(context.Context, int64) iter.Seq2[nexus.Event, error] {
			return func(yield func(nexus.Event, error) bool) { yield(nexus.Event{}, errBusy) }
		}
		if err := forwardRequests(t.Context(), follow, nil); !errors.Is(err, errBusy) {
			t.Errorf("%v", err)
		}
		start := time.Now()
		gone := func(context.Context, int64) iter.Seq2[nexus.Event, error] {
			return func(yield func(nexus.Event, error) bool) { yield(nexus.Event{}, journal.ErrGone) }
		}
		if err := forwardRequests(t.Context(), gone, nil); !errors.Is(err, journal.ErrGone) || time.Since(start) > 0 {
			t.Errorf("%v, after %s", err, time.Since(start))
		}
	})
}
