//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// deed is something that a command does, and that is killed at each of its steps.
type deed struct {
	name    string
	prepare func(s *stage)          // what was there before, once
	args    []string                // the command that is killed
	open    func(s *stage) bool     // it is to be run again: nothing of it happened
	after   [][]string              // commands that follow, and succeed
	facts   map[string]int          // how many of a kind there are in the end
	picture func(s *stage) []string // what else must be the same in the end
}

// TestSteps kills commands that go back in time, or look for work, at every step that the disk or another program can
// see. Each time the journal is sound, the same command, and what follows it, comes to the same end as if nothing had
// happened, and nothing is left behind.
//
// By default five steps of each are tried, others each day, and all of them at night; NEXUS_STEPS=3 tries every third.
func TestSteps(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "it kills a program that is traced, and watches none of its memory")
	exe := program(t)
	for _, d := range deeds() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			d.play(t, exe)
		})
	}
}

func deeds() []deed {
	landed := func(most int) func(*stage) bool {
		return func(s *stage) bool { return gjson.Get(s.ok("status", "--json"), "counts.landed").Int() > int64(most) }
	}
	resume := []string{"resume", "--headless"}
	return []deed{
		{
			name: "restore", prepare: (*stage).lands, args: []string{"checkpoint", "restore", "wave-1", "--yes"}, open: landed(1),
			after: [][]string{resume}, facts: map[string]int{"run.rewound": 1, "train.landed": 3},
		},
		{
			name: "rewind", prepare: (*stage).halfDone, args: []string{"rewind", "--to", "wave-1", "--yes"},
			open: func(s *stage) bool { return s.count("run.rewound") == 0 }, after: [][]string{resume}, facts: map[string]int{"run.rewound": 1},
		},
		{
			name: "fork", prepare: (*stage).lands, args: []string{"fork", "--at", "wave-1", "--hold"},
			open: func(s *stage) bool { return s.count("goal.accepted") == 1 }, after: [][]string{resume},
			facts: map[string]int{"goal.accepted": 2, "task.inherited": 1, "train.landed": 3},
		},
		{
			name: "undo", prepare: (*stage).lands, args: []string{"undo", "T2"},
			open:  func(*stage) bool { return true }, // whoever asks again lets it end, too
			facts: map[string]int{"undo.landed": 1, "undo.refused": 0},
		},
		{
			name: "discover", prepare: (*stage).neglected, args: []string{"discover", "--strategies", "cheap,lint-issues"},
			open:    func(*stage) bool { return true },
			picture: func(s *stage) []string { return []string{s.ok("discover", "--strategies", "cheap,lint-issues")} },
		},
		{
			name: "set", prepare: (*stage).configured, args: []string{"config", "set", "limits.turns", "33"},
			open: func(s *stage) bool { // the file is the old one or the new one, and never half of either
				if text := s.settings(); !slices.Contains([]string{configured, configuredAnew}, text) {
					s.t.Errorf("the file has %q", text)
				}
				return true
			},
			picture: func(s *stage) []string { return []string{s.settings(), strings.Join(s.beside(), " ")} },
		},
	}
}

// TestWarmLook looks at a tree that did not change, and counts what that takes: programs that are started, and files
// that are made. Neither grows with the tree.
func TestWarmLook(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "it traces a program, and watches none of its memory")
	s := newStage(t, program(t), stepped(t))
	s.neglected()
	look := []string{"discover", "--strategies", "cheap,lint-issues"}
	counts := func() map[string]int {
		s.ok(look...)
		tr, out := s.trace(0, look...)
		testenv.NeedMachine(t, "a program can be traced", traceable(tr))
		if tr.exit.ExitStatus() != 0 {
			t.Fatalf("%s\n%s", tr.told(), out)
		}
		return tr.did
	}
	few := counts()
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(s.repo, fmt.Sprintf("more%d.sh", i)), fmt.Appendf(nil, "echo %d\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.git("add", "-A")
	s.git("commit", "-qm", "many")
	many := counts()
	t.Logf("%v, and of a large tree %v", few, many)
	if programs := many["start a program"]; programs > 12 {
		t.Errorf("it starts %d programs", programs)
	}
	if diff := cmp.Diff(few, many); diff != "" {
		t.Errorf("a large tree takes other steps:\n%s", diff)
	}
}

