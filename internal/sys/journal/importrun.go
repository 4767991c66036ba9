package journal

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ImportableEvent is an event of another journal.
type ImportableEvent struct {
	Seq  int64 // number in that journal
	At   time.Time
	Kind string
	Data []byte // the fact as JSON
}

// ImportRun appends the events of a run from another journal, all or none, with their own times
// and numbers of this journal; references between their numbers are changed accordingly. It
// refuses a run that exists here, events out of order, and facts of unknown kinds. Pending small
// blobs become durable with it.
func (j *Journal) ImportRun(ctx context.Context, run nexus.RunID, events []ImportableEvent) error {
	rows := make([]storedEventRow, len(events))
	for i, e := range events {
		f, err := nexus.DecodeFact(e.Kind, e.Data)
		if err != nil {
			return err
		}
		if i > 0 && e.Seq <= events[i-1].Seq {
			return corruptError(j.path, fmt.Sprintf("was to take event %d after event %d", e.Seq, events[i-1].Seq))
		}
		rows[i] = storedEventRow{run: run, at: e.At.UnixNano(), kind: e.Kind, data: string(e.Data), fact: f}
	}
	if len(rows) == 0 {
		return nil
	}
	var blobs []string
	err := j.runDurableTransaction(ctx, "append to journal", func(ctx context.Context, tx *sql.Tx) error {
		var have int
		var first int64
		at := tx.QueryRowContext(ctx, "select (select count(*) from event where run = ?), seq from head", run)
		if err := at.Scan(&have, &first); err != nil {
			return err
		}
		if have > 0 {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s is here already, with %d events", run, have),
				Hint: "Nothing was changed: a run is never merged with another, and none is overwritten.",
			}
		}
		for i := range rows {
			if err := rows[i].renumberEvents(func(seq int64) int64 { return first + countUpTo(events, seq) }); err != nil {
				return err
			}
		}
		var err error
		if blobs, err = j.writePendingBlobs(ctx, tx); err != nil {
			return err
		}
		return j.insertRowsAt(ctx, tx, rows)
	})
	if err != nil {
		return err
	}
	j.dropDurableBlobs(blobs)
	j.notifyFollowers()
	return nil
}

// countUpTo returns the count of events up to a number. The number may belong to an event of another
// run there: a reset to it is a reset to the event before it.
func countUpTo(events []ImportableEvent, seq int64) int64 {
	n, found := slices.BinarySearchFunc(events, seq, func(e ImportableEvent, seq int64) int { return cmp.Compare(e.Seq, seq) })
	if found {
		n++
	}
	return int64(n)
}

// renumberEvents changes the event numbers in the fact of a row, if it has any.
func (r *storedEventRow) renumberEvents(seq func(int64) int64) error {
	changed := false
	f := nexus.RenumberFact(r.fact, func(n int64) int64 { changed = true; return seq(n) })
	if !changed {
		return nil
	}
	_, data, err := nexus.EncodeFact(f)
	if err != nil {
		return err
	}
	r.fact, r.data = f, string(data)
	return nil
}
