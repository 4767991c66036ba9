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

// Damage is a kind of damage of a journal.
type Damage string

// The kinds of damage.
const (
	Changed    Damage = "changed"    // an event differs from its hash
	Missing    Damage = "missing"    // an event is missing before later ones
	Cut        Damage = "cut off"    // the last events are missing
	Unreadable Damage = "unreadable" // an undamaged event is no known fact
	Spoiled    Damage = "spoiled"    // a blob of an event is missing or does not match its hash
	Broken     Damage = "broken"     // SQLite cannot read the file
)

// Report is the result of checking a journal. The zero Report is not sound.
type Report struct {
	Sound  bool
	Events int64    // number of good events from the first
	Head   string   // hash of the last good one, hex: a copy kept elsewhere can reveal that the whole journal was rewritten
	Seq    int64    // number of the first damaged event; 0 if no event is damaged
	Damage Damage   // empty when sound
	Why    string   // for people
	Named  []string // hashes of the blobs of the good events
}

// Verify reads the whole journal and reports the first damage. An error means that reading failed
// for another reason.
func (j *Journal) Verify(ctx context.Context) (Report, error) {
	var r Report
	tx, err := j.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // events and head in one snapshot
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

// walk checks the events in order until one is damaged; prev becomes the hash of the last good
// one.
func (r *Report) walk(ctx context.Context, tx *sql.Tx, prev *[]byte) error {
	found, err := tx.QueryContext(ctx, "select seq, run, at, kind, data, hash from event order by seq")
	if err != nil {
		return err
	}
	defer found.Close() //nolint:errcheck // Err tells what Close would
	sum := newChain()
	for found.Next() {
		var e row
		if bad := found.Scan(&e.seq, &e.run, &e.at, &e.kind, &e.data, &e.hash); bad != nil { // a column has another type
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

// end checks that the last event matches the head.
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

// structure runs SQLite's own check of its pages and indexes.
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

// check returns the damage of an event after one whose hash is prev, or "". If prev is nil, the
// event before is missing.
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

// LostEvents summarizes the events of a run after the last good event.
type LostEvents struct {
	Run    nexus.RunID `json:"run"`
	Events int         `json:"events"`
	From   int64       `json:"from"` // number of the first one; To of the last
	To     int64       `json:"to"`
	Kinds  []string    `json:"kinds"` // of facts, sorted, each once
}

// LostAfter returns the events, by run, that a repair after the first good events would discard,
// as far as they are readable.
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
