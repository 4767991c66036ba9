package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// What is planted: a key in the environment and one in the key file, whose
// shapes nobody knows, and two in the repository that are known by shape.
const (
	envKey  = "zebra-7781-plum-90210-quartz-5567-kiwi"
	fileKey = "walnut.3319/otter+4482=violet-7023-fern"
)

func shaped() []string {
	return []string{"AK" + "IAQ7W3E9R5T1Y8U2I6", "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"}
}

const plantedScript = `
conversations:
  - match: T1.1/coder.1
    turns:
      - calls:
          - {tool: read_file, input: {path: notes.txt}}
          - {tool: shell, input: {command: "cat notes.txt; cat notes.txt | rev | rev; env"}}
          - {tool: shell, input: {command: "sh look.sh"}}
          - {tool: search_code, input: {pattern: "zebra-"}}
      - expect: ["[masked]", "seen=0"]
        calls:
          - {tool: write_file, input: {path: notes.txt, content: "all of it: [masked]\n"}}
      - expect: ["stands for a key that you were not shown"]
        say: I keep %[1]s in mind.
        calls:
          - {tool: write_file, input: {path: fixture.txt, content: "%[1]s\n"}}
      - calls: [{tool: finish, input: {status: done, summary: "done with %[1]s"}}]
      - expect: ["[masked]"]
        calls:
          - {tool: shell, input: {command: "echo ok > ready.txt"}}
      - calls: [{tool: finish, input: {status: done, summary: done}}]
  - match: T*/reviewer.*
    turns:
      - calls: [{tool: finish, input: {approved: true, summary: "good, but for %[1]s", findings: []}}]
`

// look counts the keys that a command can see of processes.
const look = `n=$( (env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null) | tr '\0' '\n' | grep -c -e '[z]ebra-77' -e '[w]alnut.33')
echo seen=$n
`

