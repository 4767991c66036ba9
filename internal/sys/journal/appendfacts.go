package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Ask appends a request to a run. Any process may do that at any time; only the process that runs
// the run acts on it.
func (j *Journal) Ask(ctx context.Context, run nexus.RunID, r nexus.Request) (nexus.Event, error) {
	known := func(ctx context.Context, tx *sql.Tx) error {
		var one int
		err := tx.QueryRowContext(ctx, "select 1 from event where run = ? limit 1", run).Scan(&one)
		if errors.Is(err, sql.ErrNoRows) {
			return &nexus.Error{
				Code: nexus.CodeNotFound, Message: fmt.Sprintf("no run %q", run), Hint: "nexus runs lists the runs.",
			}
		}
		return err
	}
	events, err := j.appendFacts(ctx, run, []nexus.Fact{nexus.RequestMade{Request: r}}, known)
	if err != nil {
		return nexus.Event{}, err
	}
	return events[0], nil
}

// appendFacts records facts, and the pending blobs, in one transaction, if check returns no error.
func (j *Journal) appendFacts(
	ctx context.Context, run nexus.RunID, facts []nexus.Fact, check func(context.Context, *sql.Tx) error,
) ([]nexus.Event, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	rows, err := encodeFacts(run, facts, j.mask)
	if err != nil {
		return nil, err
	}
	var blobs []string
	err = j.runDurableTransaction(ctx, "append to journal", func(ctx context.Context, tx *sql.Tx) error {
		err := check(ctx, tx)
		if err == nil {
			blobs, err = j.writePendingBlobs(ctx, tx)
		}
		if err != nil {
			return err
		}
		return j.insertRows(ctx, tx, rows)
	})
	if err != nil {
		return nil, err
	}
	j.dropDurableBlobs(blobs)
	j.notifyFollowers()
	events := make([]nexus.Event, len(rows))
	for i, r := range rows {
		events[i] = r.toEvent()
	}
	return events, nil
}

// storedEventRow is an event in its stored form.
type storedEventRow struct {
	seq  int64
	run  nexus.RunID
	at   int64
	kind string
	data string
	hash []byte
	fact nexus.Fact // the decoded data
}

func (r storedEventRow) toEvent() nexus.Event {
	return nexus.Event{Seq: r.seq, Run: r.run, At: time.Unix(0, r.at).UTC(), Fact: r.fact, Hash: encodeHash(r.hash)}
}

// encodeHash encodes a hash with one allocation.
func encodeHash(hash []byte) string {
	var text [2 * sha256.Size]byte
	if len(hash) != sha256.Size {
		return hex.EncodeToString(hash)
	}
	hex.Encode(text[:], hash)
	return string(text[:])
}

// encodeFacts encodes the facts, masked, and decodes them again, so that the caller gets the same
// values as all readers. A fact that cannot be decoded is refused.
func encodeFacts(run nexus.RunID, facts []nexus.Fact, mask func([]byte) []byte) ([]storedEventRow, error) {
	rows := make([]storedEventRow, len(facts))
	for i, f := range facts {
		if f == nil {
			return nil, &nexus.Error{Code: nexus.CodeInternal, Message: fmt.Sprintf("append to run %s: fact %d is nil", run, i)}
		}
		kind, data, err := nexus.EncodeFact(f)
		if err == nil && mask != nil {
			data = mask(data)
		}
		if err == nil {
			f, err = nexus.DecodeFact(kind, data)
		}
		if err != nil {
			return nil, &nexus.Error{Code: nexus.CodeInternal, Message: fmt.Sprintf("append to run %s", run), Cause: err}
		}
		rows[i] = storedEventRow{run: run, kind: kind, data: string(data), fact: f}
	}
	return rows, nil
}

// appendStatements are the prepared statements of every append, on the writing connection.
type appendStatements struct{ lease, end, event, head, blob *sql.Stmt }

func (s *appendStatements) prepareAll(ctx context.Context, db *sql.DB) error {
	var errs [5]error
	s.lease, errs[0] = db.PrepareContext(ctx, "select fence = ? and pid != 0 from lease where run = ?")
	s.end, errs[1] = db.PrepareContext(ctx, `select h.seq, h.hash, e.seq, e.hash from head h
		left join (select seq, hash from event order by seq desc limit 1) e`)
	s.event, errs[2] = db.PrepareContext(ctx, "insert into event (seq, run, at, kind, data, hash) values (?, ?, ?, ?, ?, ?)")
	s.head, errs[3] = db.PrepareContext(ctx, "update head set seq = ?, hash = ?")
	s.blob, errs[4] = db.PrepareContext(ctx, "insert into blob (hash, data) values (?, ?) on conflict do nothing")
	return errors.Join(errs[:]...)
}

// lastEventCheck describes the last event of a journal, once from its head row and once from its events.
type lastEventCheck struct {
	seq      int64
	hash     []byte
	lastSeq  sql.NullInt64
	lastHash []byte
}

// insertRows appends the rows to the chain, with the current time.
func (j *Journal) insertRows(ctx context.Context, tx *sql.Tx, rows []storedEventRow) error {
	at := j.now().UnixNano()
	for i := range rows {
		rows[i].at = at
	}
	return j.insertRowsAt(ctx, tx, rows)
}

