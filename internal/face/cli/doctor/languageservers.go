package doctor

import (
	"os"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/codenavigation"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// checkCode reports which language servers agents can query in a repository. A missing one is a
// notice and blocks nothing.
func checkCode(dir string, own map[string]config.LanguageServerSettings) Check {
	c := Check{Name: "code", State: Fine}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return checkOf("code", "", err)
	}
	defer func() { _ = root.Close() }() // read-only
	vars, ends := sandbox.AgentCommandEnv(), codenavigation.CountExtensions(root, files.HiddenPathRules{})
	var there, missing []string
	for _, s := range codenavigation.ConfiguredServers(own) {
		is := slices.DeleteFunc(slices.Clone(s.Ends), func(end string) bool { return ends[end] == 0 })
		switch command := s.CommandLine(vars); {
		case len(is) == 0:
		case command != nil:
			there = append(there, command[0]+" for "+strings.Join(is, " "))
		case len(s.Commands) > 0:
			missing = append(missing, s.Commands[0][0]+" for "+strings.Join(is, " "))
		}
	}
	if c.Detail = strings.Join(there, ", "); c.Detail == "" {
		c.Detail = "no language server"
	}
	if len(missing) > 0 {
		c.Detail += "; not installed: " + strings.Join(missing, ", ")
	}
	return c
}
