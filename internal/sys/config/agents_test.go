package config_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// TestProjectNamesNoAgent holds that a repository cannot have an agent program
// work with the user's login, by whichever setting names it.
func TestProjectNamesNoAgent(t *testing.T) {
	const mine = "[agents.mine]\ncommand = 'm'\n"
	for project, want := range map[string]string{
		"models.strong = 'claude/opus'\n":                 "may not name the agent claude: it would work with your login",
		"models.fast = ['anthropic/a', 'codex/b']\n":      "may not name the agent codex",
		"roles.coder.model = 'mine/a'\n":                  "may not name the agent mine",
		"roles.coder.agent = 'claude'\n":                  "may not set roles.coder.agent",
		"models.strong = 'gemini/gemini-3-pro-preview'\n": "",
	} {
		_, _, err := config.LoadSources(sources(t, mine, project))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", project, err, want)
		}
	}
}
