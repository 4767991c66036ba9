package agentcli_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestHome copies a login and nothing else, keeps one that the program renewed,
// and returns what is to be masked.
func TestHome(t *testing.T) {
	user, own := t.TempDir(), filepath.Join(t.TempDir(), "home")
	p := agentcli.CLIAgentProgram{Name: "claude", Login: []string{".claude/.credentials.json", ".claude/gone.json"}}
	if p.IsLoggedIn(user) {
		t.Error("logged in without a login")
	}
	write(t, filepath.Join(user, ".claude/settings.json"), `{"hooks":{}}`)
	from := write(t, filepath.Join(user, ".claude/.credentials.json"), `{"a":{"token":"sk-ant-oat01-0123456789","kind":"a short one"}}`)
	secrets, err := p.PrepareHome(own, user)
	if err != nil || !slices.Equal(secrets, []string{"sk-ant-oat01-0123456789"}) || !p.IsLoggedIn(user) {
		t.Fatalf("%q %v", secrets, err)
	}
	if _, err := os.Stat(filepath.Join(own, ".claude/settings.json")); err == nil {
		t.Error("settings were copied")
	}
	if info, err := os.Stat(own); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the home is %v", info.Mode())
	}
	renewed := write(t, filepath.Join(own, ".claude/.credentials.json"), `{"token":"sk-ant-oat01-renewed-here"}`)
	secrets, err = p.PrepareHome(own, user)
	if data, _ := os.ReadFile(renewed); err != nil || !strings.Contains(string(data), "renewed") || !slices.Contains(secrets, "sk-ant-oat01-renewed-here") {
		t.Errorf("%s %q %v", data, secrets, err)
	}
	write(t, from, `{"a":{"token":"sk-ant-oat01-another-one"}}`)
	if _, err := p.PrepareHome(own, user); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(renewed); !strings.Contains(string(data), "another-one") {
		t.Error("a new login of the user does not count")
	}
}

// TestSettings holds what programs find set in their homes, which no flag sets.
func TestSettings(t *testing.T) {
	for name, want := range map[string]string{
		"amp": "disabled", "codex": "plugins = false", "claude": "", "opencode": `"dependencies":{"@opencode-ai/plugin":"*"}`,
		"gemini": `{"advanced":{"ignoreLocalEnv":true},"general":{"disableAutoUpdate":true,"enableAutoUpdate":false},` +
			`"privacy":{"usageStatisticsEnabled":false},"security":{"auth":{"selectedType":"oauth-personal"`,
	} {
		i := slices.IndexFunc(agentcli.KnownPrograms(), func(p agentcli.CLIAgentProgram) bool { return p.Name == name })
		for _, p := range []agentcli.CLIAgentProgram{agentcli.KnownPrograms()[i], agentcli.KnownPrograms()[i].WithProtocol("acp")} {
			own := filepath.Join(t.TempDir(), "home")
			if _, err := p.PrepareHome(own, t.TempDir()); err != nil {
				t.Fatal(err)
			}
			var found []string
			_ = filepath.WalkDir(own, func(path string, d os.DirEntry, err error) error {
				if data, _ := os.ReadFile(path); err == nil && !d.IsDir() && strings.Contains(string(data), want) {
					found = append(found, path)
				}
				return err
			})
			if settings := want != "" && (name != "amp" || p.Speaks == "amp"); settings != (len(found) == 1) {
				t.Errorf("%s, which speaks %s: %q", name, p.Speaks, found)
			}
		}
	}
}

// TestArgs holds how programs are started and how they go on with a conversation.
func TestArgs(t *testing.T) {
	for _, c := range []struct{ format, first, again string }{
		{"aider", "--message-file /dev/stdin", "--restore-chat-history"},
		{"amp", "--no-archive-after-execute -x --stream-json", "threads continue ID -x --stream-json"},
		{"claude", "--session-id ID", "--resume ID"},
		{"codex", "exec --json", "exec resume --json"},
		{"copilot", "--session-id ID", "--resume ID"},
		{"crush", "run --quiet --data-dir", "--continue"},
		{"gemini", "--session-id ID", "-r latest"},
		{"goose", "-n ID", "-n ID -r"},
		{"opencode", "run --format json --auto", "-s ID"},
		{"text", "{home} in HOME", "{home} in HOME"},
	} {
		for _, resume := range []bool{false, true} {
			l := launch(t, `printf '%s\n' "$*" >args; read -r line`, time.Minute)
			l.Program = agentcli.CLIAgentProgram{Name: c.format, Speaks: c.format}
			if c.format == "text" {
				l.Program.Args = []string{"{prompt}", "in", "{home}"}
			}
			l.Command.Env = append(l.Command.Env, "HOME=HOME")
			var heard []stream.Kind
			q := prompt(&heard)
			q.Text, q.ID, q.Resume = "it", "ID", resume
			if c.format == "text" {
				q.Text = "{home}" // stays as it is said
			}
			if _, err := l.Prompt(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(l.Command.Dir, "args"))
			want := map[bool]string{false: c.first, true: c.again}[resume]
			if err != nil || !strings.Contains(string(data), want) || c.format != "text" && strings.Contains(string(data), "{") {
				t.Errorf("%s: %q, %v; want %q", c.format, data, err, want)
			}
		}
	}
}

