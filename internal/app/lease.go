package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/killswitch"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

const (
	// leaseTTL is how long a lease remains valid without renewal if its process is not known to
	// be dead.
	leaseTTL = 30 * time.Second

	retryDelay = time.Second // between two attempts after a journal error
	maxFailed  = 30          // failed attempts in a row to read the requests before the run ends
)

// renewLease renews the lease until the context ends or the lease is lost, and returns which.
// If the journal is busy or fails, it tries again as long as the lease is valid.
func renewLease(ctx context.Context, ttl time.Duration, again func(context.Context) error) error {
	expires := time.Now().Add(ttl) //nolint:forbidigo // the ticker runs by the same clock
	for wait := ttl / 3; ; {
		if err := sleepContext(ctx, wait); err != nil {
			return err
		}
		begun := time.Now() //nolint:forbidigo // the ticker runs by the same clock
		err := again(ctx)
		now := time.Now() //nolint:forbidigo // the ticker runs by the same clock
		switch {
		case err == nil:
			expires, wait = begun.Add(ttl), ttl/3
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, &nexus.Error{Code: nexus.CodeLeaseLost}), errors.Is(err, journal.ErrBroken), errors.Is(err, journal.ErrGone):
			return err
		case !now.Before(expires):
			return &nexus.Error{
				Code: nexus.CodeLeaseLost, Message: fmt.Sprintf("the lease on the run ran out: it could not be renewed for %s", ttl), Cause: err,
				Hint: "Nothing that was recorded is lost. Run nexus resume once the journal can be written.",
			}
		default:
			wait = min(retryDelay, expires.Sub(now))
		}
	}
}

func sleepContext(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// forwardRequests sends requests of any process to the run until the context ends. It retries
// if the journal cannot be read. If that does not help it returns the error, because a run that
// cannot receive a stop must not continue.
func forwardRequests(ctx context.Context, follow func(ctx context.Context, after int64) iter.Seq2[nexus.Event, error], requests chan<- nexus.Event) error {
	var last int64
	for failed := 1; ; failed++ {
		var broken error
		for e, err := range follow(ctx, last) {
			if err != nil {
				broken = err
				break
			}
			last, failed = e.Seq, 1
			if _, ok := e.Fact.(nexus.RequestMade); !ok {
				continue
			}
			select {
			case requests <- e:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(broken, journal.ErrGone),
			errors.Is(broken, &nexus.Error{Code: nexus.CodeJournalCorrupt}), errors.Is(broken, &nexus.Error{Code: nexus.CodeJournalNewer}):
			return broken // reading it again does not help
		case failed >= maxFailed:
			return fmt.Errorf("read requests: %w", broken)
		}
		if sleepContext(ctx, retryDelay) != nil {
			return nil
		}
	}
}

// watchKillSwitch ends all work in progress when the kill switch is on.
func watchKillSwitch(ctx context.Context, cancel context.CancelCauseFunc, s killswitch.Switch) {
	if st := s.WaitUntilActive(ctx); st != nil {
		cancel(fmt.Errorf("%w: %w", run.ErrInterrupted, st.Err()))
	}
}

// IsKillSwitchStop reports whether the kill switch ended the work.
func IsKillSwitchStop(err error) bool { return errors.Is(err, &nexus.Error{Code: nexus.CodeHalted}) }

// recordKillSwitchStop records in the journal that the kill switch ended a run, if it did, to explain why
// the run stops in the middle.
func recordKillSwitchStop(ctx context.Context, j *journal.Journal, id nexus.RunID, err error) error {
	if !IsKillSwitchStop(err) {
		return nil
	}
	_, err = j.Ask(ctx, id, nexus.Request{Verb: nexus.VerbStop, Now: true, By: "the kill switch", Text: err.Error()})
	return err
}

// killOrphanProcesses kills the child processes of dead processes, for runs that are not
// running and for the one whose lease this process has just got, before it begins.
func killOrphanProcesses(ctx context.Context, j *journal.Journal, own nexus.RunID) error {
	runs, err := j.Runs(ctx)
	if err != nil {
		return err
	}
	dead := map[string]bool{string(own): true}
	for _, r := range runs {
		if r.Holder == nil {
			dead[string(r.ID)] = true
		}
	}
	_, err = proc.KillProcessesOfAll(dead)
	return err
}
