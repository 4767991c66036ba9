package hookcmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestSamples keeps what hooks read as it is: scripts depend on it.
func TestSamples(t *testing.T) {
	var b bytes.Buffer
	for _, p := range nexus.HookPoints() {
		e := hookcmd.SampleEvent(p, time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC))
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
		back, err := hookcmd.ParseEvent(data)
		if err != nil {
			t.Errorf("%s: %v", p, err)
		}
		if d := cmp.Diff(e, back); d != "" {
			t.Errorf("%s: %s", p, d)
		}
	}
	golden := filepath.Join("testdata", "events.golden")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
	page, err := os.ReadFile("../../../docs/extend.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range nexus.HookPoints() {
		if !strings.Contains(string(page), "| `"+string(p)+"` |") {
			t.Errorf("docs/extend.md does not list %s", p)
		}
	}
}

// runner runs hooks on a repository without a sandbox.
func runner(t *testing.T) *usercmd.UserCommandRunner {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) string { return map[string]string{"TOKEN": "a-word"}[name] }
	return &usercmd.UserCommandRunner{Box: box, Unboxed: box, Dir: t.TempDir(), State: t.TempDir(), Env: env, Trust: trust.OpenStore(t.TempDir()), Mark: "test/hook"}
}

// TestOutcomes says what each end of a command means.
func TestOutcomes(t *testing.T) {
	r := runner(t)
	for script, want := range map[string]struct {
		state nexus.HookCommandState
		exit  int
		why   string
		lets  bool
	}{
		"exit 0":                          {nexus.HookOK, 0, "", true},
		"echo no >&2; exit 2":             {nexus.HookRefused, 2, "no", false},
		"exit 2":                          {nexus.HookRefused, 2, "it gave no reason", false},
		"echo bad >&2; exit 1":            {nexus.HookFailed, 1, "exit code 1: bad", true},
		"kill -SEGV $$":                   {nexus.HookKilled, 139, "it was ended by signal 11", false},
		"no-such-program":                 {nexus.HookFailed, 127, "", true},
		"sleep 1000 & sleep 1000":         {nexus.HookTimeout, -1, "it was killed after 200ms", false},
		`test "$SAID" = a-word || exit 3`: {nexus.HookOK, 0, "", true},
		`read -r l; case $l in *'"hook":"h"'*) ;; *) exit 4 ;; esac; test "$NEXUS_HOOK_TASK" = T1 || exit 5`: {nexus.HookOK, 0, "", true},
	} {
		h := hookcmd.DeclaredHook{Name: "h", Own: true, HookSettings: config.HookSettings{On: []string{"task.done"}, Command: []string{"sh", "-c", script}, Env: []string{"SAID=${TOKEN}"}}}
		if want.state == nexus.HookTimeout {
			h.Timeout = 200 * time.Millisecond
		}
		o, err := h.RunHook(t.Context(), r, hookcmd.SampleEvent(nexus.HookTaskDone, time.Time{}))
		if err != nil {
			t.Fatal(err)
		}
		if o.State != want.state || o.Exit != want.exit || want.why != "" && o.Why != want.why || o.State.AllowsAction() != want.lets {
			t.Errorf("%s: %+v", script, o)
		}
	}
	missing := hookcmd.DeclaredHook{Name: "h", Own: true, HookSettings: config.HookSettings{On: []string{"run.land"}, Command: []string{"no-such-program"}}}
	if o, err := missing.RunHook(t.Context(), r, hookcmd.HookEvent{}); err != nil || o.State != nexus.HookNotRun || o.State.AllowsAction() {
		t.Errorf("%+v, %v", o, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrClosed)
	if _, err := missing.RunHook(ctx, r, hookcmd.HookEvent{}); err == nil {
		t.Error("it ran though nobody waits for it")
	}
}

// TestTrust runs nothing that nobody agreed to, nor what changed since.
func TestTrust(t *testing.T) {
	r := runner(t)
	script := filepath.Join(r.Dir, "a.sh")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("exit 0\n")
	for _, h := range []hookcmd.DeclaredHook{
		{Name: "theirs", HookSettings: config.HookSettings{On: []string{"run.end"}, Command: []string{"sh", "a.sh"}}},
		{Name: "free", Own: true, HookSettings: config.HookSettings{On: []string{"run.end"}, Command: []string{"sh", script}, Sandbox: "off"}},
		{Name: "sees", Own: true, HookSettings: config.HookSettings{On: []string{"run.end"}, Command: []string{"sh", script}, Env: []string{"SAID=${TOKEN}"}}},
	} {
		state := func(want nexus.HookCommandState) {
			t.Helper()
			if o, err := h.RunHook(t.Context(), r, hookcmd.HookEvent{}); err != nil || o.State != want {
				t.Errorf("%s: %+v, %v, want %s", h.Name, o, err, want)
			}
		}
		state(nexus.HookUntrusted)
		root, err := os.OpenRoot(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Trust.RecordTrust(t.Context(), r.Dir, []trust.TrustItem{*h.TrustItem(root)}); err != nil {
			t.Fatal(err)
		}
		_ = root.Close()
		state(nexus.HookOK)
		write("exit 0 # changed\n")
		state(nexus.HookUntrusted)
		write("exit 0\n")
		state(nexus.HookOK)
	}
}

// TestDeclared refuses hooks that cannot be run, before a run relies on them.
func TestDeclared(t *testing.T) {
	for name, h := range map[string]config.HookSettings{
		"no command": {On: []string{"run.end"}},
		"no points":  {Command: []string{"true"}},
		"variable":   {On: []string{"run.end"}, Command: []string{"true"}, Env: []string{"A=${TOKEN}"}},
	} {
		origins := config.SettingOrigins{"hooks.h.on": {Layer: config.LayerProject}}
		if _, err := hookcmd.ListHooks(config.Config{Hooks: map[string]config.HookSettings{"h": h}}, origins); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	data, err := json.Marshal(hookcmd.SampleEvent(nexus.HookRunLand, time.Time{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1,"hook_event_name":"run.end"} x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := hookcmd.ParseEvent(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Skip() // a time that JSON cannot write
		}
		if back, err := hookcmd.ParseEvent(again); err != nil || back.Point != e.Point || back.Run != e.Run {
			t.Errorf("%s: %v", again, err)
		}
	})
}
