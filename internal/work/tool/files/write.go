package files

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

const maxFile = 8 << 20 // bytes of a file that is read completely, edited or written

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// loadedTextFile is a file that was read completely.
type loadedTextFile struct {
	text string
	form textFormat
	data []byte
	mode fs.FileMode
}

// loadTextFile reads a text file.
func (t *AgentTree) loadTextFile(name string) (loadedTextFile, error) {
	return t.readWholeFile(name, t.openRegularFile)
}

// readWholeFile reads all of a file, which it opens with the given function.
func (t *AgentTree) readWholeFile(name string, open func(string) (*os.File, fs.FileInfo, string, error)) (loadedTextFile, error) {
	f, info, at, err := open(name)
	if err != nil {
		return loadedTextFile{}, err
	}
	defer func() { _ = f.Close() }()
	if info.Size() > maxFile {
		return loadedTextFile{}, fmt.Errorf("%s has %d bytes, too many for this tool", name, info.Size())
	}
	data, err := readAllBytes(f, info.Size())
	if err != nil {
		return loadedTextFile{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) <= maxInspected {
		if why := t.Hidden.Text(at, data); why != "" {
			return loadedTextFile{}, secretRefusal(name, why)
		}
	}
	d := loadedTextFile{data: data, mode: info.Mode().Perm()}
	if d.text, d.form, err = decodeText(data); err != nil {
		return d, fmt.Errorf("%s: %w of %d bytes", name, err, len(data))
	}
	return d, nil
}

// readAllBytes reads a file of about size bytes to its end.
func readAllBytes(r io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r, maxFile+1))
	return b.Bytes(), err
}

// checkWritable returns why a role may not write a file.
func (t *AgentTree) checkWritable(name string) error {
	if !t.Writes {
		return newRefusal("role.reads", "this role may only read; nothing was changed")
	}
	if name == "." {
		return errors.New("give the path of a file")
	}
	return nil
}

// Write creates or replaces a file. An existing one keeps its mode and format.
func (t *AgentTree) Write(name, content string) (string, error) {
	if err := t.checkWritable(name); err != nil {
		return "", err
	}
	if strings.ContainsRune(content, 0) || len(content) > maxFile {
		return "", fmt.Errorf("%s was not written: a text file contains no NUL and has at most %d bytes", name, maxFile)
	}
	d, old, err := t.fileToReplace(name)
	if err != nil {
		return "", err
	}
	if changes := t.seen.changesSinceRead(name, d.text); old && len(changes) > 0 {
		t.seen.rememberVersion(name, d.text)
		return "", fmt.Errorf("%s was not written: it changed since you read it; send it again if it is still right%s", name, changedSinceReadNote(d.text, changes))
	}
	content = strings.TrimPrefix(content, "\ufeff")
	data, err := d.form.Write(d.form.normaliseLineEnds(content))
	if err != nil { // all of it is new, so it may be UTF-8 from now on
		d.form = textFormat{CRLF: d.form.CRLF}
		if data, err = d.form.Write(d.form.normaliseLineEnds(content)); err != nil {
			return "", err
		}
	}
	was := &d
	if !old {
		was = nil
	}
	if err := t.replaceFile(name, data, was); err != nil {
		return "", err
	}
	t.seen.rememberVersion(name, d.form.normaliseLineEnds(content))
	if !old {
		return fmt.Sprintf("created %s: %d lines", name, countLines(content)), nil
	}
	note := ""
	if d.form != (textFormat{}) {
		note = fmt.Sprintf(" (kept: %s)", d.form)
	}
	return fmt.Sprintf("replaced %s: %d lines%s\n%s", name, countLines(content), note, unifiedDiff(d.text, d.form.normaliseLineEnds(content), maxDiff)), nil
}

// fileToReplace returns the file that a new one replaces, if there is one. Links are not written
// through.
func (t *AgentTree) fileToReplace(name string) (d loadedTextFile, old bool, err error) {
	info, err := t.Root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return loadedTextFile{mode: 0o644}, false, nil
	case err != nil:
		return d, false, t.ExplainOpenError(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := t.Root.Readlink(name)
		return d, false, fmt.Errorf("%s is a symbolic link to %s; write that file, or remove the link with shell first", name, target)
	case !info.Mode().IsRegular():
		return d, false, fmt.Errorf("%s is not a file but a %s", name, fileKind(info.Mode()))
	}
	if d, err = t.readWholeFile(name, t.openFile); err != nil { // an unreadable file was not shown either
		d = loadedTextFile{data: d.data}
	}
	d.mode = info.Mode().Perm()
	return d, true, nil
}

