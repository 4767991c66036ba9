package sentmessages_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/sentmessages"
)

// TestBook remembers across processes what was told, and begins again where the
// file is none.
func TestBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "book.json")
	for _, broken := range []string{"", "null", "[]", "{\"a\":", "{\"a\": 1}"} {
		if broken != "" {
			if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b, err := sentmessages.OpenSentLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if names := b.Names(); len(names) != 0 {
			t.Errorf("%q has %q", broken, names)
		}
		for _, name := range []string{"a", "b"} {
			if err := b.Record(name, name+" was told"); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Forget("b"); err != nil {
			t.Fatal(err)
		}
		if b, err = sentmessages.OpenSentLog(path); err != nil {
			t.Fatal(err)
		}
		if what, ok := b.Lookup("a"); what != "a was told" || !ok || !slices.Equal(b.Names(), []string{"a"}) {
			t.Errorf("%q, %q", what, b.Names())
		}
	}
}

// TestAlone lets one at a time, and gives up its turn with the context.
func TestAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "lock")
	err := sentmessages.RunExclusive(t.Context(), path, func(ctx context.Context) error {
		ctx, stop := context.WithCancelCause(ctx)
		stop(nil)
		return sentmessages.RunExclusive(ctx, path, func(context.Context) error {
			t.Error("two at once")
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
