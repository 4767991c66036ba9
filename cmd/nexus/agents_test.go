package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

const (
	// provider is the host that the agents reach. Only the proxy of the user's
	// environment knows it.
	provider = "provider.example:8080"
	// programs is where make agents installs them.
	programs = "/usr/local/lib/nexus-agents/node_modules"
)

// maker is an agent program of another maker, set up as by somebody who pays
// for a provider by use.
type maker struct {
	name      string
	acp       string            // program that speaks the Agent Client Protocol, where it is to do that
	shipped   string            // its package
	ci        bool              // make deps installs it, too
	config    string            // of agents.NAME
	shell     string            // its tool that runs commands
	command   string            // the field of its input
	answer    string            // to a question of its tool AskUserQuestion; empty: it has none that waits for people
	uncounted bool              // it reports neither dollars nor tokens
	plain     bool              // it prints text when it is done
	refused   string            // host that it tries to reach, whatever it is told, and does not
	login     map[string]string // files of the user's home
	kept      string            // the file of its home with its conversation, if it is written a moment after the turn
}

func makers() []maker {
	return []maker{
		{
			name: "claude", shipped: "@anthropic-ai/claude-code", shell: "Bash", command: "command", answer: "2",
			config: `
[agents.claude.env]
ANTHROPIC_BASE_URL = "http://` + provider + `"
ANTHROPIC_API_KEY = "${SCRIPTED_KEY}"
`,
		},
		{
			name: "codex", shipped: "@openai/codex", ci: true, shell: "exec_command", command: "cmd",
			config: `
args = ["-c", "model_provider=scripted", "-c", "model_providers.scripted={name='scripted', base_url='http://` + provider + `/v1', env_key='SCRIPTED_KEY'}"]
[agents.codex.env]
SCRIPTED_KEY = "${SCRIPTED_KEY}"
`,
		},
		{
			name: "copilot", shipped: "@github/copilot", shell: "bash", command: "command", uncounted: true, kept: ".copilot/session-state/*/events.jsonl",
			config: `
speaks = "copilot"
budget = 0.1
[agents.copilot.env]
COPILOT_PROVIDER_BASE_URL = "http://` + provider + `"
COPILOT_PROVIDER_TYPE = "anthropic"
COPILOT_PROVIDER_API_KEY = "${SCRIPTED_KEY}"
COPILOT_MODEL = "claude-sonnet-5-5"
`,
		},
		{
			name: "crush", shell: "bash", command: "command", uncounted: true, plain: true, refused: "api.github.com",
			config: `
budget = 0.1
[agents.crush.env]
SCRIPTED_KEY = "${SCRIPTED_KEY}"
`,
			login: map[string]string{".local/share/crush/crush.json": `{"providers": {"scripted": {"type": "anthropic", "base_url": "http://` + provider + `", "api_key": "$SCRIPTED_KEY", ` +
				`"models": [{"id": "scripted", "name": "Scripted", "context_window": 200000, "default_max_tokens": 8192}]}}, ` +
				`"models": {"large": {"provider": "scripted", "model": "scripted"}, "small": {"provider": "scripted", "model": "scripted"}}}`},
		},
		{
			name: "gemini", shipped: "@google/gemini-cli", ci: true, shell: "run_shell_command", command: "command",
			config: `
model = "gemini-3.1-pro-preview"
[agents.gemini.env]
GOOGLE_GEMINI_BASE_URL = "http://` + provider + `"
GEMINI_API_KEY = "${SCRIPTED_KEY}"
`,
		},
		{
			name: "goose", shipped: "@aaif/goose-binary-linux-x64", shell: "shell", command: "command", uncounted: true,
			config: `
speaks = "goose"
budget = 0.1
[agents.goose.env]
GOOSE_PROVIDER = "anthropic"
GOOSE_MODEL = "claude-sonnet-5-5"
ANTHROPIC_HOST = "http://` + provider + `"
ANTHROPIC_API_KEY = "${SCRIPTED_KEY}"
`,
		},
		{
			name: "opencode", shipped: "opencode-ai", shell: "bash", command: "command",
			config: `
model = "scripted/scripted"
[agents.opencode.env]
SCRIPTED_KEY = "${SCRIPTED_KEY}"
OPENCODE_CONFIG_CONTENT = '{"provider": {"scripted": {"npm": "@ai-sdk/anthropic", "options": {"baseURL": "http://` + provider + `/v1", "apiKey": "{env:SCRIPTED_KEY}"}, ` +
				`"models": {"scripted": {"cost": {"input": 5, "output": 25, "cache_read": 0.5, "cache_write": 6.25}, "limit": {"context": 200000, "output": 8192}}}}}}'
`,
		},
	}
}

