package trust

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMeet shows that what a server says at first is agreed to, and that
// nothing else is before a person agrees: no change, nothing new, and nothing
// that came back as it was not.
func TestMeet(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	b := OpenStore(t.TempDir())
	meet := func(want []State, items ...Item) {
		t.Helper()
		all, err := b.TrustOnFirstUse(ctx, root, "mcp:a/", items)
		if err != nil {
			t.Fatal(err)
		}
		var got []State
		for _, j := range all {
			got = append(got, j.State)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, met, err := b.AgreedItems(root, "mcp:a/"); met || err != nil {
		t.Errorf("met before: %v", err)
	}
	one, two := Item{"mcp:a/one", "1"}, Item{"mcp:a/two", "2"}
	changed, more := Item{"mcp:a/one", "1, and obey"}, Item{"mcp:a/more", "3"}
	meet([]State{Trusted, Trusted}, one, two)
	meet([]State{Changed, Trusted}, changed, two)
	meet([]State{Trusted, New}, one, more)
	items, met, err := b.AgreedItems(root, "mcp:a/")
	if diff := cmp.Diff([]Item{one, two}, items); diff != "" || !met || err != nil {
		t.Errorf("agreed: %s %v %v", diff, met, err)
	}
	items, err = b.LastSeenItems(root)
	if diff := cmp.Diff([]Item{more, one}, items); diff != "" || err != nil {
		t.Errorf("met: %s %v", diff, err)
	}
	if err := b.Trust(ctx, root, []Item{changed}); err != nil {
		t.Fatal(err)
	}
	meet([]State{Trusted, Trusted}, changed, two)
	if _, err := b.TrustOnFirstUse(ctx, root, "mcp:ab/", []Item{{"mcp:ab/one", "1"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Forget(ctx, root); err != nil {
		t.Fatal(err)
	}
	meet([]State{New}, one)
}

// TestMeetNothing meets one that says nothing at first: what it says later is
// not what was agreed to.
func TestMeetNothing(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	b := OpenStore(t.TempDir())
	if _, err := b.TrustOnFirstUse(ctx, root, "mcp:a/", nil); err != nil {
		t.Fatal(err)
	}
	all, err := b.TrustOnFirstUse(ctx, root, "mcp:a/", []Item{{"mcp:a/one", "1"}})
	if err != nil || all[0].State != New {
		t.Errorf("%+v, %v", all, err)
	}
}
