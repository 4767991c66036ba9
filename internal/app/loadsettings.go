package app

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// WorkDir returns the directory that the command works in.
func (a *App) WorkDir() (string, error) {
	dir, err := filepath.Abs(cmp.Or(a.Dir, "."))
	if err != nil {
		return "", &nexus.Error{
			Code: nexus.CodeNotFound, Message: "the working directory is gone", Cause: err,
			Hint: "Change to one that exists.",
		}
	}
	return dir, nil
}

// WorkTreeRoot returns the top of the work tree around dir, or dir if there is none. It does
// not call git, so that it also works without.
func WorkTreeRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// LoadSettings reads the configuration of the working directory.
func (a *App) LoadSettings() (config.Config, config.SettingOrigins, error) {
	s, err := a.ConfigSources()
	if err != nil {
		return config.Config{}, nil, err
	}
	return a.LoadSettingsFrom(s)
}

// SkipUnreadableProject skips the project's settings from now on if they are the only reason
// why the configuration cannot be read, and returns their error. It is for commands with which
// people inspect a repository before they trust it: the repository's content must not stop
// them.
func (a *App) SkipUnreadableProject() error {
	_, _, wrong := a.LoadSettings()
	if wrong == nil {
		return nil
	}
	a.withoutProject = true
	if _, _, err := a.LoadSettings(); err == nil {
		return wrong
	}
	a.withoutProject = false // the user's own settings have an error, which the command reports
	return nil
}

// ConfigSources returns the sources of the settings of the working directory.
func (a *App) ConfigSources() (config.SettingSources, error) {
	dir, err := a.WorkDir()
	s := config.DefaultSources(a.XDGDirectory("XDG_CONFIG_HOME", ".config"), WorkTreeRoot(dir))
	if a.withoutProject {
		s.Project = ""
	}
	s.System, s.Environ, s.Flags, s.Named = a.systemConfigFile(), a.Environ, a.Set, a.Named
	return s, err
}

// LoadSettingsFrom reads the configuration from sources. The project's file is at the top of its work
// tree.
func (a *App) LoadSettingsFrom(s config.SettingSources) (config.Config, config.SettingOrigins, error) {
	c, o, err := config.LoadSources(s)
	if err != nil {
		return c, o, err
	}
	for _, text := range c.Warnings {
		if a.Warned != nil {
			if _, before := a.Warned.LoadOrStore(text, true); before {
				continue
			}
		}
		a.reportText("warning: " + text)
	}
	if err := checkGateCommands(c.Gates, o); err != nil {
		return c, o, err
	}
	if err := checkPipelineSteps(c, o); err != nil || len(pipelineRoles(c)) == 0 {
		return c, o, err
	}
	_, err = a.loadPipeline(filepath.Dir(s.Project), c)
	return c, o, err
}

// systemConfigFile returns the configuration file of the machine's administrator: the first
// that exists in the directories of the XDG standard.
func (a *App) systemConfigFile() string {
	for dir := range strings.SplitSeq(cmp.Or(a.Env("XDG_CONFIG_DIRS"), "/etc/xdg"), ":") {
		name := filepath.Join(dir, "nexus", "config.toml")
		if _, err := os.Stat(name); err == nil && filepath.IsAbs(dir) {
			return name
		}
	}
	return ""
}

// checkPipelineSteps returns an error for pipeline steps that cannot be done.
func checkPipelineSteps(c config.Config, o config.SettingOrigins) error {
	steps, err := c.PipelineSteps()
	if err != nil {
		return err
	}
	for _, s := range steps {
		if err := shell.CheckSyntax(s.Run); s.Run != "" && err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("%s: pipeline.%s.run, %q, cannot be read by sh: %v", o.OriginOf("pipeline."+s.Name+".run").Where, s.Name, s.Run, err),
				Hint: "Fix the command. If it needs bash, put it into a script and call the script.",
			}
		}
	}
	return nil
}

// checkGateCommands returns an error for gates whose commands sh cannot parse, before anyone
// pays for work that they would check.
func checkGateCommands(g config.GateSettings, o config.SettingOrigins) error {
	for _, name := range slices.Sorted(maps.Keys(g.Commands)) {
		line := g.Commands[name]
		if line == "" { // turned off
			continue
		}
		if err := shell.CheckSyntax(line); err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("%s: gates.%s, %q, cannot be read by sh: %v", o.OriginOf("gates."+name).Where, name, line, err),
				Hint: "Fix the command. If it needs bash, put it into a script and call the script.",
			}
		}
	}
	for _, of := range slices.Sorted(maps.Keys(g.Packages)) {
		for _, step := range slices.Sorted(maps.Keys(g.Packages[of].Commands)) {
			line := g.Packages[of].Commands[step]
			if err := shell.CheckSyntax(line); line != "" && err != nil {
				return &nexus.Error{
					Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("packages.%q.%s, %q, cannot be read by sh: %v", of, step, line, err),
					Hint: "Fix the command. If it needs bash, put it into a script and call the script.",
				}
			}
		}
	}
	return nil
}
