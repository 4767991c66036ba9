package app

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// TrustItems returns what the repository at dir has that somebody must agree
// to before it takes part: roles of its own, which decide what agents are told
// and may do, what it asks of the network, and what runs to prepare worktrees.
// Its standing rules need no trust; they are fenced as data.
func TrustItems(dir string) ([]trust.Item, error) {
	items, err := roleItems(dir)
	if err != nil {
		return nil, err
	}
	wanted, err := networkItems(dir)
	if err != nil {
		return nil, err
	}
	more, err := environmentItems(dir)
	if err != nil {
		return nil, err
	}
	asks, err := stepItems(dir)
	return slices.Concat(items, wanted, more, asks), err
}

// TrustItems is [TrustItems] without what the project's settings ask for where
// these are left out.
func (a *App) TrustItems(dir string) ([]trust.Item, error) {
	if a.withoutProject {
		return roleItems(dir)
	}
	return TrustItems(dir)
}

// roleItems returns the repository's own roles.
func roleItems(dir string) (items []trust.Item, err error) {
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
		text, err := readInstructionFile(root, name)
		if err != nil {
			return nil, err
		}
		items = append(items, trust.Item{Name: name, Text: text})
	}
	return items, nil
}

// CheckTrust says which of the things that need trust have none. Nobody's book
// trusts nothing.
func CheckTrust(dir string, book *trust.Store) error {
	items, err := TrustItems(dir)
	items = slices.DeleteFunc(items, func(i trust.Item) bool { return i.Name == networkItem }) // Grant checks it, where it counts
	if err != nil || len(items) == 0 {
		return err
	}
	if book == nil {
		return &nexus.Error{Code: nexus.CodeUntrusted, Message: items[0].Name + " is not trusted here", Hint: "Work on a repository without it."}
	}
	return book.Check(dir, items)
}