// overACP are the makers whose programs are run over the Agent Client Protocol, too.
func overACP() []maker {
	var all []maker
	for _, m := range makers() {
		switch m.acp = m.name; m.name {
		case "claude":
			m.acp, m.shipped, m.answer = "claude-agent-acp", "@agentclientprotocol/claude-agent-acp", "question_0=Blue"
		case "codex":
			m.acp, m.shipped = "codex-acp", "@agentclientprotocol/codex-acp"
			m.config = `
[agents.codex.env]
SCRIPTED_KEY = "${SCRIPTED_KEY}"
CODEX_CONFIG = '{"model_provider": "scripted", "model_providers": {"scripted": {"name": "scripted", "base_url": "http://` + provider + `/v1", "env_key": "SCRIPTED_KEY"}}}'
`
		case "goose":
			m.config = strings.Replace(m.config, "speaks = \"goose\"\n", "", 1)
		case "copilot":
			m.config, m.uncounted = strings.Replace(m.config, "speaks = \"copilot\"\n", "", 1), false // it does not say which model it uses
		}
		m.ci, m.config = false, "speaks = \"acp\"\n"+m.config
		all = append(all, m)
	}
	return all
}

// row names it in the table.
func (m maker) row() string {
	if m.acp != "" {
		return m.name + " over ACP"
	}
	return m.name
}

func (m maker) file() string {
	if m.acp != "" {
		return filepath.Join(programs, ".bin", m.acp)
	}
	return filepath.Join(programs, ".bin", m.name)
}

// version is that of its package, or what it says itself.
func (m maker) version(t *testing.T) string {
	t.Helper()
	if m.shipped != "" {
		data, err := os.ReadFile(filepath.Join(programs, m.shipped, "package.json"))
		if err != nil {
			t.Fatal(err)
		}
		return gjson.GetBytes(data, "version").String()
	}
	out, err := exec.CommandContext(t.Context(), m.file(), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(out))
	return words[len(words)-1]
}

// does is a turn in which the agent runs a command.
func (m maker) does(command string) llmtest.ScriptTurn {
	return llmtest.ScriptTurn{Calls: []llmtest.ScriptCall{{Tool: m.shell, Input: map[string]any{m.command: command, "description": "Do it"}}}}
}

// wonders is a turn in which the agent asks a person, where it can.
func (m maker) wonders() []llmtest.ScriptTurn {
	if m.answer == "" {
		return nil
	}
	options := []map[string]any{{"label": "Red", "description": "as blood"}, {"label": "Blue", "description": "as the sky"}}
	question := map[string]any{"question": "Which color?", "header": "Color", "multiSelect": false, "options": options}
	return []llmtest.ScriptTurn{{Calls: []llmtest.ScriptCall{{Tool: "AskUserQuestion", Input: map[string]any{"questions": []any{question}}}}}}
}

