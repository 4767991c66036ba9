package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKillClose kills the command that closes a milestone as soon as its tag is there. The next one marks the
// milestone as closed, with the same tag at the same commit.
func TestKillClose(t *testing.T) {
	t.Parallel()
	exe := program(t)
	between := 0
	for tries := 0; between < 2; tries++ {
		if tries == 60 {
			t.Fatalf("killed %d times between the tag and the file", between)
		}
		s := newStage(t, exe, killed(t))
		road := filepath.Join(s.repo, ".nexus", "roadmap.md")
		const text = "# Roadmap\n\n## First\n\nTag: v1\n\n- [ ] AC-1: it is there (check: `test -e base.txt`)\n"
		if err := os.MkdirAll(filepath.Dir(road), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(road, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd, out := s.start("milestone", "close", "first")
		gone := make(chan error, 1)
		go func() { gone <- cmd.Wait() }() // ends with the program, which is waited for below
		tag := filepath.Join(s.repo, ".git", "refs", "tags", "v1")
		for deadline := time.Now().Add(patience); ; {
			if _, err := os.Lstat(tag); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("there is no tag:\n%s", out)
			}
		}
		_ = cmd.Process.Kill()
		<-gone
		made := s.git("rev-parse", "v1")
		if now, err := os.ReadFile(road); err != nil {
			t.Fatal(err)
		} else if string(now) == text {
			between++
		}
		again, said := s.start("milestone", "close", "first")
		if err := again.Wait(); err != nil {
			t.Fatalf("%v:\n%s", err, said)
		}
		if is := s.git("rev-parse", "v1"); is != made {
			t.Errorf("the tag was %s and is %s", made, is)
		}
		now, err := os.ReadFile(road)
		if want := "Closed: " + time.Now().UTC().Format(time.DateOnly)[:4]; err != nil || strings.Count(string(now), want) != 1 ||
			!strings.Contains(string(now), " v1 "+s.git("rev-parse", "main")) {
			t.Errorf("%v in\n%s\n%s", err, now, said)
		}
	}
}
