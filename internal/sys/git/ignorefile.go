package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// UserIgnore is the file in the private clone's git directory with the content of the user's own
// ignore file, which core.excludesFile names. The content of the repository's info/exclude is in
// the file of that name.
const UserIgnore = "info/user-ignore"

// maxExclude limits the size of the user's own ignore file.
const maxExclude = 1 << 20

// readIgnoreFiles updates the user's private ignore files in the clone.
func (c *Clone) readIgnoreFiles(ctx context.Context) error {
	from, err := c.user.CommonDir(ctx)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"info/exclude": readIgnoreFile(filepath.Join(from, "info", "exclude")),
		UserIgnore:     readIgnoreFile(c.user.excludesFile(ctx)),
	} {
		at := filepath.Join(c.git.Dir, name)
		if old, err := os.ReadFile(at); err == nil && string(old) == text || errors.Is(err, os.ErrNotExist) && text == "" {
			continue
		}
		if err := disk.WriteFile(at, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// readIgnoreFile returns the content of an ignore file, or "" if there is none.
func readIgnoreFile(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxExclude {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(data)
}

// excludesFile returns the path of the user's global ignore file: core.excludesFile, or git's
// default.
func (r Repo) excludesFile(ctx context.Context) string {
	home := os.Getenv("HOME")
	settings := os.Getenv("XDG_CONFIG_HOME")
	if settings == "" && home != "" {
		settings = filepath.Join(home, ".config")
	}
	for _, global := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(settings, "git", "config")} {
		own := r
		own.Env = append(r.Env[:len(r.Env):len(r.Env)], "GIT_CONFIG_GLOBAL="+global, "HOME="+home)
		out, err := own.Run(ctx, "config", "--includes", "--get-all", "--type=path", "-z", "core.excludesFile")
		if err != nil {
			continue
		}
		all := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
		if n := len(all) - 1; n > 0 && filepath.IsAbs(all[n-1]) { // the last one is ours, see hardened
			return all[n-1]
		}
	}
	return filepath.Join(settings, "git", "ignore")
}
