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

// Ask appends a request to a run. Any process may, at any time; the run's
// conductor alone grants it.
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
	events, err := j.append(ctx, run, []nexus.Fact{nexus.RequestMade{Request: r}}, known)
	if err != nil {
		return nexus.Event{}, err
	}
	return events[0], nil
}

// append records facts, and the blobs that wait for them, in one transaction,
// if check agrees to it.
func (j *Journal) append(
	ctx context.Context, run nexus.RunID, facts []nexus.Fact, check func(context.Context, *sql.Tx) error,
) ([]nexus.Event, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	rows, err := encode(run, facts, j.mask)
	if err != nil {
		return nil, err
	}
	var blobs []string
	err = j.change(ctx, "append to journal", func(ctx context.Context, tx *sql.Tx) error {
		err := check(ctx, tx)
		if err == nil {
			blobs, err = j.writeShelved(ctx, tx)
		}
		if err != nil {
			return err
		}
		return j.insert(ctx, tx, rows)
	})
	if err != nil {
		return nil, err
	}
	j.dropWritten(blobs)
	j.notifyFollowers()
	events := make([]nexus.Event, len(rows))
	for i, r := range rows {
		events[i] = r.event()
	}
	return events, nil
}

// row is an event as it is stored.
type row struct {
	seq  int64
	run  nexus.RunID
	at   int64
	kind string
	data string
	hash []byte
	fact nexus.Fact // what data says
}

func (r row) event() nexus.Event {
	return nexus.Event{Seq: r.seq, Run: r.run, At: time.Unix(0, r.at).UTC(), Fact: r.fact, Hash: hexadecimal(r.hash)}
}

// hexadecimal writes a hash in one allocation.
func hexadecimal(hash []byte) string {
	var text [2 * sha256.Size]byte
	if len(hash) != sha256.Size {
		return hex.EncodeToString(hash)
	}
	hex.Encode(text[:], hash)
	return string(text[:])
}

// encode writes the facts down, masked, and reads them again, so that who appends
// them works with what all others read. What cannot be read back is refused.
func encode(run nexus.RunID, facts []nexus.Fact, mask func([]byte) []byte) ([]row, error) {
	rows := make([]row, len(facts))
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
		rows[i] = row{run: run, kind: kind, data: string(data), fact: f}
	}
	return rows, nil
}

// statements are what every append runs, prepared on the writing connection.
type statements struct{ lease, end, event, head, blob *sql.Stmt }

func (s *statements) prepare(ctx context.Context, db *sql.DB) error {
	var errs [5]error
	s.lease, errs[0] = db.PrepareContext(ctx, "select fence = ? and pid != 0 from lease where run = ?")
	s.end, errs[1] = db.PrepareContext(ctx, `select h.seq, h.hash, e.seq, e.hash from head h
		left join (select seq, hash from event order by seq desc limit 1) e`)
	s.event, errs[2] = db.PrepareContext(ctx, "insert into event (seq, run, at, kind, data, hash) values (?, ?, ?, ?, ?, ?)")
	s.head, errs[3] = db.PrepareContext(ctx, "update head set seq = ?, hash = ?")
	s.blob, errs[4] = db.PrepareContext(ctx, "insert into blob (hash, data) values (?, ?) on conflict do nothing")
	return errors.Join(errs[:]...)
}

// end is the last event of a journal, by its head and by its events.
type end struct {
	seq      int64
	hash     []byte
	lastSeq  sql.NullInt64
	lastHash []byte
}

// insert links the rows to the end of the chain, with the time of now.
func (j *Journal) insert(ctx context.Context, tx *sql.Tx, rows []row) error {
	at := j.now().UnixNano()
	for i := range rows {
		rows[i].at = at
	}
	return j.insertAs(ctx, tx, rows)
}