// TestFind follows a program of npm to the packages that it needs.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	if dir, _ = filepath.EvalSymlinks(dir); dir == "" {
		t.Fatal("no directory")
	}
	in := filepath.Join(dir, "lib/node_modules/@x/agent/bin")
	if err := errors.Join(os.MkdirAll(in, 0o700), os.Mkdir(filepath.Join(dir, "bin"), 0o700)); err != nil {
		t.Fatal(err)
	}
	real := testenv.WriteProgram(t, filepath.Join(in, "agent.js"), "#!/usr/bin/env node\n")
	if err := os.Symlink(real, filepath.Join(dir, "bin/agent")); err != nil {
		t.Fatal(err)
	}
	file, seen, err := agentcli.FindProgram("agent", "relative:"+filepath.Join(dir, "bin"))
	if err != nil || file != real || !slices.Equal(seen, []string{filepath.Join(dir, "lib/node_modules")}) {
		t.Errorf("%s %q %v", file, seen, err)
	}
	for _, bad := range []string{"nobody", "./agent", filepath.Join(dir, "bin"), "/nowhere/agent"} {
		if file, _, err := agentcli.FindProgram(bad, dir); err == nil {
			t.Errorf("found %s as %s", bad, file)
		}
	}
}

// launch makes a program of a script.
func launch(t *testing.T, script string, silence time.Duration) agentcli.ProgramLaunch {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := testenv.WriteProgram(t, filepath.Join(dir, "agent"), "#!/bin/sh\n"+script)
	return agentcli.ProgramLaunch{
		Program: agentcli.CLIAgentProgram{Name: "claude", Speaks: "claude"}, File: file, Run: box.Run, Silence: silence, Working: time.Minute,
		Command: sandbox.Command{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}},
	}
}

func prompt(heard *[]stream.Kind) agentcli.AgentPrompt {
	return agentcli.AgentPrompt{
		Text: "do it", ID: "i",
		Permit: func(context.Context, stream.AgentToolCall) string { return "no" },
		Heard: func(_ context.Context, e stream.AgentEvent) error {
			*heard = append(*heard, e.Kind)
			return nil
		},
	}
}

const done = `printf '{"type":"result","subtype":"success","is_error":false,"result":"ok"}\n'` + "\n"

// TestPrompt runs programs that end as they should, and some that do not.
func TestPrompt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		fault  nexus.AgentProgramFault
		kinds  []stream.Kind
	}{
		"done":                  {done, "", []stream.Kind{stream.PromptEnded}},
		"it stays":              {done + "sleep 60", "", []stream.Kind{stream.PromptEnded}},
		"its child stays":       {"sleep 60 &\n" + done, "", []stream.Kind{stream.PromptEnded}},
		"it closes its output":  {"exec >&-; sleep 60", nexus.FaultSilent, nil},
		"a denied call":         {`read -r a; printf '{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"c"}}\n'; read -r b; case $b in *deny*no*) ` + done + ";; esac", "", []stream.Kind{stream.PromptEnded}},
		"silent":                {"read -r a; sleep 60", nexus.FaultSilent, nil},
		"a line without an end": {"printf '{\"type\":'; sleep 60", nexus.FaultSilent, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heard []stream.Kind
			silence := time.Minute
			if c.fault == nexus.FaultSilent {
				silence = 100 * time.Millisecond
			}
			began := time.Now()
			e, err := launch(t, c.script, silence).Prompt(t.Context(), prompt(&heard))
			if err != nil || e.Fault != c.fault || !slices.Equal(heard, c.kinds) {
				t.Errorf("%q (%s), %q, %v", e.Fault, e.Why, heard, err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestEndOfText takes a line for the end of a program that prints text and stays, and
// its exit for none.
func TestEndOfText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, text string
		fault        nexus.AgentProgramFault
	}{
		"the line, and it stays": {"echo I did it.; echo '-- all DONE --'; echo more; sleep 60", "I did it.", ""},
		"exits after it":         {"echo I did it.; echo '-- all DONE --'; exit 3", "I did it.", ""},
		"without it":             {"echo I did it.", "I did it.", nexus.FaultUnfinished},
		"fails without it":       {"echo I did it.; exit 3", "I did it.", nexus.FaultCrashed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := launch(t, c.script, time.Minute)
			l.Program.Speaks, l.Program.End = "text", "DONE"
			var heard []stream.Kind
			e, err := l.Prompt(t.Context(), prompt(&heard))
			if err != nil || e.Fault != c.fault || e.Text != c.text {
				t.Errorf("%q (%s), %q, %v", e.Fault, e.Why, e.Text, err)
			}
		})
	}
}

// TestCancel stops the program when nobody waits for it any more.
func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	var heard []stream.Kind
	p := prompt(&heard)
	p.Heard = func(context.Context, stream.AgentEvent) error { stop(os.ErrDeadlineExceeded); return nil }
	e, err := launch(t, `printf '{"type":"system","subtype":"init","session_id":"i"}\n'; sleep 60`, 0).Prompt(ctx, p)
	if err == nil || e.Fault != nexus.FaultStopped {
		t.Errorf("%q %v", e.Fault, err)
	}
}
