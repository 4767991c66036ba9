// Package dailybudget stores the daily budget that all runs of a person share, across processes
// and repositories.
//
// There is one small file per day, changed under a lock. It has the money that each run has spent
// and reserved on that day. The entry of a run whose process died remains until the run is
// resumed: its calls may have been charged.
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

// keptDays is the number of days after which files are deleted.
const keptDays = 8

// RunBudgetShare is the share of one run in the daily budget. One goroutine owns it.
type RunBudgetShare struct {
	dir  string
	run  string // repository and run
	now  func() time.Time
	lock *flock.Flock
}

// OpenShare returns the ledger of a run, named by repository and run, with its files in dir.
func OpenShare(dir, run string, now func() time.Time) (*RunBudgetShare, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, storageError("make", err)
	}
	return &RunBudgetShare{dir: dir, run: run, now: now, lock: flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))}, nil
}

// Close closes the lock file.
func (p *RunBudgetShare) Close() error { return p.lock.Close() }

// Claim sets the money that the run has spent and reserved today, if the sum of all runs stays
// within the limit; a limit of 0 is none. It returns the sum of the other runs, and whether the
// claim succeeded. A claim that fails changes nothing.
func (p *RunBudgetShare) Claim(ctx context.Context, own, limit nexus.Money) (nexus.OtherRunsSpendingRecorded, bool, error) {
	day := p.now().UTC().Format(time.DateOnly)
	shared := nexus.OtherRunsSpendingRecorded{Day: day}
	if ok, err := p.lock.TryLockContext(ctx, time.Millisecond); err != nil || !ok {
		if ctx.Err() != nil {
			return shared, false, context.Cause(ctx)
		}
		return shared, false, storageError("lock", err)
	}
	defer p.lock.Unlock() //nolint:errcheck // the file is closed with the process at the latest
	path := filepath.Join(p.dir, day+".json")
	runs, err := readDayFile(path)
	if err != nil {
		return shared, false, err
	}
	granted := false
	if shared.Others, granted = CheckWithinDailyLimit(runs, p.run, own, limit); !granted {
		return shared, false, nil
	}
	if old, ok := runs[p.run]; ok && old == own {
		return shared, true, nil
	}
	if len(runs) == 0 {
		p.sweepOldDays(day)
	}
	runs[p.run] = own
	return shared, true, writeDayFile(path, runs)
}

// CheckWithinDailyLimit returns the sum of all other runs on a day, and whether the run may have own in
// addition; a limit of 0 is none.
func CheckWithinDailyLimit(runs map[string]nexus.Money, run string, own, limit nexus.Money) (others nexus.Money, granted bool) {
	for name, m := range runs {
		if name != run {
			others += m
		}
	}
	return others, limit <= 0 || own <= limit-others
}

// readDayFile returns the entries of a day by run. An unreadable file is an error: as an empty one, it
// would allow the money to be spent twice.
func readDayFile(path string) (map[string]nexus.Money, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]nexus.Money{}, nil
	}
	if err != nil {
		return nil, storageError("read", err)
	}
	runs, err := ParseDayFile(data)
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeStorage, Message: "the day's money in " + path + " cannot be read", Cause: err,
			Hint: "Remove the file to start the daily budget again; money spent today then no longer counts.",
		}
	}
	return runs, nil
}

// ParseDayFile reads the file of a day: the JSON value at its beginning.
func ParseDayFile(data []byte) (map[string]nexus.Money, error) {
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

// writeDayFile overwrites the content of a day's file. If the process dies before the end, bytes remain
// after the value, which [ParseDayFile] ignores. The file is not replaced by a rename: file systems then
// wait for the disk, which would delay every call of a model.
func writeDayFile(path string, runs map[string]nexus.Money) error {
	data, err := json.Marshal(struct {
		Version int                    `json:"version"`
		Runs    map[string]nexus.Money `json:"runs"`
	}{1, runs})
	if err != nil {
		return storageError("encode", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return storageError("write", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return storageError("write", err)
	}
	return nil
}

// sweepOldDays removes the files of old days. Errors are ignored: remaining files do no harm.
func (p *RunBudgetShare) sweepOldDays(day string) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return
	}
	oldest := p.now().UTC().AddDate(0, 0, -keptDays).Format(time.DateOnly)
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if _, err := time.Parse(time.DateOnly, name); ok && err == nil && name < oldest && name != day {
			_ = os.Remove(filepath.Join(p.dir, e.Name()))
		}
	}
}

func storageError(doing string, err error) error {
	return &nexus.Error{
		Code: nexus.CodeStorage, Message: doing + " the day's money", Cause: err,
		Hint: "The day's budget is shared through a file in nexus's state directory; make it writable, or set budget.day to 0.",
	}
}
