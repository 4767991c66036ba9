// Package agentcli runs agent programs of other makers from their command line:
// Claude Code, Codex, Gemini CLI, OpenCode, and any program that takes a task
// and changes files.
//
// A prompt is one process in the sandbox. It has a home of its own that holds
// nothing but a copy of the program's login, and it ends when the stream says
// that the prompt is done, when it is silent for too long, or when the context
// ends. Everything that it started is dead then.
package agentcli

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// Program is an agent program, and how it is run.
type Program struct {
	Name    string
	Command string   // program, found by PATH
	Args    []string // before those of the format; for text all of them, with {prompt} for the prompt
	Maker   string   // provider of its models, such as anthropic; empty: unknown
	Speaks  string   // format of its stream, see package stream; or acp, see package acp
	Model   string   // as it names it; empty: its own choice
	Mode    string   // as it names it, where it speaks acp; empty: its own choice
	Env     []string // "NAME=value"
	Hosts   []string // that it may reach
	Login   []string // files below the user's home that hold its login
	Signin  string   // command that logs a person in
	Metered bool     // paid by use; else a subscription, which costs nothing more
}

// Known returns the programs that need no configuration.
func Known() []Program {
	return []Program{
		{
			Name: "claude", Command: "claude", Maker: "anthropic", Speaks: "claude", Signin: "claude /login",
			Hosts: []string{"api.anthropic.com", "platform.claude.com", "console.anthropic.com"}, Login: []string{".claude/.credentials.json"},
			Env: []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1"},
		},
		{
			Name: "codex", Command: "codex", Maker: "openai", Speaks: "codex", Signin: "codex login",
			Hosts: []string{"api.openai.com", "chatgpt.com", "auth.openai.com"}, Login: []string{".codex/auth.json"},
		},
		{
			Name: "copilot", Command: "copilot", Args: []string{"--acp"}, Speaks: "acp", Signin: "copilot login",
			Hosts: []string{"api.github.com", "api.githubcopilot.com", "api.individual.githubcopilot.com", "api.business.githubcopilot.com"},
			Login: []string{".copilot/config.json"}, Env: []string{"COPILOT_AUTO_UPDATE=false"},
		},
		{
			Name: "gemini", Command: "gemini", Maker: "gemini", Speaks: "gemini", Signin: "gemini",
			Hosts: []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"},
			Login: []string{".gemini/oauth_creds.json", ".gemini/google_accounts.json"},
			Env:   []string{"GEMINI_TELEMETRY_ENABLED=false"},
		},
		{
			Name: "goose", Command: "goose", Args: []string{"acp"}, Speaks: "acp", Signin: "goose configure", Metered: true,
			Login: []string{".config/goose/config.yaml", ".config/goose/secrets.yaml"}, Env: []string{"GOOSE_DISABLE_KEYRING=1"},
		},
		{
			Name: "opencode", Command: "opencode", Speaks: "opencode", Signin: "opencode auth login", Metered: true,
			Login: []string{".local/share/opencode/auth.json"}, Env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_SHARE=1"},
		},
	}
}

// OverACP returns the program as it is started to speak the Agent Client Protocol.
// Claude Code and Codex do so by adapters, programs of their own.
func (p Program) OverACP() Program {
	p.Speaks = "acp"
	switch p.Name {
	case "claude":
		p.Command = "claude-agent-acp"
	case "codex":
		p.Command = "codex-acp"
	case "gemini":
		p.Args = []string{"--acp"}
	case "opencode": // asks for nothing by itself
		p.Args = []string{"acp"}
		p.Env = append(slices.Clone(p.Env), `OPENCODE_PERMISSION={"edit":"ask","bash":"ask","webfetch":"ask"}`)
	}
	return p
}

// IsKnown reports whether a program of this name needs no configuration.
func IsKnown(name string) bool {
	return slices.ContainsFunc(Known(), func(p Program) bool { return p.Name == name })
}

// Find returns the path of a program as PATH says, and the directories that
// have to be seen so that it runs. A program of npm lies with its packages.
func Find(command, path string) (file string, seen []string, err error) {
	file = command
	if !filepath.IsAbs(file) {
		if strings.Contains(command, "/") {
			return "", nil, fmt.Errorf("%s is neither a name nor an absolute path", command)
		}
		i := slices.IndexFunc(filepath.SplitList(path), func(dir string) bool { return filepath.IsAbs(dir) && runs(filepath.Join(dir, command)) })
		if i < 0 {
			return "", nil, fmt.Errorf("no program %s in PATH", command)
		}
		file = filepath.Join(filepath.SplitList(path)[i], command)
	}
	if !runs(file) {
		return "", nil, fmt.Errorf("%s is not a program", file)
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", nil, err
	}
	dir := filepath.Dir(real)
	if before, _, ok := strings.Cut(real, "/node_modules/"); ok {
		dir = before + "/node_modules"
	}
	return real, []string{dir}, nil
}

