package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/rules"
)

// maxInstructionFile is the size of the largest file with instructions for agents, in bytes.
const maxInstructionFile = 1 << 20

// LoadRoleDefinitions returns the roles of a repository, with the settings for them. They are sent to a
// provider, and the repository may be anybody's, so no link is followed out of it.
func LoadRoleDefinitions(dir string, c config.Config) (roles map[nexus.Role]agent.RoleDefinition, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	theirs, err := fs.Sub(root.FS(), ".nexus/roles")
	if err != nil {
		return nil, err
	}
	if roles, err = agent.LoadRoleDefinitions(theirs, pipelineRoles(c)...); err != nil {
		return nil, err
	}
	for name, r := range roles {
		r.Effort = cmp.Or(c.Roles[name].Effort, r.Effort)
		roles[name] = r
	}
	return roles, nil
}

// AgentRules returns the rules for agents of the repository at dir and of its user.
func (a *App) AgentRules(dir string, c config.Config) (*rules.RuleSet, error) {
	return loadAgentRules(dir, c, a.Env, a.TrustStore())
}

func loadAgentRules(dir string, c config.Config, env func(string) string, book *trust.Store) (*rules.RuleSet, error) {
	home := env("HOME")
	at := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(at) {
		at = filepath.Join(home, ".config")
	}
	return rules.LoadRules(rules.RuleLocations{Repo: dir, Home: home, Config: at, Show: c.Policy.Show, Book: book, Packages: packageRuleFiles(dir, c.Gates.Packages)})
}

// packageRuleFiles returns the files that the settings name for packages, by the directories of
// these. Settings for a missing package are reported by nexus check and nexus doctor.
func packageRuleFiles(dir string, set map[string]config.RepositoryPackageSettings) map[string][]string {
	if len(set) == 0 {
		return nil
	}
	repo := monorepo.ReadPackageGraph(os.DirFS(dir))
	all := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if p, err := repo.FindPackage(name); err == nil {
			all[p.Dir] = append(all[p.Dir], set[name].Rules...)
		}
	}
	return all
}

// CheckAgentRules calls say for each standing file that is omitted, and returns an error if the
// repository's AGENTS.md cannot be read.
func CheckAgentRules(set *rules.RuleSet, say func(string)) error {
	for _, r := range set.AlwaysApplicable().Refused {
		if r.File == "AGENTS.md" && !r.Told {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "read AGENTS.md", Cause: errors.New(r.Why),
				Hint: "Make it a file of the repository; a link may not lead out of it.",
			}
		}
		if say != nil {
			say(fmt.Sprintf("%s is left out of the instructions for agents: %s", sanitize.RevealHidden(r.File), sanitize.RevealHidden(r.Why)))
		}
	}
	return nil
}

// readInstructionFile returns a file of the repository with instructions for agents.
func readInstructionFile(root *os.Root, name string) (string, error) {
	info, err := root.Stat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxInstructionFile) {
		err = fmt.Errorf("it is not a file of at most %d bytes", maxInstructionFile)
	}
	var data []byte
	if err == nil {
		data, err = root.ReadFile(name)
	}
	if err != nil {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "read " + name, Cause: err,
			Hint: "Make it a file of the repository; a link may not lead out of it.",
		}
	}
	return string(data), nil
}

// LoadRole returns a role of the repository at the working directory, as configured here.
func (a *App) LoadRole(name string) (agent.RoleDefinition, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return agent.RoleDefinition{}, err
	}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return agent.RoleDefinition{}, err
	}
	roles, err := LoadRoleDefinitions(WorkTreeRoot(dir), settings)
	if err != nil {
		return agent.RoleDefinition{}, err
	}
	r, ok := roles[nexus.Role(name)]
	if !ok {
		return r, NotFoundError("role", name, "Use planner, coder, tester, reviewer or merger.")
	}
	return r, nil
}
