// Package sentlog records in a file which messages were sent to whom, so that a
// process that takes over from another does not send them again.
package sentlog

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// again is how often a lock that another process holds is tried.
const again = time.Second

// most is the largest file that is read.
const most = 16 << 20

// RunExclusive runs do while no other process does under the same name. It waits for
// its turn, and for do.
func RunExclusive(ctx context.Context, file string, do func(context.Context) error) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return disk.WrapError("make a directory", err)
	}
	l := flock.New(file)
	if ok, err := l.TryLockContext(ctx, again); err != nil || !ok {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // its turn never came, and is not wanted any more
		}
		return disk.WrapError("take the lock "+file, err)
	}
	return errors.Join(do(ctx), l.Close())
}

// turnWait is how long a process that is over waits for one that has the turn: it
// may be over, too, and not have seen what happened last.
const turnWait = 1500 * time.Millisecond

// RunBeside runs do beside whatever else a process does, alone as [RunExclusive] does. Stop
// ends the first of its contexts, waits for do, and ends the second, too, once the
// grace is over. What do returns is told.
func RunBeside(
	ctx context.Context, file string, grace time.Duration, tell func(error), do func(life, last context.Context) error,
) (stop func()) {
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	last, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	turn, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { // waited for by stop
		defer close(done)
		if err := RunExclusive(turn, file, func(context.Context) error { return do(life, last) }); err != nil {
			tell(err)
		}
	}()
	return func() {
		end(errors.New("the run is over"))
		timer := time.AfterFunc(grace, func() { kill(errors.New("the grace is over")) })
		defer timer.Stop()
		late := time.AfterFunc(turnWait, func() { leave(errors.New("another process has the turn")) })
		defer late.Stop()
		<-done
		leave(context.Canceled)
		kill(context.Canceled)
	}
}

// Log is what one way of telling people has told. One goroutine owns it.
type Log struct {
	path string
	said map[string]string
}

// Open reads a book. One that is not there, or cannot be understood, is empty:
// at worst something is told twice.
func Open(path string) (*Log, error) {
	b := &Log{path: path, said: map[string]string{}}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b, nil
	case err != nil:
		return nil, disk.WrapError("read what was sent", err)
	case !info.Mode().IsRegular() || info.Size() > most:
		return b, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, disk.WrapError("read what was sent", err)
	}
	if json.Unmarshal(data, &b.said) != nil || b.said == nil {
		b.said = map[string]string{}
	}
	return b, nil
}

// Of returns what is remembered of a name, and whether anything is.
func (b *Log) Of(name string) (string, bool) {
	what, ok := b.said[name]
	return what, ok
}

// Names returns the names, in no order.
func (b *Log) Names() []string {
	all := make([]string, 0, len(b.said))
	for name := range maps.Keys(b.said) {
		all = append(all, name)
	}
	return all
}

// Put remembers something; it is on the disk when it returns.
func (b *Log) Put(name, what string) error {
	b.said[name] = what
	return b.save()
}

// Forget forgets a name.
func (b *Log) Forget(name string) error {
	if _, ok := b.said[name]; !ok {
		return nil
	}
	delete(b.said, name)
	return b.save()
}

func (b *Log) save() error {
	data, err := json.Marshal(b.said)
	if err != nil {
		return err
	}
	return disk.Replace(b.path, data)
}
