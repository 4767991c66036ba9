package filewrite

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// WriteBelowRoot writes a file below root atomically, and never through a link.
func WriteBelowRoot(root *os.Root, name string, data []byte, dirs, mode fs.FileMode) error {
	if err := CheckNoLinks(root, name); err != nil {
		return err
	}
	dir := path.Dir(name)
	if err := root.MkdirAll(filepath.FromSlash(dir), dirs); err != nil {
		return err
	}
	// The random name cannot be a prepared link. Its prefix marks it as a leftover after a crash.
	next := filepath.FromSlash(path.Join(dir, ".new-"+rand.Text()))
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(next, filepath.FromSlash(name))
	}
	if err != nil {
		return errors.Join(err, root.Remove(next))
	}
	return nil
}

// CheckNoLinks returns an error unless the existing parts of a path are directories and, at its
// end, a file (or a directory if the path ends with a slash). A link leads to a target that
// somebody else chose, even within the checkout.
func CheckNoLinks(root *os.Root, name string) error {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' || strings.HasSuffix(name[:i], "/") {
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(name[:i]))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		what := "directory"
		ok := info.IsDir()
		if i == len(name) {
			what, ok = "file", info.Mode().IsRegular()
		}
		if !ok {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("%s: it is not a plain %s", name[:i], what),
				Hint: "Replace it with the " + what + " itself.",
			}
		}
	}
	return nil
}
