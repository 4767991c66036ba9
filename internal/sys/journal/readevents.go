package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// pageSize is the number of events that are read at a time. No query is open while events are yielded,
// so a slow reader blocks nothing.
const pageSize = 1024

// Events returns the events of a run, or of all runs if run is "", after a number and up to the
// last event at the start of the reading. A damaged event, or one after a missing event, is an
// error and ends the reading, as does any other error.
func (j *Journal) Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		last, err := j.lastSeq(ctx)
		if err != nil {
			yield(nexus.Event{}, err)
			return
		}
		j.yieldEvents(ctx, run, after, last, yield)
	}
}

// Follow returns the events of [Journal.Events] and then every new event of any process. It ends
// with ctx, or with an error.
func (j *Journal) Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		tick := time.NewTicker(j.poll)
		defer tick.Stop()
		for looks := 1; ctx.Err() == nil; looks++ {
			more := j.nextAppendChannel() // before reading, so that no event is missed in between
			last, err := j.lastSeq(ctx)
			if err == nil && looks%looksPerFileCheck == 0 {
				err = j.CheckFile()
			}
			if err != nil {
				if ctx.Err() == nil {
					yield(nexus.Event{}, err)
				}
				return
			}
			if last > after {
				follow := func(e nexus.Event, err error) bool { return err != nil && ctx.Err() != nil || yield(e, err) }
				if !j.yieldEvents(ctx, run, after, last, follow) {
					return
				}
				after = last
			}
			select {
			case <-ctx.Done():
			case <-more:
			case <-tick.C:
			}
		}
	}
}

// looksPerFileCheck is the number of polls of a followed journal after which Follow checks whether its file
// still exists and is the same: about a second.
const looksPerFileCheck = 25

// lastSeq returns the number of the last event.
func (j *Journal) lastSeq(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("read journal %s: %w", j.path, context.Cause(ctx))
	}
	var seq int64
	err := j.read.QueryRowContext(context.WithoutCancel(ctx), "select seq from head").Scan(&seq)
	return seq, j.explainError("read journal", err)
}

// yieldEvents yields the events of a run after one number up to another. It returns false if it ended
// early, by an error or because yield returned false. While the events of a full page are handled,
// the next page is read.
func (j *Journal) yieldEvents(ctx context.Context, run nexus.RunID, after, last int64, yield func(nexus.Event, error) bool) bool {
	read := func(after int64) func() ([]storedEventRow, error) {
		return func() ([]storedEventRow, error) {
			return j.readVerifiedPage(context.WithoutCancel(ctx), run, after, last)
		}
	}
	wait := func() {}
	defer func() { wait() }()
	for next := read(after); next != nil; {
		if ctx.Err() != nil {
			yield(nexus.Event{}, fmt.Errorf("read journal %s: %w", j.path, context.Cause(ctx)))
			return false
		}
		rows, err := next()
		if next = nil; err == nil && len(rows) == pageSize && rows[pageSize-1].seq < last {
			next, wait = readAhead(read(rows[pageSize-1].seq))
		}
		for _, r := range rows {
			if !yield(r.toEvent(), nil) {
				return false
			}
		}
		if err != nil {
			yield(nexus.Event{}, j.explainError("read journal", err))
			return false
		}
	}
	return true
}

// readAhead starts to read a page. The function next returns the page, and wait returns when it
// was read.
func readAhead(read func() ([]storedEventRow, error)) (next func() ([]storedEventRow, error), wait func()) {
	var rows []storedEventRow
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		rows, err = read()
	}()
	wait = func() { <-done }
	return func() ([]storedEventRow, error) {
		wait()
		return rows, err
	}, wait
}

const (
	selectRows = "select e.seq, e.run, e.at, e.kind, e.data, e.hash from event e where "
	whereRun   = "e.run = ? and e.seq > ? and e.seq <= ? order by e.seq limit ?"
	whereAll   = "e.seq > ? and e.seq <= ? order by e.seq limit ?"
	selectHash = "select e.seq, e.hash from json_each(?) n join event e on e.seq = n.value"
)

// readVerifiedPage reads a page of events and checks each against the one before it. With an error, it returns
// the good events before it.
func (j *Journal) readVerifiedPage(ctx context.Context, run nexus.RunID, after, last int64) ([]storedEventRow, error) {
	query, args := selectRows+whereAll, []any{after, last, pageSize}
	if run != "" {
		query, args = selectRows+whereRun, []any{string(run), after, last, pageSize}
	}
	rows, err := j.scanRows(ctx, query, args...)
	before, failed := j.hashesBefore(ctx, rows)
	if failed != nil {
		return nil, failed
	}
	if good, damage := firstDamaged(rows, before); damage != "" {
		err = corruptError(j.path, fmt.Sprintf("is damaged: event %d was changed", rows[good].seq))
		if damage == EventMissing {
			err = corruptError(j.path, fmt.Sprintf("is damaged: event %d is missing", rows[good].seq-1))
		}
		rows = rows[:good]
	}
	if good, failed := decodeFacts(rows); failed != nil {
		return rows[:good], unreadableError(j.path, rows[good], failed)
	}
	return rows, err
}

