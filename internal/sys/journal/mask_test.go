package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// TestMask looks for keys of facts, requests and blobs in the files of a
// journal that is open, its write-ahead log included.
func TestMask(t *testing.T) {
	const key = "zebra-7781-plum-90210-quartz"
	dir := t.TempDir()
	mask := secret.NewMasker([]string{"X_KEY=" + key}).Mask
	o := options()
	o.Mask = mask
	j, err := journal.Open(t.Context(), filepath.Join(dir, "journal.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	blobs, err := journal.OpenBlobStore(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	blobs = blobs.WithSmallBlobs(j).WithMask(mask)
	for _, text := range []string{"small " + key, strings.Repeat("large ", 10_000) + key} {
		hash, err := blobs.Put([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := blobs.Get(hash); err != nil || string(got) != strings.ReplaceAll(text, key, secret.Mark) {
			t.Errorf("got %.40q, %v", got, err)
		}
	}
	l := acquire(t, j, "r1")
	events, err := l.Append(t.Context(), nexus.GoalAccepted{Goal: nexus.Goal{Text: "use " + key}})
	if err != nil || events[0].Fact.(nexus.GoalAccepted).Goal.Text != "use "+secret.Mark {
		t.Fatalf("%+v, %v", events, err)
	}
	if _, err := j.Ask(t.Context(), "r1", nexus.Request{Verb: nexus.VerbPause, Text: "with " + key}); err != nil {
		t.Fatal(err)
	}
	if report, err := j.Verify(t.Context()); err != nil || !report.Sound {
		t.Errorf("%+v, %v", report, err)
	}
	marks := 0
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(key)) {
			t.Errorf("%s holds the key", path)
		}
		marks += bytes.Count(data, []byte(secret.Mark))
		return err
	})
	if err != nil || marks < 4 {
		t.Errorf("%d marks, %v", marks, err)
	}
}