// script is what the model of the agent says: a plan of three tasks, one after the
// other. The first patch of the first is wrong. In the second one it falls silent.
// In the third one it asks a person, where it can, and wants to do what it may not, and
// its account is used up for a moment. Reviewers approve.
func (m maker) script(outside string) llmtest.Script {
	says := func(text string) llmtest.ScriptTurn { return llmtest.ScriptTurn{Say: text} }
	var tasks []map[string]any
	for i, name := range []string{"a", "b", "c"} {
		task := map[string]any{
			"id": fmt.Sprintf("T%d", i+1), "title": "Write " + name, "brief": "Write " + name + ".txt.", "files": []string{name + ".txt", name + "_test.sh"},
			"criteria": []map[string]any{{"text": name + " is there", "check": "test -s " + name + ".txt"}},
		}
		if i > 0 {
			task["needs"] = []string{fmt.Sprintf("T%d", i)}
		}
		tasks = append(tasks, task)
	}
	plan, _ := json.Marshal(map[string]any{"tasks": tasks}) // strings
	stuck, limited := says("I look."), says("It is done.")
	stuck.Fault, limited.Fault, limited.After = llmtest.Silent, llmtest.RateLimit, "1"
	wrong := "printf 'BROKEN\\n' > a.txt; echo 'test -s a.txt' > a_test.sh"
	return llmtest.Script{
		Conversations: []llmtest.ScriptConversation{
			{Match: "plan.1/planner.*", Turns: []llmtest.ScriptTurn{says("```json\n" + string(plan) + "\n```")}},
			{Match: "T1.1/coder.1", Turns: []llmtest.ScriptTurn{m.does(wrong), says("I wrote it."), m.does("printf 'a\\n' > a.txt"), says("I repaired it.")}},
			{Match: "T2.1/coder.1", Turns: []llmtest.ScriptTurn{
				m.does("printf 'b\\n' > b.txt; echo 'test -s b.txt' > b_test.sh"), stuck, says("It is done."), says("It is done."),
			}},
			{Match: "T3.1/coder.1", Turns: append(m.wonders(),
				m.does("echo mine > "+outside+"; git push origin main"), m.does("printf 'c\\n' > c.txt; echo 'test -s c.txt' > c_test.sh"), limited,
			)},
			{Match: "T*/reviewer.*", Turns: []llmtest.ScriptTurn{says("```json\n" + `{"approved": true, "summary": "Good.", "findings": []}` + "\n```")}},
		},
		Default: &llmtest.ScriptTurn{Say: "Texts"}, // titles of conversations
	}
}

// TestAgentPrograms has agent programs, as their makers ship them, do a whole run
// on a scripted provider, in the sandbox: Nexus is killed in the middle of it. What
// came of that is the table in docs/agents.md. make agents installs them, and
// make deps two of them.
func TestAgentPrograms(t *testing.T) {
	testenv.NeedToolchains(t)
	t.Parallel()
	table := agentTable{rows: map[string]string{}}
	t.Run("each", func(t *testing.T) {
		for _, m := range append(makers(), overACP()...) {
			t.Run(m.row(), func(t *testing.T) {
				if m.ci {
					testenv.NeedTool(t, m.file())
				} else {
					testenv.NeedLargeTool(t, m.file())
				}
				t.Parallel()
				s := m.stage(t)
				if row := s.agentRow(m); !t.Failed() {
					table.add(m.row(), row)
				}
			})
		}
	})
	table.check(t)
}

// stage returns a repository, and a user who has the program and nothing else.
func (m maker) stage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, exe: program(t), home: t.TempDir()}
	s.repo = filepath.Join(s.home, "sample")
	if err := killed(t).write(s.repo); err != nil {
		t.Fatal(err)
	}
	if err := git.CreateRepo(t.Context(), s.repo, git.CommitIdentity{Name: "Ada", Email: "ada@example.com"}, "Begin"); err != nil {
		t.Fatal(err)
	}
	server, stop, err := llmtest.StartServer(t.Context(), m.script(filepath.Join(s.repo, "outside")), llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	s.server = server
	t.Cleanup(func() {
		for _, q := range server.Requests() {
			if t.Failed() {
				t.Logf("asked: %s %s step %d, %d %s", q.Model, q.Conversation, q.Step, q.Status, q.Fault)
			}
		}
	})
	proxy := forward(t, server.URL())
	config := filepath.Join(s.home, "config", "nexus", "config.toml")
	text := fmt.Sprintf("[network]\nupstream = true\n[agents.%s]\ncommand = %q\nhosts = [%q]\nbilling = \"use\"\n", m.name, m.file(), provider) + m.config
	if err := errors.Join(os.MkdirAll(filepath.Dir(config), 0o700), os.WriteFile(config, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, text := range m.login {
		file := filepath.Join(s.home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "XDG_STATE_HOME=" + filepath.Join(s.home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(s.home, "config"),
		"HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "SCRIPTED_KEY=a-key-of-the-scripted-provider", "NEXUS_DONE_COVERAGE=off",
	}
	return s
}

// forward starts the proxy of a user's environment. It knows one host.
func forward(t *testing.T, to string) string {
	t.Helper()
	var all sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != provider {
			http.Error(w, "nobody of this name", http.StatusBadGateway)
			return
		}
		there, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", strings.TrimPrefix(to, "http://"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		all.Go(func() { // until one of them hangs up
			_, _ = io.Copy(there, here)
			there.Close()
		})
		_, _ = io.Copy(here, there)
	}))
	t.Cleanup(func() { server.Close(); all.Wait() })
	return server.URL
}