// scanRows returns the rows of a query, and with an error those before it.
func (j *Journal) scanRows(ctx context.Context, query string, args ...any) ([]storedEventRow, error) {
	found, err := j.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // Err tells what Close would
	var rows []storedEventRow
	for found.Next() {
		var r storedEventRow
		var seq, at any // as any: database/sql would format and parse a number
		if err := found.Scan(&seq, (*string)(&r.run), &at, &r.kind, &r.data, &r.hash); err != nil {
			return rows, err
		}
		r.seq, _ = seq.(int64)
		r.at, _ = at.(int64)
		rows = append(rows, r)
	}
	return rows, found.Err()
}

// hashesBefore returns the hashes of the events before those rows that do not directly follow the row
// before them, because events of other runs are in between.
func (j *Journal) hashesBefore(ctx context.Context, rows []storedEventRow) (map[int64][]byte, error) {
	var gaps []int64
	for i, r := range rows {
		if r.seq > 1 && (i == 0 || rows[i-1].seq != r.seq-1) {
			gaps = append(gaps, r.seq-1)
		}
	}
	if len(gaps) == 0 {
		return nil, nil
	}
	numbers, err := json.Marshal(gaps)
	if err != nil {
		return nil, err
	}
	found, err := j.read.QueryContext(ctx, selectHash, string(numbers))
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // Err tells what Close would
	hashes := make(map[int64][]byte, len(gaps))
	for found.Next() {
		var seq int64
		var hash []byte
		if err := found.Scan(&seq, &hash); err != nil {
			return nil, err
		}
		hashes[seq] = hash
	}
	return hashes, found.Err()
}

// firstDamaged returns the index of the first damaged row, and its damage.
func firstDamaged(rows []storedEventRow, before map[int64][]byte) (int, DamageKind) {
	sum := newEventHashChain()
	for i, r := range rows {
		prev := before[r.seq-1]
		if i > 0 && rows[i-1].seq == r.seq-1 {
			prev = rows[i-1].hash
		}
		if d := sum.checkRow(prev, r); d != "" {
			return i, d
		}
	}
	return len(rows), ""
}

// rowsPerDecoder is the number of facts from which decoding is split among goroutines.
const rowsPerDecoder = 128

// decodeFacts decodes the facts of rows. With an error, it returns the number of good rows before it.
func decodeFacts(rows []storedEventRow) (good int, failed error) {
	parts := min(runtime.GOMAXPROCS(0), 4, len(rows)/rowsPerDecoder+1)
	errs := make([]error, len(rows))
	var all sync.WaitGroup
	for part := range parts {
		work := func() {
			for i := part * len(rows) / parts; i < (part+1)*len(rows)/parts; i++ {
				rows[i].fact, errs[i] = nexus.DecodeFact(rows[i].kind, []byte(rows[i].data))
			}
		}
		if part == parts-1 {
			work()
		} else {
			all.Go(work)
		}
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			return i, err
		}
	}
	return len(rows), nil
}

// unreadableError returns the error for an undamaged event that cannot be decoded.
func unreadableError(path string, r storedEventRow, err error) error {
	if errors.Is(err, &nexus.Error{Code: nexus.CodeJournalNewer}) {
		return err
	}
	return &nexus.Error{
		Code: nexus.CodeJournalCorrupt, Message: fmt.Sprintf("journal %s: event %d", path, r.seq), Hint: repairHint, Cause: err,
	}
}

// RecordedRun summarizes a run without reading its facts.
type RecordedRun struct {
	ID     nexus.RunID
	First  time.Time // time of its first event
	Last   time.Time // time of its last event
	Events int64
	Hash   string            // of its last event, in hexadecimal: it identifies all events up to that one
	Holder *nexus.RunProcess // process that runs it now; nil: not running
	Later  bool              // another run started later
	Gone   bool              // the last process released it or is certain to be dead; false: its lease may have expired while the process slept
}

const selectRuns = `select g.run, g.n, a.at, z.at, hex(z.hash), l.fence, l.pid, l.host, l.start, l.place, l.expires
	from (select run, count(*) n, min(seq) a, max(seq) z from event group by run) g
	join event a on a.seq = g.a join event z on z.seq = g.z left join lease l on l.run = g.run
	order by g.a`

