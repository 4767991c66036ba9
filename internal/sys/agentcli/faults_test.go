package agentcli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

// lines are what a program prints, one format each.
type lines struct {
	opened string
	said   string
	done   string
	failed string // with %s: how it reports an error as its end, or before it
	long   string // with %s: a line of any length
	asks   string // a question to a person
	plain  bool   // it prints text for people
}

func formats() map[string]lines {
	claude := lines{
		opened: `{"type":"system","subtype":"init","session_id":"i","model":"m"}`,
		said:   `{"type":"assistant","session_id":"i","message":{"id":"m1","content":[{"type":"text","text":"I work."}]}}`,
		done:   `{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"i"}`,
		failed: `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["%s"],"session_id":"i"}`,
		long:   `{"type":"user","session_id":"i","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"%s"}]}}`,
		asks:   `{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[]},"tool_use_id":"q"}}`,
	}
	amp := claude
	amp.failed = `{"type":"result","subtype":"error_during_execution","is_error":true,"error":"%s","session_id":"i"}`
	amp.asks = `{"type":"assistant","session_id":"i","message":{"content":[{"type":"text","text":"Which one do you want?"}]}}`
	return map[string]lines{
		"aider": {opened: "Aider v0.86.1", said: "I work.", done: "Tokens: 1k sent, 2 received.", failed: "litellm.APIError: %s", long: "%s", asks: "Which one do you want?", plain: true},
		"amp":   amp, "claude": claude,
		"codex": {
			opened: `{"type":"thread.started","thread_id":"i"}`, said: `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"I work."}}`,
			done: `{"type":"turn.completed","usage":{"input_tokens":1}}`, failed: `{"type":"turn.failed","error":{"message":"%s"}}`,
			long: `{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"ls","aggregated_output":"%s"}}`,
			asks: `{"type":"item.completed","item":{"id":"3","type":"agent_message","text":"Which one do you want?"}}`,
		},
		"copilot": {
			opened: `{"type":"session.tools_updated","data":{"model":"m"}}`, said: `{"type":"assistant.message","data":{"content":"I work.","toolRequests":[]}}`,
			done: `{"type":"result","sessionId":"i","exitCode":0}`, failed: `{"type":"session.error","data":{"errorType":"query","message":"%s"}}`,
			long: `{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":"%s"}}}`,
			asks: `{"type":"assistant.message","data":{"content":"Which one do you want?","toolRequests":[]}}`,
		},
		"crush": {opened: "I look.", said: "I work.", done: "I worked.", failed: "ERROR agent run failed: %s", long: "%s", asks: "Which one do you want?", plain: true},
		"gemini": {
			opened: `{"type":"init","session_id":"i","model":"m"}`, said: `{"type":"message","role":"assistant","content":"I work."}`,
			done: `{"type":"result","status":"success","stats":{"input_tokens":1}}`, failed: `{"type":"result","status":"error","error":{"type":"x","message":"%s"}}`,
			long: `{"type":"tool_result","tool_id":"c","status":"success","output":"%s"}`, asks: `{"type":"message","role":"assistant","content":"Which one do you want?"}`,
		},
		"goose": {
			opened: `{"type":"notification","extension_id":"developer","log":{"message":"x"}}`,
			said:   `{"type":"message","message":{"id":"1","role":"assistant","content":[{"type":"text","text":"I work."}]}}`,
			done:   `{"type":"complete","total_tokens":3}`, failed: `{"type":"error","error":"%s"}`,
			long: `{"type":"message","message":{"id":"2","role":"user","content":[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"text","text":"%s"}]}}]}}`,
			asks: `{"type":"message","message":{"id":"3","role":"assistant","content":[{"type":"text","text":"Which one do you want?"}]}}`,
		},
		"opencode": {
			opened: `{"type":"step_start","sessionID":"i","part":{}}`, said: `{"type":"text","sessionID":"i","part":{"text":"I work."}}`,
			done: `{"type":"done","sessionID":"i","reason":"idle","rejected":[]}`, failed: `{"type":"error","sessionID":"i","error":{"name":"APIError","data":{"message":"%s"}}}`,
			long: `{"type":"tool_use","sessionID":"i","part":{"callID":"c","tool":"bash","state":{"status":"completed","output":"%s"}}}`,
			asks: `{"type":"text","sessionID":"i","part":{"text":"Which one do you want?"}}`,
		},
		"text": {opened: "Hello.", said: "I work.", done: "Done.", failed: "Error: %s", long: "%s", asks: "Which one do you want?", plain: true},
	}
}

