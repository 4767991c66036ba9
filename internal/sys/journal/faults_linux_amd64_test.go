package journal_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestDiskFailsOnce lets each call fail once that the disk is asked for, whatever is
// done with a journal. What fails is said, or was not needed: the result is then the
// same. Either way what is left can be worked with, and what was acknowledged is in it.
func TestDiskFailsOnce(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "the kernel asks the process itself, which the detector may hold up meanwhile")
	for name := range disks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute) // a few seconds, unless nobody answers the kernel
			defer stop()
			self := again(t, "fail", filepath.Join(t.TempDir(), "journal.db"))
			cmd := exec.CommandContext(ctx, self.Path, append(self.Args[1:], name)...)
			cmd.Env = self.Env
			out, err := cmd.CombinedOutput()
			if strings.HasPrefix(string(out), "skip:") {
				t.Skip(testenv.NoMachine + string(out))
			}
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// deed is something that is done with the journal of a directory.
type deed struct {
	before func(dir string) error // what is there before; nil: nothing
	do     func(dir string) (string, error)
	// after says what is wrong with what is left, if the deed was done and if it failed.
	after func(dir string, failed error) error
	copes []string // syncs that may fail: SQLite does them, and needs none of what they were to make last
	lasts []string // what the disk is asked for at the end, in this order, or a power cut takes what was done
}

// disks returns what is done, by its name.
func disks() map[string]deed {
	return map[string]deed{
		"create": {
			nil, openOnly, intactWith(0, 0),
			[]string{"sync its directory", "sync journal.db.new-wal"},
			[]string{"unlink journal.db.new-wal", "sync journal.db.new", "rename journal.db.new", "sync its directory"},
		},
		"record": {tenEvents, recordThree, intactWith(10, 13), []string{"sync its directory", "sync journal.db", "sync journal.db-wal, time 8"}, nil},
		"blobs": {nil, putBlobs, wholeBlobs, nil, []string{
			"mkdir blobs", "sync its directory",
			"mkdir blobs/7e", "sync blobs/7e/new", "rename blobs/7e/new", "mkdir blobs/93", "sync blobs/93/new", "rename blobs/93/new",
			"sync blobs/7e", "sync blobs/93", "sync blobs", // the names, the deepest first
			"sync blobs/7e", // what is there already may be another's of a moment ago
		}},
		"back up": {
			tenEvents, copyWith((*journal.Journal).Backup), copied,
			[]string{"sync its directory"},
			[]string{"sync journal.db.copy.part", "rename journal.db.copy.part", "sync its directory"},
		},
		"salvage": {tenEvents, copyWith(func(j *journal.Journal, ctx context.Context, to string) error {
			_, err := j.SalvageTo(ctx, to)
			return err
		}), copied, []string{"sync its directory", "sync its directory, time 4"}, nil},
		"replace": {
			twoJournals, replaceOne, replaced,
			[]string{"sync its directory"},
			[]string{"link journal.db", "sync journal.db.next", "rename journal.db.next", "sync its directory"},
		},
		"read": {tenEvents, readAll, intactWith(10, 10), nil, nil},
	}
}

// failEach does a deed once, and then once for each call that was made on the way,
// which fails.
func failEach(path string) error {
	d, err := failDisk()
	if err != nil {
		fmt.Println("skip:", err)
		return nil
	}
	deed, dir := disks()[os.Args[2]], filepath.Dir(path)
	whole, all, err := deed.once(d, dir, "")
	if err != nil {
		return err
	}
	wrong := []error{deed.durable(all)}
	for _, call := range firstAndLast(all) {
		if os.Args[2] != "create" && strings.Contains(call, ".new-") {
			continue // as where a journal is created
		}
		got, _, err := deed.once(d, dir, call)
		switch {
		case errors.Is(err, errLeft):
			wrong = append(wrong, fmt.Errorf("%s fails: %w", call, err))
		case err != nil: // it is said
			if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Hint == "" {
				wrong = append(wrong, fmt.Errorf("%s fails, and nobody says what to do: %w", call, err))
			}
		case got != whole:
			wrong = append(wrong, fmt.Errorf("%s fails, and nobody says so: %s, not %s", call, got, whole))
		case (strings.HasPrefix(call, "sync ") || strings.HasPrefix(call, "rename ")) && !slices.Contains(deed.copes, call):
			wrong = append(wrong, fmt.Errorf("%s fails, and nobody says so", call))
		}
	}
	return errors.Join(wrong...)
}

