package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// place is a repository with two commits, of which the second fixes a.go and
// reg.go, and changes hidden.go.
type place struct {
	memory.MemoryEntryStore

	repo        git.Repo
	first, last string
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	commit := func(files map[string]string) string {
		gittest.WriteFiles(t, dir, files)
		gittest.RunGit(t, dir, "add", ".")
		gittest.RunGit(t, dir, "commit", "-q", "-m", "work")
		return gittest.RunGit(t, dir, "rev-parse", "HEAD")
	}
	gittest.RunGit(t, dir, "init", "-q")
	first := commit(map[string]string{".nexusignore": "hidden.go\n", "a.go": "broken\n", "reg.go": "one\n", "hidden.go": "CANARY one\n"})
	last := commit(map[string]string{"a.go": "fine\n", "reg.go": "one\ntwo\n", "hidden.go": "CANARY two\n"})
	repo, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	mask := func(data []byte) []byte { return []byte(strings.ReplaceAll(string(data), "KEY", "[masked]")) }
	return place{memory.MemoryEntryStore{Repo: dir, State: t.TempDir(), Mask: mask}, repo, first, last}
}

// run is a run whose gate test failed twice with a finding in a file, and whose
// coder submitted something.
func (p place) run(file, handin string) memory.ProposalSourceRun {
	round := func(commit string, is nexus.GateState) *state.AttemptRound {
		e := nexus.GateEvidence{Gate: "test", State: is}
		if is == nexus.Fail {
			e.Findings = []nexus.Finding{{Gate: "test", File: file, Test: "TestIt", Message: "no KEY"}}
		}
		return &state.AttemptRound{Commit: commit, Verdict: &nexus.GatesVerdictGiven{}, Evidence: []nexus.GateEvidence{e}}
	}
	a := &state.AttemptState{ID: "T1.1", Rounds: []*state.AttemptRound{round(p.first, nexus.Fail), round(p.first, nexus.Fail), round(p.last, nexus.Pass)}}
	if handin != "" {
		a.Sessions = []*state.AgentSessionState{{SessionStarted: nexus.SessionStarted{Role: nexus.Coder}, Result: "blob"}}
	}
	t := &state.TaskState{Task: nexus.Task{ID: "T1", Title: "Do it"}, Ended: time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC), Attempts: []*state.AttemptState{a}}
	t.Landed = &nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: p.last}
	return memory.ProposalSourceRun{
		State: &state.State{Run: "r1", Tasks: []*state.TaskState{t}}, Git: p.repo,
		Blob: func(string) ([]byte, error) { return []byte(handin), nil },
	}
}

func (p place) learn(t *testing.T, r memory.ProposalSourceRun, want int) []memory.StoredMemoryEntry {
	t.Helper()
	n, err := p.ProposeFromRun(t.Context(), r)
	if err != nil || n != want {
		t.Fatalf("%d new proposals, %v, want %d", n, err, want)
	}
	all, problems, err := p.LoadEntries()
	if err != nil || len(problems) > 0 {
		t.Fatalf("%+v, %v", problems, err)
	}
	return all
}

// TestLearn writes what a run shows once, without keys, and nothing that quotes a
// file that agents are kept from.
func TestLearn(t *testing.T) {
	p := newPlace(t)
	all := p.learn(t, p.run("a.go", `{"learned": [
		{"kind": "gotcha", "text": "The KEY is in reg.go", "files": ["reg.go", "missing.go"]},
		{"kind": "gotcha", "text": "CANARY it says", "files": ["hidden.go"]}, {"kind": "gotcha", "text": "CANARY it says", "files": [".env"]}]}`), 2)
	fix, gotcha := all[0], all[1]
	if fix.Kind != memoryentry.Fix || !slices.Equal(fix.FilePaths(), []string{"a.go", "reg.go"}) || !slices.Equal(fix.Symbols, []string{"TestIt"}) {
		t.Errorf("%+v", fix)
	}
	if !slices.Equal(gotcha.FilePaths(), []string{"reg.go"}) || gotcha.Files[0].Blob != gittest.RunGit(t, p.Repo, "rev-parse", p.last+":reg.go") {
		t.Errorf("%+v", gotcha)
	}
	for _, k := range all {
		data, err := os.ReadFile(k.Path)
		if err != nil || strings.Contains(string(data), "KEY") || strings.Contains(string(data), "CANARY") || !strings.Contains(string(data), "[masked]") {
			t.Errorf("%s, %v", data, err)
		}
	}
	if again := p.learn(t, p.run("a.go", ""), 0); len(again) != 2 {
		t.Errorf("%+v", again)
	}
	if err := os.RemoveAll(filepath.Join(p.State, "memory")); err != nil { // as if the process had died before
		t.Fatal(err)
	}
	if again := p.learn(t, p.run("a.go", ""), 1); again[0].ID != fix.ID || again[0].String() != fix.String() {
		t.Errorf("%+v became %+v", fix, again)
	}
	p.learn(t, p.run("hidden.go", ""), 0)
}

