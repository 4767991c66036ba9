package git

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// UserIgnore is the file in the private clone's git directory with the content of the user's own
// ignore file, which core.excludesFile names. The content of the repository's info/exclude is in
// the file of that name.
const UserIgnore = "info/user-ignore"

// maxExclude limits the size of the user's own ignore file.
const maxExclude = 1 << 20

// updateIgnoreFiles updates the user's private ignore files in the clone. The argument from is the user's
// git directory.
func (c *PrivateClone) updateIgnoreFiles(from string) error {
	for name, text := range map[string]string{
		"info/exclude": readIgnoreFile(filepath.Join(from, "info", "exclude")),
		UserIgnore:     readIgnoreFile(c.config.excludesFile()),
	} {
		at := filepath.Join(c.git.Dir, name)
		if old, err := os.ReadFile(at); err == nil && string(old) == text || errors.Is(err, os.ErrNotExist) && text == "" {
			continue
		}
		if err := filewrite.WriteFile(at, []byte(text)); err != nil {
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
func (c userConfig) excludesFile() string {
	if filepath.IsAbs(c.excludes) {
		return c.excludes
	}
	return filepath.Join(userSettingsDir(), "git", "ignore")
}
