package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// ObjectStore reads and writes objects of our repositories without a process for each: one long-lived
// git reads them, and new objects are written as git's loose files. It may be used by many
// goroutines. Close ends the reader.
type ObjectStore struct {
	repo Repo
	size int // length of an object name, in bytes

	mu    sync.Mutex // guards the reader and the trees
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	trees map[string][]TreeEntry // cached trees, by name
	nodes int                    // number of nodes in trees

	packers sync.Pool // of *packer
}

// TreeEntry is one entry of a tree.
type TreeEntry struct {
	Name string
	Mode uint32
	ID   string // hex
}

var errMissing = errors.New("is not there")

// maxNodes limits the cached tree nodes.
const maxNodes = 100_000

// IDSize returns the length of an object name in bytes.
func (o *ObjectStore) IDSize() int { return o.size }

// Close ends the reader. It is restarted when needed.
func (o *ObjectStore) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stopReaderProcess()
}

func (o *ObjectStore) stopReaderProcess() error {
	if o.cmd == nil {
		return nil
	}
	err := errors.Join(o.in.Close(), o.cmd.Wait())
	o.cmd = nil
	return err
}

// startReaderProcess starts the reader. It runs until Close, independent of the call that started it, and ends
// with this process.
func (o *ObjectStore) startReaderProcess(ctx context.Context) error {
	cmd := o.repo.newGitCommand(context.WithoutCancel(ctx), []string{"cat-file", "--batch-command"})
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	o.cmd, o.in, o.out = cmd, in, bufio.NewReader(out)
	return nil
}

// ReadObject returns the kind and content of an object.
func (o *ObjectStore) ReadObject(ctx context.Context, id string) (kind string, data []byte, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.readObject(ctx, id)
}

func (o *ObjectStore) readObject(ctx context.Context, id string) (kind string, data []byte, err error) {
	if !IsObjectID(id) {
		return "", nil, fmt.Errorf("git cat-file: %q is not an object name", id)
	}
	head, data, _, err := o.readObjectFromReader(ctx, "contents", id, math.MaxInt)
	return head.kind, data, err
}

// resolve returns the name of the object that an expression such as main^{tree} means. It is an errMissing
// if there is none.
func (o *ObjectStore) resolve(ctx context.Context, expression string) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	head, _, _, err := o.readObjectFromReader(ctx, "info", expression, 0)
	return head.id, err
}

// readBlob returns at most limit bytes of the blob that an expression such as main:file means, and reports
// whether it has more.
func (o *ObjectStore) readBlob(ctx context.Context, expression string, limit int) (text string, cut bool, err error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	head, data, cut, err := o.readObjectFromReader(ctx, "contents", expression, limit)
	if err == nil && head.kind != "blob" {
		return "", false, fmt.Errorf("git cat-file: %s is a %s, not a file", expression, head.kind)
	}
	return string(data), cut, err
}

// objectHeader is the reader's first line about an object.
type objectHeader struct {
	id, kind string
	size     int
}

// readObjectFromReader sends a command about an object, "info" or "contents", to the reader. It returns at most
// limit bytes of the content, and whether there are more. After an error the reader is replaced.
func (o *ObjectStore) readObjectFromReader(ctx context.Context, command, name string, limit int) (head objectHeader, data []byte, cut bool, err error) {
	if o.cmd == nil {
		if err := o.startReaderProcess(ctx); err != nil {
			return objectHeader{}, nil, false, err
		}
	}
	head, data, cut, err = o.exchange(command, name, limit)
	if errors.Is(err, errMissing) {
		return objectHeader{}, nil, false, fmt.Errorf("object %s: %w", name, err)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("git cat-file: %s: %w", name, err), o.stopReaderProcess())
	}
	return head, data, cut, err
}

func (o *ObjectStore) exchange(command, name string, limit int) (head objectHeader, data []byte, cut bool, err error) {
	if _, err := io.WriteString(o.in, command+" "+name+"\n"); err != nil {
		return head, nil, false, err
	}
	line, err := o.out.ReadString('\n')
	if err != nil {
		return head, nil, false, err
	}
	line = strings.TrimSuffix(line, "\n")
	if line == name+" missing" || line == name+" ambiguous" {
		return head, nil, false, errMissing
	}
	f := strings.Fields(line)
	if len(f) != 3 || !IsObjectID(f[0]) || IsObjectID(name) && f[0] != name {
		return head, nil, false, errors.New(line)
	}
	head = objectHeader{id: f[0], kind: f[1]}
	if head.size, err = strconv.Atoi(f[2]); err != nil || head.size < 0 {
		return head, nil, false, errors.New(line)
	}
	if command == "info" {
		return head, nil, false, nil
	}
	data = make([]byte, min(head.size, limit))
	if _, err = io.ReadFull(o.out, data); err == nil {
		_, err = o.out.Discard(head.size - len(data) + 1) // with a newline
	}
	return head, data, head.size > len(data), err
}

