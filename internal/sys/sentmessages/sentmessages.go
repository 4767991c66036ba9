// Package sentmessages records sent messages in a file, so that a process that replaces another one
// does not send them again.
package sentmessages

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

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// lockRetry is the interval at which a lock of another process is tried.
const lockRetry = time.Second

// maxFileSize limits the size of a file, in bytes.
const maxFileSize = 16 << 20

// RunExclusive runs do while no other process does under the same name. It waits for the lock, and
// for do.
func RunExclusive(ctx context.Context, file string, do func(context.Context) error) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return filewrite.WrapError("make a directory", err)
	}
	l := flock.New(file)
	if ok, err := l.TryLockContext(ctx, lockRetry); err != nil || !ok {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // its turn never came, and is not wanted any more
		}
		return filewrite.WrapError("take the lock "+file, err)
	}
	return errors.Join(do(ctx), l.Close())
}

// turnWait limits how long a process that is ending waits for the lock of another one, which may
// be ending, too, and may have missed the last events.
const turnWait = 1500 * time.Millisecond

// RunBeside runs do concurrently, under the lock of [RunExclusive]. The function stop ends the
// first of do's contexts, waits for do, and also ends the second one after the grace period. An
// error of do is passed to tell.
func RunBeside(
	ctx context.Context, file string, grace time.Duration, tell func(error), do func(life, last context.Context) error,
) (stop func()) {
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	last, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	turn, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { // stop waits for it
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

// SentMessageLog has the messages that one channel has sent. One goroutine owns it.
type SentMessageLog struct {
	path string
	said map[string]string
}

// OpenSentLog reads a log. A missing or unreadable one counts as empty: at worst, a message is sent
// twice.
func OpenSentLog(path string) (*SentMessageLog, error) {
	b := &SentMessageLog{path: path, said: map[string]string{}}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b, nil
	case err != nil:
		return nil, filewrite.WrapError("read what was sent", err)
	case !info.Mode().IsRegular() || info.Size() > maxFileSize:
		return b, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, filewrite.WrapError("read what was sent", err)
	}
	if json.Unmarshal(data, &b.said) != nil || b.said == nil {
		b.said = map[string]string{}
	}
	return b, nil
}

// Lookup returns the value of a name, and whether there is one.
func (b *SentMessageLog) Lookup(name string) (string, bool) {
	what, ok := b.said[name]
	return what, ok
}

// Names returns the names, unsorted.
func (b *SentMessageLog) Names() []string {
	all := make([]string, 0, len(b.said))
	for name := range maps.Keys(b.said) {
		all = append(all, name)
	}
	return all
}

// Record stores a value; it is on the disk when Put returns.
func (b *SentMessageLog) Record(name, what string) error {
	b.said[name] = what
	return b.saveFile()
}

// Forget removes a name.
func (b *SentMessageLog) Forget(name string) error {
	if _, ok := b.said[name]; !ok {
		return nil
	}
	delete(b.said, name)
	return b.saveFile()
}

func (b *SentMessageLog) saveFile() error {
	data, err := json.Marshal(b.said)
	if err != nil {
		return err
	}
	return filewrite.ReplaceFile(b.path, data)
}
