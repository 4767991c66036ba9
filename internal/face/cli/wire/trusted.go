package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// maxTrusted is the most bytes that a file which needs trust may have.
const maxTrusted = 1 << 20

// Entrusted returns what the repository at dir has that somebody must agree
// to before it takes part: roles of its own, which decide what agents are told
// and may do. Its standing rules need no trust; they are fenced as data.
func Entrusted(dir string) (items []trust.Item, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	names, err := fs.Glob(root.FS(), ".nexus/roles/*.md")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		info, err := root.Stat(name)
		if err == nil && (!info.Mode().IsRegular() || info.Size() > maxTrusted) {
			err = fmt.Errorf("it is no file of at most %d bytes", maxTrusted)
		}
		var data []byte
		if err == nil {
			data, err = root.ReadFile(name)
		}
		if err != nil {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "read " + path.Clean(name), Cause: err,
				Hint: "Make it a file of the repository; a link may not lead out of it.",
			}
		}
		items = append(items, trust.Item{Name: name, Text: string(data)})
	}
	return items, nil
}

// agreed says which of the things that need trust have none. Nobody's book
// trusts nothing.
func agreed(dir string, book *trust.Book) error {
	items, err := Entrusted(dir)
	if err != nil || len(items) == 0 {
		return err
	}
	if book == nil {
		return &nexus.Error{Code: nexus.CodeUntrusted, Message: items[0].Name + " is not trusted here", Hint: "Work on a repository without it."}
	}
	return book.Check(dir, items)
}
