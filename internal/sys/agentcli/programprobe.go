package agentcli

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

const (
	maxModels    = 500 // listed models of a program
	maxModelName = 100 // bytes of a model's name
)

// programProbeCommands has the commands that print a program's flags and models.
type programProbeCommands struct {
	help    []string // prints the flags for a prompt
	starts  []string // words of the help text that a prompt needs
	resumes string   // word of the help text that is missing if the program cannot resume
	models  []string // prints the program's models; nil: no command does
}

// programProbe returns the probe of a format, or of a name for programs that speak text.
func (p CLIAgentProgram) programProbe() programProbeCommands {
	switch p.Speaks {
	case "aider":
		return programProbeCommands{help: []string{"--help"}, starts: []string{"--message-file", "--yes-always"}, resumes: "--restore-chat-history"}
	case "amp":
		return programProbeCommands{help: []string{"--help"}, starts: []string{"--stream-json"}, resumes: "threads"}
	case "claude":
		return programProbeCommands{
			help: []string{"--help"}, starts: []string{"--input-format", "--output-format", "--strict-mcp-config"}, resumes: "--resume",
			models: []string{
				"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--setting-sources", "", "--strict-mcp-config",
			},
		}
	case "codex":
		return programProbeCommands{help: []string{"exec", "--help"}, starts: []string{"--json"}, resumes: "resume", models: []string{"debug", "models"}}
	case "copilot":
		return programProbeCommands{help: []string{"--help"}, starts: []string{"--output-format", "--allow-all-tools"}, resumes: "--resume"}
	case "gemini":
		return programProbeCommands{help: []string{"--help"}, starts: []string{"--output-format", "--approval-mode", "--skip-trust"}, resumes: "--resume"}
	case "goose":
		return programProbeCommands{help: []string{"run", "--help"}, starts: []string{"--output-format"}, resumes: "--resume"}
	case "opencode":
		return programProbeCommands{help: []string{"run", "--help"}, starts: []string{"--format"}, resumes: "--session", models: []string{"models"}}
	case "crush":
		return programProbeCommands{
			help: []string{"run", "--help"}, starts: []string{"--quiet", "--data-dir"}, resumes: "--continue", models: []string{"models"},
		}
	default:
		return programProbeCommands{}
	}
}

// HelpArgs returns the arguments that print the flags for a prompt; nil if unknown.
func (p CLIAgentProgram) HelpArgs() []string { return p.programProbe().help }

// MissingFlags returns the words that Nexus needs and that the help text lacks, and whether the program
// can resume a conversation.
func (p CLIAgentProgram) MissingFlags(help string) (missing []string, resumes bool) {
	words := strings.FieldsFunc(help, func(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	ask := p.programProbe()
	for _, flag := range ask.starts {
		if !slices.Contains(words, flag) {
			missing = append(missing, flag)
		}
	}
	return missing, ask.resumes != "" && slices.Contains(words, ask.resumes)
}

// ModelArgs returns the arguments and the input with which the program prints its models; nil if
// it cannot.
func (p CLIAgentProgram) ModelArgs() (args []string, stdin []byte) {
	args = p.programProbe().models
	if args != nil && p.Speaks == "claude" {
		stdin = append(encodeJSON(map[string]any{
			"type": "control_request", "request_id": "models", "request": map[string]any{"subtype": "initialize"},
		}), '\n')
	}
	return args, stdin
}

// ParseModels parses the output of the command of [CLIAgentProgram.ModelArgs].
func (p CLIAgentProgram) ParseModels(said []byte) []string {
	switch p.Speaks {
	case "claude":
		return parseClaudeModels(said)
	case "codex":
		return parseCodexModels(said)
	default:
		return parseModelLines(said)
	}
}

// parseClaudeModels parses the response to the request that begins a conversation.
func parseClaudeModels(said []byte) []string {
	for line := range strings.Lines(string(said)) {
		var l struct {
			Type     string `json:"type"`
			Response struct {
				Response struct {
					Models []struct {
						Value string `json:"value"`
					} `json:"models"`
				} `json:"response"`
			} `json:"response"`
		}
		if json.Unmarshal([]byte(line), &l) != nil || l.Type != "control_response" {
			continue
		}
		var all []string
		for _, m := range l.Response.Response.Models {
			all = append(all, m.Value)
		}
		return ExtractModelNames(all)
	}
	return nil
}

// parseCodexModels parses the catalog, and skips the models that are not for people.
func parseCodexModels(said []byte) []string {
	var in struct {
		Models []struct {
			Slug       string `json:"slug"`
			Visibility string `json:"visibility"`
		} `json:"models"`
	}
	if json.Unmarshal(said, &in) != nil {
		return nil
	}
	var all []string
	for _, m := range in.Models {
		if m.Visibility == "" || m.Visibility == "list" {
			all = append(all, m.Slug)
		}
	}
	return ExtractModelNames(all)
}

// parseModelLines parses lines of the form provider/model.
func parseModelLines(said []byte) []string {
	form := regexp.MustCompile(`^[A-Za-z0-9._-]+/\S+$`)
	var all []string
	for line := range strings.Lines(string(said)) {
		if line = strings.TrimSpace(line); form.MatchString(line) {
			all = append(all, line)
		}
	}
	return ExtractModelNames(all)
}

// ExtractModelNames returns the valid model names, each once. The names come from a program and are shown to
// people.
func ExtractModelNames(all []string) []string {
	var names []string
	for _, name := range all {
		plain := name != "" && len(name) <= maxModelName && sanitize.RevealHidden(name) == name && !strings.ContainsAny(name, " \t\n")
		if !plain || slices.Contains(names, name) {
			continue
		}
		if names = append(names, name); len(names) == maxModels {
			break
		}
	}
	return names
}
