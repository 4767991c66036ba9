// Package app builds the parts that a command, a server or another host of runs needs, from the
// settings and the environment: the repository with its journal, the models, the sandbox, the
// worktrees, and the loop that executes a run.
//
// It is the composition root, and knows no flags and no screens. A call returns its result;
// further messages for people go to [App.Report]; everything else is in the journal.
package app

import (
	"cmp"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/apikey"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// App is the environment from which everything else is built. It opens nothing before a caller
// asks for it.
type App struct {
	Env     func(string) string
	Environ []string // "NAME=value", for settings
	Now     func() time.Time
	Mask    *secret.Masker    // removes keys from everything that is shown or stored
	Dir     string            // the working directory of the command; empty means that of the process
	Set     map[string]string // settings by their keys, with precedence over every file and variable
	Named   map[string]string // flags that gave them, by the same keys; may be nil
	Report  func(AppNotice)   // receives messages for people; nil: they are dropped
	Actor   string            // name of the person who gives the command, if it is not the user; see [App.UserName]
	Origin  string            // conversation of a client that its runs belong to; empty for none

	Warned *sync.Map // warnings about settings that were reported; nil: each is reported whenever settings are read

	withoutProject bool // the project's settings are skipped because they cannot be read
}

// AppNotice is a message for people about something that stops nothing.
type AppNotice struct {
	Text string
	Err  error // the error, if there was one; Text is empty then
}

// reportText reports a text.
func (a *App) reportText(text string) {
	if a.Report != nil {
		a.Report(AppNotice{Text: text})
	}
}

// reportError reports an error that stops nothing.
func (a *App) reportError(err error) {
	if err != nil && a.Report != nil {
		a.Report(AppNotice{Err: err})
	}
}

// UserName returns the name of the person who gives the command, never "": decisions of people are
// recorded under it, even if a service or a container sets no USER.
func (a *App) UserName() string {
	if a.Actor != "" {
		return a.Actor
	}
	if name := cmp.Or(a.Env("USER"), a.Env("LOGNAME")); name != "" {
		return name
	}
	id := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + id
}

// XDGDirectory returns the directory in a variable of the XDG standard, or its default below the home
// directory.
func (a *App) XDGDirectory(variable, usual string) string {
	if dir := a.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(a.Env("HOME"), usual)
}

// StateHome returns the directory with the state of all repositories.
func (a *App) StateHome() string {
	return filepath.Join(a.XDGDirectory("XDG_STATE_HOME", ".local/state"), "nexus")
}

// KeyStore returns the store of the providers' keys.
func (a *App) KeyStore() apikey.KeyStore {
	s := apikey.KeyStore{Env: a.Env, Learn: a.Mask.AddSecret, Keyring: apikey.DesktopKeyring(a.Env)}
	if dir := a.XDGDirectory("XDG_CONFIG_HOME", ".config"); filepath.IsAbs(dir) {
		s.File = filepath.Join(dir, "nexus", "keys.toml")
	}
	return s
}

// TrustStore returns the store of people's consent.
func (a *App) TrustStore() *trust.Store { return trust.OpenStore(a.StateHome()) }

// NotFoundError returns the error that nothing has that name.
func NotFoundError(what, name, hint string) error {
	return &nexus.Error{Code: nexus.CodeNotFound, Message: "there is no " + what + " " + quoteTruncated(name), Hint: hint}
}

// quoteTruncated returns a text in quotes, at most 80 characters of it.
func quoteTruncated(text string) string { return strconv.Quote(sanitize.TruncateText(text, 80)) }