// TestDecide approves and forgets, and neither is proposed again.
func TestDecide(t *testing.T) {
	p := newPlace(t)
	k := p.learn(t, p.run("a.go", ""), 1)[0]
	now := func(path string) string { return gittest.RunGit(t, p.Repo, "rev-parse", "HEAD:"+path) }
	to, refreshed, err := p.ApproveEntry(t.Context(), k, memoryentry.Fresh, false, now)
	if err != nil || refreshed || to.Path != memoryentry.Dir+"/"+k.ID+".md" {
		t.Fatalf("%+v %v %v", to, refreshed, err)
	}
	again := p.run("a.go", "")
	again.State.Run = "r2"
	k = p.learn(t, again, 0)[0]
	if k.State != memoryentry.Approved || !k.Shared || len(k.From) != 1 {
		t.Errorf("%+v", k)
	}
	if _, err := os.Stat(filepath.Join(p.State, "memory", k.ID+".md")); err == nil {
		t.Error("the proposal is still there")
	}
	gittest.WriteFiles(t, p.Repo, map[string]string{"a.go": "other\n"})
	gittest.RunGit(t, p.Repo, "commit", "-q", "-a", "-m", "other")
	if to, refreshed, err = p.ApproveEntry(t.Context(), k, memoryentry.Stale, false, now); err != nil || !refreshed || to.Files[0].Blob != now("a.go") {
		t.Errorf("%+v %v %v", to, refreshed, err)
	}
	k = p.learn(t, p.run("a.go", ""), 0)[0]
	if _, _, err := p.ApproveEntry(t.Context(), k, memoryentry.Gone, false, func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "no longer committed here") {
		t.Errorf("%v", err)
	}
	if err := p.Forget(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if k = p.learn(t, p.run("a.go", ""), 0)[0]; k.State != memoryentry.Forgotten || k.Shared {
		t.Errorf("%+v", k)
	}
	if err := p.Remove(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	p.learn(t, p.run("a.go", ""), 1)
}

// TestMeanwhile keeps what somebody forgot while another process had read it, or
// was about to write it.
func TestMeanwhile(t *testing.T) {
	p := newPlace(t)
	k := p.learn(t, p.run("a.go", ""), 1)[0]
	again := p.run("a.go", "{}")
	again.State.Run = "r2"
	again.Blob = func(string) ([]byte, error) { return []byte("{}"), p.Forget(t.Context(), k) }
	if is := p.learn(t, again, 0)[0]; is.State != memoryentry.Forgotten {
		t.Errorf("learned again, it is %s", is.State)
	}
	_, _, err := p.ApproveEntry(t.Context(), k, memoryentry.Fresh, false, func(string) string { return "" })
	if err == nil || !strings.Contains(err.Error(), "was changed meanwhile") {
		t.Error(err)
	}
	if err := p.Remove(t.Context(), k); err != nil {
		t.Error(err)
	}
	if is := p.learn(t, p.run("a.go", ""), 0)[0]; is.State != memoryentry.Forgotten {
		t.Errorf("it is %s", is.State)
	}
}

// TestTogether loses nothing of what several processes write at once.
func TestTogether(t *testing.T) {
	p := newPlace(t)
	const runs = 8
	var ready, all sync.WaitGroup
	ready.Add(runs)
	for i := range runs {
		all.Go(func() {
			r := p.run("a.go", "{}")
			r.State.Run = nexus.RunID(fmt.Sprint("r", i))
			r.Blob = func(string) ([]byte, error) {
				ready.Done()
				ready.Wait()
				return []byte("{}"), nil
			}
			if _, err := p.ProposeFromRun(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	kept, problems, err := p.LoadEntries()
	if err != nil || len(problems) > 0 || len(kept) != 1 || len(kept[0].From) != runs {
		t.Errorf("%+v %+v %v", kept, problems, err)
	}
}

// TestApproveThroughLinks writes nothing where a committed link leads.
func TestApproveThroughLinks(t *testing.T) {
	for link, to := range map[string]string{
		".nexus": "elsewhere", ".nexus/memory": "../other", ".nexus/memory/ID.md": "../../victim", ".nexus/memory/ID.md.new": "../../victim",
	} {
		p := newPlace(t)
		k := p.learn(t, p.run("a.go", ""), 1)[0]
		gittest.WriteFiles(t, p.Repo, map[string]string{"victim": "as it was\n", "other/x": "", "elsewhere/memory/x": ""})
		at := filepath.Join(p.Repo, strings.ReplaceAll(link, "ID", k.ID))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		blob := func(path string) string { return gittest.RunGit(t, p.Repo, "rev-parse", "HEAD:"+path) }
		_, _, err := p.ApproveEntry(t.Context(), k, memoryentry.Fresh, false, blob)
		if refuse := !strings.HasSuffix(link, ".new"); refuse != (err != nil) || refuse && !strings.Contains(err.Error(), "it is not a plain ") {
			t.Errorf("%s: %v", link, err)
		}
		for _, dir := range []string{"other", "elsewhere/memory"} {
			if found, err := os.ReadDir(filepath.Join(p.Repo, dir)); err != nil || len(found) != 1 {
				t.Errorf("%s: %s has %v, %v", link, dir, found, err)
			}
		}
		if data, err := os.ReadFile(filepath.Join(p.Repo, "victim")); err != nil || string(data) != "as it was\n" {
			t.Errorf("%s: %q, %v", link, data, err)
		}
	}
}

// TestReadThroughLinks reads no file where a link leads, and says so.
func TestReadThroughLinks(t *testing.T) {
	e := memoryentry.MemoryEntry{Kind: memoryentry.Pattern, State: memoryentry.Approved, Text: "CANARY"}
	for link, to := range map[string]string{".nexus": "docs", ".nexus/memory": "../docs/memory", ".nexus/memory/a.md": "../../docs/memory/a.md"} {
		p := newPlace(t)
		gittest.WriteFiles(t, p.Repo, map[string]string{"docs/memory/a.md": e.String()})
		at := filepath.Join(p.Repo, link)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		all, problems, err := p.LoadEntries()
		if err != nil || len(all) > 0 || len(problems) != 1 || !strings.Contains(problems[0].Why, "it is not a plain ") {
			t.Errorf("%s: %+v %+v %v", link, all, problems, err)
		}
	}
}

// TestLongFile reads no more of a file than an episode may have.
func TestLongFile(t *testing.T) {
	p := newPlace(t)
	gittest.WriteFiles(t, p.Repo, map[string]string{".nexus/memory/long.md": ""})
	if err := os.Truncate(filepath.Join(p.Repo, ".nexus/memory/long.md"), 256<<20); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all, problems, err := p.LoadEntries()
	runtime.ReadMemStats(&after)
	if err != nil || len(all) > 0 || len(problems) != 1 || !strings.Contains(problems[0].Why, "the file has more than") {
		t.Errorf("%+v %+v %v", all, problems, err)
	}
	if read := after.TotalAlloc - before.TotalAlloc; read > 64<<20 {
		t.Errorf("%d bytes were read", read)
	}
}

// TestForgottenLasts forgets for good what comes back into the repository, until
// a person approves it again.
func TestForgottenLasts(t *testing.T) {
	p := newPlace(t)
	k := p.learn(t, p.run("a.go", ""), 1)[0]
	blob := func(path string) string { return gittest.RunGit(t, p.Repo, "rev-parse", "HEAD:"+path) }
	k, _, err := p.ApproveEntry(t.Context(), k, memoryentry.Fresh, false, blob)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(p.Repo, k.Path))
	if err == nil {
		err = p.Forget(t.Context(), k)
	}
	if err != nil {
		t.Fatal(err)
	}
	gittest.WriteFiles(t, p.Repo, map[string]string{k.Path: string(text) + "\nBy a person.\n"})
	k = p.learn(t, p.run("a.go", ""), 0)[0]
	if k.State != memoryentry.Forgotten || !k.Shared {
		t.Errorf("it is %s, %+v", k.State, k)
	}
	if _, _, err := p.ApproveEntry(t.Context(), k, memoryentry.Fresh, false, blob); err != nil {
		t.Fatal(err)
	}
	if k = p.learn(t, p.run("a.go", ""), 0)[0]; k.State != memoryentry.Approved || !strings.HasSuffix(k.Text, "By a person.") {
		t.Errorf("%+v", k)
	}
}

// TestRecall tells what is approved, fresh and not hidden, and proposals only
// where nobody has to approve them.
func TestRecall(t *testing.T) {
	p := newPlace(t)
	p.learn(t, p.run("a.go", ""), 1)
	write := func(name string, e memoryentry.MemoryEntry) {
		e.Kind = memoryentry.Pattern
		gittest.WriteFiles(t, p.Repo, map[string]string{memoryentry.Dir + "/" + name + ".md": e.String()})
	}
	about := func(path, blob string) []memoryentry.SubjectFile {
		return []memoryentry.SubjectFile{{Path: path, Blob: blob}}
	}
	write("told", memoryentry.MemoryEntry{State: memoryentry.Approved, Text: "About a.", Files: about("a.go", "")})
	write("stale", memoryentry.MemoryEntry{State: memoryentry.Approved, Text: "About a.", Files: about("a.go", strings.Repeat("1", 40))})
	write("gone", memoryentry.MemoryEntry{State: memoryentry.Approved, Text: "About a.", Files: append(about("a.go", ""), about("b.go", strings.Repeat("1", 40))...)})
	write("hidden", memoryentry.MemoryEntry{State: memoryentry.Approved, Text: "CANARY", Files: append(about("a.go", ""), about("hidden.go", "")...)})
	write("proposed", memoryentry.MemoryEntry{State: memoryentry.Proposed, Text: "About a.", Files: about("a.go", "")})
	write("forgotten", memoryentry.MemoryEntry{State: memoryentry.Forgotten, Text: "About a.", Files: about("a.go", "")})
	gittest.WriteFiles(t, p.Repo, map[string]string{memoryentry.Dir + "/broken.md": "kind: gotcha\n"})
	b := &memory.MemoryEntryRetriever{MemoryEntryStore: p.MemoryEntryStore, Tokens: 1000, Now: func() time.Time { return time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC) }}
	recall := func(commit string) []string {
		all, err := b.FindRelevantEntries(t.Context(), p.repo, commit, memoryentry.MemoryTaskQuery{Files: []string{"a.go"}}, func(memoryentry.MemoryEntry) int64 { return 1 })
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range all {
			name, _, _ := strings.Cut(c.ID, "-")
			ids = append(ids, name)
		}
		return ids
	}
	if got := recall(p.last); !slices.Equal(got, []string{"told"}) {
		t.Errorf("told of %q", got)
	}
	b.Auto = true
	if got := recall(p.last); !slices.Equal(got, []string{"told", "fix"}) {
		t.Errorf("told of %q", got)
	}
	if got := recall(p.first); !slices.Equal(got, []string{"told"}) { // before the change that it is about
		t.Errorf("told of %q", got)
	}
	b.Tokens = 0
	if got := recall(p.last); len(got) > 0 {
		t.Errorf("told of %q", got)
	}
}

// TestFind takes a part of a name that no other has.
func TestFind(t *testing.T) {
	all := []memory.StoredMemoryEntry{{MemoryEntry: memoryentry.MemoryEntry{ID: "fix-a"}}, {MemoryEntry: memoryentry.MemoryEntry{ID: "fix-a-b"}}}
	for name, want := range map[string]string{"fix-a": "fix-a", "b": "fix-a-b", "fix": "", "c": "", "": ""} {
		k, err := memory.FindEntry(all, name)
		if k.ID != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", name, k.ID, err)
		}
	}
}
