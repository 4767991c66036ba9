// Package file asks people through files: it writes one file per open item into a directory. A
// person answers by writing into that file or by adding a file beside it.
//
// Anybody who may write to the directory may answer, so it belongs to its user alone.
package file

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// OpenQuestionInbox is the source of the open items and accepts their answers.
type OpenQuestionInbox interface {
	Next(ctx context.Context) ([]humaninput.WaitingItem, error)
	Find(run nexus.RunID, id string) (humaninput.WaitingItem, error)
	Answer(ctx context.Context, run nexus.RunID, id, answer, by string) (string, error)
}

// Options configure the directory of the files.
type Options struct {
	Dir      string
	Poll     time.Duration // how often answers are looked up; 0: every half second
	Complain func(error)
}

// Limits on the files that are read.
const (
	maxFile  = 64 << 10
	maxFiles = 10_000
)

// The name suffixes of the two kinds of files.
const (
	formSuffix   = ".md"
	answerSuffix = ".answer"
	tempPrefix   = ".new-" // prefix of a file that is still being written
)

// fileChannel is the running channel. One goroutine owns it.
type fileChannel struct {
	Options
	inbox OpenQuestionInbox
	root  *os.Root
	items map[string]humaninput.WaitingItem // open items, by name of their file
	known map[string]humaninput.WaitingItem // items that were open since this process began
	seen  map[string]answerFileStamp        // files with an answer that is too recent to read
}

// answerFileStamp is the state of a file at the last check.
type answerFileStamp struct {
	size int64
	at   time.Time
}

// CheckDirectory returns an error if the directory exists and cannot be used.
func CheckDirectory(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unusableDir(dir, err.Error())
	case !info.IsDir():
		return unusableDir(dir, "it is not a directory")
	case info.Mode().Perm()&0o022 != 0:
		return unusableDir(dir, fmt.Sprintf("others may write to it, and so answer for you: its mode is %04o", info.Mode().Perm()))
	}
	return nil
}

func unusableDir(dir, why string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidConfig, Message: "channels.file.dir, " + dir + ", is not used: " + why,
		Hint: "Name a directory that you alone can write to.",
	}
}

// ServeDirectory keeps the directory up to date with the open items until the context ends. The files
// remain then, and so do answers that are written in the meantime.
func ServeDirectory(ctx context.Context, inbox OpenQuestionInbox, o Options) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return unusableDir(o.Dir, err.Error())
	}
	if err := CheckDirectory(o.Dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return unusableDir(o.Dir, err.Error())
	}
	b := &fileChannel{Options: o, inbox: inbox, root: root, known: map[string]humaninput.WaitingItem{}, seen: map[string]answerFileStamp{}}
	b.removeTempFiles()
	b.Poll = cmp.Or(b.Poll, 500*time.Millisecond)
	feed := make(chan []humaninput.WaitingItem)
	var hears sync.WaitGroup
	ctx, stop := context.WithCancelCause(ctx)
	hears.Go(func() {
		for {
			items, err := inbox.Next(ctx)
			if err != nil {
				return
			}
			select {
			case feed <- items:
			case <-ctx.Done():
				return
			}
		}
	})
	defer func() {
		stop(nil)
		hears.Wait()
		_ = root.Close() // read-only handle
	}()
	beat := time.NewTicker(b.Poll)
	defer beat.Stop()
	for {
		select {
		case items := <-feed:
			b.syncForms(items)
		case <-beat.C:
			b.collectAnswers(ctx)
		case <-ctx.Done():
			var left []humaninput.WaitingItem
			for _, i := range b.items {
				if _, err := inbox.Find(i.Run, i.ID); err == nil {
					left = append(left, i)
				}
			}
			b.syncForms(left)
			return nil
		}
	}
}

// syncForms writes the files of new items and removes those of items that are no longer open.
func (b *fileChannel) syncForms(items []humaninput.WaitingItem) {
	now := make(map[string]humaninput.WaitingItem, len(items))
	for _, i := range items {
		n := formName(i)
		now[n], b.known[n] = i, i
		if _, err := b.root.Lstat(n + formSuffix); errors.Is(err, fs.ErrNotExist) {
			b.reportError(b.replaceFile(n+formSuffix, renderForm(i, "")))
		}
	}
	b.items = now
	for _, n := range b.fileNames(formSuffix) {
		data, err := b.readPlainFile(n + formSuffix)
		if err != nil {
			continue
		}
		run, id, ours := parseFormHeader(data)
		if _, waits := now[n]; waits || !ours {
			continue
		}
		if _, err := b.inbox.Find(run, id); err == nil {
			continue // its delay on this channel has not passed
		}
		if s, err := parseForm(data); err == nil && s.Answer == "" {
			b.reportError(b.root.Remove(n + formSuffix))
		}
	}
}

