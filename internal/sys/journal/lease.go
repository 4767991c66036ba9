package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Lease is the right to append the facts of one run. It is lost when another process acquires it,
// which its old holder notices at its next append.
type Lease struct {
	j     *Journal
	run   nexus.RunID
	ttl   time.Duration
	fence int64
}

// processIDNamespace identifies where a process runs: process IDs are meaningful only within one. Boot and
// space are empty if the system does not provide them.
type processIDNamespace struct{ host, boot, space string }

func (p processIDNamespace) String() string { return p.boot + " " + p.space }

// CallingProcess returns the calling process.
func CallingProcess() nexus.RunProcess {
	p := nexus.RunProcess{PID: os.Getpid(), Host: callingProcessPlace().host}
	if start, _, err := processStartTime(p.PID); err == nil {
		p.Start = start
	}
	return p
}

// leaseRow is a row of the lease table.
type leaseRow struct {
	fence   int64
	process nexus.RunProcess // PID 0 for none
	place   string
	expires time.Time
}

const selectLease = "select fence, pid, host, start, place, expires from lease where run = ?"

func scanHolder(row interface{ Scan(into ...any) error }) (leaseRow, error) {
	var h leaseRow
	var start, expires int64
	err := row.Scan(&h.fence, &h.process.PID, &h.process.Host, &start, &h.place, &expires)
	h.process.Start, h.expires = uint64(start), time.Unix(0, expires)
	return h, err
}

// holdsLease reports whether the lease is still held: not released, not expired, and its process not
// known to be dead.
func (h leaseRow) holdsLease(here processIDNamespace, now time.Time) bool {
	return h.process.PID != 0 && now.Before(h.expires) && !here.isProcessDead(h.process, h.place)
}

// isProcessDead reports whether a process of a place is certain to be dead. For another host or process
// namespace, that is unknown.
func (p processIDNamespace) isProcessDead(other nexus.RunProcess, at string) bool {
	if other.Host != p.host {
		return false
	}
	boot, space, _ := strings.Cut(at, " ")
	if boot != p.boot {
		return boot != "" && p.boot != "" // the machine was restarted
	}
	if space != p.space {
		return false
	}
	start, running, err := processStartTime(other.PID)
	if err != nil {
		return false
	}
	return !running || start != other.Start && start != 0 && other.Start != 0
}

// Acquire acquires the lease of a run for p; the run may have no events yet. It replaces a holder
// immediately if its process is known to be dead, otherwise after the lease has expired; until
// then it refuses with [nexus.CodeRunHeld]. The lease expires after ttl unless it is renewed.
func (j *Journal) Acquire(ctx context.Context, run nexus.RunID, p nexus.RunProcess, ttl time.Duration) (*Lease, error) {
	if run == "" || p.PID <= 0 || ttl <= 0 {
		return nil, &nexus.Error{Code: nexus.CodeInternal, Message: fmt.Sprintf("acquire run %q for process %d and %s", run, p.PID, ttl)}
	}
	l := &Lease{j: j, run: run, ttl: ttl}
	at := ""
	if p.Host == j.here.host {
		at = j.here.String()
	}
	err := j.runDurableTransaction(ctx, "acquire run in", func(ctx context.Context, tx *sql.Tx) error {
		h, err := scanHolder(tx.QueryRowContext(ctx, selectLease, run))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		now := j.now()
		if h.holdsLease(j.here, now) {
			return leaseHeldError(run, h)
		}
		l.fence = h.fence + 1
		_, err = tx.ExecContext(ctx, "insert or replace into lease (run, fence, pid, host, start, place, expires) values (?, ?, ?, ?, ?, ?, ?)",
			run, l.fence, p.PID, p.Host, int64(p.Start), at, now.Add(ttl).UnixNano())
		return err
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func leaseHeldError(run nexus.RunID, h leaseRow) error {
	return &nexus.Error{
		Code:    nexus.CodeRunHeld,
		Message: fmt.Sprintf("run %s is in progress in process %d on %s", run, h.process.PID, h.process.Host),
		Hint: fmt.Sprintf("Control it with nexus status, tell, pause or stop. If that process is gone, wait until %s.",
			h.expires.UTC().Format(time.RFC3339)),
	}
}

// checkHolder refuses the transaction of a holder that has been replaced.
func (l *Lease) checkHolder(ctx context.Context, tx *sql.Tx) error {
	var ours bool
	row := tx.StmtContext(ctx, l.j.every.lease).QueryRowContext(ctx, l.fence, string(l.run)) //nolint:sqlclosecheck // the end of the transaction closes it
	err := row.Scan(&ours)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if !ours {
		return &nexus.Error{
			Code:    nexus.CodeLeaseLost,
			Message: fmt.Sprintf("this process no longer runs %s (fence %d)", l.run, l.fence),
			Hint:    "Another process has taken it over; see nexus status.",
		}
	}
	return nil
}

// Fence returns the lease's number, which grows with each holder of the run.
func (l *Lease) Fence() int64 { return l.fence }

// Append records the facts durably and in order, all or none, and returns the events in the form
// that all readers get. A lost lease is [nexus.CodeLeaseLost]. After a failure of storage every
// further append is refused.
func (l *Lease) Append(ctx context.Context, facts ...nexus.Fact) ([]nexus.Event, error) {
	return l.j.appendFacts(ctx, l.run, facts, l.checkHolder)
}

// Renew extends the lease to its full time from now.
func (l *Lease) Renew(ctx context.Context) error {
	return l.j.runDurableTransaction(ctx, "renew lease in", func(ctx context.Context, tx *sql.Tx) error {
		if err := l.checkHolder(ctx, tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "update lease set expires = ? where run = ?", l.j.now().Add(l.ttl).UnixNano(), l.run)
		return err
	})
}

// Release allows another process to acquire the lease. A lost or released lease is left unchanged.
func (l *Lease) Release(ctx context.Context) error {
	return l.j.runDurableTransaction(ctx, "release lease in", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "update lease set pid = 0 where run = ? and fence = ?", l.run, l.fence)
		return err
	})
}
