package git

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// userConfig has the settings of the user's git that concern the files of a repository. They are read
// by one command.
type userConfig struct {
	promisor string // remote with the missing objects of a partial clone; empty: it is not partial
	lfs      string // lfs.storage; empty: not set
	excludes string // core.excludesFile; empty: not set
}

// readUserConfig reads the settings from the files of the repository and of the user.
func (r Repo) readUserConfig(ctx context.Context) (userConfig, error) {
	r.Env = append(userConfigEnv(), r.Env...)
	out, err := r.Run(ctx, "config", "--includes", "--show-scope", "-z", "--get-regexp",
		`^(extensions\.partialclone|remote\..*\.promisor|lfs\.storage|core\.excludesfile)$`)
	if x, ok := errors.AsType[*ExitError](err); ok && x.Status == 1 {
		return userConfig{}, nil
	}
	if err != nil {
		return userConfig{}, err
	}
	var c userConfig
	parts := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") // scope, then key and value
	for i := 0; i+1 < len(parts); i += 2 {
		scope := parts[i]
		key, value, hasValue := strings.Cut(parts[i+1], "\n")
		switch {
		case scope == "command": // ours, see hardenedOptions
		case key == "lfs.storage":
			c.lfs = r.expandPath(ctx, key, value)
		case key == "core.excludesfile":
			c.excludes = r.expandPath(ctx, key, value)
		case scope == "local" || scope == "worktree":
			c.notePromisor(key, value, hasValue)
		}
	}
	return c, nil
}

// notePromisor notes the first remote that a partial clone fetches missing objects from.
func (c *userConfig) notePromisor(key, value string, hasValue bool) {
	name := value
	if rest, ok := strings.CutPrefix(key, "remote."); ok {
		if hasValue && value != "true" {
			return
		}
		name = strings.TrimSuffix(rest, ".promisor")
	}
	if c.promisor == "" && CheckRef(name) == nil && !strings.ContainsAny(name, "'\"$`;&|<>()!#") {
		c.promisor = name
	}
}

// expandPath expands the path in a setting as git does.
func (r Repo) expandPath(ctx context.Context, key, value string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		return filepath.Join(os.Getenv("HOME"), rest)
	}
	if !strings.HasPrefix(value, "~") && !strings.HasPrefix(value, "%(") {
		return value
	}
	out, err := r.Run(ctx, "config", "--includes", "--show-scope", "--type=path", "-z", "--get-all", key)
	parts := strings.Split(out, "\x00")
	for i := len(parts) - 3; err == nil && i >= 0; i -= 2 { // the last one counts, except ours
		if parts[i] != "command" {
			return parts[i+1]
		}
	}
	return ""
}

// userConfigEnv lets git read the user's own two files; the one in the home directory wins.
func userConfigEnv() []string {
	env := []string{"GIT_CONFIG_NOSYSTEM=0", "GIT_CONFIG_SYSTEM=" + filepath.Join(userSettingsDir(), "git", "config")}
	if home, ok := os.LookupEnv("HOME"); ok {
		env = append(env, "HOME="+home, "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"))
	}
	return env
}

// userSettingsDir returns the directory of the user's settings.
func userSettingsDir() string {
	return cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(cmp.Or(os.Getenv("HOME"), "/nonexistent"), ".config"))
}
