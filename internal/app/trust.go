package app

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// RepositoryTrustItems returns the items of the repository at dir that a person must agree to before they
// are used: roles of its own, which contain instructions and rights of agents, its network
// requests, and the commands that prepare worktrees. Its standing rules need no trust; they are
// fenced as data.
func RepositoryTrustItems(dir string) ([]trust.TrustItem, error) {
	items, err := roleTrustItems(dir)
	if err != nil {
		return nil, err
	}
	wanted, err := networkTrustItems(dir)
	if err != nil {
		return nil, err
	}
	more, err := environmentTrustItems(dir)
	if err != nil {
		return nil, err
	}
	asks, err := stepTrustItems(dir)
	return slices.Concat(items, wanted, more, asks), err
}

// TrustItems is [RepositoryTrustItems] without the requests of the project's settings if these are
// skipped.
func (a *App) TrustItems(dir string) ([]trust.TrustItem, error) {
	if a.withoutProject {
		return roleTrustItems(dir)
	}
	return RepositoryTrustItems(dir)
}

// roleTrustItems returns the repository's own roles.
func roleTrustItems(dir string) (items []trust.TrustItem, err error) {
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
		items = append(items, trust.TrustItem{Name: name, Text: text})
	}
	return items, nil
}

// CheckTrust returns an error with the untrusted items that need trust. A nil store trusts
// nothing.
func CheckTrust(dir string, book *trust.Store) error {
	items, err := RepositoryTrustItems(dir)
	items = slices.DeleteFunc(items, func(i trust.TrustItem) bool { return i.Name == networkItem }) // Grant checks it when it is needed
	if err != nil || len(items) == 0 {
		return err
	}
	if book == nil {
		return &nexus.Error{Code: nexus.CodeUntrusted, Message: items[0].Name + " is not trusted here", Hint: "Work on a repository without it."}
	}
	return book.CheckTrusted(dir, items)
}
