package tool

import (
	"strings"
	"testing"
)

func TestLongOutputOfCommands(t *testing.T) {
	b := newBench(t, func(e *Env) { e.Box = box(t) })
	got := b.good(t, "shell", m{"command": "seq 1 20000; echo 'x.go:7: error: no'; seq 1 20000"})
	if !strings.HasPrefix(got, "1\n2\n") || !strings.HasSuffix(got, "19999\n20000\n") || len(got) > shellShown+600 ||
		!strings.Contains(got, "1 of them look like trouble, the first:\n20001: x.go:7: error: no\n") {
		t.Fatalf("%d bytes: %.300s", len(got), got)
	}
	_, rest, _ := strings.Cut(got, "with path ")
	handle, _, _ := strings.Cut(rest, ",")
	if got := b.good(t, "read_file", m{"path": handle, "offset": 20_000, "limit": 3}); !strings.HasPrefix(got, "20000\nx.go:7: error: no\n1\n") {
		t.Errorf("got %q", got)
	}
}

func TestTimeouts(t *testing.T) {
	b := newBench(t, func(e *Env) { e.Box = box(t) })
	if a := b.call(t, "shell", m{"command": "echo on; sleep 100", "idle_seconds": 1}); !a.Result.Failed || a.Result.Text != "on\n[killed after 1s without output; what never ends runs with background, what takes long with timeout_seconds up to 600]" {
		t.Errorf("got %+v", a.Result)
	}
	if a := b.call(t, "shell", m{"command": "while :; do echo on; sleep 0.1; done", "timeout_seconds": 1, "idle_seconds": 600}); !a.Result.Failed || !strings.Contains(a.Result.Text, "[killed after 1s, its limit") {
		t.Errorf("got %+v", a.Result)
	}
	for o, want := range map[order][2]string{
		{}: {"5m0s", "2m0s"}, {Timeout: 60}: {"1m0s", "1m0s"}, {Timeout: 600}: {"10m0s", "10m0s"}, {Timeout: 600, Idle: 30}: {"10m0s", "30s"}, {Idle: 600}: {"5m0s", "5m0s"},
	} {
		if total, idle := o.limits(); total.String() != want[0] || idle.String() != want[1] {
			t.Errorf("%+v: %s, %s", o, total, idle)
		}
	}
}

func TestScreens(t *testing.T) {
	b := newBench(t, func(e *Env) { e.Box = box(t) })
	b.bad(t, "shell", m{"command": "vim main.go"}, "edit_file")
	b.bad(t, "shell", m{"command": "cd . && git rebase -i HEAD~2"}, "nobody is there")
	b.bad(t, "shell", m{"command": "npm init", "background": true}, "-y")
	if got := b.good(t, "shell", m{"command": "cat"}); got != "[exit 0, no output]" { // nothing is on standard input
		t.Errorf("got %q", got)
	}
}

func TestJobs(t *testing.T) {
	b := newBench(t, func(e *Env) { e.Box = box(t) })
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
	reader := newBench(t, func(e *Env) { e.Box, e.Writes = box(t), false })
	reader.good(t, "shell", m{"command": "sleep 1000", "background": true})
	if a := reader.call(t, "shell", m{"command": "echo x >made"}); !a.Result.Failed || a.Changed {
		t.Errorf("a reader wrote: %+v", a)
	}
	newBench(t, nil).bad(t, "job", m{"id": "j1"}, "no sandbox")
}