// echo is a provider that gives the key away in its first answer, and notes
// what reaches it.
func echo(t *testing.T, next http.Handler) (url string, keyed, leaked *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	keyed, leaked = new(atomic.Int64), new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for _, k := range append(shaped(), envKey, fileKey) {
			if bytes.Contains(body, []byte(k)) {
				leaked.Add(1)
				t.Errorf("a model was sent %s: %s", k, body)
			}
		}
		key := r.Header.Get("X-Api-Key")
		if key == envKey || key == fileKey {
			keyed.Add(1)
		}
		if calls.Add(1) == 1 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"error":{"type":"api_error","message":"no luck with %s and %s and %s..."}}`, key, shaped()[0], key[:20])
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, keyed, leaked
}

// TestPlantedKeys plants keys wherever a run may meet one, and looks for them
// in all that the run leaves behind, says, sends, and shows to other
// processes. Nothing is found, and the tree has them all.
func TestPlantedKeys(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "it looks for keys in what is left behind, which the detector does not watch")
	t.Parallel()
	exe := program(t)
	for name, file := range map[string]bool{"environment": false, "file": true} {
		t.Run(name, func(t *testing.T) { plantKeys(t, exe, file) })
	}
}

func plantKeys(t *testing.T, exe string, file bool) {
	t.Helper()
	script, err := llmtest.ParseScript(fmt.Appendf(nil, plantedScript, shaped()[0]))
	if err != nil {
		t.Fatal(err)
	}
	model, err := llmtest.NewServer(script, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	url, keyed, _ := echo(t, model)
	own := envKey
	s := newStage(t, exe, units())
	s.env = slices.DeleteFunc(s.env, func(e string) bool { return strings.Contains(e, "_API_KEY=") || strings.Contains(e, "_BASE_URL=") })
	s.env = append(s.env, "ANTHROPIC_BASE_URL="+url)
	if file {
		own = fileKey
		set, out := s.begin(strings.NewReader(own+"\n"), "config", "key", "set", "anthropic")
		if err := set.Wait(); err != nil || strings.Contains(out.String(), own) {
			t.Fatalf("set: %v %s", err, out)
		}
	} else {
		s.env = append(s.env, "ANTHROPIC_API_KEY="+own)
	}
	all := append(shaped(), own)

	s.repo = filepath.Join(s.home, "planted")
	notes := strings.Join(all, "\nand ") + "\n"
	for name, text := range map[string]string{
		"notes.txt":  notes,
		"nexus.toml": "[gates]\nbuild = \"sh test.sh\"\ntest = false\nlint = false\n",
		"look.sh":    look,
		"test.sh":    "sh look.sh | grep seen=0 || exit 1; cat notes.txt; cat notes.txt >&2; ! test -f fixture.txt || test -f ready.txt\n",
	} {
		if err := os.MkdirAll(s.repo, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.repo, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := git.CreateRepo(t.Context(), s.repo, git.CommitIdentity{Name: "Ada", Email: "ada@example.com"}, "Begin"); err != nil {
		t.Fatal(err)
	}

	status, recording := filepath.Join(s.home, "status.json"), filepath.Join(s.home, "recording")
	open := exec.CommandContext(t.Context(), "sh", "look.sh")
	open.Dir, open.Env = s.repo, append(s.env, "X="+own)
	if out, err := open.Output(); err != nil || string(out) == "seen=0\n" {
		t.Errorf("the script sees nothing outside of the sandbox either: %s %v", out, err)
	}
	stop, seen := make(chan struct{}), make(chan []string)
	go func() { seen <- cmdlines(stop) }() // waited for below
	run, out := s.begin(nil, "quick", "make it ready, with "+shaped()[1], "--check", "test -e ready.txt", "--strategy", "no-test", "--headless", "--jsonl", "--status-file", status, "--record", recording)
	err = run.Wait()
	close(stop)
	lines := <-seen
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	texts := map[string]string{"output": out.String(), "command lines": strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "make it ready") }), "\n")}
	for _, args := range [][]string{{"status"}, {"status", "--json"}, {"show", "T1"}, {"logs"}, {"logs", "--jsonl"}, {"journal", "export"}, {"diff", "T1"}, {"cost"}, {"config", "key", "list"}, {"config", "--explain"}, {"doctor"}} {
		cmd, out := s.begin(nil, args...)
		_ = cmd.Wait()
		texts[strings.Join(args, " ")] = out.String()
	}
	for _, dir := range []string{filepath.Join(s.home, "state"), recording, status} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() == "repo.git" || d.Name() == "trees" || d.Name() == "lower" { // git's own: the tree is not changed
				if d != nil && d.IsDir() && err == nil {
					return fs.SkipDir
				}
				return err
			}
			if d.Type().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				texts[path] = string(data)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	marks := 0
	for where, text := range texts {
		marks += strings.Count(text, "[masked]")
		for _, k := range all {
			for _, piece := range []string{k, k[:min(len(k), 20)]} {
				if strings.Contains(text, piece) {
					t.Errorf("%s holds %q", where, piece)
				}
			}
		}
	}

	// The controls: the key was used, there was something to mask, and the tree
	// is as it was made.
	if keyed.Load() < 5 || marks < 10 || len(texts) < 20 {
		t.Errorf("%d calls had the key, %d marks in %d texts", keyed.Load(), marks, len(texts))
	}
	branch := strings.TrimSpace(s.git("branch", "--list", "nexus/*", "--format=%(refname:short)"))
	if got := s.git("show", branch+":notes.txt"); got != notes {
		t.Errorf("the notes became %q", got)
	}
	if got := s.git("show", branch+":fixture.txt"); got != shaped()[0]+"\n" {
		t.Errorf("the fixture became %q", got)
	}
}

// cmdlines collects the command lines of all processes until it is stopped.
func cmdlines(stop <-chan struct{}) []string {
	seen := map[string]bool{}
	for {
		procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, p := range procs {
			if data, err := os.ReadFile(p); err == nil {
				seen[string(data)] = true
			}
		}
		select {
		case <-stop:
			var all []string
			for line := range seen {
				all = append(all, line)
			}
			return all
		default:
		}
	}
}
