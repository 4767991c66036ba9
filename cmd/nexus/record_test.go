package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/democmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// program returns the program that stories run.
func program(t *testing.T) string {
	t.Helper()
	exe, err := exec.LookPath("nexus")
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// tree returns the tree at the tip of the branch that a run made.
func (s *stage) tree() string {
	s.t.Helper()
	branch := strings.TrimSpace(s.git("branch", "--list", "nexus/*", "--format=%(refname:short)"))
	return strings.TrimSpace(s.git("rev-parse", branch+"^{tree}"))
}

// TestReplay records a run, one task at a time since what lands first changes
// what later tasks are told, and plays it in another place with another
// identity of commits, without a key and without a provider. The same tree
// lands, and nobody is called. The stories record and record-parallel play less
// and do so every time.
func TestReplay(t *testing.T) {
	testenv.NeedNight(t, "it takes as long as three demos")
	t.Parallel()
	exe := program(t)
	dir := filepath.Join(t.TempDir(), "recording")
	recorded := newStage(t, exe, units())
	short := []string{"NEXUS_DONE_MUTATION=off", "NEXUS_DONE_COVERAGE=off"} // which ask no model
	recorded.env = append(recorded.env, short...)
	cmd, out := recorded.start("run", democmd.Goal, "--headless", "--parallel", "1", "--record", dir)
	_ = cmd.Wait()
	ended := cmd.ProcessState.ExitCode() // one at a time, the script's conflict does not come up, and not all may land
	if ended != 0 && ended != 3 {
		t.Fatalf("record: %d\n%s", ended, out)
	}
	want, asked := recorded.tree(), len(recorded.server.Requests())
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != asked {
		t.Errorf("%d calls are recorded, %d were made (%v)", len(files), asked, err)
	}
	played := newStage(t, exe, units())
	played.env = append(played.env, short...)
	played.env = slices.DeleteFunc(played.env, func(e string) bool { return strings.Contains(e, "_API_KEY=") })
	cmd, out = played.start("run", democmd.Goal, "--headless", "--parallel", "1", "--replay", dir)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != ended {
		t.Fatalf("replay: %d, not %d\n%s", cmd.ProcessState.ExitCode(), ended, out)
	}
	if got := played.tree(); got != want {
		t.Errorf("the tree %s landed, recorded was %s", got, want)
	}
	if n := len(played.server.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}

	odd := newStage(t, exe, units())
	cmd, out = odd.start("run", democmd.Goal+", and more", "--headless", "--parallel", "1", "--replay", dir)
	if err := cmd.Wait(); err == nil {
		t.Error("what was not recorded was played")
	}
	for _, want := range []string{"the recording has no answer for step 0 of conversation", "and more"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
}
