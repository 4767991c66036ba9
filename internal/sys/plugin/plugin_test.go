package plugin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// runner runs plugins on a repository without a sandbox.
func runner(t *testing.T) *usercmd.UserCommandRunner {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) string { return map[string]string{"TOKEN": "a-word"}[name] }
	mask := func(data []byte) []byte { return []byte(strings.ReplaceAll(string(data), "s3cret", "***")) }
	return &usercmd.UserCommandRunner{Box: box, Unboxed: box, Dir: t.TempDir(), State: t.TempDir(), Env: env, Trust: trust.OpenStore(t.TempDir()), Mask: mask, Mark: "test/plugin"}
}

// script is a plugin of the kind router that a shell runs.
func script(text string) plugin.DeclaredPlugin {
	return plugin.DeclaredPlugin{Name: "p", Own: true, PluginSettings: config.PluginSettings{
		Command: "sh", Args: []string{"-c", text}, Kinds: []string{"router"}, Env: []string{"SAID=${TOKEN}"}, Timeout: 10 * time.Second,
	}}
}

const (
	hello  = `read -r l; echo '{"type":"hello","protocol":1,"name":"a router","version":"1.0","kinds":["router","context"]}'; `
	answer = `read -r l; echo '{"type":"answer","id":1,"output":{"complexity":"medium","why":"so"}}'; `
)

// TestAnswers says what each way to answer is worth.
func TestAnswers(t *testing.T) {
	r := runner(t)
	for name, c := range map[string]struct {
		script string
		state  nexus.PluginAnswerState // empty: it answers
		why    string
	}{
		"answers":            {hello + answer, "", ""},
		"reads what it gets": {`read -r l; case $l in *'"protocol":1,"plugin":"p"'*) ;; *) exit 9 ;; esac; test "$SAID" = a-word || exit 8; echo x >"$NEXUS_PLUGIN_DIR/x" || exit 7; ` + strings.TrimPrefix(hello, "read -r l; ") + answer, "", ""},
		"refuses":            {hello + `read -r l; echo '{"type":"error","id":1,"message":"no s3cret idea"}'`, nexus.PluginFailed, "no *** idea"},
		"no such program":    {`exec nosuchprogram`, nexus.PluginEnded, "exit code 127"},
		"ends":               {`read -r l; echo bad s3cret >&2; exit 3`, nexus.PluginEnded, "exit code 3: bad ***"},
		"ends later":         {hello + `exit 0`, nexus.PluginEnded, "exit code 0"},
		"prints garbage":     {`echo hello there; sleep 1000`, nexus.PluginInvalid, "not a JSON object: hello there"},
		"garbage later":      {hello + `read -r l; echo '{"id":'; sleep 1000`, nexus.PluginInvalid, "not a message"},
		"binary":             {`printf '{\377}\n'`, nexus.PluginInvalid, "not UTF-8"},
		"another version":    {`echo '{"type":"hello","protocol":2,"name":"x","version":"1","kinds":["router"]}'`, nexus.PluginInvalid, "speaks the protocol 2, this program speaks 1"},
		"no version":         {`echo '{"type":"hello","name":"x","version":"1","kinds":["router"]}'`, nexus.PluginInvalid, "speaks the protocol none"},
		"another kind":       {`echo '{"type":"hello","protocol":1,"name":"x","version":"1","kinds":["context"]}'`, nexus.PluginInvalid, "declared as router"},
		"no kind":            {`echo '{"type":"hello","protocol":1,"name":"x","version":"1","kinds":["boss"]}'`, nexus.PluginInvalid, "no kind of plugin"},
		"no name":            {`echo '{"type":"hello","protocol":1,"version":"1","kinds":["router"]}'`, nexus.PluginInvalid, "name and version"},
		"unknown field":      {`echo '{"type":"hello","protocol":1,"name":"x","version":"1","kinds":["router"],"sandbox":"off"}'`, nexus.PluginInvalid, "unknown field"},
		"answers unasked":    {strings.TrimSpace(strings.Replace(hello, "read -r l; ", "", 1)) + `read -r l; read -r l; echo '{"type":"answer","id":7,"output":{}}'; sleep 1000`, nexus.PluginInvalid, "answered question 7"},
		"greets twice":       {hello + hello, nexus.PluginInvalid, "said hello again"},
		"another answer":     {hello + `read -r l; echo '{"type":"answer","id":1,"output":{"findings":[]}}'`, nexus.PluginInvalid, "unknown field"},
		"a bad tier":         {hello + `read -r l; echo '{"type":"answer","id":1,"output":{"complexity":"medium","tier":"best"}}'`, nexus.PluginInvalid, `tier "best"`},
		"no tests":           {hello + `read -r l; echo '{"type":"answer","id":1,"output":{"strategy":"no-test"}}'`, nexus.PluginInvalid, "strategy"},
		"no end of a line":   {hello + `read -r l; head -c 2000000 /dev/zero | tr '\0' x; sleep 1000`, nexus.PluginInvalid, "more than 1048576 bytes"},
		"half a line":        {hello + `read -r l; printf '{"type":'`, nexus.PluginEnded, "it ended before it answered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out plugin.RouterOutput
			err := ask(t.Context(), script(c.script), r, &out)
			if c.state == "" {
				if d := cmp.Diff(plugin.RouterOutput{Complexity: nexus.Medium, Why: "so"}, out); err != nil || d != "" {
					t.Error(err, d)
				}
				return
			}
			e, ok := errors.AsType[*plugin.Error](err)
			if !ok || e.State != c.state || !strings.Contains(e.Why, c.why) {
				t.Errorf("%v, want %s: %s", err, c.state, c.why)
			}
		})
	}
}

