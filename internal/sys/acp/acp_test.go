package acp_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acptest"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

func TestMain(m *testing.M) {
	if acptest.RunIfAgentProcess() {
		return
	}
	goleak.VerifyTestMain(m)
}

// tree is a worktree whose file of this name may not be written.
type tree struct{ dir, kept string }

func (d tree) Read(name string) (string, error) {
	if !strings.HasPrefix(name, d.dir) {
		return "", errors.New("it is outside")
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fs.ErrNotExist
	}
	return string(data), err
}

func (d tree) Write(name, text string) error {
	if !strings.HasPrefix(name, d.dir) || filepath.Base(name) == d.kept {
		return errors.New("it may not be written")
	}
	return os.WriteFile(name, []byte(text), 0o600)
}

// bench is an agent that plays a script, and what is heard of it.
type bench struct {
	*acp.Agent

	dir, home string
	launch    acp.AgentLaunchOptions
	events    []string
	asked     []string
}

func play(t *testing.T, script string, set func(*acp.AgentLaunchOptions)) *bench {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: t.TempDir(), home: t.TempDir()}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home}
	b.launch = acp.AgentLaunchOptions{
		Program: agentcli.CLIAgentProgram{Name: "scripted", Speaks: "acp", Env: []string{acptest.EnvVar + "=" + script}},
		File:    file, Run: box.Run, Files: tree{b.dir, "kept.txt"}, Writes: true, Silence: time.Minute, Working: time.Minute,
		Command:  sandbox.Command{Dir: b.dir, Env: env, Mark: "acp/" + filepath.Base(b.home)},
		Terminal: sandbox.Command{Dir: b.dir, Env: env[:1], Args: []string{"/bin/sh", "-c"}},
	}
	if set != nil {
		set(&b.launch)
	}
	b.Agent = acp.NewAgent(b.launch)
	t.Cleanup(b.Close)
	return b
}

// say prompts the agent. Nothing that is called evil, or outside, may be done.
func (b *bench) say(t *testing.T, q agentcli.AgentPrompt) agentcli.PromptResult {
	t.Helper()
	e, err := b.prompt(t.Context(), q)
	if err != nil {
		t.Errorf("prompt: %v", err)
	}
	return e
}

func (b *bench) prompt(ctx context.Context, q agentcli.AgentPrompt) (agentcli.PromptResult, error) {
	b.events, b.asked = nil, nil
	q.Permit = func(_ context.Context, c stream.AgentToolCall) string {
		b.asked = append(b.asked, c.Tool+string(c.Input))
		for _, bad := range []string{"evil", "/etc/", "AskUser"} {
			if strings.Contains(c.Tool+string(c.Input), bad) {
				return "that is " + bad
			}
		}
		return ""
	}
	if q.Heard == nil {
		q.Heard = func(_ context.Context, e stream.AgentEvent) error {
			b.events = append(b.events, show(e))
			return nil
		}
	}
	return b.Prompt(ctx, q)
}

func show(e stream.AgentEvent) string {
	s := string(e.Kind)
	for _, one := range []string{e.ID, e.Model, e.Version, strings.TrimSpace(e.Text)} {
		if one != "" {
			s += " " + one
		}
	}
	for _, c := range e.Calls {
		s += fmt.Sprintf(" %s=%s", c.ID, c.Tool)
	}
	if e.Failed {
		s += " failed"
	}
	if e.Refused {
		s += " refused"
	}
	return s
}

func (b *bench) file(name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}

func (b *bench) noted(name string) string {
	data, _ := os.ReadFile(filepath.Join(b.home, "acp-"+name))
	return string(data)
}

// TestPrompt holds which events a prompt becomes, and what the agent is served.
func TestPrompt(t *testing.T) {
	t.Parallel()
	b := play(t, `close choices
---
told do it
think Hm.
say I 
say begin.
plan look, write
edit a.txt one\ntwo
own b.txt three
run cat a.txt
read a.txt
read nowhere.txt
ask Which one?
odd
usage 50 100 0.25
tokens 7 3
say Done.
`, func(l *acp.AgentLaunchOptions) { l.Program.Model = "model two" })
	e := b.say(t, agentcli.AgentPrompt{Text: "do it"})
	want := []string{
		"opened conversation-1 m2 1.2",
		"said I begin. plan-1=TodoWrite", "answered plan-1",
		"said c1.1=Edit", "answered c1.1 written",
		"said c1.2=Edit", "answered c1.2 written",
		"said c1.3=Bash", "answered c1.3 one\ntwo",
		"said read: one\ntwonot read question-2=AskUserQuestion", "answered question-2 not answered: no person answers here failed",
		"said Done.",
	}
	if d := cmp.Diff(want, b.events); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{
		`Write{"file_path":"` + b.dir + `/a.txt"}`, `Edit{"file_path":"` + b.dir + `/b.txt"}`,
		`Bash{"command":"cat a.txt"}`, `Bash{"command":"cat a.txt"}`,
	}, b.asked); d != "" {
		t.Error(d)
	}
	if e.Fault != "" || e.Text != "Done." || e.Money != nexus.Dollar/4 || e.Usage != (nexus.Usage{Input: 7, Output: 3}) || e.Denied != 0 {
		t.Errorf("ended %+v", e)
	}
	if b.file("a.txt") != "one\ntwo" || b.file("b.txt") != "three" || b.noted("model") != "m2" || b.noted("closed") != "1" {
		t.Errorf("wrote %q and %q, model %q, closed %q", b.file("a.txt"), b.file("b.txt"), b.noted("model"), b.noted("closed"))
	}
}

