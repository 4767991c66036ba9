package improveloopworker

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestARevertFits: what a landing did is taken back where nobody built on it meanwhile. Where
// others changed the same lines, or gates fail without it that pass with it, the branch is
// left alone and the reason is told.
func TestARevertFits(t *testing.T) {
	for _, one := range []struct {
		name  string
		later map[string]string // what others committed after the landing
		judge func(reverted bool) []string
		want  string // why not; empty: it is taken back
	}{
		{name: "nobody came after it", judge: func(bool) []string { t.Error("a tree from before is good enough"); return nil }},
		{name: "others did something else", later: map[string]string{"b.sh": "other\n"}, judge: func(bool) []string { return nil }},
		{name: "others changed the same line", later: map[string]string{"a.sh": "one\nsecond, too\nthree\n"}, want: "a.sh"},
		{
			name: "others rely on it", later: map[string]string{"b.sh": "uses second\n"},
			judge: func(reverted bool) []string {
				if reverted {
					return []string{"build"}
				}
				return nil
			},
			want: "without it, build would fail: later work relies on it",
		},
		{name: "a gate fails anyway", later: map[string]string{"b.sh": "broken\n"}, judge: func(bool) []string { return []string{"lint"} }},
	} {
		t.Run(one.name, func(t *testing.T) {
			var dir, tip string
			h, dir := handsOn(t, Options{Judge: func(_ context.Context, at string) ([]string, error) { return one.judge(at != tip), nil }})
			h.app, h.place.State = &app.App{Now: time.Now}, filepath.Join(t.TempDir(), "state")
			commit := func(files map[string]string, message string) string {
				gittest.WriteFiles(t, dir, files)
				gittest.RunGit(t, dir, "add", "-A")
				gittest.RunGit(t, dir, "commit", "-qm", message)
				return gittest.RunGit(t, dir, "rev-parse", "HEAD")
			}
			before := gittest.RunGit(t, dir, "rev-parse", "HEAD")
			landed := commit(map[string]string{"a.sh": "one\nsecond\nthree\n"}, "landed")
			if tip = landed; one.later != nil {
				tip = commit(one.later, "theirs")
			}
			l := aLoop()
			l.Apply(nexus.Event{Run: "loop", Fact: nexus.LoopItemWorkStarted{Item: "loop-1", Wanted: nexus.CandidateWorkItem{Finding: "todo/1", Strategy: "todo", Title: "say it"}}})
			l.Apply(nexus.Event{Run: "loop", Fact: nexus.LoopItemLanded{Item: "loop-1", Target: "main", Before: before, Commit: landed}})
			facts, err := h.revertLanding(t.Context(), nexus.LoopItemRevertStarted{Item: "loop-1", Why: "todo/2 is new"}, l)
			now := gittest.RunGit(t, dir, "rev-parse", "main")
			if one.want != "" {
				if err == nil || !strings.Contains(err.Error(), one.want) || now != tip || len(facts) > 0 {
					t.Fatalf("%v, %v, main is at %s, want %q and %s", facts, err, now, one.want, tip)
				}
				return
			}
			if err != nil || len(facts) != 1 || facts[0].(nexus.LoopItemReverted).Commit != now || gittest.RunGit(t, dir, "rev-parse", "main^") != tip {
				t.Fatalf("%v, %v, main is at %s", facts, err, now)
			}
			if text := gittest.RunGit(t, dir, "show", "main:a.sh"); text != "one\ntwo\nthree" {
				t.Errorf("a.sh is %q", text)
			}
			if said := gittest.RunGit(t, dir, "log", "-1", "--format=%B", "main"); !strings.HasPrefix(said, "Revert: say it\n") || !strings.Contains(said, "It made something worse: todo/2 is new") {
				t.Errorf("it says %q", said)
			}
		})
	}
}
