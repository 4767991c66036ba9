package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
)

// clean returns a path of the model's as one below the root, or says why it
// may not be used. Where it leads is for os.Root to confine.
func (e Env) clean(name string, write bool) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", errors.New("a path cannot hold a NUL")
	}
	if rest, ok := strings.CutPrefix(name, e.Dir+"/"); ok && e.Dir != "" {
		name = rest
	} else if name == e.Dir || name == "" {
		name = "."
	}
	if path.IsAbs(name) {
		return "", fmt.Errorf("%s is outside the worktree; give a path relative to its root", name)
	}
	name = path.Clean(name)
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("%s is outside the worktree", name)
	}
	if d := policy.Path(name, write); !d.Allowed() {
		return "", fmt.Errorf("%s is refused (%s): %s", name, d.Rule, d.Reason)
	}
	return name, nil
}

// open opens a regular file for reading. A pipe or a device is refused
// without waiting for it.
func (e Env) open(name string) (*os.File, fs.FileInfo, error) {
	f, err := e.Root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, e.explain(name, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory; list_files shows what is in it", name)
	} else if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file but a %s", name, kind(info.Mode()))
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}

// explain says what to do about a path that cannot be opened.
func (e Env) explain(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, err)
	}
	dir := path.Dir(name)
	if near := e.similar(dir, path.Base(name)); len(near) > 0 {
		return fmt.Errorf("%s does not exist; %s has %s", name, dir, strings.Join(near, ", "))
	}
	return fmt.Errorf("%s does not exist; list_files shows what there is", name)
}

// similar returns at most 8 names in a directory that a missing one may have
// meant.
func (e Env) similar(dir, name string) []string {
	d, err := e.Root.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(1000)
	slices.Sort(names)
	stem := strings.ToLower(strings.TrimSuffix(name, path.Ext(name)))
	var near []string
	for _, n := range names {
		low := strings.ToLower(n)
		if len(stem) > 1 && (strings.Contains(low, stem) || len(low) > 3 && strings.Contains(stem, strings.TrimSuffix(low, path.Ext(low)))) {
			near = append(near, n)
		}
		if len(near) == 8 {
			break
		}
	}
	return near
}
