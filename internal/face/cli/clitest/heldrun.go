package clitest

import (
	"sync"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// HeldRun is a run in progress. Its process is that of the test.
type HeldRun struct {
	Repository *app.Repository

	t     testing.TB
	lease *journal.Lease
	run   nexus.RunID
	last  int64 // sequence number of the last fact recorded here
}

// HoldRun begins a run with facts in the journal of the user's repository. It is in progress until the
// test ends.
func (u *User) HoldRun(run nexus.RunID, began ...nexus.Fact) *HeldRun {
	u.t.Helper()
	a := u.App()
	p, err := a.OpenRepository(u.t.Context(), app.CreateAccess)
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(p.Close)
	lease, err := p.Journal.Acquire(u.t.Context(), run, journal.CallingProcess(), time.Hour)
	if err != nil {
		u.t.Fatal(err)
	}
	r := &HeldRun{Repository: p, t: u.t, lease: lease, run: run}
	r.Record(began...)
	return r
}

// Record records facts in the run.
func (r *HeldRun) Record(facts ...nexus.Fact) {
	r.t.Helper()
	all, err := r.lease.Append(r.t.Context(), facts...)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(all) > 0 {
		r.last = all[len(all)-1].Seq
	}
}

// AnswerRequests answers each later request of a person, as a conductor does: it refuses one for the
// reason that the function returns, and grants it for "". It does so until the test ends.
func (r *HeldRun) AnswerRequests(refusal func(nexus.Request) string) {
	var answering sync.WaitGroup
	r.t.Cleanup(answering.Wait)
	ctx, after := r.t.Context(), r.last
	answering.Go(func() {
		for e, err := range r.Repository.Journal.Follow(ctx, r.run, after) {
			f, ok := e.Fact.(nexus.RequestMade)
			if err == nil && ok {
				why := refusal(f.Request)
				_, err = r.lease.Append(ctx, nexus.RequestSettled{Seq: e.Seq, Granted: why == "", Why: why})
			}
			if err != nil {
				if ctx.Err() == nil {
					r.t.Error(err)
				}
				return
			}
		}
	})
}
