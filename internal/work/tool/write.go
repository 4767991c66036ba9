package tool

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

func writeFile(e Env) Tool {
	return Tool{
		Name:        "write_file",
		Description: "Create a file or replace all of it; directories are made.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},` +
			`"required":["path","content"],"additionalProperties":false}`),
		Run: func(_ context.Context, input json.RawMessage) (Output, error) {
			in, err := decode[struct{ Path, Content string }](input)
			if err != nil {
				return Output{}, err
			}
			name, err := e.clean(in.Path, true)
			if err != nil {
				return Output{}, err
			}
			made, err := e.write(name, []byte(in.Content))
			if err != nil {
				return Output{}, err
			}
			did := "replaced"
			if made {
				did = "created"
			}
			return Output{Text: fmt.Sprintf("%s %s: %d lines", did, name, lines(in.Content)), Changed: true}, nil
		},
	}
}

func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// write puts a whole file in place at once. Links to the old file, hard or
// symbolic, are not written through. It reports whether the file is new.
func (e Env) write(name string, data []byte) (made bool, err error) {
	if !e.Writes {
		return false, errReadOnly
	}
	if name == "." {
		return false, errors.New("give the path of a file")
	}
	mode, old := fs.FileMode(0o644), []byte(nil)
	info, err := e.Root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		made = true
		if err := e.Root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return false, e.explain(path.Dir(name), err)
		}
	case err != nil:
		return false, e.explain(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := e.Root.Readlink(name)
		return false, fmt.Errorf("%s is a symbolic link to %s; write that file, or remove the link with shell first", name, target)
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is not a file but a %s", name, kind(info.Mode()))
	default:
		mode = info.Mode().Perm()
		old, _ = e.Root.ReadFile(name) // what cannot be read was not shown either
	}
	if err := secret.Lost(old, data); err != nil {
		return false, fmt.Errorf("%s was not written: %w", name, err)
	}
	return made, e.replace(name, data, mode)
}

func (e Env) replace(name string, data []byte, mode fs.FileMode) error {
	tmp := path.Join(path.Dir(name), ".nexus-"+rand.Text()+".tmp")
	f, err := e.Root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return e.explain(name, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = e.Root.Rename(tmp, name)
	}
	if err != nil {
		return errors.Join(e.explain(name, err), e.Root.Remove(tmp))
	}
	return nil
}
