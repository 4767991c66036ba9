package trust

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestTrustIsInContent(t *testing.T) {
	b := OpenStore(filepath.Join(t.TempDir(), "nexus"))
	root := t.TempDir()
	items := []TrustItem{{"a", "one"}, {"b", "two"}}
	untrusted := &nexus.Error{Code: nexus.CodeUntrusted}
	if err := b.CheckTrusted(root, items); !errors.Is(err, untrusted) || !strings.Contains(err.Error(), "a (new), b (new)") {
		t.Fatal(err)
	}
	if err := b.CheckTrusted(root, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.RecordTrust(t.Context(), root, items[:1]); err != nil {
		t.Fatal(err)
	}
	if err := b.CheckTrusted(root, items); !errors.Is(err, untrusted) || strings.Contains(err.Error(), "a (") {
		t.Fatal(err)
	}
	if err := b.RecordTrust(t.Context(), root, items[1:]); err != nil {
		t.Fatal(err)
	}
	if err := b.CheckTrusted(root, items); err != nil {
		t.Fatal(err)
	}
	if err := b.CheckTrusted(t.TempDir(), items); !errors.Is(err, untrusted) {
		t.Errorf("elsewhere: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	if err := b.CheckTrusted(link, items); err != nil {
		t.Errorf("by another way: %v", err)
	}
	items[1].Text = "2"
	got, err := b.ItemStates(root, items)
	if d := cmp.Diff([]ItemState{{items[0], StateTrusted, ""}, {items[1], StateChanged, "two"}}, got); err != nil || d != "" {
		t.Error(err, d)
	}
	if gone, err := b.RevokeTrust(t.Context(), root, "a", "none"); err != nil || !slices.Equal(gone, []string{"a"}) {
		t.Error(gone, err)
	}
	if gone, err := b.RevokeTrust(t.Context(), root); err != nil || !slices.Equal(gone, []string{"b"}) {
		t.Error(gone, err)
	}
	if err := b.CheckTrusted(root, items[:1]); !errors.Is(err, untrusted) {
		t.Error(err)
	}
}

// TestBrokenBookTrustsNothing reads a book that others wrote, or that is no
// book.
func TestBrokenBookTrustsNothing(t *testing.T) {
	dir := t.TempDir()
	b, root := OpenStore(dir), t.TempDir()
	items := []TrustItem{{"a", "one"}}
	if err := b.RecordTrust(t.Context(), root, items); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, "trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{", "[]", `{"version":2}`, `{"version":1,"more":1}`, string(good) + "{}", string(good[:len(good)/2])} {
		if err := os.WriteFile(filepath.Join(dir, "trust.json"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := b.CheckTrusted(root, items); !errors.Is(err, &nexus.Error{Code: nexus.CodeUntrusted}) {
			t.Errorf("%q: %v", bad, err)
		}
		if err := b.RecordTrust(t.Context(), root, items); err == nil {
			t.Errorf("%q was written over", bad)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "trust.json"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "trust.json"), 0o622); err != nil { //nolint:gosec // that is what is refused
		t.Fatal(err)
	}
	if err := b.CheckTrusted(root, items); err == nil || !strings.Contains(err.Error(), "others can write") {
		t.Error(err)
	}
}

// TestManyAgreeAtOnce loses none of what is agreed to side by side.
func TestManyAgreeAtOnce(t *testing.T) {
	b, root := OpenStore(t.TempDir()), t.TempDir()
	var items []TrustItem
	var all sync.WaitGroup
	for i := range 20 {
		item := TrustItem{fmt.Sprint(i), "x"}
		items = append(items, item)
		all.Go(func() {
			if err := b.RecordTrust(context.Background(), root, []TrustItem{item}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := b.CheckTrusted(root, items); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"trusted":{"/r":{"a":"one"}}}`))
	f.Add([]byte(`{"version":1,"trusted":{"/r":null}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := parseContent(data); err == nil && (p.Version != storeVersion || p.Trusted == nil) {
			t.Errorf("%q: %+v", data, p)
		}
	})
}
