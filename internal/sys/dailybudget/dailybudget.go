// Package dailybudget keeps the daily budget that all runs of a person share,
// in whatever process and repository they are.
//
// There is one small file a day, changed under a lock. It holds what each run
// has spent and set aside on that day. A run whose process died keeps what it
// had until it is taken up again: its calls may have been charged.
package dailybudget

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// kept is for how many days the files stay.
const kept = 8

// Ledger is a run's part of the day's money. One goroutine owns it.
type Ledger struct {
	dir  string
	run  string // repository and run
	now  func() time.Time
	lock *flock.Flock
}

// Open returns the purse of a run, named by repository and run, with its
// files in dir.
func Open(dir, run string, now func() time.Time) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, broken("make", err)
	}
	return &Ledger{dir: dir, run: run, now: now, lock: flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))}, nil
}

// Close lets go of the lock's file.
func (p *Ledger) Close() error { return p.lock.Close() }

// Claim sets what the run has spent and set aside today, if that with what
// all others have stays within the limit; a limit of 0 is none. It returns
// what the others have, and whether the claim was granted. A claim that is
// not granted changes nothing.
func (p *Ledger) Claim(ctx context.Context, own, limit nexus.Money) (nexus.BudgetShared, bool, error) {
	day := p.now().UTC().Format(time.DateOnly)
	shared := nexus.BudgetShared{Day: day}
	if ok, err := p.lock.TryLockContext(ctx, time.Millisecond); err != nil || !ok {
		if ctx.Err() != nil {
			return shared, false, context.Cause(ctx)
		}
		return shared, false, broken("lock", err)
	}
	defer p.lock.Unlock() //nolint:errcheck // the file is closed with the process at the latest
	path := filepath.Join(p.dir, day+".json")
	runs, err := read(path)
	if err != nil {
		return shared, false, err
	}
	granted := false
	if shared.Others, granted = CheckShare(runs, p.run, own, limit); !granted {
		return shared, false, nil
	}
	if old, ok := runs[p.run]; ok && old == own {
		return shared, true, nil
	}
	if len(runs) == 0 {
		p.sweep(day)
	}
	runs[p.run] = own
	return shared, true, write(path, runs)
}

// CheckShare returns what all runs but one have of a day, and whether that one may
// have so much besides; a limit of 0 is none.
func CheckShare(runs map[string]nexus.Money, run string, own, limit nexus.Money) (others nexus.Money, granted bool) {
	for name, m := range runs {
		if name != run {
			others += m
		}
	}
	return others, limit <= 0 || own <= limit-others
}

// read returns what the runs of a day have. A file that cannot be understood
// is an error: to take it for empty would lend money twice.
func read(path string) (map[string]nexus.Money, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]nexus.Money{}, nil
	}
	if err != nil {
		return nil, broken("read", err)
	}
	runs, err := Parse(data)
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeStorage, Message: "the day's money in " + path + " cannot be read", Cause: err,
			Hint: "Remove the file to start the daily budget again; money spent today then no longer counts.",
		}
	}
	return runs, nil
}

// Parse reads a day's file: the value that it begins with.
func Parse(data []byte) (map[string]nexus.Money, error) {
	var day struct {
		Version int                    `json:"version"`
		Runs    map[string]nexus.Money `json:"runs"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&day); err != nil {
		return nil, err
	}
	if day.Version != 1 {
		return nil, fmt.Errorf("version %d, this nexus reads 1", day.Version)
	}
	for run, m := range day.Runs {
		if m < 0 {
			return nil, fmt.Errorf("%q is below zero", run)
		}
	}
	if day.Runs == nil {
		day.Runs = map[string]nexus.Money{}
	}
	return day.Runs, nil
}

// write replaces what is in a day's file. A process that dies before the end
// of it leaves more behind than the value, which [Parse] does not look at. The
// file is not replaced by another one: that makes file systems wait for the
// disk, and each call of a model would.
func write(path string, runs map[string]nexus.Money) error {
	data, err := json.Marshal(struct {
		Version int                    `json:"version"`
		Runs    map[string]nexus.Money `json:"runs"`
	}{1, runs})
	if err != nil {
		return broken("encode", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return broken("write", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return broken("write", err)
	}
	return nil
}

// sweep removes the files of days long gone. What stays behind harms nobody.
func (p *Ledger) sweep(day string) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return
	}
	oldest := p.now().UTC().AddDate(0, 0, -kept).Format(time.DateOnly)
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if _, err := time.Parse(time.DateOnly, name); ok && err == nil && name < oldest && name != day {
			_ = os.Remove(filepath.Join(p.dir, e.Name()))
		}
	}
}

func broken(doing string, err error) error {
	return &nexus.Error{
		Code: nexus.CodeStorage, Message: doing + " the day's money", Cause: err,
		Hint: "The day's budget is shared through a file in nexus's state directory; make it writable, or set budget.day to 0.",
	}
}