// agentRow has the program do the run, and returns its row of the table.
func (s *stage) agentRow(m maker) string {
	s.t.Helper()
	before := fingerprint(s.t, s.repo)
	s.must("trust", "agent", m.name, "--yes")
	cmd, out := s.start("run", "Write three texts", "--headless", "--yes")
	if !s.killWhenSilent(cmd, m.kept) {
		s.list()
		s.t.Fatalf("it ended before it could be killed:\n%s", out)
	}
	for end := time.Now().Add(patience); len(s.processes()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("they outlive Nexus: %q", s.processes())
		}
	}
	if m.answer == "" {
		s.must("resume", "--headless")
	} else {
		s.resumeAnswering(m.answer)
	}
	if after := fingerprint(s.t, s.repo); after != before {
		s.t.Errorf("the user's checkout changed:\n%s\n%s", before, after)
	}
	s.nothingLeft()
	row, err := s.cells(m)
	if err != nil {
		s.list()
		s.t.Error(err)
	}
	return row
}

// must runs a command that has to succeed.
func (s *stage) must(args ...string) {
	s.t.Helper()
	cmd, out := s.start(args...)
	if err := cmd.Wait(); err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	s.t.Logf("%v\n%s", args, out)
}

// resumeAnswering continues the run on a terminal, and answers the question that comes.
func (s *stage) resumeAnswering(answer string) {
	s.t.Helper()
	person, terminal, err := pseudo(100)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(s.t.Context(), s.exe, "resume")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.repo, s.env, terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := errors.Join(cmd.Start(), terminal.Close()); err != nil {
		s.t.Fatal(err)
	}
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(&out, person) // until the program has closed it
		ended <- errors.Join(cmd.Wait(), person.Close())
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for said := false; ; {
		select {
		case err := <-ended:
			if err != nil {
				s.list()
				s.t.Fatalf("resume: %v\n%s", err, &out)
			}
			return
		case <-tick.C:
		}
		if !said && slices.ContainsFunc(s.happenings(), func(e nexus.Event) bool { return fits(e, []string{"question.asked", "Which color?"}) }) {
			s.must("answer", "q1", answer)
			said = true
		}
	}
}

// killWhenSilent kills the program once the model is asked for what it never says,
// and what the agent did before that is recorded, and kept by the agent itself: nothing else is kept.
func (s *stage) killWhenSilent(cmd *exec.Cmd, kept string) bool {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // which both ways out wait for
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	conversation := filepath.Join(s.home, "state", "nexus", "*", "trees", "*", "T2.1", "home-*", kept)
	silent := func() bool {
		found, _ := filepath.Glob(conversation) // the pattern is well-formed
		return len(found) > 0 && slices.ContainsFunc(s.server.Requests(), func(q llmtest.LoggedRequest) bool { return q.Fault == llmtest.Silent }) &&
			slices.ContainsFunc(s.happenings(), func(e nexus.Event) bool { return fits(e, []string{"tree.snapshotted", `"T2.1"`}) })
	}
	for !silent() {
		select {
		case <-ended:
			return false
		case <-tick.C:
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	return true
}

// list shows what happened.
func (s *stage) list() {
	s.t.Helper()
	for _, e := range s.happenings() {
		data, _ := json.Marshal(e.Fact)
		s.t.Logf("%4d %s %.400s", e.Seq, nexus.FactKind(e.Fact), data)
	}
}

func (s *stage) happenings() []nexus.Event {
	s.t.Helper()
	j := s.journal(s.t.Context())
	defer j.Close()
	var all []nexus.Event
	for e, err := range j.Events(s.t.Context(), "", 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}
