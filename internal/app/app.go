// Package app builds what a command, a server or another host of runs needs,
// from the settings and the environment: the repository with its journal, the
// models, the sandbox, the worktrees, and the loop that conducts a run.
//
// It is the composition root, and knows no flags and no screens. What a call
// comes to is its result; what people should hear besides goes to
// [App.Report]; everything else is in the journal.
package app

import (
	"cmp"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/apikey"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// App is the environment in which everything else is built. Nothing is opened
// before a caller asks for it.
type App struct {
	Env     func(string) string
	Environ []string // "NAME=value", for settings
	Now     func() time.Time
	Mask    *secret.Masker    // takes keys out of everything that is shown or kept
	Dir     string            // where the work is; empty means the working directory
	Set     map[string]string // settings by their keys, which hold before every file and variable
	Named   map[string]string // flags that gave them, by the same keys; may be nil
	Report  func(Notice)      // hears what people should know; nil: nobody does
	Actor   string            // who gives the command, where it is not the user; see [App.User]
	Origin  string            // conversation of a client that its runs belong to; empty for none

	withoutProject bool // the project's settings are left out, because they cannot be read
}

// Notice is something that people should know and that stops nothing.
type Notice struct {
	Text string
	Err  error // what went wrong, where something did; Text is empty then
}

// reportText reports a text.
func (a *App) reportText(text string) {
	if a.Report != nil {
		a.Report(Notice{Text: text})
	}
}

// reportError reports an error that stops nothing.
func (a *App) reportError(err error) {
	if err != nil && a.Report != nil {
		a.Report(Notice{Err: err})
	}
}

// User returns the name of whoever gives the command, never empty: what people
// decide is recorded under it, also where a service or a container sets no USER.
func (a *App) User() string {
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

// Home returns the directory that a variable of the XDG standard names, or
// its usual place under the home directory.
func (a *App) Home(variable, usual string) string {
	if dir := a.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(a.Env("HOME"), usual)
}

// StateHome returns the directory that holds the state of all repositories.
func (a *App) StateHome() string {
	return filepath.Join(a.Home("XDG_STATE_HOME", ".local/state"), "nexus")
}

// Keys returns where the keys of providers are kept.
func (a *App) Keys() apikey.Store {
	s := apikey.Store{Env: a.Env, Learn: a.Mask.Learn, Ring: apikey.Desktop(a.Env)}
	if dir := a.Home("XDG_CONFIG_HOME", ".config"); filepath.IsAbs(dir) {
		s.File = filepath.Join(dir, "nexus", "keys.toml")
	}
	return s
}

// Trust returns where it is kept what people agreed to.
func (a *App) Trust() *trust.Store { return trust.OpenStore(a.StateHome()) }

// NotFound says that there is nothing of that name.
func NotFound(what, name, hint string) error {
	return &nexus.Error{Code: nexus.CodeNotFound, Message: "there is no " + what + " " + quote(name), Hint: hint}
}

// quote returns a text in quotes, at most 80 characters of it.
func quote(text string) string { return strconv.Quote(sanitize.Cut(text, 80)) }
