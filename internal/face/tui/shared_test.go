package tui

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/projection/projectiontest"
)

// TestKeysAreTheSameInAllFaces holds that a key does here what it does in a browser: those
// of the shared table, and those of the actions that the projection offers.
func TestKeysAreTheSameInAllFaces(t *testing.T) {
	of := map[string]string{}
	for _, b := range defaultBindings() {
		of[b.name] = b.key
	}
	for name, key := range projection.KeyBindings() {
		if of[name] != key {
			t.Errorf("%s is %q here, and %q in a browser", name, of[name], key)
		}
	}
	p := projection.NewProjection("r", projection.Options{})
	for _, e := range projectiontest.SampleRun() {
		if err := p.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	now := projectiontest.Start().Add(time.Hour)
	all := p.RunActions()
	for _, i := range p.InboxItems(now) {
		all = append(all, i.Actions...)
	}
	for _, task := range p.State().Tasks {
		all = append(all, p.TaskActions(task.ID)...)
	}
	// What one key does in turns has two names in the projection.
	named := map[string]string{"pause-task": "pause", "unpause": "pause", "pause": "pause-run", "resume": "pause-run", "waive": "approve"}
	seen := map[string]bool{}
	for _, a := range all {
		name := a.Name
		if n, ok := named[name]; ok {
			name = n
		}
		if seen[name] = true; a.Key != of[name] {
			t.Errorf("%s (%s) is %q in a browser, and %q here", a.Name, a.Label, a.Key, of[name])
		}
	}
	for _, name := range []string{"approve", "reject", "tell", "interrupt", "pause", "pause-run", "skip", "retry", "retry-tell", "stop", "land", "undo"} {
		if !seen[name] {
			t.Errorf("no action is named %s", name)
		}
	}
}