// prints writes lines as a shell does.
func prints(all ...string) string {
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "printf '%%s\\n' '%s'\n", l)
	}
	return b.String()
}

// TestFaultsOfEach has programs that speak each format go wrong in each way. All of
// them have a name, and none is taken for an end.
func TestFaultsOfEach(t *testing.T) {
	t.Parallel()
	for _, format := range stream.FormatNames() {
		l, ok := formats()[format]
		if !ok {
			t.Fatalf("%s is not tried", format)
		}
		begun := prints(l.opened, l.said)
		fails := func(why string) string { return begun + prints(fmt.Sprintf(l.failed, why)) }
		end := "exit 0\n"
		if format == "text" || format == "crush" {
			end = "exit 1\n" // its exit code is all that it says
		}
		done := nexus.AgentProgramFault("")
		broken := nexus.FaultUnfinished
		if l.plain {
			broken = done // whatever it prints, and however much
		}
		afterDone := done
		if l.plain {
			afterDone = nexus.FaultCrashed
		}
		for name, c := range map[string]struct {
			script string
			fault  nexus.AgentProgramFault
			silent bool
		}{
			"done":                       {begun + prints(l.done), done, false},
			"exit 0, an error inside":    {fails("something odd") + end, nexus.FaultCrashed, false},
			"exit 1 after success":       {begun + prints(l.done) + "exit 1\n", afterDone, false},
			"half a line":                {begun + `printf '{"type":"resu'` + "\n", broken, false},
			"a line of 10 MB":            {begun + fmt.Sprintf("head -c 10000000 /dev/zero | tr '\\0' x | sed 's/.*/%s/'; echo\n", fmt.Sprintf(strings.ReplaceAll(l.long, "/", `\/`), "&")) + prints(l.done), done, false},
			"silence":                    {begun + "sleep 71090\n", nexus.FaultSilent, true},
			"login lost midway":          {fails("401 Unauthorized: token has expired") + end, nexus.FaultLogin, false},
			"rate limit":                 {fails("429 Too Many Requests") + end, nexus.FaultQuota, false},
			"context full":               {fails("prompt is too long for the context window") + end, nexus.FaultContext, false},
			"provider away":              {fails("503 service unavailable") + end, nexus.FaultOverload, false},
			"waits for somebody":         {"echo 'No API key found. Starting login flow...' >&2\nsleep 71090\n", nexus.FaultLogin, true},
			"works on a login":           {begun + "echo 'POST /login 401 unauthorized'\nsleep 71090\n", nexus.FaultSilent, true},
			"a question":                 {begun + prints(l.asks) + map[bool]string{true: "read -r answer\ncase $answer in *deny*) ;; *) exit 9 ;; esac\n"}[format == "claude"] + prints(l.done), done, false},
			"another version's stream":   {prints(`{"kind":"session","v":9}`, `{"kind":"finished","ok":true}`), broken, false},
			"garbage":                    {"printf '\\000\\001\\n'; echo 'Welcome to the new version!'\n", map[bool]nexus.AgentProgramFault{true: done, false: nexus.FaultGarbage}[l.plain], false},
			"killed":                     {begun + "kill -9 $$\n", nexus.FaultCrashed, false},
			"a child that outlives it":   {"sleep 71091 >/dev/null 2>&1 &\necho $! > child\n" + begun + prints(l.done), done, false},
			"a child that holds its end": {"sleep 71092 &\necho $! > child\n" + begun + prints(l.done) + "exit 0\n", done, false},
		} {
			t.Run(format+"/"+name, func(t *testing.T) {
				t.Parallel()
				tryFault(t, format, c.script, c.fault, c.silent)
			})
		}
	}
}

