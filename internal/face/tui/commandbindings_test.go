package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestTyped holds what becomes of a command that is typed behind a colon.
func TestTyped(t *testing.T) {
	const run = "261126-1500-abc"
	for _, c := range []struct{ typed, did, says string }{
		{"clean", "clean", ""},
		{"notify log", "notify log", ""},
		{"runs --metrics", "runs --metrics", ""},
		{"runs --stats --all", "runs --stats --all", ""},
		{"status --report", "status --run " + run + " --report", ""},
		{"status --md", "status --run " + run + " --md", ""},
		{"status 2611-b --report", "status 2611-b --report", ""},
		{"land --target x", "land --run " + run + " --target x", ""},
		{"logs T1 --limit 3", "logs --run " + run + " T1 --limit 3", ""},
		{"logs 2611", "logs 2611", ""},
		{"export a.nexus", "export --run " + run + " a.nexus", ""},
		{"export other a.nexus", "export other a.nexus", ""},
		{"checkpoint list", "checkpoint --run " + run + " list", ""},
		{"checkpoint restore x", "", "choose it in the menu"},
		{"check --list", "check --list", ""},
		{"check --task T1", "check --run " + run + " --task T1", ""},
		{"backlog start x", "", "it starts other work"},
		{"resume", "stop --pause --run " + run, ""},
		{"resume other", "", "it starts other work"},
		{"serve", "", "it serves other programs"},
		{"frobnicate", "", "frobnicate is not a command here"},
		{"", "", ""},
	} {
		s := &stage{p: recorded(t)}
		p := begin(t, s, view.OutputStyle{}, 120, 40)
		p.keys(":" + c.typed + "<enter>")
		got := ""
		for _, args := range s.did {
			got = strings.Join(args, " ")
		}
		if got != c.did || !strings.Contains(p.notice, c.says) {
			t.Errorf("%s: %q, want %q; the screen says %q", c.typed, got, c.did, p.notice)
		}
	}
	s := &stage{p: recorded(t)}
	p := begin(t, s, view.OutputStyle{}, 120, 40)
	p.o.Interrupt = func() {}
	p.keys(":verify<enter>")
	if !strings.Contains(p.notice, "needs another terminal") {
		t.Errorf("a run that is conducted here gives its terminal away: %q", p.notice)
	}
}

// TestTypedIsOffered holds that what can be typed is in the palette and in the help.
func TestTypedIsOffered(t *testing.T) {
	s := &stage{p: recorded(t)}
	p := begin(t, s, view.OutputStyle{}, 120, 40)
	help := strings.Fields(strings.Join(p.helpDialog(), "\n"))
	for _, w := range CommandBindings() {
		if w.How != Unavailable && !slices.Contains(help, w.Name) {
			t.Errorf("help does not name %s", w.Name)
		}
	}
	p.keys("<ctrl+p>:runs<enter>--metrics<enter>")
	if len(s.did) != 1 || strings.Join(s.did[0], " ") != "runs --metrics" {
		t.Errorf("%q", s.did)
	}
}
