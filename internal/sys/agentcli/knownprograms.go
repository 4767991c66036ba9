package agentcli

import (
	"path"
	"slices"

	"go.yaml.in/yaml/v4"
)

// KnownPrograms returns the programs that need no configuration, in the order of their names. Their
// telemetry and their updates are turned off.
func KnownPrograms() []CLIAgentProgram {
	return []CLIAgentProgram{
		{
			Name: "aider", Command: "aider", Speaks: "aider", Signin: "aider --model openrouter/auto", Metered: true,
			Install: "pipx install aider-chat",
			Login:   []string{".aider/oauth-keys.env"},
		},
		{
			Name: "amp", Command: "amp", Speaks: "amp", Signin: "amp login", Metered: true,
			Install: "npm install -g @ampcode/cli",
			Hosts:   []string{"ampcode.com"}, Login: []string{".local/share/amp/secrets.json"},
		},
		{
			Name: "claude", Command: "claude", Maker: "anthropic", Speaks: "claude", Signin: "claude /login",
			Install: "npm install -g @anthropic-ai/claude-code",
			Hosts:   []string{"api.anthropic.com", "platform.claude.com", "console.anthropic.com"}, Login: []string{".claude/.credentials.json"},
			Env: []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1"},
		},
		{
			Name: "codex", Command: "codex", Maker: "openai", Speaks: "codex", Signin: "codex login",
			Install: "npm install -g @openai/codex",
			Hosts:   []string{"api.openai.com", "chatgpt.com", "auth.openai.com"}, Login: []string{".codex/auth.json"},
		},
		{
			Name: "copilot", Command: "copilot", Args: []string{"--acp"}, Speaks: "acp", Signin: "copilot login",
			Install: "npm install -g @github/copilot",
			Hosts:   []string{"api.github.com", "api.githubcopilot.com", "api.individual.githubcopilot.com", "api.business.githubcopilot.com"},
			Login:   []string{".copilot/config.json"}, Env: []string{"COPILOT_AUTO_UPDATE=false"},
		},
		{
			Name: "crush", Command: "crush", Speaks: "crush", Signin: "crush login", Metered: true,
			Install: "npm install -g @charmland/crush",
			Login:   []string{".local/share/crush/crush.json"}, Env: []string{"CRUSH_DISABLE_METRICS=1", "CRUSH_DISABLE_PROVIDER_AUTO_UPDATE=1"},
		},
		{
			Name: "gemini", Command: "gemini", Maker: "gemini", Speaks: "gemini", Signin: "gemini",
			Install: "npm install -g @google/gemini-cli",
			Hosts:   []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"},
			Login:   []string{".gemini/oauth_creds.json", ".gemini/google_accounts.json"},
			Env:     []string{"GEMINI_TELEMETRY_ENABLED=false"},
		},
		{
			Name: "goose", Command: "goose", Args: []string{"acp"}, Speaks: "acp", Signin: "goose configure", Metered: true,
			Install: "brew install block-goose-cli",
			Login:   []string{".config/goose/config.yaml", ".config/goose/secrets.yaml"},
			Env:     []string{"GOOSE_DISABLE_KEYRING=1", "GOOSE_TELEMETRY_ENABLED=false"},
		},
		{
			Name: "opencode", Command: "opencode", Speaks: "opencode", Signin: "opencode auth login", Metered: true,
			Install: "npm install -g opencode-ai",
			Login:   []string{".local/share/opencode/auth.json"}, Env: []string{
				"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_SHARE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
				"OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_PURE=1", // no plugins
			},
		},
	}
}

// SteeringFiles returns the files and directories of a worktree, as paths from its root, from
// which the program reads settings that no flag turns off: its model, its provider, commands that
// it starts. Everyone who can write to the repository could choose them.
func (p CLIAgentProgram) SteeringFiles() []string {
	is := func(name string) bool { return p.Name == name || path.Base(p.Command) == name }
	switch {
	case p.Speaks == "aider" || is("aider"):
		return []string{".aider.conf.yml", ".aider.model.metadata.json", ".aider.model.settings.yml", ".env"}
	case is("crush"):
		return []string{".crush.json", ".crushrc", "crush.json", "crushrc"} // it executes the second and the fourth
	case p.Speaks == "gemini" || is("gemini"): // its own settings turn off .env
		return []string{
			".gemini/.env", ".gemini/settings.json", ".gemini/agents", ".gemini/commands",
			".gemini/extensions", ".gemini/policies", ".gemini/skills", ".agents/skills",
		}
	default:
		return nil
	}
}

// IsSteeringFile reports whether one of the files of [CLIAgentProgram.SteeringFiles] with this content may contain
// effective settings. An .aider.conf.yml that only names files to read, as nexus generate
// suggests, does not.
func IsSteeringFile(name string, data []byte) bool {
	var set map[string]any
	if name != ".aider.conf.yml" || yaml.Unmarshal(data, &set) != nil {
		return true
	}
	for key := range set {
		if key != "read" {
			return true
		}
	}
	return false
}

// WithProtocol returns the program with the settings to start it with another protocol than its
// default.
func (p CLIAgentProgram) WithProtocol(protocol string) CLIAgentProgram {
	if p.Speaks == "acp" && protocol != "acp" {
		p.Args = nil // they start the default protocol
	}
	p.Speaks = protocol
	if protocol != "acp" {
		return p
	}
	// Claude Code and Codex speak the Agent Client Protocol through adapters, which are separate
	// programs.
	switch p.Name {
	case "claude":
		p.Command, p.Install = "claude-agent-acp", "npm install -g @agentclientprotocol/claude-agent-acp"
		p.Mode = "default" // in its default mode, a model decides about permissions
	case "codex":
		p.Command, p.Install = "codex-acp", "npm install -g @agentclientprotocol/codex-acp"
		p.Mode = "agent-full-access" // other modes use its own sandbox, which ours does not allow
	case "gemini":
		p.Args = []string{"--acp", "--skip-trust"}
		p.Mode = "default" // other modes never ask for permission
	case "opencode": // never asks for permission by default
		p.Args = []string{"acp"}
		p.Env = append(slices.Clone(p.Env), `OPENCODE_PERMISSION={"edit":"ask","bash":"ask","webfetch":"ask"}`)
	}
	return p
}
