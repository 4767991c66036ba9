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

// Damage is what is wrong with a journal.
type Damage string

// The kinds of damage.
const (
	Changed    Damage = "changed"    // an event is not what was written after the one before it
	Missing    Damage = "missing"    // an event is not there, and later ones are
	Cut        Damage = "cut off"    // the last events are not there
	Unreadable Damage = "unreadable" // an event is as written and is no fact that is known here
	Spoiled    Damage = "spoiled"    // a blob that an event names is missing, or not what was kept
	Broken     Damage = "broken"     // SQLite cannot make sense of the file
)

// Report says whether a journal is sound. The zero Report is not.
type Report struct {
	Sound  bool
	Events int64    // how many are good, from the first
	Head   string   // hash of the last good one, hex: kept elsewhere, it shows that all was rewritten
	Seq    int64    // number of the first bad event; 0 when the damage is in no event
	Damage Damage   // empty when sound
	Why    string   // for people
	Named  []string // hashes of the blobs that the good events name
}

// Verify reads the whole journal and reports the first thing that is wrong
// with it. An error means that it could not be read to the end for another
// reason.
func (j *Journal) Verify(ctx context.Context) (Report, error) {
	var r Report
	tx, err := j.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // events and head of one moment
	if err != nil {
		return r, j.explain("verify journal", err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	prev := make([]byte, 32)
	err = r.walk(ctx, tx, &prev)
	if err == nil && r.Damage == "" {
		err = r.end(ctx, tx, prev)
	}
	if err == nil && r.Damage == "" {
		err = r.structure(ctx, tx)
	}
	slices.Sort(r.Named)
	r.Named = slices.Compact(r.Named)
	r.Head = hex.EncodeToString(prev)
	if err != nil && classify(j.path, err) == nexus.CodeJournalCorrupt {
		r.bad(0, Broken, err.Error())
		return r, nil
	}
	r.Sound = err == nil && r.Damage == ""
	return r, j.explain("verify journal", err)
}

func (r *Report) bad(seq int64, d Damage, why string) { r.Seq, r.Damage, r.Why = seq, d, why }

// walk checks the events one after the other until one is bad; prev becomes
// the hash of the last good one.
func (r *Report) walk(ctx context.Context, tx *sql.Tx, prev *[]byte) error {
	found, err := tx.QueryContext(ctx, "select seq, run, at, kind, data, hash from event order by seq")
	if err != nil {
		return err
	}
	defer found.Close() //nolint:errcheck // Err tells what Close would
	sum := newChain()
	for found.Next() {
		var e row
		if bad := found.Scan(&e.seq, &e.run, &e.at, &e.kind, &e.data, &e.hash); bad != nil { // a column is of another type
			r.bad(r.Events+1, Changed, fmt.Sprintf("event %d is not what was written: %v", r.Events+1, bad))
			return nil
		}
		if want := r.Events + 1; e.seq != want {
			r.bad(want, Missing, fmt.Sprintf("event %d is missing: event %d follows event %d", want, e.seq, r.Events))
			return nil
		}
		if sum.check(*prev, e) != "" {
			r.bad(e.seq, Changed, fmt.Sprintf("event %d is not what was written: its hash does not match", e.seq))
			return nil
		}
		f, bad := nexus.DecodeFact(e.kind, []byte(e.data))
		if bad != nil {
			r.bad(e.seq, Unreadable, fmt.Sprintf("event %d: %v", e.seq, bad))
			return nil
		}
		r.Named = append(r.Named, nexus.Blobs(f)...)
		r.Events, *prev = e.seq, e.hash
	}
	return found.Err()
}

// end checks that the last event is the one that was appended last.
func (r *Report) end(ctx context.Context, tx *sql.Tx, prev []byte) error {
	var seq int64
	var hash []byte
	if err := tx.QueryRowContext(ctx, "select seq, hash from head").Scan(&seq, &hash); err != nil {
		return err
	}
	switch {
	case seq > r.Events:
		r.bad(r.Events+1, Cut, fmt.Sprintf("events %d to %d are cut off the end", r.Events+1, seq))
	case seq < r.Events:
		r.bad(seq+1, Changed, fmt.Sprintf("event %d was not appended by nexus: the journal ends with event %d", seq+1, seq))
	case !bytes.Equal(hash, prev):
		r.bad(seq, Changed, fmt.Sprintf("event %d is not the one that was appended last", seq))
	}
	return nil
}

// structure lets SQLite check its own pages and indexes.
func (r *Report) structure(ctx context.Context, tx *sql.Tx) error {
	var said string
	if err := tx.QueryRowContext(ctx, "pragma integrity_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		r.bad(0, Broken, said)
	}
	return nil
}

// check returns what is wrong with an event after one whose hash is prev,
// empty when it is as it was written. Without prev the one before is missing.
func (c *chain) check(prev []byte, r row) Damage {
	if prev == nil && r.seq == 1 {
		prev = make([]byte, 32)
	}
	switch {
	case prev == nil:
		return Missing
	case !bytes.Equal(c.link(prev, r), r.hash):
		return Changed
	default:
		return ""
	}
}

// LostEvents is what of a run comes after the last good event.
type LostEvents struct {
	Run    nexus.RunID `json:"run"`
	Events int         `json:"events"`
	From   int64       `json:"from"` // numbers of the first and the last of them
	To     int64       `json:"to"`
	Kinds  []string    `json:"kinds"` // of facts, in alphabetical order, each once
}

// LostAfter says what a repair that keeps the first good events gives up, by
// run, as far as it can still be read.
func (j *Journal) LostAfter(ctx context.Context, good int64) ([]LostEvents, error) {
	found, err := j.read.QueryContext(ctx, `select run, count(*), min(seq), max(seq), group_concat(distinct kind)
		from event where seq > ? group by run order by min(seq)`, good)
	if err != nil {
		return nil, j.explain("read journal", err)
	}
	defer found.Close() //nolint:errcheck // Err tells what Close would
	var all []LostEvents
	for found.Next() {
		var l LostEvents
		var kinds string
		if err := found.Scan(&l.Run, &l.Events, &l.From, &l.To, &kinds); err != nil {
			return all, j.explain("read journal", err)
		}
		l.Kinds = slices.Sorted(strings.SplitSeq(kinds, ","))
		all = append(all, l)
	}
	return all, j.explain("read journal", found.Err())
}
