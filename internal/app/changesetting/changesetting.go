// Package changesetting changes one setting in a settings file of a user or a project, if the
// resulting configuration is valid.
package changesetting

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/edit"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// SettingFileChange is a new value for a setting in one of two files: the user's own, or the project's.
type SettingFileChange struct {
	Key     string
	Value   string // as in a file, or as in the environment
	Unset   bool   // removes the setting from the file
	Project bool   // it is the project's file
}

// SettingFileChangeResult is the result of a [SettingFileChange].
type SettingFileChangeResult struct {
	Key     string
	File    string
	Written string // the value in the file; empty: none
	Before  config.Setting
	Now     config.Setting // the setting in force: another source may have precedence over the file
}

// ApplySettingChange changes a setting in a file. It first calls agree if a person has to agree; an
// error of agree means refusal. On any error nothing is written.
func ApplySettingChange(ctx context.Context, a *app.App, c SettingFileChange, agree func(why string) error) (SettingFileChangeResult, error) {
	k, path, err := config.FindKey(c.Key)
	if err != nil {
		return SettingFileChangeResult{}, err
	}
	done := SettingFileChangeResult{Key: config.FormatKeyPath(path)}
	if !c.Unset {
		if err := checkNoSecret(a.Mask, done.Key, c.Value); err != nil {
			return done, err
		}
		if done.Written, err = k.FormatInput(path, c.Value); err != nil {
			return done, err
		}
	}
	s, err := a.ConfigSources()
	if err != nil {
		return done, err
	}
	name := s.User
	if c.Project {
		name = s.Project
	}
	if done.File, err = settingsFilePath(name, c.Project); err != nil {
		return done, err
	}
	if why := config.ConsentReasonFor(s, path, done.Written); why != "" && !c.Project { // the project's settings are limited anyway
		if err := agree(why); err != nil {
			return done, err
		}
	}
	done.Before = newSettingLookup(a.LoadSettingsFrom(s))(done.Key)
	return done, filewrite.WithLock(ctx, filepath.Join(a.StateHome(), "config.lock"), func(context.Context) error {
		text, err := textWithSetting(done.File, path, done.Written)
		if err != nil {
			return err
		}
		s.Instead = map[string]string{name: text}
		settings, origins, err := a.LoadSettingsFrom(s)
		if err != nil {
			return err
		}
		done.Now = newSettingLookup(settings, origins, nil)(done.Key)
		return filewrite.ReplaceLockedFile(done.File, []byte(text), fileMode(done.File, c.Project))
	})
}

// checkNoSecret returns an error for a value that may be a key: settings files have many
// readers.
func checkNoSecret(mask *secret.Masker, key, value string) error {
	what, _, found := mask.FindCertainKey([]byte(value))
	if !found && string(mask.Mask([]byte(value))) == value {
		return nil
	}
	if what == "" {
		what = "a key or a token"
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "the value for " + key + " looks like " + what + ", and settings hold none",
		Hint: "Nothing was changed. Store keys with nexus config key set, or name an environment variable.",
	}
}

// newSettingLookup returns a function that finds a setting in a configuration; an invalid
// configuration has none.
func newSettingLookup(c config.Config, o config.SettingOrigins, err error) func(string) config.Setting {
	return func(key string) config.Setting {
		if err == nil {
			for _, s := range config.ExplainSettings(c, o) {
				if s.Key == key {
					return s
				}
			}
		}
		return config.Setting{Key: key}
	}
}

// settingsFilePath returns the path behind a name. The user's own file may be a link; the project's
// may not, because a repository could link it to any file.
func settingsFilePath(name string, project bool) (string, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return name, nil
	case err != nil:
		return "", filewrite.WrapError("look at "+name, err)
	case info.Mode()&fs.ModeSymlink == 0:
		return name, nil
	case project:
		return "", &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: name + " is a link, and a project's settings are not written through one",
			Hint: "Replace it by a file.",
		}
	}
	to, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil
	}
	return to, filewrite.WrapError("follow "+name, err)
}

// textWithSetting returns the text of a file with another value; an empty written removes it.
func textWithSetting(file string, path []string, written string) (string, error) {
	data, err := config.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", filewrite.WrapError("read "+file, err)
	}
	var text string
	found := true
	if written == "" {
		text, found, err = edit.RemoveKey(string(data), path)
	} else {
		text, err = edit.SetKey(string(data), path, written)
	}
	switch {
	case err != nil:
		return "", &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: file + ": " + config.FormatKeyPath(path), Cause: err,
			Hint: "Nothing was changed. Change the file in an editor.",
		}
	case !found:
		hint := "It is not in " + file + "; nexus config --explain says where each value comes from."
		return "", app.NotFoundError("setting", config.FormatKeyPath(path), hint)
	}
	return text, nil
}

// fileMode returns the permissions of a file: unchanged for an existing one, and only for the
// user for a new one of theirs.
func fileMode(file string, project bool) fs.FileMode {
	if info, err := os.Stat(file); err == nil {
		return info.Mode().Perm()
	}
	if project {
		return 0o644
	}
	return 0o600
}
