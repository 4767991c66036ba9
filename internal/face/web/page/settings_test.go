package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGroups folds settings by what they are about, and unfolds what somebody looks for.
func TestGroups(t *testing.T) {
	s := Shelf{All: []Setting{
		{Key: "limits.turns", From: "user"}, {Key: "sandbox", From: "default"}, {Key: "limits.rounds", From: "default"},
	}, Editor: Editor{Name: "limits.turns"}}
	got := map[string]string{}
	for _, g := range s.groups() {
		text := g.said()
		for _, v := range g.All {
			text += " " + v.Key
		}
		if s.open(g) {
			text += " open"
		}
		got[g.Name] = text
	}
	want := map[string]string{"limits": ", 1 set limits.turns limits.rounds open", "sandbox": " sandbox"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, looks := range []Shelf{{Query: "x"}, {Diff: true}} {
		if !looks.open(Group{Name: "sandbox"}) {
			t.Errorf("%+v folds what it found", looks)
		}
	}
}
