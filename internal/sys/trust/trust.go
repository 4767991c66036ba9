// Package trust stores a person's agreements to parts of a repository: settings that control the
// behavior of agents, or commands that run for them. An agreement is about the content, so that a
// change needs a new agreement, and the agreed content is stored to show the difference.
package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// TrustItem is a part of a repository that needs trust: a file by its path, or a setting by its key.
type TrustItem struct {
	Name string
	Text string // its whole content
}

// TrustState is the trust state of an item.
type TrustState string

// The trust states.
const (
	StateTrusted TrustState = "trusted" // agreed to in its current form
	StateNew     TrustState = "new"     // never agreed to
	StateChanged TrustState = "changed" // agreed to in an earlier form
)

// ItemState is an item with its state.
type ItemState struct {
	TrustItem
	State TrustState
	Was   string // agreed content; empty unless it changed
}

// Store is the record of agreements. Its file is private to the user, and inaccessible to agents.
// It may be used by many processes.
type Store struct{ path string }

// OpenStore returns the store in a directory, which may not exist yet.
func OpenStore(dir string) *Store { return &Store{filepath.Join(dir, "trust.json")} }

// trustFileContent is the content of the store: the agreed items, by repository and name. Their whole
// content is stored, for comparison with the next version.
type trustFileContent struct {
	Version int                          `json:"version"`
	Trusted map[string]map[string]string `json:"trusted"`
	// Met has the last seen items from outside of a repository, by repository and name; see
	// [Store.TrustOnFirstUse].
	Met map[string]map[string]string `json:"met,omitzero"`
}

// storeVersion is the version of the store's format.
const storeVersion = 1

// ItemStates returns the states of items of the repository at root, in their order.
func (b *Store) ItemStates(root string, items []TrustItem) ([]ItemState, error) {
	if len(items) == 0 {
		return nil, nil
	}
	p, err := b.readStoreFile()
	if err != nil {
		return nil, err
	}
	known := p.Trusted[repositoryID(root)]
	all := make([]ItemState, len(items))
	for i, item := range items {
		was, ok := known[item.Name]
		switch {
		case !ok:
			all[i] = ItemState{item, StateNew, ""}
		case was == item.Text:
			all[i] = ItemState{item, StateTrusted, ""}
		default:
			all[i] = ItemState{item, StateChanged, was}
		}
	}
	return all, nil
}

// CheckTrusted returns nil if all items are trusted, and otherwise an error that names the others.
func (b *Store) CheckTrusted(root string, items []TrustItem) error {
	all, err := b.ItemStates(root, items)
	if err != nil {
		return err
	}
	var open []string
	for _, j := range all {
		if j.State != StateTrusted {
			open = append(open, fmt.Sprintf("%s (%s)", j.Name, j.State))
		}
	}
	if len(open) == 0 {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeUntrusted, Message: "the repository sets how agents behave, and that is not trusted: " + strings.Join(open, ", "),
		Hint: "Read it with nexus trust, then trust it with nexus trust --yes.",
	}
}

// RecordTrust records that a person agreed to the current content of the items.
func (b *Store) RecordTrust(ctx context.Context, root string, items []TrustItem) error {
	return b.updateStore(ctx, func(p *trustFileContent) {
		id := repositoryID(root)
		if p.Trusted[id] == nil {
			p.Trusted[id] = map[string]string{}
		}
		for _, item := range items {
			p.Trusted[id][item.Name] = item.Text
		}
	})
}

// RevokeTrust removes the agreements to the named items, or to all without a name. It returns the names
// that had been agreed to.
func (b *Store) RevokeTrust(ctx context.Context, root string, names ...string) ([]string, error) {
	var gone []string
	err := b.updateStore(ctx, func(p *trustFileContent) {
		known := p.Trusted[repositoryID(root)]
		for name := range known {
			if len(names) == 0 || slices.Contains(names, name) {
				gone = append(gone, name)
				delete(known, name)
			}
		}
		if len(known) == 0 {
			delete(p.Trusted, repositoryID(root))
		}
	})
	slices.Sort(gone)
	return gone, err
}

func (b *Store) updateStore(ctx context.Context, do func(*trustFileContent)) error {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return filewrite.WrapError("make a directory", err)
	}
	return filewrite.WithLock(ctx, b.path+".lock", func(context.Context) error {
		p, err := b.readStoreFile()
		if err != nil {
			return err
		}
		do(&p)
		data, err := json.MarshalIndent(p, "", " ")
		if err != nil {
			return err
		}
		return filewrite.ReplaceFile(b.path, data)
	})
}

func (b *Store) readStoreFile() (trustFileContent, error) {
	fresh := trustFileContent{Version: storeVersion, Trusted: map[string]map[string]string{}}
	data, err := os.ReadFile(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return trustFileContent{}, filewrite.WrapError("read what is trusted", err)
	}
	if info, err := os.Stat(b.path); err == nil && info.Mode().Perm()&0o022 != 0 {
		return trustFileContent{}, &nexus.Error{
			Code: nexus.CodeUntrusted, Message: "others can write " + b.path + ", so nothing in it is trusted",
			Hint: "Look at what is in it, then chmod 600 it, or delete it and agree again with nexus trust.",
		}
	}
	p, err := parseContent(data)
	if err != nil {
		return trustFileContent{}, &nexus.Error{
			Code: nexus.CodeUntrusted, Message: "read " + b.path, Cause: err,
			Hint: "Delete it and agree again with nexus trust.",
		}
	}
	return p, nil
}

// parseContent parses the store strictly: if it is unreadable, nothing is trusted.
func parseContent(data []byte) (trustFileContent, error) {
	p := trustFileContent{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return trustFileContent{}, err
	}
	if d.More() {
		return trustFileContent{}, errors.New("something follows its end")
	}
	if p.Version != storeVersion {
		return trustFileContent{}, fmt.Errorf("it has version %d, this program reads %d", p.Version, storeVersion)
	}
	if p.Trusted == nil {
		p.Trusted = map[string]map[string]string{}
	}
	return p, nil
}

// repositoryID names a repository by its real path.
func repositoryID(root string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	return root
}