// insertRowsAt appends the rows to the chain, with their own times. It refuses to continue after an
// event that does not match the head, which would hide the damage.
func (j *Journal) insertRowsAt(ctx context.Context, tx *sql.Tx, rows []storedEventRow) error {
	var e lastEventCheck
	last := tx.StmtContext(ctx, j.every.end).QueryRowContext(ctx) //nolint:sqlclosecheck // the end of the transaction closes it
	if err := last.Scan(&e.seq, &e.hash, &e.lastSeq, &e.lastHash); err != nil {
		return err
	}
	if e.seq != e.lastSeq.Int64 || e.lastSeq.Valid && string(e.hash) != string(e.lastHash) {
		return corruptError(j.path, fmt.Sprintf("ends with event %d, but should end with event %d", e.lastSeq.Int64, e.seq))
	}
	put := tx.StmtContext(ctx, j.every.event) //nolint:sqlclosecheck // the end of the transaction closes it
	prev, sum := e.hash, newEventHashChain()
	for i := range rows {
		r := &rows[i]
		r.seq = e.seq + 1 + int64(i)
		r.hash = sum.nextHash(prev, *r)
		prev = r.hash
		if _, err := put.ExecContext(ctx, r.seq, string(r.run), r.at, r.kind, r.data, r.hash); err != nil {
			return err
		}
	}
	_, err := tx.StmtContext(ctx, j.every.head).ExecContext(ctx, rows[len(rows)-1].seq, prev) //nolint:sqlclosecheck // the end of the transaction closes it
	return err
}

// eventHashChain computes the hashes that link events.
type eventHashChain struct {
	sum hash.Hash
	buf []byte
}

func newEventHashChain() *eventHashChain { return &eventHashChain{sum: sha256.New()} }

// nextHash returns the hash of r after an event whose hash is prev: SHA-256 over
// prev, the number and the time as eight bytes each, big end first, then run,
// kind and data, each after its length in eight bytes. The hash before the
// first event is 32 zero bytes.
func (c *eventHashChain) nextHash(prev []byte, r storedEventRow) []byte {
	b := append(c.buf[:0], prev...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.seq))
	b = binary.BigEndian.AppendUint64(b, uint64(r.at))
	for _, s := range [...]string{string(r.run), r.kind, r.data} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	c.buf = b
	c.sum.Reset()
	c.sum.Write(b)
	return c.sum.Sum(nil)
}

// ErrBroken is returned for all further writes of this process to a journal after a write failed,
// because the state of the disk is unknown then.
var ErrBroken = errors.New("refused after an earlier failure")

// runDurableTransaction runs f in one durable transaction. Once started it is not cancelled, so that its result
// is known. A [nexus.Error] from f refuses the change and leaves the journal unchanged; any other
// failure ends writing for good.
func (j *Journal) runDurableTransaction(ctx context.Context, doing string, f func(context.Context, *sql.Tx) error) error {
	if j.write == nil {
		return &nexus.Error{
			Code: nexus.CodeReadOnly, Message: fmt.Sprintf("%s %s: it is open for reading only", doing, j.path),
			Hint: "Use a command that may write.",
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s %s: %w", doing, j.path, context.Cause(ctx))
	}
	select {
	case j.turn <- struct{}{}:
		defer func() { <-j.turn }()
	case <-ctx.Done():
		return fmt.Errorf("%s %s: %w", doing, j.path, context.Cause(ctx))
	}
	if j.broken != nil {
		return &nexus.Error{
			Code: errorCode(j.path, j.broken), Message: fmt.Sprintf("%s %s", doing, j.path),
			Hint: "Start nexus again when the disk is repaired; what was recorded is kept.", Cause: fmt.Errorf("%w: %w", ErrBroken, j.broken),
		}
	}
	if err := j.CheckFile(); err != nil {
		return err
	}
	broken, err := j.tryTransaction(context.WithoutCancel(ctx), f)
	if broken {
		j.broken = err
	}
	if err == nil {
		err = j.CheckFile() // the file may have been removed meanwhile
	}
	return j.explainError(doing, err)
}

// tryTransaction runs f in a transaction. The result broken means that storage failed, rather than that
// f or another process refused it.
func (j *Journal) tryTransaction(ctx context.Context, f func(context.Context, *sql.Tx) error) (broken bool, err error) {
	tx, err := j.write.BeginTx(ctx, nil)
	if err != nil {
		return primaryCode(err) != sqlite3.SQLITE_BUSY, err
	}
	if err := f(ctx, tx); err != nil {
		undo := tx.Rollback()
		_, refused := errors.AsType[*nexus.Error](err)
		return !refused || undo != nil, errors.Join(err, undo)
	}
	err = tx.Commit()
	return err != nil, err
}

// notifyFollowers notifies the followers in this process about new events.
func (j *Journal) notifyFollowers() {
	j.mu.Lock()
	defer j.mu.Unlock()
	close(j.grown)
	j.grown = make(chan struct{})
}

// nextAppendChannel returns a channel that is closed at the next append of this process.
func (j *Journal) nextAppendChannel() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.grown
}