// treeNodes returns the entries of a tree. The caller must not change them.
func (o *ObjectStore) treeNodes(ctx context.Context, tree string) ([]TreeEntry, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n, ok := o.trees[tree]; ok {
		return n, nil
	}
	kind, data, err := o.readObject(ctx, tree)
	if err != nil {
		return nil, err
	}
	if kind != "tree" {
		return nil, fmt.Errorf("git cat-file: %s is a %s, not a tree", tree, kind)
	}
	nodes, err := parseTree(data, o.size)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", tree, err)
	}
	o.cacheTree(tree, nodes)
	return nodes, nil
}

func (o *ObjectStore) cacheTree(tree string, nodes []TreeEntry) {
	if o.trees == nil || o.nodes > maxNodes {
		o.trees, o.nodes = map[string][]TreeEntry{}, 0
	}
	o.trees[tree] = nodes
	o.nodes += len(nodes)
}

// parseTree parses a tree object: "<mode> <name>\0<binary object name>"...
func parseTree(data []byte, size int) ([]TreeEntry, error) {
	var all []TreeEntry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		m, err := strconv.ParseUint(mode, 8, 32)
		if !ok || !ok2 || err != nil || name == "" || len(rest) < size {
			return nil, errors.New("cannot be read")
		}
		all = append(all, TreeEntry{Name: name, Mode: uint32(m), ID: hex.EncodeToString(rest[:size])})
		data = rest[size:]
	}
	return all, nil
}

// Commit stores a commit. Equal arguments create the same commit.
func (o *ObjectStore) Commit(tree string, parents []string, by CommitIdentity, at int64, message string) (string, error) {
	name, mail := by.nameAndEmail()
	if strings.ContainsAny(name+mail, "<>\n\x00") || strings.Contains(message, "\x00") {
		return "", fmt.Errorf("commit: name or message of %q cannot be stored", name)
	}
	var b strings.Builder
	b.WriteString("tree " + tree + "\n")
	for _, p := range parents {
		b.WriteString("parent " + p + "\n")
	}
	who := fmt.Sprintf("%s <%s> %d +0000\n", name, mail, at)
	b.WriteString("author " + who + "committer " + who + "\n" + strings.TrimRight(message, "\n") + "\n")
	return o.WriteObject("commit", []byte(b.String()))
}

// ReadRef returns the object of a ref that [ObjectStore.MoveRef] wrote, or "" if there is none, or if
// a crash of the machine left it empty.
func (o *ObjectStore) ReadRef(name string) (string, error) {
	if err := CheckRef(name); err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(o.repo.Dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return "", nil
	}
	id := strings.TrimSuffix(string(data), "\n")
	if err == nil && !IsObjectID(id) {
		err = fmt.Errorf("ref %s: %q is not an object name", name, id)
	}
	return id, err
}

// MoveRef moves a ref from one object to another, "" for a ref that must not exist, with git's
// method: under the ref's lock file and by renaming. It is only for refs that are never packed.
func (o *ObjectStore) MoveRef(name, to, from string) error {
	if err := CheckRef(name); err != nil {
		return err
	}
	path := filepath.Join(o.repo.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("ref %s: %w", name, err)
	}
	_, err = lock.WriteString(to + "\n")
	err = errors.Join(err, lock.Close())
	is, err2 := o.ReadRef(name)
	if err = errors.Join(err, err2); err == nil && is != from {
		err = fmt.Errorf("ref %s is at %.12q, not at %.12q", name, is, from)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path+".lock"))
	}
	return os.Rename(path+".lock", path)
}

// ForceRef sets a ref to an object, regardless of its value and of a leftover lock. It is for refs
// that only one process writes.
func (o *ObjectStore) ForceRef(name, to string) error {
	is, err := o.ReadRef(name)
	if err != nil || is == to {
		return err
	}
	if err := o.UnlockRef(name); err != nil {
		return err
	}
	return o.MoveRef(name, to, is)
}

// UnlockRef removes the leftover lock of a killed process. Only the single process that writes the
// ref may call it.
func (o *ObjectStore) UnlockRef(name string) error {
	err := os.Remove(filepath.Join(o.repo.Dir, filepath.FromSlash(name)) + ".lock")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ParseCommit returns the tree of a commit and its date in Unix seconds.
func ParseCommit(data []byte) (tree string, at int64, err error) {
	head, _, _ := strings.Cut(string(data), "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		if id, ok := strings.CutPrefix(line, "tree "); ok && tree == "" {
			tree = id
		}
		if who, ok := strings.CutPrefix(line, "committer "); ok {
			if f := strings.Fields(who[strings.LastIndexByte(who, '>')+1:]); len(f) > 0 {
				at, _ = strconv.ParseInt(f[0], 10, 64) // an invalid date is 0
			}
		}
	}
	if !IsObjectID(tree) {
		return "", 0, errors.New("commit: names no tree")
	}
	return tree, max(at, 0), nil
}
