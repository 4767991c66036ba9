package backlog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/work/backlog"
)

// TestAFindingIsKeptOnce whoever else keeps it at the same time.
func TestAFindingIsKeptOnce(t *testing.T) {
	s := backlog.ItemStore{Repo: t.TempDir(), State: t.TempDir()}
	item := backlogitem.BacklogItem{Title: "Do it", Text: "Do it.", State: backlogitem.Waiting, Finding: "todo/1"}
	ids := make([]string, 8)
	var all sync.WaitGroup
	for n := range ids {
		all.Go(func() {
			got, err := s.AddItem(t.Context(), item)
			if err != nil {
				t.Error(err)
			}
			ids[n] = got.ID
		})
	}
	all.Wait()
	items, wrong, err := s.LoadItems()
	if err != nil || len(wrong) > 0 || len(items) != 1 {
		t.Fatalf("%+v, %+v, %v", items, wrong, err)
	}
	for _, id := range ids {
		if id != items[0].ID {
			t.Errorf("%q of %q", id, items[0].ID)
		}
	}
	item.Finding = ""
	for range 2 {
		if _, err := s.AddItem(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	if items, _, err := s.LoadItems(); err != nil || len(items) != 3 {
		t.Errorf("what people write down is theirs, also twice: %+v, %v", items, err)
	}
}

// TestAnUnreadableItemNamesItsFinding, so that what a person decided about it is not taken
// for nothing.
func TestAnUnreadableItemNamesItsFinding(t *testing.T) {
	s := backlog.ItemStore{Repo: t.TempDir(), State: t.TempDir()}
	item, err := s.AddItem(t.Context(), backlogitem.BacklogItem{Title: "Do it", Text: "Do it.", State: backlogitem.Waiting, Finding: "todo/1"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.Repo, filepath.FromSlash(backlogitem.BacklogItemPath(item.ID)))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(data, []byte("state: waiting"), []byte("state: rejectd"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	items, wrong, err := s.LoadItems()
	if err != nil || len(items) != 0 || len(wrong) != 1 || wrong[0].Finding != "todo/1" {
		t.Errorf("%+v, %+v, %v", items, wrong, err)
	}
}

// TestRejectedStays holds that what a person rejected is not added again by somebody who writes it down, and other work is.
func TestRejectedStays(t *testing.T) {
	s := backlog.ItemStore{Repo: t.TempDir(), State: t.TempDir()}
	if _, err := s.AddItem(t.Context(), backlogitem.BacklogItem{Title: "Do it", Text: "Soon.", State: backlogitem.Rejected, Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	for want, items := range map[bool][]backlogitem.BacklogItem{
		true:  {{Title: "Do it"}, {Title: "do  IT", Text: "soon."}},
		false: {{Title: "Do it", Text: "Later."}, {Title: "Do it all"}, {Title: "Do it", Finding: "todo/1"}},
	} {
		for _, i := range items {
			if _, err := s.AddItem(t.Context(), i); (err != nil) != want {
				t.Errorf("%+v: %v", i, err)
			}
		}
	}
}
