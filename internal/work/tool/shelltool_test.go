package tool

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func TestLongOutputOfCommands(t *testing.T) {
	b := newBench(t, func(e *AgentToolEnvironment) { e.Box = box(t) })
	got := b.good(t, "shell", m{"command": "seq 1 20000; echo 'x.go:7: error: no'; seq 1 20000"})
	if !strings.HasPrefix(got, "1\n2\n") || !strings.HasSuffix(got, "19999\n20000\n") || len(got) > shellShown+600 ||
		!strings.Contains(got, "1 of them look like errors, the first:\n20001: x.go:7: error: no\n") {
		t.Fatalf("%d bytes: %.300s", len(got), got)
	}
	_, rest, _ := strings.Cut(got, "with path ")
	handle, _, _ := strings.Cut(rest, ",")
	if got := b.good(t, "read_file", m{"path": handle, "offset": 20_000, "limit": 3}); !strings.HasPrefix(got, "20000\nx.go:7: error: no\n1\n") {
		t.Errorf("got %q", got)
	}
}

func TestTimeouts(t *testing.T) {
	b := newBench(t, func(e *AgentToolEnvironment) { e.Box = box(t) })
	if a := b.call(t, "shell", m{"command": "echo on; sleep 100", "idle_seconds": 1}); !a.Result.Failed || a.Result.Text != "on\n[killed after 1s without output; use background for a command that never ends, and timeout_seconds, up to 600, for a slow one]" {
		t.Errorf("got %+v", a.Result)
	}
	if a := b.call(t, "shell", m{"command": "while :; do echo on; sleep 0.1; done", "timeout_seconds": 1, "idle_seconds": 600}); !a.Result.Failed || !strings.Contains(a.Result.Text, "[killed after 1s, its limit") {
		t.Errorf("got %+v", a.Result)
	}
	for o, want := range map[shellToolInput][2]string{
		{}: {ShellTime.String(), ShellTime.String()}, {Timeout: 60}: {"1m0s", "1m0s"}, {Timeout: 600}: {"10m0s", "10m0s"}, {Timeout: 600, Idle: 30}: {"10m0s", "30s"}, {Idle: 600}: {"5m0s", "5m0s"},
	} {
		if total, idle := o.timeLimits(); total.String() != want[0] || idle.String() != want[1] {
			t.Errorf("%+v: %s, %s", o, total, idle)
		}
	}
}

func TestScreens(t *testing.T) {
	b := newBench(t, func(e *AgentToolEnvironment) { e.Box = box(t) })
	b.bad(t, "shell", m{"command": "vim main.go"}, "edit_file")
	b.bad(t, "shell", m{"command": "cd . && git rebase -i HEAD~2"}, "no person is available")
	b.bad(t, "shell", m{"command": "npm init", "background": true}, "-y")
	if got := b.good(t, "shell", m{"command": "cat"}); got != "[exit 0, no output]" { // nothing is on standard input
		t.Errorf("got %q", got)
	}
}

func TestJobs(t *testing.T) {
	testenv.NeedTool(t, "python3")
	b := newBench(t, func(e *AgentToolEnvironment) { e.Box = box(t) })
	if got := b.good(t, "job", m{}); got != "[nothing runs in the background]" {
		t.Errorf("got %q", got)
	}
	b.bad(t, "job", m{"id": "j1"}, "start it again")
	b.bad(t, "shell", m{"command": "git push", "background": true}, "refused, not run")
	b.write(t, "server.sh", "python3 -u -c \"\nimport http.server\ns=http.server.HTTPServer(('127.0.0.1',0),http.server.SimpleHTTPRequestHandler)\nopen('port','w').write(str(s.server_port))\nprint('ready')\ns.serve_forever()\"\n")
	got := b.good(t, "shell", m{"command": "bash server.sh", "background": true})
	if !strings.HasPrefix(got, "started as j1; ") {
		t.Fatalf("got %q", got)
	}
	for range 60 {
		if strings.Contains(got, "ready") {
			break
		}
		got = b.good(t, "job", m{"id": "j1", "wait_seconds": 5})
	}
	b.write(t, "page", "served\n")
	b.write(t, "ask.sh", `python3 -c "import urllib.request;print(urllib.request.urlopen('http://127.0.0.1:'+open('port').read()+'/page').read().decode())"`)
	got = b.good(t, "shell", m{"command": "bash ask.sh"})
	if !strings.Contains(got, "served") {
		t.Errorf("got %q", got)
	}
	if a := b.call(t, "shell", m{"command": "echo beside; exit 3"}); !a.Result.Failed || a.Result.Text != "beside\n[exit 3]" {
		t.Errorf("got %+v", a.Result)
	}
	if a := b.call(t, "shell", m{"command": "echo on; sleep 100", "idle_seconds": 1}); !a.Result.Failed || !strings.HasPrefix(a.Result.Text, "on\n[killed after 1s without output") {
		t.Errorf("got %+v", a.Result)
	}
	if got := b.good(t, "job", m{}); got != "j1 runs: bash server.sh\n" {
		t.Errorf("got %q", got)
	}
	if got := b.good(t, "job", m{"id": "j1", "stop": true}); !strings.Contains(got, "[j1 ended: exit 143") {
		t.Errorf("got %q", got)
	}
	if got := b.good(t, "shell", m{"command": "echo alone"}); got != "alone\n" {
		t.Errorf("got %q", got)
	}
	reader := newBench(t, func(e *AgentToolEnvironment) { e.Box, e.Writes = box(t), false })
	reader.good(t, "shell", m{"command": "sleep 1000", "background": true})
	if a := reader.call(t, "shell", m{"command": "echo x >made"}); !a.Result.Failed || a.Changed {
		t.Errorf("a reader wrote: %+v", a)
	}
	newBench(t, nil).bad(t, "job", m{"id": "j1"}, "no sandbox")
}

