package improveloopworker

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/discover"
)

// handsOn returns hands that work in a new repository with one commit, and its directory.
func handsOn(t *testing.T, o Options) (*LocalLoopExecutor, string) {
	t.Helper()
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", "-b", "main")
	gittest.WriteFiles(t, dir, map[string]string{"a.sh": "one\ntwo\nthree\n"})
	gittest.RunGit(t, dir, "add", "-A")
	gittest.RunGit(t, dir, "commit", "-qm", "first")
	return &LocalLoopExecutor{place: &app.Repository{Repo: git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}}, order: o}, dir
}

// aLoop returns a loop that has begun.
func aLoop() *improveloop.ImproveLoop {
	l := &improveloop.ImproveLoop{}
	l.Apply(nexus.Event{Run: "loop", Fact: nexus.GoalAccepted{Goal: nexus.Goal{Mode: nexus.Improve}, Target: "main"}})
	return l
}

// TestWhatOthersChangedIsSeen whatever they call their files and themselves, and also where a file
// only moved: who worked on it meanwhile yields.
func TestWhatOthersChangedIsSeen(t *testing.T) {
	h, dir := handsOn(t, Options{})
	l := aLoop()
	since := gittest.RunGit(t, dir, "rev-parse", "HEAD")
	gittest.RunGit(t, dir, "mv", "a.sh", "b.sh")
	gittest.WriteFiles(t, dir, map[string]string{"\nline": "1\n", "x\x01y": "2\n"})
	gittest.RunGit(t, dir, "add", "-A")
	gittest.RunGit(t, dir, "-c", "user.name=An\x01na", "commit", "-q", "--author=An\x01na <anna@example.org>", "-m", "theirs")
	gittest.RunGit(t, dir, "commit", "-q", "--allow-empty", "-m", "nothing")
	gittest.WriteFiles(t, dir, map[string]string{"own": "3\n"})
	gittest.RunGit(t, dir, "add", "-A")
	gittest.RunGit(t, dir, "commit", "-qm", "own\n\nNexus-Attempt: loop-1/T1.1")
	gittest.RunGit(t, dir, "config", "diff.renames", "copies")
	gittest.RunGit(t, dir, "config", "diff.relative", "true")
	all, err := h.nonLoopCommits(t.Context(), since, "refs/heads/main", l)
	if err != nil || len(all) != 2 {
		t.Fatalf("%q, %v", all, err)
	}
	slices.Sort(all[1].files)
	if want := []string{"\nline", "a.sh", "b.sh", "x\x01y"}; !slices.Equal(all[1].files, want) || all[1].by != "An\x01na" || len(all[0].files) > 0 {
		t.Errorf("%q", all)
	}
}

// FuzzForeign: whatever git prints, each commit has a name, and none has a file without one.
func FuzzForeign(f *testing.F) {
	f.Add("\x00c0\x00An\x01na\x00\n\x00\n\nline\x00a.sh\x00\x00c1\x00b\x00loop-1/T1.1\n\x00")
	f.Add("\x00c0\x00a\x00")
	l := aLoop()
	f.Fuzz(func(t *testing.T, out string) {
		for _, c := range parseNonLoopCommits(out, l) {
			if strings.Contains(c.commit+c.by, "\x00") || slices.ContainsFunc(c.files, func(name string) bool { return strings.Contains(name, "\x00") }) {
				t.Errorf("%q of %q", c, out)
			}
		}
	})
}

