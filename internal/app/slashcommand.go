package app

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/rules"
)

// commandPattern matches a text that begins with the name of a command.
var commandPattern = regexp.MustCompile(`(?s)^/([A-Za-z0-9_:-]+)(?:\s+(.*))?$`)

// ExpandSlashCommand returns the prompt for a text that begins with the name of a command in
// .claude/commands, such as "/fix 12", and any other text unchanged.
func (a *App) ExpandSlashCommand(c config.Config, text string) (string, error) {
	m := commandPattern.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return text, nil
	}
	dir, err := a.WorkDir()
	if err != nil {
		return "", err
	}
	set, err := a.AgentRules(WorkTreeRoot(dir), c)
	if err != nil {
		return "", err
	}
	k, ok := set.FindSkill(rules.CommandKind, m[1])
	if !ok {
		return text, nil
	}
	return k.ExpandPrompt(m[2]), checkTrusted(k)
}

// claudeAgentRole returns an agent of .claude/agents as a role. It has at most the rights of the
// usual role, and of its tools only those that it names.
func (a *App) claudeAgentRole(dir string, c config.Config, name string, usual agent.RoleDefinition) (agent.RoleDefinition, error) {
	set, err := a.AgentRules(dir, c)
	if err != nil {
		return agent.RoleDefinition{}, err
	}
	k, ok := set.FindSkill(rules.AgentKind, name)
	if !ok {
		return agent.RoleDefinition{}, NotFoundError("role", name,
			"Use assistant, planner, coder, tester, reviewer or merger, or an agent of .claude/agents; nexus rules lists those.")
	}
	if err := checkTrusted(k); err != nil {
		return agent.RoleDefinition{}, err
	}
	return roleFromSkill(k, usual), nil
}

// roleFromSkill returns an agent of .claude/agents as a role with at most the rights of the
// usual role.
func roleFromSkill(k rules.Skill, usual agent.RoleDefinition) agent.RoleDefinition {
	usual.Prompt = k.Text
	switch model := strings.ToLower(k.Model); {
	case strings.Contains(model, "haiku"):
		usual.Tier = nexus.Fast
	case strings.Contains(model, "opus"):
		usual.Tier = nexus.Strong
	case strings.Contains(model, "sonnet"):
		usual.Tier = nexus.Balanced
	}
	if len(k.Tools) > 0 {
		usual.Tools = slices.DeleteFunc(slices.Clone(usual.Tools), func(own string) bool {
			return own != "finish" && !slices.ContainsFunc(k.Tools, func(theirs string) bool { return isSameTool(theirs, own) })
		})
	}
	if !slices.ContainsFunc(usual.Tools, func(t string) bool { return t == "write_file" || t == "edit_file" || t == "shell" }) {
		usual.Writes = agent.WriteNothing
	}
	return usual
}

// isSameTool reports whether a tool of Claude Code does the same as one of Nexus.
func isSameTool(theirs, own string) bool {
	theirs, _, _ = strings.Cut(theirs, "(")
	switch theirs {
	case "Read", "NotebookRead":
		return own == "read_file"
	case "Grep":
		return own == "search_code"
	case "Glob", "LS":
		return own == "list_files"
	case "Write":
		return own == "write_file"
	case "Edit", "MultiEdit":
		return own == "edit_file"
	case "Bash":
		return own == "shell" || own == "job"
	default:
		return theirs == own
	}
}

// checkTrusted returns an error for an untrusted skill.
func checkTrusted(k rules.Skill) error {
	if k.State == trust.StateTrusted {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeUntrusted, Message: fmt.Sprintf("%s is not trusted (%s)", k.File, k.State),
		Hint: "Read it with nexus trust, then trust it with nexus trust --yes.",
	}
}
