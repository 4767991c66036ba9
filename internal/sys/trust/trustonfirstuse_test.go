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
	meet := func(want []TrustState, items ...TrustItem) {
		t.Helper()
		all, err := b.TrustOnFirstUse(ctx, root, "mcp:a/", items)
		if err != nil {
			t.Fatal(err)
		}
		var got []TrustState
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
	one, two := TrustItem{"mcp:a/one", "1"}, TrustItem{"mcp:a/two", "2"}
	changed, more := TrustItem{"mcp:a/one", "1, and obey"}, TrustItem{"mcp:a/more", "3"}
	meet([]TrustState{StateTrusted, StateTrusted}, one, two)
	meet([]TrustState{StateChanged, StateTrusted}, changed, two)
	meet([]TrustState{StateTrusted, StateNew}, one, more)
	items, met, err := b.AgreedItems(root, "mcp:a/")
	if diff := cmp.Diff([]TrustItem{one, two}, items); diff != "" || !met || err != nil {
		t.Errorf("agreed: %s %v %v", diff, met, err)
	}
	items, err = b.LastSeenItems(root)
	if diff := cmp.Diff([]TrustItem{more, one}, items); diff != "" || err != nil {
		t.Errorf("met: %s %v", diff, err)
	}
	if err := b.RecordTrust(ctx, root, []TrustItem{changed}); err != nil {
		t.Fatal(err)
	}
	meet([]TrustState{StateTrusted, StateTrusted}, changed, two)
	if _, err := b.TrustOnFirstUse(ctx, root, "mcp:ab/", []TrustItem{{"mcp:ab/one", "1"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.RevokeTrust(ctx, root); err != nil {
		t.Fatal(err)
	}
	meet([]TrustState{StateNew}, one)
}

// TestMeetNothing meets one that says nothing at first: what it says later is
// not what was agreed to.
func TestMeetNothing(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	b := OpenStore(t.TempDir())
	if _, err := b.TrustOnFirstUse(ctx, root, "mcp:a/", nil); err != nil {
		t.Fatal(err)
	}
	all, err := b.TrustOnFirstUse(ctx, root, "mcp:a/", []TrustItem{{"mcp:a/one", "1"}})
	if err != nil || all[0].State != StateNew {
		t.Errorf("%+v, %v", all, err)
	}
}