// insertAs links the rows to the end of the chain, with the times that they
// have. It refuses to continue from an end that is not what the head says, which
// would bury the damage.
func (j *Journal) insertAs(ctx context.Context, tx *sql.Tx, rows []row) error {
	var e end
	last := tx.StmtContext(ctx, j.every.end).QueryRowContext(ctx) //nolint:sqlclosecheck // the end of the transaction closes it
	if err := last.Scan(&e.seq, &e.hash, &e.lastSeq, &e.lastHash); err != nil {
		return err
	}
	if e.seq != e.lastSeq.Int64 || e.lastSeq.Valid && string(e.hash) != string(e.lastHash) {
		return corrupt(j.path, fmt.Sprintf("ends with event %d, but should end with event %d", e.lastSeq.Int64, e.seq))
	}
	put := tx.StmtContext(ctx, j.every.event) //nolint:sqlclosecheck // the end of the transaction closes it
	prev, sum := e.hash, newChain()
	for i := range rows {
		r := &rows[i]
		r.seq = e.seq + 1 + int64(i)
		r.hash = sum.link(prev, *r)
		prev = r.hash
		if _, err := put.ExecContext(ctx, r.seq, string(r.run), r.at, r.kind, r.data, r.hash); err != nil {
			return err
		}
	}
	_, err := tx.StmtContext(ctx, j.every.head).ExecContext(ctx, rows[len(rows)-1].seq, prev) //nolint:sqlclosecheck // the end of the transaction closes it
	return err
}

// chain computes the hashes that link events.
type chain struct {
	sum hash.Hash
	buf []byte
}

func newChain() *chain { return &chain{sum: sha256.New()} }

// link returns the hash of r after an event whose hash is prev: SHA-256 over
// prev, the number and the time as eight bytes each, big end first, then run,
// kind and data, each after its length in eight bytes. The hash before the
// first event is 32 zero bytes.
func (c *chain) link(prev []byte, r row) []byte {
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

// ErrBroken says that this process writes no more to a journal, however often
// it tries: it failed to before, and what is on the disk is not known.
var ErrBroken = errors.New("refused after an earlier failure")

// change runs f in one durable transaction. Once begun it is not cancelled,
// so that its outcome is known. A [nexus.Error] from f refuses the change and
// leaves all as it was; any other failure ends writing for good.
func (j *Journal) change(ctx context.Context, doing string, f func(context.Context, *sql.Tx) error) error {
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
			Code: classify(j.path, j.broken), Message: fmt.Sprintf("%s %s", doing, j.path),
			Hint: "Start nexus again when the disk is repaired; what was recorded is kept.", Cause: fmt.Errorf("%w: %w", ErrBroken, j.broken),
		}
	}
	if err := j.CheckFile(); err != nil {
		return err
	}
	broken, err := j.transact(context.WithoutCancel(ctx), f)
	if broken {
		j.broken = err
	}
	if err == nil {
		err = j.CheckFile() // it may have gone meanwhile
	}
	return j.explain(doing, err)
}

// transact runs f in a transaction. Broken means that storage failed, not
// that f or another process was against it.
func (j *Journal) transact(ctx context.Context, f func(context.Context, *sql.Tx) error) (broken bool, err error) {
	tx, err := j.write.BeginTx(ctx, nil)
	if err != nil {
		return primary(err) != sqlite3.SQLITE_BUSY, err
	}
	if err := f(ctx, tx); err != nil {
		undo := tx.Rollback()
		_, refused := errors.AsType[*nexus.Error](err)
		return !refused || undo != nil, errors.Join(err, undo)
	}
	err = tx.Commit()
	return err != nil, err
}

// notifyFollowers tells followers in this process that there is more to read.
func (j *Journal) notifyFollowers() {
	j.mu.Lock()
	defer j.mu.Unlock()
	close(j.grown)
	j.grown = make(chan struct{})
}

// nextAppend returns a channel that is closed at the next append of this process.
func (j *Journal) nextAppend() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.grown
}