// play does it once undisturbed, and then kills it at one step after the other.
func (d deed) play(t *testing.T, exe string) {
	t.Helper()
	s := newStage(t, exe, stepped(t))
	d.prepare(s)
	kept := filepath.Join(t.TempDir(), "kept")
	s.copy(s.home, kept)
	whole, out := s.trace(0, d.args...)
	testenv.NeedMachine(t, "a program can be traced", traceable(whole))
	if whole.exit.ExitStatus() != 0 {
		t.Fatalf("%v: %s\n%s", d.args, whole.told(), out)
	}
	want := d.end(s, whole)
	tried := 0
	for at := 1; ; at++ {
		if !wanted(at, whole.steps) {
			if at > 2*whole.steps {
				break
			}
			continue
		}
		s.copy(kept, s.home)
		tr, out := s.trace(at, d.args...)
		if !tr.killed() {
			break
		}
		tried++
		if out, code := s.does("journal", "verify"); code != 0 {
			t.Errorf("killed at %s: %s", tr.told(), out)
		}
		if d.open(s) {
			s.again(tr, d.args)
		}
		if diff := cmp.Diff(want, d.end(s, tr)); diff != "" {
			t.Errorf("killed at %s:\n%s\nit said %s", tr.told(), diff, out)
		}
	}
	t.Logf("%d of about %d steps", tried, whole.steps)
	if tried == 0 {
		t.Error("it was killed at no step")
	}
}

// traceable says why a program cannot be traced: it came to no step.
func traceable(tr *tracer) error {
	if tr.steps == 0 {
		return fmt.Errorf("the kernel tells of no step: %s", tr.told())
	}
	return nil
}

// wanted reports whether a step is tried, of about so many.
func wanted(at, of int) bool {
	every := max(of/5, 1)
	if n, err := strconv.Atoi(os.Getenv("NEXUS_STEPS")); err == nil {
		every = max(n, 1)
	} else if testenv.RunsNightly() {
		every = 1
	}
	return at%every == time.Now().YearDay()%every // others each day
}

// again runs a command that was killed once more. It succeeds, or says that it has been done.
func (s *stage) again(tr *tracer, args []string) {
	s.t.Helper()
	if out, code := s.does(args...); code != 0 && !strings.Contains(out, "was undone before") {
		s.t.Errorf("killed at %s: again, it ends with %d: %s", tr.told(), code, out)
	}
}

// end does what follows, and returns what is true in the end.
func (d deed) end(s *stage, tr *tracer) map[string]string {
	s.t.Helper()
	for _, args := range d.after {
		if out, code := s.does(args...); code != 0 {
			s.t.Errorf("killed at %s: %v ends with %d: %s", tr.told(), args, code, out)
		}
	}
	is := map[string]string{}
	for kind, n := range d.facts {
		if got := s.count(kind); got != n {
			s.t.Errorf("killed at %s: %d times %s in place of %d", tr.told(), got, kind, n)
		}
	}
	if len(d.facts) > 0 {
		status := s.ok("status", "--json")
		is["status"], is["counts"] = gjson.Get(status, "status").String(), gjson.Get(status, "counts").Raw
		is["clone"] = s.refs(s.clone())
	}
	if d.picture != nil {
		is["picture"] = strings.Join(d.picture(s), "\n")
	}
	is["verify"], is["checkout"] = s.ok("journal", "verify"), s.git("status", "--porcelain", "--ignored")
	is["verify"], _, _ = strings.Cut(is["verify"], ":")
	is["refs"] = s.refs(filepath.Join(s.repo, ".git"))
	s.ok("clean")
	is["clean"] = s.ok("clean") // which has nothing to do any more
	is["left"] = s.left()
	return is
}

// stepped is a sample whose model writes two texts.
func stepped(t *testing.T) sample {
	t.Helper()
	of := killed(t)
	script, err := os.ReadFile("testdata/steps.yaml")
	if err != nil {
		t.Fatal(err)
	}
	of.script = script
	return of
}