// replaceFile replaces a file atomically; was is its previous version, nil for a new one. Other hard
// links of the old file keep their contents.
func (t *AgentTree) replaceFile(name string, data []byte, was *loadedTextFile) error {
	mode := fs.FileMode(0o644)
	var old []byte
	if was != nil {
		mode, old = was.mode, was.data
	}
	if err := secret.CheckNoNewMaskMarks(old, data); err != nil {
		return fmt.Errorf("%s was not written: %w", name, err)
	}
	dir, base, err := t.writeLocation(name, was)
	if err != nil {
		return err
	}
	if dir != t.Root {
		defer func() { _ = dir.Close() }()
	}
	if err := replaceAtomically(dir, base, data, mode); err != nil {
		return t.ExplainOpenError(name, err)
	}
	return nil
}

// writeLocation returns the directory in which a file is written, which the caller closes unless it is
// the root, and its name there. A link within the tree stays: its target is written, if that
// is allowed.
func (t *AgentTree) writeLocation(name string, was *loadedTextFile) (dir *os.Root, base string, err error) {
	if dir, err = t.openParentDirectory(name, was == nil); err != nil {
		return nil, "", err
	}
	base = path.Base(name)
	if was == nil {
		return dir, base, nil
	}
	info, err := dir.Lstat(base)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		at, err := t.linkTarget(name)
		if err = t.closeUnlessRoot(dir, err); err != nil {
			return nil, "", err
		}
		return t.writeLocation(at, was)
	}
	if err != nil || !info.Mode().IsRegular() || !isUnchanged(dir, base, was.data) {
		return nil, "", t.closeUnlessRoot(dir, fmt.Errorf("%s was not written: somebody else is changing it; read it again", name))
	}
	return dir, base, nil
}

// linkTarget returns the file to which a link points.
func (t *AgentTree) linkTarget(name string) (string, error) {
	at := path.Clean(t.followLinks(name))
	if info, err := t.Root.Lstat(at); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s was not written: it is a link, and its target is not a file that can be written in this tree", name)
	}
	if err := t.checkAccess(at, true); err != nil {
		return "", fmt.Errorf("%s is a link to %s: %w", name, at, err)
	}
	return at, nil
}

// closeUnlessRoot closes a directory that is not the root, and returns the error.
func (t *AgentTree) closeUnlessRoot(dir *os.Root, err error) error {
	if dir == t.Root {
		return err
	}
	return errors.Join(err, dir.Close())
}

// isUnchanged reports whether a file still has the given contents.
func isUnchanged(dir *os.Root, base string, old []byte) bool {
	if old == nil {
		return true
	}
	f, err := dir.OpenFile(base, reads, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	var now [16 << 10]byte
	for {
		n, err := f.Read(now[:])
		if !bytes.HasPrefix(old, now[:n]) {
			return false
		}
		if old = old[n:]; err != nil {
			return errors.Is(err, io.EOF) && len(old) == 0
		}
	}
}

// openParentDirectory opens the directory in which a file is to be written, wherever links lead, after
// checking its real path. It creates missing directories. The root is not opened a second
// time.
func (t *AgentTree) openParentDirectory(name string, made bool) (*os.Root, error) {
	parent, rest := path.Dir(name), ""
	if parent == "." {
		return t.Root, nil
	}
	dir, err := t.Root.OpenRoot(parent)
	for made && parent != "." && errors.Is(err, fs.ErrNotExist) {
		parent, rest = path.Dir(parent), path.Join(path.Base(parent), rest)
		dir, err = t.Root.OpenRoot(parent)
	}
	if err != nil {
		return nil, t.ExplainOpenError(parent, err)
	}
	if err := t.checkRealPath(dir, parent, path.Join(rest, path.Base(name))); err != nil || rest == "" {
		return dir, closeOnError(dir, err)
	}
	if err := dir.MkdirAll(rest, 0o755); err != nil {
		return nil, closeOnError(dir, t.ExplainOpenError(path.Dir(name), err))
	}
	below, err := dir.OpenRoot(rest)
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, t.ExplainOpenError(path.Dir(name), err)
	}
	return below, closeOnError(below, t.checkRealPath(below, path.Dir(name), path.Base(name)))
}

func closeOnError(dir *os.Root, err error) error {
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	return nil
}

// checkRealPath returns why files in an open directory may not be written, by the directory's
// real path.
func (t *AgentTree) checkRealPath(dir *os.Root, name, rest string) error {
	f, err := dir.OpenFile(".", reads, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	at, err := t.resolvedPath(f, name)
	if err != nil || at == name {
		return err
	}
	return t.checkAccess(path.Join(at, rest), true)
}

func replaceAtomically(dir *os.Root, base string, data []byte, mode fs.FileMode) error {
	tmp := ".nexus-" + rand.Text() + ".tmp"
	f, err := dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = dir.Rename(tmp, base)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(tmp))
	}
	return nil
}