// errLeft says that what a deed left is not as it must be.
var errLeft = errors.New("what is left is wrong")

// once does a deed in an empty directory while a call fails, and looks at what is left.
func (d deed) once(disk *failingDisk, dir, call string) (got string, all []string, err error) {
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return "", nil, err
	}
	if d.before != nil {
		if err := d.before(dir); err != nil {
			return "", nil, err
		}
	}
	disk.watch(dir, call)
	got, err = d.do(dir)
	all = disk.rest()
	if left := d.after(dir, err); left != nil {
		return got, all, fmt.Errorf("%w: %w (after %w)", errLeft, left, err)
	}
	return got, all, err
}

// durable says what is wrong with what the disk was asked for at the end, of those calls
// that a power cut shows.
func (d deed) durable(all []string) error {
	var got []string
	for _, call := range all {
		name, _, _ := strings.Cut(call, ", time ")
		what, _, _ := strings.Cut(name, " ")
		if slices.Contains(d.lasts, name) || what == "mkdir" || what == "rename" || what == "link" {
			got = append(got, name)
		}
	}
	if got = got[max(0, len(got)-len(d.lasts)):]; !slices.Equal(got, d.lasts) {
		return fmt.Errorf("at the end the disk is asked for\n%s\nand not for\n%s", strings.Join(got, "\n"), strings.Join(d.lasts, "\n"))
	}
	return nil
}

// firstAndLast returns of the calls that are the same for the same file the first and
// the last.
func firstAndLast(all []string) []string {
	last, keep := map[string]string{}, map[string]bool{}
	for _, call := range all {
		name, _, again := strings.Cut(call, ", time ")
		if last[name] = call; !again {
			keep[call] = true
		}
	}
	for _, call := range last {
		keep[call] = true
	}
	return slices.Sorted(maps.Keys(keep))
}

func at(dir string) string { return filepath.Join(dir, "journal.db") }

func openOnly(dir string) (string, error) {
	j, err := journal.Open(context.Background(), at(dir), options())
	if err != nil {
		return "", err
	}
	return "", j.Close()
}

// fill makes a journal with events of a run that nobody holds, and a blob.
func fill(path string, events int) error {
	j, l, err := openChild(path)
	if err != nil {
		return err
	}
	j.StoreSmallBlob(strings.Repeat("0", 64), []byte("is not what its hash says"))
	_, err = l.Append(context.Background(), append(facts(events-2), nexus.BudgetReserved{ID: "1", Money: 5}, nexus.RunEnded{Status: nexus.StatusDone})...)
	return errors.Join(err, l.Release(context.Background()), j.Close())
}

func tenEvents(dir string) error { return fill(at(dir), 10) }

func recordThree(dir string) (string, error) {
	j, l, err := openChild(at(dir))
	if err != nil {
		return "", err
	}
	_, err = l.Append(context.Background(), facts(1)...)
	if err == nil {
		_, err = j.Ask(context.Background(), "r", nexus.Request{Verb: nexus.VerbPause})
	}
	if err == nil {
		err = j.ImportRun(context.Background(), "other", []journal.ImportableEvent{{Seq: 1, At: time.Unix(1, 0), Kind: "run.resumed", Data: []byte("{}")}})
	}
	if err == nil {
		err = errors.Join(l.Renew(context.Background()), l.Release(context.Background()))
	}
	return "", errors.Join(err, j.Close())
}

// intactWith checks that the journal is sound and has as many events as there were,
// or as were added; all of them where nothing failed.
func intactWith(least, most int64) func(string, error) error {
	return func(dir string, failed error) error {
		j, err := journal.Open(context.Background(), at(dir), options())
		if err != nil {
			return err
		}
		r, err := j.Verify(context.Background())
		if !r.Sound || r.Events < least || r.Events > most || failed == nil && r.Events != most {
			err = errors.Join(err, fmt.Errorf("it has %+v", r))
		}
		return errors.Join(err, j.Close())
	}
}

var large = [][]byte{make([]byte, maxSmallBlob+1), []byte(strings.Repeat("large ", maxSmallBlob))}

const maxSmallBlob = 32 << 10