// TestABranchThatIsGoneIsRejected unless something shows that what it was to do is done: that nobody
// could look does not, and neither does a check that says nothing.
func TestABranchThatIsGoneIsRejected(t *testing.T) {
	for _, one := range []struct {
		did  discover.StrategyRunState
		want string
	}{{discover.Ran, nexus.ResultMerged}, {discover.Broke, nexus.ResultRejected}, {discover.Skipped, nexus.ResultRejected}} {
		h, dir := handsOn(t, Options{Find: func(context.Context, FindingSearchRequest) (discover.Result, error) {
			return discover.Result{Did: []discover.StrategyRunReport{{Strategy: "todo", State: one.did}}}, nil
		}})
		tip := gittest.RunGit(t, dir, "rev-parse", "HEAD")
		i := &improveloop.LoopItem{ID: "loop-1", Wanted: nexus.CandidateWorkItem{Finding: "todo/1", Strategy: "todo"}}
		gone := strings.Repeat("1", len(tip))
		if how, _, err := h.resultOutcome(t.Context(), aLoop(), i, "nexus/improve/todo", gone, tip); err != nil || how != one.want {
			t.Errorf("%s: %q, %v", one.did, how, err)
		}
		if how, _, err := h.resultOutcome(t.Context(), aLoop(), i, "main", gone, tip); err != nil || how != "" {
			t.Errorf("the branch is there, and it is %q, %v", how, err)
		}
		if how, _, err := h.resultOutcome(t.Context(), aLoop(), i, "main", tip, tip); err != nil || how != nexus.ResultMerged {
			t.Errorf("it was merged, and it is %q, %v", how, err)
		}
	}
}

// TestABrokenGitIsNoVerdict: where git fails, nothing is said of a result.
func TestABrokenGitIsNoVerdict(t *testing.T) {
	h, dir := handsOn(t, Options{Find: func(context.Context, FindingSearchRequest) (discover.Result, error) {
		return discover.Result{Did: []discover.StrategyRunReport{{Strategy: "todo", State: discover.Ran}}}, nil
	}})
	tip := gittest.RunGit(t, dir, "rev-parse", "HEAD")
	i := &improveloop.LoopItem{ID: "loop-1", Wanted: nexus.CandidateWorkItem{Finding: "todo/1", Strategy: "todo"}}
	fail, calls, _ := gittest.InstallFailingGit(t)
	if _, _, err := h.resultOutcome(t.Context(), aLoop(), i, "main", tip, tip); err != nil || calls() == 0 {
		t.Fatal(calls(), err)
	}
	for n := range calls() {
		fail(n + 1)
		if how, _, err := h.resultOutcome(t.Context(), aLoop(), i, "main", tip, tip); err == nil {
			t.Errorf("call %d failed, and it is said to be %q", n+1, how)
		}
	}
}

// TestABranchIsRenewedWholeOrNotAtAll: whichever call of git fails, that is the answer, and the branch is where it was or
// where it is to be.
func TestABranchIsRenewedWholeOrNotAtAll(t *testing.T) {
	h, dir := handsOn(t, Options{Judge: func(context.Context, string) ([]string, error) { return nil, nil }})
	h.app, h.place.State = &app.App{Now: time.Now}, filepath.Join(t.TempDir(), "state")
	commit := func(branch, file string) {
		gittest.RunGit(t, dir, "checkout", "-q", branch)
		gittest.WriteFiles(t, dir, map[string]string{file: "1\n"})
		gittest.RunGit(t, dir, "add", "-A")
		gittest.RunGit(t, dir, "commit", "-qm", file)
	}
	const theme = "nexus/improve/todo"
	gittest.RunGit(t, dir, "branch", theme)
	commit(theme, "theirs.sh")
	commit("main", "ours.sh")
	l, at := aLoop(), gittest.RunGit(t, dir, "rev-parse", theme)
	tip := gittest.RunGit(t, dir, "rev-parse", "main")
	fail, _, failed := gittest.InstallFailingGit(t)
	for n := 1; ; n++ {
		fail(n)
		why, err := h.updateBranch(t.Context(), theme, tip, l)
		asked := failed()
		fail(0)
		now := gittest.RunGit(t, dir, "rev-parse", theme)
		if now != at && gittest.RunGit(t, dir, "log", "-1", "--format=%s %P", theme) != "Merge main into "+theme+" "+at+" "+tip {
			t.Fatalf("call %d failed, and the branch is at %s", n, gittest.RunGit(t, dir, "log", "-1", "--format=%s %P", theme))
		}
		if asked == "" {
			if why != "" || err != nil || now == at {
				t.Errorf("nothing failed: %q, %v", why, err)
			}
			return
		}
		if err == nil && why == "" && now == at {
			t.Errorf("call %d failed, %q, and nobody is told", n, asked)
		}
		gittest.RunGit(t, dir, "update-ref", "refs/heads/"+theme, at)
	}
}
