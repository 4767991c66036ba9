package agentcli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// promptArgs returns the arguments for a prompt of a program with this home. The text of the prompt is
// not changed.
func (p CLIAgentProgram) promptArgs(q AgentPrompt, home string) []string {
	args := slices.Clone(p.Args)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "{home}", home)
	}
	add := func(more ...string) { args = append(args, more...) }
	model := func(flag string) {
		if p.Model != "" {
			add(flag, p.Model)
		}
	}
	switch p.Speaks {
	case "aider":
		args = append(args, aiderArgs(q, home)...)
		model("--model")
	case "amp":
		args = append(args, ampArgs(q)...)
		model("-m")
	case "claude":
		args = append(args, claudeArgs(q)...)
		model("--model")
	case "codex":
		add("exec")
		if q.Resume {
			add("resume")
		}
		add("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox") // our sandbox confines it
		model("-m")
		if q.Resume {
			add(q.ID)
		}
		add("-")
	case "copilot":
		add("--output-format", "json", "--stream", "off", "--allow-all-tools", "--allow-all-paths", "--no-ask-user",
			"--no-auto-update", "--no-remote", "--disable-client-telemetry", "--disable-builtin-mcps")
		model("--model")
		add(conversationArgs(q, "--session-id", "--resume", q.ID)...)
	case "crush":
		args = append(args, crushArgs(q, home)...)
		model("-m")
	case "gemini":
		add("-o", "stream-json", "--approval-mode", "yolo", "--skip-trust")
		model("-m")
		add(conversationArgs(q, "--session-id", "-r", "latest")...) // its home has one conversation
	case "goose":
		args = append(args, gooseArgs(q)...)
		model("--model")
	case "opencode":
		add("run", "--format", "json", "--auto")
		model("-m")
		add(conversationArgs(q, "", "-s", q.ID)...)
	default:
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "{prompt}", q.Text)
		}
	}
	return args
}

// aiderArgs returns the arguments of aider without its model.
func aiderArgs(q AgentPrompt, home string) []string {
	args := []string{
		"--message-file", "/dev/stdin", "--yes-always", "--no-pretty", "--no-stream", "--no-fancy-input",
		"--no-suggest-shell-commands", "--no-detect-urls", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--no-check-update",
		"--no-show-release-notes", "--analytics-disable", "--map-tokens", "0", // its repository map is a file in the tree
		"--chat-history-file", home + "/aider.history.md", "--input-history-file", home + "/aider.input.history",
	}
	if q.Resume {
		args = append(args, "--restore-chat-history") // its home has one conversation
	}
	return args
}

// ampArgs returns the arguments of Amp without its model.
func ampArgs(q AgentPrompt) []string {
	args := []string{"--no-archive-after-execute"}
	if q.Resume {
		args = []string{"threads", "continue", q.ID}
	}
	return append(args, "-x", "--stream-json", "--no-ide", "--no-notifications", "--no-color")
}

// crushArgs returns the arguments of crush without its model.
func crushArgs(q AgentPrompt, home string) []string {
	args := []string{"run", "--quiet", "--data-dir", home + "/crush"}
	if q.Resume {
		args = append(args, "--continue") // that directory has one conversation
	}
	return args
}

// hasTurnLimit reports whether the program has a flag that limits its turns.
func (p CLIAgentProgram) hasTurnLimit() bool { return p.Speaks == "claude" || p.Speaks == "goose" }

// callsPerTurn is the number of tool calls that count as one turn, for programs that print only
// calls. Models make several calls in a message, and many of them are small.
const callsPerTurn = 10

// printsSingleCalls reports whether the stream has single calls without the message in which the model
// made them.
func (p CLIAgentProgram) printsSingleCalls() bool {
	return slices.Contains([]string{"codex", "gemini", "opencode"}, p.Speaks)
}

// gooseArgs returns the arguments of goose without its model.
func gooseArgs(q AgentPrompt) []string {
	args := []string{"run", "-i", "-", "--output-format", "stream-json", "--no-profile", "--with-builtin", "developer", "-n", q.ID}
	if q.Turns > 0 {
		args = append(args, "--max-turns", strconv.Itoa(q.Turns))
	}
	if q.Resume {
		args = append(args, "-r")
	}
	return args
}

// claudeArgs returns the arguments of Claude Code without its model.
func claudeArgs(q AgentPrompt) []string {
	args := []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio",
		"--setting-sources", "", "--strict-mcp-config",
	}
	args = append(args, conversationArgs(q, "--session-id", "--resume", q.ID)...)
	if q.Turns > 0 {
		args = append(args, "--max-turns", strconv.Itoa(q.Turns))
	}
	if q.Money > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(float64(q.Money)/float64(nexus.Dollar), 'f', 4, 64))
	}
	return args
}

// conversationArgs returns the arguments that select the conversation: resume, or start with the
// identifier. If start is empty, the program makes the identifier.
func conversationArgs(q AgentPrompt, start string, resume ...string) []string {
	switch {
	case q.Resume:
		return resume
	case q.ID != "" && start != "":
		return []string{start, q.ID}
	}
	return nil
}

// promptInput returns the program's input for a prompt, and whether the input stays open for answers.
func (p CLIAgentProgram) promptInput(q AgentPrompt) (text []byte, open bool) {
	switch {
	case p.Speaks == "claude":
		return append(encodeJSON(map[string]any{
			"type": "user", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": q.Text}}},
		}), '\n'), true
	case p.Speaks == "text" && slices.ContainsFunc(p.Args, func(a string) bool { return strings.Contains(a, "{prompt}") }):
		return nil, false
	default:
		return []byte(q.Text), false
	}
}