func putBlobs(dir string) (string, error) {
	s, err := journal.OpenBlobStore(filepath.Join(dir, "blobs"))
	if err != nil {
		return "", err
	}
	hashes, err := s.PutAll(large...)
	if err != nil {
		return "", err
	}
	if _, err := s.Put(large[0]); err != nil {
		return "", err
	}
	text := strings.Join(hashes, " ")
	for _, h := range hashes {
		data, err := s.Get(h)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf(" %d", len(data))
	}
	return text, nil
}

// wholeBlobs checks that what has a name is whole, that a blob can be put again, and
// that nothing else is left where only names and files could not be made.
func wholeBlobs(dir string, _ error) error {
	s, err := journal.OpenBlobStore(filepath.Join(dir, "blobs"))
	if err != nil {
		return err
	}
	err = filepath.WalkDir(filepath.Join(dir, "blobs"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".new-") {
			return err
		}
		_, err = s.Get(filepath.Base(filepath.Dir(path)) + d.Name())
		return err
	})
	_, again := s.PutAll(large...)
	return errors.Join(err, again)
}

func copyWith(do func(j *journal.Journal, ctx context.Context, to string) error) func(string) (string, error) {
	return func(dir string) (string, error) {
		j, err := journal.Open(context.Background(), at(dir), options())
		if err != nil {
			return "", err
		}
		return "", errors.Join(do(j, context.Background(), at(dir)+".copy"), j.Close())
	}
}

// copied checks that the copy is whole, if there is one, and the journal as it was.
func copied(dir string, failed error) error {
	to := at(dir) + ".copy"
	if _, err := os.Stat(to); errors.Is(err, os.ErrNotExist) && failed != nil {
		return intactWith(10, 10)(dir, nil)
	}
	j, err := journal.Open(context.Background(), to, options())
	if err != nil {
		return err
	}
	r, err := j.Verify(context.Background())
	if !r.Sound || r.Events != 10 {
		err = errors.Join(err, fmt.Errorf("the copy has %+v", r))
	}
	return errors.Join(err, j.Close(), intactWith(10, 10)(dir, nil))
}

func twoJournals(dir string) error {
	return errors.Join(tenEvents(dir), fill(at(dir)+".next", 3))
}

func replaceOne(dir string) (string, error) {
	return "", journal.ReplaceJournal(context.Background(), at(dir), at(dir)+".next", at(dir)+".old")
}

// replaced checks that one of the two is there, whole, and the old one aside where
// it is not.
func replaced(dir string, failed error) error {
	count := func(path string) int64 {
		j, err := journal.Open(context.Background(), path, journal.Options{Now: time.Now, ReadOnly: true})
		if err != nil {
			return -1
		}
		defer j.Close()
		r, err := j.Verify(context.Background())
		if err != nil || !r.Sound {
			return -2
		}
		return r.Events
	}
	is, old := count(at(dir)), count(at(dir)+".old")
	stayed, done := is == 10 && failed != nil, is == 3 && old == 10
	if !stayed && !done {
		return fmt.Errorf("the journal has %d events, the one that was kept %d", is, old)
	}
	return nil
}

// readAll reads all that can be read of a journal, and says it.
func readAll(dir string) (string, error) {
	ctx := context.Background()
	o := options()
	o.ReadOnly = true
	j, err := journal.Open(ctx, at(dir), o)
	if err != nil {
		return "", err
	}
	said := ""
	for e, err := range j.Events(ctx, "", 0) {
		if err != nil {
			return "", errors.Join(err, j.Close())
		}
		said += fmt.Sprintf("%d %s ", e.Seq, nexus.FactKind(e.Fact))
	}
	say := func(v any, err error) error { said += fmt.Sprintf("%+v ", v); return err }
	r, err := j.Verify(ctx)
	if err == nil && !r.Sound {
		err = &nexus.Error{Code: nexus.CodeStorage, Message: r.Why, Hint: "none"}
	}
	for _, look := range []func() error{
		func() error { v, err := j.Runs(ctx); return say(len(v), err) },
		func() error { return say(j.Head(ctx)) },
		func() error { return say(j.RunHolders(ctx)) },
		func() error { return say(j.RunEndings(ctx)) },
		func() error { return say(j.SpentOnDay(ctx, time.Now(), "")) },
		func() error { return say(j.EventsLostAfter(ctx, 3)) },
		func() error { return say(j.ReadSmallBlob(strings.Repeat("0", 64))) },
	} {
		if err == nil {
			err = look()
		}
	}
	return said, errors.Join(err, j.Close())
}
