package config

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// WorktreeEnvironmentSettings configures the contents of worktrees besides the files of their commit.
type WorktreeEnvironmentSettings struct {
	Commands  map[string]string // install and init; empty: turned off; absent: as detected
	Link      []string          // patterns of ignored paths of the checkout that worktrees get
	EnvFiles  []string          // files of the checkout with variables for commands
	Variables []string          // variables of the user's environment that commands get
}

func environmentKeys() []SettingKey {
	const secrets = "it decides which of your secrets agents can read"
	command := func(name, doc string) SettingKey {
		return newMapEntryKey("environment."+name, valuekind.CommandLineKind(), doc, name, func(c *Config) *map[string]string { return &c.Worktree.Commands })
	}
	return []SettingKey{
		command("install", "command that installs the dependencies of a worktree, instead of the ecosystem's own; it runs in the sandbox, once for each content of the lock files; false: only what your checkout has installed is used. The project's needs nexus trust"),
		command("init", "command that runs in the sandbox after the dependencies are installed; its files that git ignores are copied to every worktree. The project's needs nexus trust, with the scripts that it names"),
		newSingleKey("environment.link", pathPatternsKind(), "paths in your checkout, as patterns, that git ignores and that are copied to worktrees; never .env or other files with keys. The project's needs nexus trust",
			func(c *Config) *[]string { return &c.Worktree.Link }).withMergedLayers(),
		newSingleKey("environment.env_files", pathPatternsKind(), "files in your checkout whose variables the commands of agents and gates get; the files themselves stay hidden",
			func(c *Config) *[]string { return &c.Worktree.EnvFiles }).withProjectDenied(secrets),
		newSingleKey("environment.variables", valuekind.CheckedListKind("list of variables", func(names []string) (any, error) {
			for _, n := range names {
				if _, err := valuekind.VariableNameKind().Parse(n); err != nil {
					return nil, err
				}
			}
			return names, nil
		}), "variables of your environment that the commands of agents and gates get",
			func(c *Config) *[]string { return &c.Worktree.Variables }).withProjectDenied(secrets),
	}
}

// pathPatternsKind returns the kind that reads patterns of paths below the root.
func pathPatternsKind() valuekind.Kind {
	return valuekind.CheckedListKind("list of paths", func(names []string) (any, error) {
		for i, n := range names {
			if err := valuekind.CheckPlainText(n); err != nil {
				return nil, err
			}
			names[i] = path.Clean(strings.TrimSuffix(filepath.ToSlash(n), "/"))
			if _, err := path.Match(names[i], ""); err != nil || !filepath.IsLocal(names[i]) || names[i] == "." {
				return nil, fmt.Errorf("%s is not a path below the root", valuekind.QuoteForeign(n))
			}
			if b, _, _ := strings.Cut(names[i], "/"); b == ".git" {
				return nil, errors.New("a path in .git is not allowed")
			}
		}
		return names, nil
	})
}

// ProjectEnvironment returns the environment settings of the project's own file.
func ProjectEnvironment(root string) (WorktreeEnvironmentSettings, error) {
	c, _, err := LoadSources(SettingSources{Project: filepath.Join(root, "nexus.toml")})
	return c.Worktree, err
}