// TestRefused holds that what may not be done is not done, that this is told, and
// that an agent that stops for it hears why.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := play(t, `load
---
edit /etc/nexus-acp x
edit kept.txt x
own /etc/nexus-acp x
run echo evil >evil.txt
shell echo evil >evil.txt
read /etc/passwd
---
deny 1
stop cancelled
---
deny 1
---
deny 1
say I cannot.
`, nil)
	e := b.say(t, agentcli.AgentPrompt{Text: "x"})
	want := []string{
		"opened conversation-1 1.2",
		"said c1.1=Edit", `answered c1.1 {"code":-32602,"message":"that is /etc/"} failed`,
		"said c1.2=Edit", "said write-1=Write", "answered write-1 it may not be written failed refused", `answered c1.2 {"code":-32602,"message":"it may not be written"} failed`,
		"said c1.3=Edit", "answered c1.3 not permitted failed",
		"said c1.4=Bash", "answered c1.4 not permitted failed",
		"said c1.5=Bash", `answered c1.5 {"code":-32602,"message":"that is evil"} failed`,
		"said read-2=Read", "answered read-2 it is outside failed refused",
		"said not read",
	}
	if d := cmp.Diff(want, b.events); d != "" {
		t.Error(d)
	}
	if e.Fault != "" || e.Denied != 6 || b.file("evil.txt") != "" || b.file("kept.txt") != "" {
		t.Errorf("ended %+v", e)
	}
	for _, want := range []nexus.AgentProgramFault{nexus.FaultUnfinished, nexus.FaultUnfinished, ""} {
		e := b.say(t, agentcli.AgentPrompt{Text: "y", ID: "conversation-1", Resume: true})
		if e.Fault != want || want != "" && !strings.Contains(e.Why, "that is /etc/") {
			t.Errorf("ended %q: %s", e.Fault, e.Why)
		}
	}
}

// TestConversations holds how a conversation is opened again, and how it is lost.
func TestConversations(t *testing.T) {
	t.Parallel()
	for able, c := range map[string]struct {
		id    string
		fault nexus.AgentProgramFault
	}{
		"load":              {"conversation-1", ""},
		"resume":            {"conversation-1", ""},
		"none":              {"conversation-1", nexus.FaultLost},
		"load ":             {"conversation-429", nexus.FaultLost}, // digits of it are no status
		"load list":         {"conversation-8", nexus.FaultLost},
		"resume ":           {"conversation-9", nexus.FaultLost},
		"load login resume": {"conversation-1", ""},
	} {
		t.Run(able, func(t *testing.T) {
			t.Parallel()
			b := play(t, able+"\n---\nsay First.\n---\ntold again\nsay Second.\n", nil)
			if e := b.say(t, agentcli.AgentPrompt{Text: "x"}); e.Fault != "" || e.Text != "First." {
				t.Fatalf("the first: %+v", e)
			}
			e := b.say(t, agentcli.AgentPrompt{Text: "again", ID: c.id, Resume: true})
			if e.Fault != c.fault {
				t.Errorf("ended %q: %s", e.Fault, e.Why)
			}
			if want := []string{"opened " + c.id + " 1.2", "said Second."}; c.fault == "" {
				if d := cmp.Diff(want, b.events); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// TestKeep holds that a process that stays goes on in its conversation.
func TestKeep(t *testing.T) {
	t.Parallel()
	b := play(t, "none\n---\nusage 1 9 0.5\nsay First.\n---\nusage 2 9 0.75\nsay Second.\n", func(l *acp.AgentLaunchOptions) { l.Keep = true })
	b.say(t, agentcli.AgentPrompt{Text: "x"})
	e := b.say(t, agentcli.AgentPrompt{Text: "y", ID: "conversation-1", Resume: true, Spent: nexus.Dollar / 2, Money: nexus.Dollar / 3})
	if d := cmp.Diff([]string{"said Second."}, b.events); d != "" || e.Fault != "" || e.Money != nexus.Dollar*3/4 {
		t.Errorf("%s, ended %+v", d, e)
	}
}

// TestFaults holds that whatever goes wrong with an agent has a name, that what
// it did until then is known, and that nothing of it is left.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		fault  nexus.AgentProgramFault
		why    string
		set    func(*acp.AgentLaunchOptions, *agentcli.AgentPrompt)
	}{
		"hangs":                     {"\n---\nsay so far\nhang\n", nexus.FaultSilent, "sent nothing for 500ms", brisk},
		"hangs before it starts":    {"\nmute\n", nexus.FaultSilent, "", brisk},
		"garbage, then hangs":       {"\n---\nraw Welcome!\nhang\n", nexus.FaultGarbage, "Welcome!", brisk},
		"garbage without end":       {"\n---\n" + strings.Repeat("raw x\n", 1002) + "hang\n", nexus.FaultGarbage, "", nil},
		"garbage, then done":        {"\n---\nraw Welcome!\nraw [1]\nraw {\"a\":1}\nsay so far\n", "", "", nil},
		"half a line, then exits":   {"\n---\nsay so far\nhalf {\"jsonrpc\":\nexit 0\n", nexus.FaultUnfinished, "", nil},
		"half a line, then hangs":   {"\n---\nsay so far\nhalf {\"jsonrpc\":\nhang\n", nexus.FaultSilent, "", brisk},
		"a line of 10 MB":           {"\n---\nbig 10000000\nedit a.txt y\nsay so far\n", "", "", nil},
		"a line that nobody reads":  {"\n---\nflood 40000000\nsay so far\n", "", "", nil},
		"exits":                     {"\n---\nsay so far\nexit 0\n", nexus.FaultUnfinished, "", nil},
		"exits with an error":       {"\n---\nsay so far\nexit 3\n", nexus.FaultCrashed, "exited with 3", nil},
		"not logged in":             {"nologin\n---\nsay x\n", nexus.FaultLogin, "no browser", nil},
		"logs in by itself":         {"login\n---\nsay so far\n", "", "", nil},
		"login lost midway":         {"\n---\nsay so far\nfail -32000 Authentication required\n", nexus.FaultLogin, "", nil},
		"conversation lost":         {"\n---\nsay so far\nfail -32002 Resource not found\n", nexus.FaultLost, "", nil},
		"rate limit":                {"\n---\nsay so far\nfail -32603 429 Too many requests\n", nexus.FaultQuota, "", nil},
		"overloaded":                {"\n---\nsay so far\nfail -32603 overloaded_error\n", nexus.FaultOverload, "", nil},
		"context full, as an error": {"\n---\nsay so far\nfail -32603 prompt is too long\n", nexus.FaultContext, "", nil},
		"another error":             {"\n---\nsay so far\nfail -32603 oh\n", nexus.FaultCrashed, "oh", nil},
		"cancelled by the agent":    {"\n---\nsay so far\nfail -32800 cancelled\n", nexus.FaultUnfinished, "", nil},
		"refusal":                   {"\n---\nsay so far\nstop refusal\n", nexus.FaultRefused, "", nil},
		"max_tokens":                {"\n---\nsay so far\nstop max_tokens\n", nexus.FaultUnfinished, "", nil},
		"max_tokens, context full":  {"\n---\nusage 95 100 0\nsay so far\nstop max_tokens\n", nexus.FaultContext, "95 of 100", nil},
		"max_turn_requests":         {"\n---\nsay so far\nstop max_turn_requests\n", nexus.FaultTurns, "", nil},
		"cancelled":                 {"\n---\nsay so far\nstop cancelled\n", nexus.FaultUnfinished, "", nil},
		"an unknown stop reason":    {"\n---\nsay so far\nstop lunch\n", nexus.FaultUnfinished, "lunch", nil},
		"asks without end":          {"\n---\ndeny 0\n", nexus.FaultAsking, "that is /etc/", nil},
		"too many turns": {"\n---\nedit a x\nedit b x\nedit c x\nhang\n", nexus.FaultTurns, "", func(_ *acp.AgentLaunchOptions, q *agentcli.AgentPrompt) {
			q.Turns = 2
		}},
		"too much money": {"\n---\nsay so far\nusage 1 2 0.5\ncancellable\n", nexus.FaultBudget, "", func(_ *acp.AgentLaunchOptions, q *agentcli.AgentPrompt) {
			q.Money = nexus.Dollar / 4
		}},
		"another version": {"v9\n---\nsay x\n", nexus.FaultSetup, "version 9", nil},
		"no such model": {"choices\n---\nsay x\n", nexus.FaultSetup, "it has m1, m2", func(l *acp.AgentLaunchOptions, _ *agentcli.AgentPrompt) {
			l.Program.Model = "gpt"
		}},
		"no choice of models": {"\n---\nsay x\n", nexus.FaultSetup, "offers no choice", func(l *acp.AgentLaunchOptions, _ *agentcli.AgentPrompt) {
			l.Program.Model = "gpt"
		}},
		"no such mode": {"modes\n---\nsay x\n", nexus.FaultSetup, "it has ask, code", func(l *acp.AgentLaunchOptions, _ *agentcli.AgentPrompt) {
			l.Program.Mode = "yolo"
		}},
		"not the protocol at all": {"\n---\n", nexus.FaultGarbage, "hello", func(l *acp.AgentLaunchOptions, _ *agentcli.AgentPrompt) {
			l.File, l.Program.Args = "/bin/echo", []string{"hello"}
		}},
		"an unknown option": {"\n---\n", nexus.FaultSetup, "unknown option", func(l *acp.AgentLaunchOptions, _ *agentcli.AgentPrompt) {
			l.File, l.Program.Args = "/bin/sh", []string{"-c", "echo error: unknown option --acp >&2; exit 2"}
		}},
		"its child outlives it":       {"\n---\nchild echo $$ >pid; exec sleep 71080\nrun while ! test -s pid; do sleep 0.01; done\nsay so far\nhang\n", nexus.FaultSilent, "", brisk},
		"its child stays, it is done": {"\n---\nchild echo $$ >pid; exec sleep 71080\nrun while ! test -s pid; do sleep 0.01; done\nsay so far\n", "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := agentcli.AgentPrompt{Text: "x"}
			b := play(t, c.script, func(l *acp.AgentLaunchOptions) {
				if c.set != nil {
					c.set(l, &q)
				}
			})
			began := time.Now()
			e := b.say(t, q)
			if e.Fault != c.fault || !strings.Contains(e.Why, c.why) {
				t.Errorf("ended %q: %s; want %q, %s", e.Fault, e.Why, c.fault, c.why)
			}
			if said := strings.Join(b.events, "\n"); strings.Contains(c.script, "so far") && !strings.Contains(said, "so far") {
				t.Errorf("what it said is lost: %.300s", said)
			}
			if pid := strings.TrimSpace(b.file("pid")); strings.HasPrefix(name, "its child") {
				line, _ := os.ReadFile("/proc/" + pid + "/cmdline") // a dead one that nobody waited for has none
				if pid == "" || len(line) > 0 {
					t.Errorf("its child %q lives: %s", pid, line)
				}
			}
			if took := time.Since(began); took > 40*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func brisk(l *acp.AgentLaunchOptions, _ *agentcli.AgentPrompt) {
	l.Silence, l.Working = 500*time.Millisecond, 500*time.Millisecond
}

// TestCancel holds that an agent that is stopped is asked to stop first, that its
// calls are known, and that a listener that fails stops it, too.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it stops":          "\n---\nsay so far\nedit a.txt x\ncancellable\n",
		"it does not":       "\n---\nsay so far\nedit a.txt x\nhang\n",
		"it runs a command": "\n---\nsay so far\nrun sleep 71081\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancelCause(t.Context())
			b := play(t, script, nil)
			e, err := b.prompt(ctx, agentcli.AgentPrompt{Text: "x", Heard: func(_ context.Context, e stream.AgentEvent) error {
				b.events = append(b.events, show(e))
				if e.Kind == stream.CallAnswered || len(e.Calls) > 0 && e.Calls[0].Tool == "Bash" {
					stop(os.ErrDeadlineExceeded)
				}
				return nil
			}})
			if !errors.Is(err, os.ErrDeadlineExceeded) || e.Fault != nexus.FaultStopped || !strings.Contains(strings.Join(b.events, "\n"), "so far") {
				t.Errorf("%+v, %v, heard %q", e, err, b.events)
			}
			if name == "it stops" && b.noted("cancelled") != "1" {
				t.Error("it was not asked to stop")
			}
		})
	}
	b := play(t, "\n---\nsay x\nedit a.txt x\nhang\n", nil)
	broken := errors.New("no room")
	if _, err := b.prompt(t.Context(), agentcli.AgentPrompt{Text: "x", Heard: func(context.Context, stream.AgentEvent) error { return broken }}); !errors.Is(err, broken) {
		t.Errorf("a listener that fails: %v", err)
	}
}