// Runs returns all runs that have events, oldest first.
func (j *Journal) Runs(ctx context.Context) ([]RecordedRun, error) {
	rows, err := j.read.QueryContext(ctx, selectRuns)
	if err != nil {
		return nil, j.explainError("read journal", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells what Close would
	var runs []RecordedRun
	for rows.Next() {
		r, err := j.scanRecordedRun(rows)
		if err != nil {
			return nil, j.explainError("read journal", err)
		}
		if n := len(runs); n > 0 {
			runs[n-1].Later = true
		}
		runs = append(runs, r)
	}
	return runs, j.explainError("read journal", rows.Err())
}

func (j *Journal) scanRecordedRun(rows *sql.Rows) (RecordedRun, error) {
	var r RecordedRun
	var first, last int64
	var fence, pid, start, expires sql.NullInt64
	var host, at sql.NullString
	if err := rows.Scan(&r.ID, &r.Events, &first, &last, &r.Hash, &fence, &pid, &host, &start, &at, &expires); err != nil {
		return RecordedRun{}, err
	}
	r.First, r.Last = time.Unix(0, first).UTC(), time.Unix(0, last).UTC()
	h := leaseRow{place: at.String, expires: time.Unix(0, expires.Int64)}
	h.process = nexus.RunProcess{PID: int(pid.Int64), Host: host.String, Start: uint64(start.Int64)}
	if h.holdsLease(j.here, j.now()) {
		r.Holder = &h.process
	}
	r.Gone = h.process.PID == 0 || j.here.isProcessDead(h.process, h.place)
	return r, nil
}

// Head returns the number of the last event, or 0.
func (j *Journal) Head(ctx context.Context) (int64, error) { return j.lastSeq(ctx) }

// RunHolders returns the processes of the runs that are in progress. It reads no event.
func (j *Journal) RunHolders(ctx context.Context) (map[nexus.RunID]nexus.RunProcess, error) {
	rows, err := j.read.QueryContext(ctx, "select run, pid, host, start, place, expires from lease")
	if err != nil {
		return nil, j.explainError("read journal", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells what Close would
	all := map[nexus.RunID]nexus.RunProcess{}
	for rows.Next() {
		var run string
		var pid, start, expires sql.NullInt64
		var host, at sql.NullString
		if err := rows.Scan(&run, &pid, &host, &start, &at, &expires); err != nil {
			return nil, j.explainError("read journal", err)
		}
		h := leaseRow{place: at.String, expires: time.Unix(0, expires.Int64)}
		h.process = nexus.RunProcess{PID: int(pid.Int64), Host: host.String, Start: uint64(start.Int64)}
		if h.holdsLease(j.here, j.now()) {
			all[nexus.RunID(run)] = h.process
		}
	}
	return all, j.explainError("read journal", rows.Err())
}

// RunEndings returns how finished runs ended, without reading their other facts. A run that was
// resumed, or reset to an earlier point, is not finished.
func (j *Journal) RunEndings(ctx context.Context) (map[nexus.RunID]nexus.RunEnded, error) {
	rows, err := j.read.QueryContext(ctx, `select seq, run, at, kind, data from event
		where kind in ('run.ended', 'run.reopened', 'run.rewound') order by seq`)
	if err != nil {
		return nil, j.explainError("read journal", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells what Close would
	over := map[nexus.RunID]nexus.RunEnded{}
	for rows.Next() {
		var r storedEventRow
		if err := rows.Scan(&r.seq, &r.run, &r.at, &r.kind, &r.data); err != nil {
			return nil, j.explainError("read journal", err)
		}
		f, err := nexus.DecodeFact(r.kind, []byte(r.data))
		if err != nil {
			return nil, unreadableError(j.path, r, err)
		}
		if end, ended := f.(nexus.RunEnded); ended {
			over[nexus.RunID(r.run)] = end
		} else {
			delete(over, nexus.RunID(r.run))
		}
	}
	return over, j.explainError("read journal", rows.Err())
}

// SpentOnDay returns the money that all runs but one have used of a UTC day's budget. A call counts
// once, on the day of its reservation: with its final cost, whenever that was recorded, or with
// the reserved maximum while it is open. So the open calls of a dead run count on that one day,
// until the run is resumed, which closes them, and never on the day of the resume.
func (j *Journal) SpentOnDay(ctx context.Context, day time.Time, except nexus.RunID) (nexus.Money, error) {
	from := day.UTC().Truncate(24 * time.Hour)
	to := from.Add(24 * time.Hour).UnixNano()
	rows, err := j.read.QueryContext(ctx, `select seq, run, at, kind, data from event
		where kind in ('budget.reserved', 'budget.spent') and at >= ? and run != ? order by seq`, from.UnixNano(), string(except))
	if err != nil {
		return 0, j.explainError("read journal", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells what Close would
	type reservation struct {
		run nexus.RunID
		id  string
	}
	open := map[reservation]nexus.Money{}
	var sum nexus.Money
	for rows.Next() {
		var r storedEventRow
		if err := rows.Scan(&r.seq, &r.run, &r.at, &r.kind, &r.data); err != nil {
			return 0, j.explainError("read journal", err)
		}
		f, err := nexus.DecodeFact(r.kind, []byte(r.data))
		if err != nil {
			return 0, unreadableError(j.path, r, err)
		}
		switch f := f.(type) {
		case nexus.BudgetReserved:
			if r.at < to {
				open[reservation{r.run, f.ID}] = f.Money
			}
		case nexus.BudgetSettled:
			id := reservation{r.run, f.ID}
			if _, ok := open[id]; ok { // else it belongs to another day, or was closed before
				sum += f.Money
				delete(open, id)
			}
		default: // the query returns no other kinds
		}
	}
	for _, m := range open {
		sum += m
	}
	return sum, j.explainError("read journal", rows.Err())
}
