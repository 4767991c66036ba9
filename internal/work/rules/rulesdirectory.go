package rules

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// maxFile limits the bytes of a file that is read.
const maxFile = 1 << 20

// rulesDirectory is a directory that rules are read from.
type rulesDirectory struct {
	dir   string
	label string // prefix of the names of its files; empty for the repository
	own   bool   // it is the user's, whose links may have any target
	hides files.HiddenPathRules
}

// readFile returns a file's text, and its real path. A missing file is [fs.ErrNotExist]. A link
// may lead to another file of the place, and a file that is hidden from agents stays hidden
// under every name.
func (p rulesDirectory) readFile(name string) (text, real string, err error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", "", errors.New("it lies outside of the tree")
	}
	full, err := filepath.EvalSymlinks(filepath.Join(p.dir, filepath.FromSlash(name)))
	if errors.Is(err, syscall.ENOTDIR) { // a path of a task is a file, and not the directory that it could be
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", "", withoutPath(err)
	}
	base, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		return "", "", withoutPath(err)
	}
	rel, err := filepath.Rel(base, full)
	if err != nil || !filepath.IsLocal(rel) {
		if !p.own {
			return "", "", errors.New("a link leads out of the tree")
		}
		base, rel = filepath.Dir(full), filepath.Base(full)
	}
	data, err := readRegularFile(base, rel)
	if err != nil {
		return "", "", withoutPath(err)
	}
	real = filepath.ToSlash(rel)
	if why := p.fileHiddenReason(real, data); why != "" {
		return "", "", errors.New(why)
	}
	if !utf8.Valid(data) || strings.IndexByte(string(data), 0) >= 0 {
		return "", "", errors.New("it is not a text file")
	}
	return strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufeff"), real, nil
}

// fileHiddenReason returns why a file is hidden from agents, or "".
func (p rulesDirectory) fileHiddenReason(name string, data []byte) string {
	if p.own {
		return ""
	}
	if why := p.hides.NameReason(name); why != "" {
		return why
	}
	if root, err := os.OpenRoot(p.dir); err == nil {
		defer func() { _ = root.Close() }()
		if p.hides.IsIgnored(root, name) {
			return files.IgnoreFile + " hides it from agents"
		}
	}
	if d := policy.JudgePath(name, false); d.Decision == policy.Deny {
		return d.Reason
	}
	return p.hides.Text(name, data)
}

// readRegularFile reads a regular file below base. No concurrent change can make it leave base.
func readRegularFile(base, name string) (data []byte, err error) {
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(data) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return data, err
}

// withoutPath returns an error without paths of this machine.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// listFiles returns the files below a directory of the place that match a pattern without
// directories, in order; nil if the directory is missing.
func (p rulesDirectory) listFiles(dir, pattern string) []string {
	full, err := filepath.EvalSymlinks(filepath.Join(p.dir, filepath.FromSlash(dir)))
	if err != nil {
		return nil
	}
	base, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		return nil
	}
	if rel, err := filepath.Rel(base, full); err != nil || !p.own && !filepath.IsLocal(rel) {
		return nil
	}
	names, err := fs.Glob(os.DirFS(full), pattern)
	if err != nil {
		return nil
	}
	for i := range names {
		names[i] = dir + "/" + names[i]
	}
	return names
}