// collectAnswers reads the answers in the directory and submits them.
func (b *fileChannel) collectAnswers(ctx context.Context) {
	for _, n := range b.fileNames(formSuffix) {
		data, ready := b.readStable(n + formSuffix)
		if !ready {
			continue
		}
		run, id, ours := parseFormHeader(data)
		if !ours {
			if i, waits := b.items[n]; waits {
				b.reportError(b.replaceFile(n+formSuffix, renderForm(i, "the first line of the file was changed")))
			}
			continue
		}
		s, err := parseForm(data)
		if i, waits := b.items[n]; waits {
			b.submitAnswer(ctx, n, i, s, err)
		} else if s.Answer != "" && err == nil {
			b.writeLateNotice(n, run, id)
		}
	}
	for _, n := range b.fileNames(answerSuffix) {
		i, known := b.known[n]
		if !known {
			continue
		}
		data, ready := b.readStable(n + answerSuffix)
		if !ready {
			continue
		}
		if _, waits := b.items[n]; !waits {
			b.reportError(b.root.Remove(n + answerSuffix))
			b.writeLateNotice(n, i.Run, i.ID)
			continue
		}
		s, err := parseAnswerFile(data)
		if err == nil && s.Answer == "" {
			err = errors.New("the answer is empty")
		}
		if errors.Is(err, errWriting) {
			continue
		}
		b.reportError(b.root.Remove(n + answerSuffix))
		b.submitAnswer(ctx, n, i, s, err)
	}
}

// submitAnswer submits an answer, or writes the reason why it is not valid into the form.
func (b *fileChannel) submitAnswer(ctx context.Context, n string, i humaninput.WaitingItem, s writtenAnswer, err error) {
	switch {
	case errors.Is(err, errWriting), err == nil && s.Answer == "":
		return
	case err == nil:
		by := "file"
		if s.By != "" {
			by += ":" + s.By
		}
		if _, err = b.inbox.Answer(ctx, i.Run, i.ID, s.Answer, by); err == nil {
			delete(b.items, n)
			b.reportError(b.root.Remove(n + formSuffix))
			return
		}
	}
	if _, gone := b.inbox.Find(i.Run, i.ID); gone != nil {
		delete(b.items, n)
		b.writeLateNotice(n, i.Run, i.ID)
		return
	}
	note := err.Error()
	b.reportError(b.replaceFile(n+formSuffix, renderForm(i, note)))
}

// writeLateNotice writes a notice that an answer came too late.
func (b *fileChannel) writeLateNotice(n string, run nexus.RunID, id string) {
	if _, err := b.inbox.Find(run, id); err != nil {
		b.reportError(b.replaceFile(n+formSuffix, renderLateForm(run, id, err.Error())))
	}
}

// readStable returns a file's content once the file is the same as at the last check, which means
// that its writer has finished.
func (b *fileChannel) readStable(file string) ([]byte, bool) {
	info, err := b.root.Lstat(file)
	if err != nil {
		delete(b.seen, file)
		return nil, false
	}
	now := answerFileStamp{info.Size(), info.ModTime()}
	if was, ok := b.seen[file]; !ok || was != now {
		b.seen[file] = now
		return nil, false
	}
	data, err := b.readPlainFile(file)
	return data, err == nil
}

// readPlainFile reads a plain text file that is not too large. For any other file it returns content that
// is rejected as an answer.
func (b *fileChannel) readPlainFile(file string) ([]byte, error) {
	info, err := b.root.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New(file + " is not a plain file")
	}
	f, err := b.root.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read-only
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.New(file + " was exchanged")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(data) > maxFile {
		data = append(data[:1024], 0) // the NUL byte makes it invalid text, so it is rejected
	}
	return data, err
}

// fileNames returns the names of the files of a kind, without their suffixes.
func (b *fileChannel) fileNames(kind string) []string {
	dir, err := b.root.Open(".")
	if err != nil {
		b.reportError(err)
		return nil
	}
	defer func() { _ = dir.Close() }() // only read
	all, err := dir.ReadDir(maxFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		b.reportError(err)
	}
	var names []string
	for _, e := range all {
		if n, ok := strings.CutSuffix(e.Name(), kind); ok && !strings.HasPrefix(n, ".") {
			names = append(names, n)
		}
	}
	return names
}

// removeTempFiles removes files that a killed process left half written.
func (b *fileChannel) removeTempFiles() {
	found, err := fs.Glob(b.root.FS(), tempPrefix+"*"+formSuffix)
	b.reportError(err)
	for _, name := range found {
		b.reportError(b.root.Remove(name))
	}
}

// replaceFile writes a file completely and then moves it into place.
func (b *fileChannel) replaceFile(file string, data []byte) error {
	fresh := tempPrefix + file
	if err := b.root.WriteFile(fresh, data, 0o600); err != nil {
		return err
	}
	delete(b.seen, file)
	return b.root.Rename(fresh, file)
}

func (b *fileChannel) reportError(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) && b.Complain != nil {
		b.Complain(fmt.Errorf("channel file: %w", err))
	}
}

// formName returns the name of an item's files. Characters that file names may not contain are
// dropped; a checksum keeps such names distinct.
func formName(i humaninput.WaitingItem) string {
	keep := func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}
	plain := string(i.Run) + "-" + i.ID
	clean := strings.TrimLeft(strings.Map(keep, plain), ".")
	if clean != plain || len(clean) > 120 {
		sum := sha256.Sum256([]byte(plain))
		clean = clean[:min(len(clean), 120)] + "-" + hex.EncodeToString(sum[:4])
	}
	return clean
}