func runs(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// LoggedIn reports whether one of the files that hold the login is there. A
// program without such files is taken as logged in.
func (p Program) LoggedIn(home string) bool {
	return len(p.Login) == 0 || slices.ContainsFunc(p.Login, func(name string) bool {
		info, err := os.Stat(filepath.Join(home, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// Home makes dir the home of the program: private, with a copy of the login in
// it, see [Login]. It returns the secrets that are in there.
func (p Program) Home(dir, user string) (secrets []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, disk.Fail("make a home for "+p.Name, err)
	}
	if p.Speaks == "gemini" || p.Name == "gemini" {
		if err := p.settle(dir); err != nil {
			return nil, err
		}
	}
	_, secrets, err = Login{p, dir, user}.Copy()
	return secrets, err
}

// settle writes the settings without which Gemini CLI does not know how it is
// logged in.
func (p Program) settle(dir string) error {
	how := "oauth-personal"
	if slices.ContainsFunc(p.Env, func(e string) bool { return strings.HasPrefix(e, "GEMINI_API_KEY=") }) {
		how = "gemini-api-key"
	}
	root, err := os.OpenRoot(dir) // in which a session of before may have made links
	if err != nil {
		return disk.Fail("make a home for "+p.Name, err)
	}
	defer root.Close() //nolint:errcheck // what was written is closed
	return place(root, ".gemini/settings.json", message(map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": how}},
		"general":  map[string]any{"enableAutoUpdate": false, "disableAutoUpdate": true},
		"privacy":  map[string]any{"usageStatisticsEnabled": false},
	}))
}

// minSecret is the shortest text of a login that is taken for a secret.
const minSecret = 20

// values returns the long texts of a JSON document without spaces.
func values(data []byte) []string {
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) >= minSecret && !strings.ContainsAny(v, " \n") {
				all = append(all, v)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	var v any
	if json.Unmarshal(data, &v) == nil {
		walk(v)
	}
	slices.Sort(all)
	return all
}

// NewID returns an identifier for a conversation, where the program takes one.
func (p Program) NewID() string {
	if p.Speaks != "claude" && p.Speaks != "gemini" {
		return ""
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Resumes reports whether the program can continue with a conversation.
func (p Program) Resumes() bool { return p.Speaks != "text" }

// args returns the arguments for a prompt.
func (p Program) args(q Prompt) []string {
	args := slices.Clone(p.Args)
	add := func(more ...string) { args = append(args, more...) }
	model := func(flag string) {
		if p.Model != "" {
			add(flag, p.Model)
		}
	}
	switch p.Speaks {
	case "claude":
		add("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio",
			"--setting-sources", "", "--strict-mcp-config")
		switch {
		case q.Resume:
			add("--resume", q.ID)
		case q.ID != "":
			add("--session-id", q.ID)
		}
		model("--model")
		if q.Turns > 0 {
			add("--max-turns", strconv.Itoa(q.Turns))
		}
		if q.Money > 0 {
			add("--max-budget-usd", strconv.FormatFloat(float64(q.Money)/float64(nexus.Dollar), 'f', 4, 64))
		}
	case "codex":
		add("exec")
		if q.Resume {
			add("resume")
		}
		add("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox") // ours confines it
		model("-m")
		if q.Resume {
			add(q.ID)
		}
		add("-")
	case "gemini":
		add("-o", "stream-json", "--approval-mode", "yolo", "--skip-trust")
		model("-m")
		if q.Resume {
			add("-r", "latest") // its home has one conversation
		} else if q.ID != "" {
			add("--session-id", q.ID)
		}
	case "opencode":
		add("run", "--format", "json", "--auto")
		model("-m")
		if q.Resume {
			add("-s", q.ID)
		}
	default:
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "{prompt}", q.Text)
		}
	}
	return args
}

// stdin returns what the program reads for a prompt, and whether its input stays
// open for answers.
func (p Program) stdin(q Prompt) (text []byte, open bool) {
	switch {
	case p.Speaks == "claude":
		return append(message(map[string]any{
			"type": "user", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": q.Text}}},
		}), '\n'), true
	case p.Speaks == "text" && slices.ContainsFunc(p.Args, func(a string) bool { return strings.Contains(a, "{prompt}") }):
		return nil, false
	default:
		return []byte(q.Text), false
	}
}

// message encodes plain values, which always can be.
func message(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return data
}