// TestJudged says about each call who let it through, or did not, and why.
func TestJudged(t *testing.T) {
	b := newBench(t, func(e *AgentToolEnvironment) {
		e.Box = box(t)
		e.Agree = func(_ context.Context, command, _ string) error {
			if strings.Contains(command, "no") {
				return errors.New("a person said: no")
			}
			return nil
		}
	})
	b.write(t, "a", "text\n")
	b.write(t, ".nexusignore", "hidden\n")
	for _, c := range []struct {
		tool               string
		in                 m
		decision, rule, by string
		refused            bool
	}{
		{"read_file", m{"path": "a"}, "allow", "role.tools", "role", false},
		{"read_file", m{"path": "none"}, "allow", "role.tools", "role", false},
		{"read_file", m{"path": ".git/config"}, "deny", "path.git", "policy", true},
		{"write_file", m{"path": "nexus.toml", "content": ""}, "deny", "path.agent-config", "policy", true},
		{"edit_file", m{"path": "hidden", "edits": []m{{"old": "a", "new": "b"}}}, "deny", "path.ignored", "policy", true},
		{"list_files", m{"path": "../"}, "deny", "path.outside", "policy", true},
		{"shell", m{"command": "cat a"}, "allow", "", "policy", false},
		{"shell", m{"command": "git push"}, "deny", "git.shared", "policy", true},
		{"shell", m{"command": "brew install frobnicate"}, "ask", "", "person", false},
		{"shell", m{"command": "brew install no"}, "ask", "", "person", true},
		{"shell", m{"command": "vim a"}, "deny", "screen", "policy", true},
		{"git", m{"args": []string{"push"}}, "deny", "git.read", "policy", true},
		{"fly", m{}, "deny", "role.tools", "role", true},
		{"finish", m{"summary": "s", "status": "done"}, "", "", "", false},
	} {
		j := b.call(t, c.tool, c.in).Judged
		if j.Decision != c.decision || c.rule != "" && j.Rule != c.rule || j.By != c.by || j.Refused != c.refused {
			t.Errorf("%s %v: %+v", c.tool, c.in, j)
		}
	}
}

// A gigabyte of output is counted and not kept: what there is of it is its
// beginning, its end and what looks like a failure, in little memory.
func TestGigabyteOfOutput(t *testing.T) {
	testenv.NeedToolchains(t)
	b := newBench(t, func(e *AgentToolEnvironment) { e.Box = box(t) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := b.good(t, "shell", m{"command": `echo first; head -c 1000000000 /dev/zero | tr '\0' '.' | fold -w 99; echo 'x.go:3: undefined: y'; echo last`, "timeout_seconds": 600})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if len(text) > shellShown+2000 || !strings.HasPrefix(text, "first\n") || !strings.Contains(text, "last") || !strings.Contains(text, "undefined: y") {
		t.Errorf("%d bytes: %.100q ... %.300q", len(text), text, text[max(0, len(text)-300):])
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("%d bytes are held", grown)
	}
	if churn := after.TotalAlloc - before.TotalAlloc; churn > 512<<20 {
		t.Errorf("%d bytes were allocated for it", churn)
	}
}

// TestShellSaysHowToUndo says it to those alone who work in a tree of their own:
// in somebody's checkout it would discard that person's work.
func TestShellSaysHowToUndo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*AgentToolEnvironment)
		says   bool
	}{
		"a tree of its own":   {nil, true},
		"somebody's checkout": {func(e *AgentToolEnvironment) { e.Theirs = true }, false},
		"read-only":           {func(e *AgentToolEnvironment) { e.Writes = false }, false},
	} {
		b := newBench(t, c.change)
		for _, s := range b.Specs() {
			if s.Name == "shell" && strings.Contains(s.Description, "git restore") != c.says {
				t.Errorf("%s: %s", name, s.Description)
			}
		}
	}
}