func tryFault(t *testing.T, format, script string, fault nexus.AgentProgramFault, silent bool) {
	t.Helper()
	silence := time.Minute
	if silent {
		silence = 300 * time.Millisecond
	}
	l := launch(t, "cat >/dev/null & \n"+script, silence)
	if format == "claude" {
		l = launch(t, "read -r prompt\n"+script, silence)
	}
	l.Program = agentcli.CLIAgentProgram{Name: format, Speaks: format}
	var heard []stream.Kind
	ctx, stop := context.WithTimeoutCause(t.Context(), 50*time.Second, os.ErrDeadlineExceeded)
	defer stop()
	e, err := l.Prompt(ctx, prompt(&heard))
	if err != nil || e.Fault != fault || fault != "" && e.Why == "" {
		t.Errorf("%q (%s), want %q; %v", e.Fault, e.Why, fault, err)
	}
	data, err := os.ReadFile(filepath.Join(l.Command.Dir, "child"))
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(state), ") Z ") {
			return // dead, and nobody's yet
		}
		if time.Now().After(end) {
			t.Fatalf("its child %d lives", pid)
		}
	}
}

// TestBounds stops a program that does more than it may and has no limit of its own,
// once it prints that; what it used until then is known.
func TestBounds(t *testing.T) {
	act := map[string]string{
		"codex":    `{"type":"item.completed","item":{"id":"%d","type":"command_execution","command":"ls","aggregated_output":""}}`,
		"opencode": `{"type":"tool_use","sessionID":"o","part":{"callID":"%d","tool":"bash","state":{"status":"completed"}}}`,
		"gemini":   `{"type":"tool_use","tool_id":"%d","tool_name":"ls","parameters":{}}`,
		"amp":      `{"type":"assistant","message":{"id":"m%[1]d","content":[{"type":"tool_use","id":"%[1]d","name":"Bash","input":{}}]}}`,
		"claude":   `{"type":"assistant","message":{"id":"m%[1]d","content":[{"type":"tool_use","id":"%[1]d","name":"Bash","input":{}}]}}`,
	}
	const pays = `{"type":"step_finish","sessionID":"o","part":{"reason":"tool-calls","cost":0.5,"tokens":{"input":7}}}`
	for name, c := range map[string]struct {
		format string
		acts   int
		pays   int
		fault  nexus.AgentProgramFault
	}{
		"few":                {"amp", 3, 0, ""},
		"too many":           {"amp", 4, 0, nexus.FaultTurns},
		"few calls":          {"codex", 30, 0, ""},
		"too many calls":     {"codex", 31, 0, nexus.FaultTurns},
		"of another":         {"gemini", 31, 0, nexus.FaultTurns},
		"of a third":         {"opencode", 31, 0, nexus.FaultTurns},
		"with its own limit": {"claude", 4, 0, ""},
		"cheap":              {"opencode", 1, 2, ""},
		"dear":               {"opencode", 1, 3, nexus.FaultBudget},
	} {
		var text strings.Builder
		for i := range c.acts {
			fmt.Fprintf(&text, act[c.format]+"\n", i)
		}
		text.WriteString(strings.Repeat(pays+"\n", c.pays))
		end := formats()[c.format].done + "\n"
		if c.fault != "" {
			end = "" // it would go on
		}
		l := launch(t, `cat lines; test -s end || sleep 98763; cat end`, time.Minute)
		l.Program = agentcli.CLIAgentProgram{Name: c.format, Speaks: c.format}
		write(t, filepath.Join(l.Command.Dir, "lines"), text.String())
		write(t, filepath.Join(l.Command.Dir, "end"), end)
		var heard []stream.Kind
		q := prompt(&heard)
		q.Turns, q.Money = 3, nexus.Dollar
		e, err := l.Prompt(t.Context(), q)
		if err != nil || e.Fault != c.fault || c.pays > 0 && e.Money != nexus.Dollar/2*nexus.Money(c.pays) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}