func ask(ctx context.Context, p plugin.DeclaredPlugin, r *usercmd.UserCommandRunner, out plugin.PluginOutput) error {
	s, err := p.StartSession(ctx, r)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Ask(ctx, nexus.PluginRouter, "r1", plugin.RouterInput{Goal: "Write"}, out)
}

// TestEndsWithAll kills a plugin that is late, with what it started, and does not
// ask it again.
func TestEndsWithAll(t *testing.T) {
	r := runner(t)
	p := script(hello + `setsid sleep 98764 & sleep 98764`)
	p.Timeout = 300 * time.Millisecond
	s, err := p.StartSession(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		var out plugin.RouterOutput
		err := s.Ask(t.Context(), nexus.PluginRouter, "r1", plugin.RouterInput{}, &out)
		if e, ok := errors.AsType[*plugin.Error](err); !ok || e.State != nexus.PluginTimeout {
			t.Error(err)
		}
	}
	if left, err := filepath.Glob("/proc/[0-9]*/cmdline"); err == nil {
		for _, file := range left {
			if data, _ := os.ReadFile(file); strings.Contains(string(data), "sleep\x0098764") {
				t.Errorf("%s still runs", file)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrClosed)
	if err := ask(ctx, script(hello+answer), r, &plugin.RouterOutput{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("asked though nobody waits for it: %v", err)
	}
	missing := script("")
	missing.Command = "no-such-program"
	if e, ok := errors.AsType[*plugin.Error](ask(t.Context(), missing, r, &plugin.RouterOutput{})); !ok || e.State != nexus.PluginNotRun {
		t.Error(e)
	}
}

// TestLearnsItsVariables tells the mask what a plugin is given, as it is written and
// as it is filled in.
func TestLearnsItsVariables(t *testing.T) {
	r := runner(t)
	var learnt []string
	r.Learn = func(value string) { learnt = append(learnt, value) }
	p := script(hello + answer)
	p.Env = append(p.Env, "KEY=as-written")
	if err := ask(t.Context(), p, r, &plugin.RouterOutput{}); err != nil || !slices.Equal(learnt, []string{"a-word", "as-written"}) {
		t.Error(learnt, err)
	}
}

// TestRefusesAndContinues asks a plugin again that could not answer once.
func TestRefusesAndContinues(t *testing.T) {
	r := runner(t)
	s, err := script(hello+`read -r l; echo '{"type":"error","id":1,"message":"no"}'; read -r l; echo '{"type":"answer","id":2,"output":{}}'`).StartSession(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out plugin.RouterOutput
	if err := s.Ask(t.Context(), nexus.PluginRouter, "r1", plugin.RouterInput{}, &out); err == nil {
		t.Error("it answered")
	}
	if err := s.Ask(t.Context(), nexus.PluginRouter, "r1", plugin.RouterInput{}, &out); err != nil {
		t.Error(err)
	}
}

// TestTrust runs nothing that nobody agreed to, nor what changed since.
func TestTrust(t *testing.T) {
	r := runner(t)
	file := filepath.Join(r.Dir, "p.sh")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(hello + answer)
	theirs := plugin.DeclaredPlugin{Name: "theirs", PluginSettings: config.PluginSettings{Command: "sh", Args: []string{"p.sh"}, Kinds: []string{"router"}}}
	free := plugin.DeclaredPlugin{Name: "free", Own: true, PluginSettings: config.PluginSettings{Command: "sh", Args: []string{file}, Kinds: []string{"router"}, Sandbox: "off"}}
	sees := free // in the sandbox, with a variable of the user's
	sees.Name, sees.Sandbox, sees.Env = "sees", "", []string{"SAID=${TOKEN}"}
	quiet := sees
	quiet.Env = nil
	if err := ask(t.Context(), quiet, r, &plugin.RouterOutput{}); err != nil {
		t.Errorf("it gets at nothing: %v", err)
	}
	for _, p := range []plugin.DeclaredPlugin{theirs, free, sees} {
		state := func(want nexus.PluginAnswerState) {
			t.Helper()
			err := ask(t.Context(), p, r, &plugin.RouterOutput{})
			e, _ := errors.AsType[*plugin.Error](err)
			if want == nexus.PluginOK && err != nil || want != nexus.PluginOK && (e == nil || e.State != want) {
				t.Errorf("%s: %v, want %s", p.Name, err, want)
			}
		}
		state(nexus.PluginUntrusted)
		root, err := os.OpenRoot(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Trust.RecordTrust(t.Context(), r.Dir, []trust.TrustItem{*p.TrustItem(root)}); err != nil {
			t.Fatal(err)
		}
		_ = root.Close()
		state(nexus.PluginOK)
		write(hello + answer + "# changed\n")
		state(nexus.PluginUntrusted)
		write(hello + answer)
		p.Required = true
		state(nexus.PluginUntrusted)
	}
}

// TestDeclared refuses plugins that cannot be run, before a run relies on them.
func TestDeclared(t *testing.T) {
	for name, p := range map[string]config.PluginSettings{
		"no command": {Kinds: []string{"router"}},
		"no kinds":   {Command: "true"},
		"told only":  {Command: "true", Kinds: []string{"reporter"}, Required: true},
		"variable":   {Command: "true", Kinds: []string{"router"}, Env: []string{"A=${TOKEN}"}},
	} {
		origins := config.SettingOrigins{"plugins.p.command": {Layer: config.LayerProject}}
		if _, err := plugin.ListPlugins(config.Config{Plugins: map[string]config.PluginSettings{"p": p}}, origins); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