// plan writes the plan of two tasks beside the repository.
func (s *stage) plan() string {
	s.t.Helper()
	type any = map[string]interface{}
	task := func(id, file string, needs ...string) any {
		return any{
			"id": id, "title": "Write " + file, "files": []string{file + ".txt", file + "_test.sh"}, "needs": needs,
			"criteria": []any{{"text": "It is there", "check": "build"}},
		}
	}
	data, err := json.Marshal(any{"version": 1, "goal": "Write texts", "tasks": []any{task("T1", "a"), task("T2", "b", "T1")}})
	if err != nil {
		s.t.Fatal(err)
	}
	name := filepath.Join(s.home, "plan.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}

// lands lets a run land two tasks on the branch of the user's.
func (s *stage) lands() {
	s.t.Helper()
	s.ok("run", "--plan", s.plan(), "--headless", "--land")
}

// halfDone lets a run be killed while its second task is worked on.
func (s *stage) halfDone() {
	s.t.Helper()
	cmd, out := s.start("run", "--plan", s.plan(), "--headless")
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ctx, cancel := context.WithTimeoutCause(s.t.Context(), stuck, errors.New("T2 did not begin"))
	defer cancel()
	j := s.journal(ctx)
	defer j.Close()
	for e, err := range j.Follow(ctx, "", 0) {
		if err != nil {
			_ = cmd.Process.Kill()
			<-ended
			s.t.Fatalf("%v (%v): %s", err, context.Cause(ctx), out)
		}
		if f, ok := e.Fact.(nexus.AttemptStarted); ok && f.Task == "T2" {
			break
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	if n := s.count("run.ended"); n > 0 {
		s.t.Fatalf("the run ended before it was killed: %s", out)
	}
}

// neglected gives the repository something to find.
func (s *stage) neglected() {
	s.t.Helper()
	s.lands()
	const text = "#!/bin/sh\n# TODO: say hello\neval \"$1\"\nold() { echo old; }\n"
	if err := os.WriteFile(filepath.Join(s.repo, "a.sh"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.git("add", "-A")
	s.git("commit", "-qm", "more")
}

// configured is a file of settings, and configuredAnew is the file once one of them was set.
const (
	configured     = "# what I like\n[limits]\nturns = 44 # enough\nrounds = 3\n"
	configuredAnew = "# what I like\n[limits]\nturns = 33 # enough\nrounds = 3\n"
)

// configured gives the user a file of settings, and a run.
func (s *stage) configured() {
	s.t.Helper()
	s.lands()
	dir := filepath.Join(s.home, "config", "nexus")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(configured), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// settings is the user's file of settings.
func (s *stage) settings() string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.home, "config", "nexus", "config.toml"))
	if err != nil {
		s.t.Error(err)
	}
	return string(data)
}

// beside names the files that are where the settings are.
func (s *stage) beside() []string {
	s.t.Helper()
	all, err := os.ReadDir(filepath.Join(s.home, "config", "nexus"))
	if err != nil {
		s.t.Error(err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// copy makes a directory the same as another one.
func (s *stage) copy(from, to string) {
	s.t.Helper()
	if err := os.RemoveAll(to); err != nil {
		s.t.Fatal(err)
	}
	if out, err := exec.CommandContext(s.t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// does runs a command, and returns what it says and its exit code.
func (s *stage) does(args ...string) (string, int) {
	s.t.Helper()
	cmd, out := s.start(args...)
	late := time.AfterFunc(stuck, func() { _ = cmd.Process.Signal(unix.SIGQUIT) }) // it says where it stood
	defer late.Stop()
	_ = cmd.Wait() // the code says how it ended
	return out.String(), cmd.ProcessState.ExitCode()
}

// ok runs a command that succeeds.
func (s *stage) ok(args ...string) string {
	s.t.Helper()
	out, code := s.does(args...)
	if code != 0 {
		s.t.Fatalf("%v ends with %d: %s", args, code, out)
	}
	return out
}

// count returns how many facts of a kind there are.
func (s *stage) count(kind string) int {
	s.t.Helper()
	j := s.journal(s.t.Context())
	defer j.Close()
	n := 0
	for e, err := range j.Events(s.t.Context(), "", 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		if nexus.FactKind(e.Fact) == kind {
			n++
		}
	}
	return n
}

// clone returns the private clone.
func (s *stage) clone() string {
	s.t.Helper()
	found, _ := filepath.Glob(filepath.Join(s.home, "state", "nexus", "*", "repo.git"))
	if len(found) != 1 {
		s.t.Fatalf("private clones: %v", found)
	}
	return found[0]
}

// refs lists the refs of a repository with their trees. Runs are counted, since their names are drawn.
func (s *stage) refs(dir string) string {
	s.t.Helper()
	out := s.git("--git-dir="+dir, "for-each-ref", "--sort=refname", "--format=%(refname) %(tree)%(*tree)")
	if broken := s.git("--git-dir="+dir, "fsck", "--no-progress", "--connectivity-only", "--no-dangling"); broken != "" {
		s.t.Errorf("%s: %s", dir, broken)
	}
	var runs []string
	name := regexp.MustCompile(`\d{6}-\d{6}-[a-z0-9]{3}`)
	out = name.ReplaceAllStringFunc(out, func(run string) string {
		if !slices.Contains(runs, run) {
			runs = append(runs, run)
		}
		return "RUN"
	})
	out = regexp.MustCompile(`event-\d+`).ReplaceAllString(out, "event-N")
	out = regexp.MustCompile(`(?m)^refs/user/.*\n`).ReplaceAllString(out, "")     // what was fetched, and how often
	out = regexp.MustCompile(`(refs/notes/nexus) .*`).ReplaceAllString(out, "$1") // which have times
	out = regexp.MustCompile(`/undo\.\d+`).ReplaceAllString(out, "/undo.N")       // which a kill lets begin again
	lines := strings.Split(strings.TrimSpace(out), "\n")
	slices.Sort(lines)
	lines = slices.Compact(lines)
	return fmt.Sprintf("%d runs\n%s", len(runs), strings.Join(lines, "\n"))
}

// left lists the locks and the unfinished files that are left.
func (s *stage) left() string {
	s.t.Helper()
	var all []string
	err := filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(path, ".git.lock") || strings.HasSuffix(path, "index.lock") || strings.HasSuffix(path, ".tmp")) {
			all = append(all, path)
		}
		return nil // what went meanwhile is not left
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Join(append(all, s.processes()...), "\n")
}
