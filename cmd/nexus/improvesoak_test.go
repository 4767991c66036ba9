package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// soakScript is a model that does what the next TODO asks for, whoever asks.
const soakScript = `conversations:
  - match: T1.*/coder.*
    turns:
      - calls:
          - {tool: shell, input: {command: "f=$(grep -l TODO t*.sh | head -1); echo 'echo done' >$f; echo \"sh $f | grep -q done\" >${f%.sh}_test.sh"}}
      - calls:
          - {tool: finish, input: {summary: Done., status: done}}
`

// TestImproveSoak lets a loop run for NEXUS_SOAK, 20 minutes at night, with the real
// program: people leave work, commit to what it works on, and it is killed again and again.
func TestImproveSoak(t *testing.T) {
	last := 20 * time.Minute
	if text := os.Getenv("NEXUS_SOAK"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		last = d
	} else if !testenv.Nightly() {
		t.Skip("make nightly runs it, or NEXUS_SOAK=1m")
	}
	t.Parallel()
	exe, err := exec.LookPath("nexus")
	if err != nil {
		t.Fatal(err)
	}
	of := killed(t)
	of.script = []byte(soakScript)
	s := newStage(t, exe, of)
	s.env = append(s.env, "NEXUS_IMPROVE_REST=100ms", "NEXUS_IMPROVE_MOST_REST=1s", "NEXUS_IMPROVE_WAITING=0", "NEXUS_APPROVAL=none", "USER=ada")
	rnd := rand.New(rand.NewPCG(7, 7))
	end, kills, todos := time.Now().Add(last), 0, 0
	for time.Now().Before(end) {
		for range 2 {
			todos++
			name := fmt.Sprintf("t%d.sh", todos)
			if err := os.WriteFile(filepath.Join(s.repo, name), fmt.Appendf(nil, "# TODO: do thing number %d\n", todos), 0o600); err != nil {
				t.Fatal(err)
			}
			s.git("add", name)
		}
		s.git("commit", "-q", "-m", "Leave work")
		cmd, out := s.start("improve", "--strategies", "todo", "--parallel", "1", "--headless", "--until", "empty")
		wait := time.AfterFunc(time.Duration(1+rnd.IntN(15))*time.Second, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil && wait.Stop() {
			t.Fatalf("%v\n%s", err, out)
		} else if err != nil {
			kills++
		}
		if t.Failed() {
			return
		}
	}
	cmd, out := s.start("improve", "--strategies", "todo", "--headless", "--until", "empty")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	soaked(t, s, kills, todos)
}

// soaked holds what the journal and the repository have after a soak.
func soaked(t *testing.T, s *stage, kills, todos int) {
	t.Helper()
	j := s.journal(t.Context())
	defer j.Close()
	landed, taken := map[nexus.RunID]int{}, map[nexus.RunID]int{}
	var spent nexus.Money
	for e, err := range j.Events(t.Context(), "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch f := e.Fact.(type) {
		case nexus.ItemTaken:
			taken[f.Item]++
		case nexus.ItemLanded:
			landed[f.Item]++
		case nexus.BudgetSpent:
			spent += f.Money
		default:
		}
	}
	for id, n := range taken {
		if n != 1 || landed[id] > 1 {
			t.Errorf("%s was taken up %d times and landed %d times", id, n, landed[id])
		}
	}
	left := strings.Count(s.git("grep", "-c", "TODO", "HEAD", "--", "t*.sh"), "\n")
	if len(landed) == 0 || left > todos/2 {
		t.Errorf("%d of %d things landed, and %d are left", len(landed), todos, left)
	}
	if status := s.git("status", "--porcelain"); status != "" {
		t.Errorf("the checkout is not clean:\n%s", status)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", s.repo, "fsck", "--no-dangling").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%d things to do, %d taken up, %d landed, killed %d times, %s spent", todos, len(taken), len(landed), kills, spent)
}
