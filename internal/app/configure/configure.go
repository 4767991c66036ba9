// Package configure changes one setting in a file of a person or a project, once
// all of the configuration with it is valid.
package configure

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
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// Change is another value for a setting in one of the two files that a person
// has: their own, or the project's.
type Change struct {
	Key     string
	Value   string // as in a file, or as in the environment
	Unset   bool   // the file loses it
	Project bool   // it is the project's file
}

// ChangeResult is what became of a [Change].
type ChangeResult struct {
	Key     string
	File    string
	Written string // as the file has it now; empty: it does not
	Before  config.Setting
	Now     config.Setting // what holds: another source may come before the file
}

// ApplyChange changes a setting in a file. Agree is asked first where a person has to agree; its error is that they
// do not. Nothing is written where anything is wrong.
func ApplyChange(ctx context.Context, a *app.App, c Change, agree func(why string) error) (ChangeResult, error) {
	k, path, err := config.FindKey(c.Key)
	if err != nil {
		return ChangeResult{}, err
	}
	done := ChangeResult{Key: config.Dotted(path)}
	if !c.Unset {
		if err := checkNoSecret(a.Mask, done.Key, c.Value); err != nil {
			return done, err
		}
		if done.Written, err = k.Written(path, c.Value); err != nil {
			return done, err
		}
	}
	s, err := a.Sources()
	if err != nil {
		return done, err
	}
	name := s.User
	if c.Project {
		name = s.Project
	}
	if done.File, err = settingsFile(name, c.Project); err != nil {
		return done, err
	}
	if why := config.ConsentReason(s, path, done.Written); why != "" && !c.Project { // the project's file is held to what it may say
		if err := agree(why); err != nil {
			return done, err
		}
	}
	done.Before = settingLookup(a.SettingsOf(s))(done.Key)
	return done, disk.Lock(ctx, filepath.Join(a.StateHome(), "config.lock"), func(context.Context) error {
		text, err := editedText(done.File, path, done.Written)
		if err != nil {
			return err
		}
		s.Instead = map[string]string{name: text}
		settings, origins, err := a.SettingsOf(s)
		if err != nil {
			return err
		}
		done.Now = settingLookup(settings, origins, nil)(done.Key)
		return disk.ReplaceLocked(done.File, []byte(text), modeOf(done.File, c.Project))
	})
}

// checkNoSecret refuses what looks like a key: files of settings are read by many.
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

// settingLookup returns how to find a setting in a configuration; an invalid one has none.
func settingLookup(c config.Config, o config.Origins, err error) func(string) config.Setting {
	return func(key string) config.Setting {
		if err == nil {
			for _, s := range config.Explain(c, o) {
				if s.Key == key {
					return s
				}
			}
		}
		return config.Setting{Key: key}
	}
}

// settingsFile returns the file behind a name. One's own may be a link to where it
// is kept; the project's may not, as a repository could make any file of it.
func settingsFile(name string, project bool) (string, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return name, nil
	case err != nil:
		return "", disk.WrapError("look at "+name, err)
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
	return to, disk.WrapError("follow "+name, err)
}

// editedText returns the text of a file with another value; written is empty where it
// loses it.
func editedText(file string, path []string, written string) (string, error) {
	data, err := config.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", disk.WrapError("read "+file, err)
	}
	var text string
	found := true
	if written == "" {
		text, found, err = edit.Unset(string(data), path)
	} else {
		text, err = edit.Set(string(data), path, written)
	}
	switch {
	case err != nil:
		return "", &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: file + ": " + config.Dotted(path), Cause: err,
			Hint: "Nothing was changed. Change the file in an editor.",
		}
	case !found:
		hint := "It is not in " + file + "; nexus config --explain says where each value comes from."
		return "", app.NotFound("setting", config.Dotted(path), hint)
	}
	return text, nil
}

// modeOf returns who may read a file: who could before, and the user alone for a
// new one of theirs.
func modeOf(file string, project bool) fs.FileMode {
	if info, err := os.Stat(file); err == nil {
		return info.Mode().Perm()
	}
	if project {
		return 0o644
	}
	return 0o600
}
