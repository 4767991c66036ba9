package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DamageKind is a kind of damage of a journal.
type DamageKind string

// The kinds of damage.
const (
	EventChanged    DamageKind = "changed"    // an event differs from its hash
	EventMissing    DamageKind = "missing"    // an event is missing before later ones
	EndCutOff       DamageKind = "cut off"    // the last events are missing
	EventUnreadable DamageKind = "unreadable" // an undamaged event is no known fact
	BlobSpoiled     DamageKind = "spoiled"    // a blob of an event is missing or does not match its hash
	FileBroken      DamageKind = "broken"     // SQLite cannot read the file
)

// VerifyReport is the result of checking a journal. The zero value is not sound.
type VerifyReport struct {
	Sound  bool
	Events int64      // number of good events from the first
	Head   string     // hash of the last good one, hex: a copy kept elsewhere can reveal that the whole journal was rewritten
	Seq    int64      // number of the first damaged event; 0 if no event is damaged
	Damage DamageKind // empty when sound
	Why    string     // for people
	Named  []string   // hashes of the blobs of the good events
}

// Verify reads the whole journal and reports the first damage. An error means that reading failed
// for another reason.
func (j *Journal) Verify(ctx context.Context) (VerifyReport, error) {
	var r VerifyReport
	tx, err := j.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // events and head in one snapshot
	if err != nil {
		return r, j.explainError("verify journal", err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	prev := make([]byte, 32)
	err = r.checkEventChain(ctx, tx, &prev)
	if err == nil && r.Damage == "" {
		err = r.checkChainEnd(ctx, tx, prev)
	}
	if err == nil && r.Damage == "" {
		err = r.checkDatabaseStructure(ctx, tx)
	}
	slices.Sort(r.Named)
	r.Named = slices.Compact(r.Named)
	r.Head = hex.EncodeToString(prev)
	if err != nil && errorCode(j.path, err) == nexus.CodeJournalCorrupt {
		r.markDamaged(0, FileBroken, err.Error())
		return r, nil
	}
	r.Sound = err == nil && r.Damage == ""
	return r, j.explainError("verify journal", err)
}

func (r *VerifyReport) markDamaged(seq int64, d DamageKind, why string) {
	r.Seq, r.Damage, r.Why = seq, d, why
}

// checkEventChain checks the events in order until one is damaged; prev becomes the hash of the last good
// one.
func (r *VerifyReport) checkEventChain(ctx context.Context, tx *sql.Tx, prev *[]byte) error {
	found, err := tx.QueryContext(ctx, "select seq, run, at, kind, data, hash from event order by seq")
	if err != nil {
		return err
	}
	defer found.Close() //nolint:errcheck // Err tells what Close would
	sum := newEventHashChain()
	for found.Next() {
		var e storedEventRow
		if bad := found.Scan(&e.seq, &e.run, &e.at, &e.kind, &e.data, &e.hash); bad != nil { // a column has another type
			r.markDamaged(r.Events+1, EventChanged, fmt.Sprintf("event %d is not what was written: %v", r.Events+1, bad))
			return nil
		}
		if want := r.Events + 1; e.seq != want {
			r.markDamaged(want, EventMissing, fmt.Sprintf("event %d is missing: event %d follows event %d", want, e.seq, r.Events))
			return nil
		}
		if sum.checkRow(*prev, e) != "" {
			r.markDamaged(e.seq, EventChanged, fmt.Sprintf("event %d is not what was written: its hash does not match", e.seq))
			return nil
		}
		f, bad := nexus.DecodeFact(e.kind, []byte(e.data))
		if bad != nil {
			r.markDamaged(e.seq, EventUnreadable, fmt.Sprintf("event %d: %v", e.seq, bad))
			return nil
		}
		r.Named = append(r.Named, nexus.Blobs(f)...)
		r.Events, *prev = e.seq, e.hash
	}
	return found.Err()
}

// checkChainEnd checks that the last event matches the head.
func (r *VerifyReport) checkChainEnd(ctx context.Context, tx *sql.Tx, prev []byte) error {
	var seq int64
	var hash []byte
	if err := tx.QueryRowContext(ctx, "select seq, hash from head").Scan(&seq, &hash); err != nil {
		return err
	}
	switch {
	case seq > r.Events:
		r.markDamaged(r.Events+1, EndCutOff, fmt.Sprintf("events %d to %d are cut off the end", r.Events+1, seq))
	case seq < r.Events:
		r.markDamaged(seq+1, EventChanged, fmt.Sprintf("event %d was not appended by nexus: the journal ends with event %d", seq+1, seq))
	case !bytes.Equal(hash, prev):
		r.markDamaged(seq, EventChanged, fmt.Sprintf("event %d is not the one that was appended last", seq))
	}
	return nil
}

// checkDatabaseStructure runs SQLite's own check of its pages and indexes.
func (r *VerifyReport) checkDatabaseStructure(ctx context.Context, tx *sql.Tx) error {
	var said string
	if err := tx.QueryRowContext(ctx, "pragma integrity_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		r.markDamaged(0, FileBroken, said)
	}
	return nil
}

// checkRow returns the damage of an event after one whose hash is prev, or "". If prev is nil, the
// event before is missing.
func (c *eventHashChain) checkRow(prev []byte, r storedEventRow) DamageKind {
	if prev == nil && r.seq == 1 {
		prev = make([]byte, 32)
	}
	switch {
	case prev == nil:
		return EventMissing
	case !bytes.Equal(c.nextHash(prev, r), r.hash):
		return EventChanged
	default:
		return ""
	}
}

// LostRunEvents summarizes the events of a run after the last good event.
type LostRunEvents struct {
	Run    nexus.RunID `json:"run"`
	Events int         `json:"events"`
	From   int64       `json:"from"` // number of the first one; To of the last
	To     int64       `json:"to"`
	Kinds  []string    `json:"kinds"` // of facts, sorted, each once
}

// EventsLostAfter returns the events, by run, that a repair after the first good events would discard,
// as far as they are readable.
func (j *Journal) EventsLostAfter(ctx context.Context, good int64) ([]LostRunEvents, error) {
	found, err := j.read.QueryContext(ctx, `select run, count(*), min(seq), max(seq), group_concat(distinct kind)
		from event where seq > ? group by run order by min(seq)`, good)
	if err != nil {
		return nil, j.explainError("read journal", err)
	}
	defer found.Close() //nolint:errcheck // Err tells what Close would
	var all []LostRunEvents
	for found.Next() {
		var l LostRunEvents
		var kinds string
		if err := found.Scan(&l.Run, &l.Events, &l.From, &l.To, &kinds); err != nil {
			return all, j.explainError("read journal", err)
		}
		l.Kinds = slices.Sorted(strings.SplitSeq(kinds, ","))
		all = append(all, l)
	}
	return all, j.explainError("read journal", found.Err())
}
