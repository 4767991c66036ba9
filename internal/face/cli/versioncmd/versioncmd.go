// Package versioncmd implements the command "nexus version".
package versioncmd

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// buildVersion is the JSON output of `version`.
type buildVersion struct {
	Version  string `json:"version"` // of the module; "devel" if built from a work tree
	Commit   string `json:"commit,omitzero"`
	Time     string `json:"time,omitzero"`     // of the commit
	Modified bool   `json:"modified,omitzero"` // the work tree had changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Options are the options of the command.
type Options struct {
	Console *console.Console
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printVersion
	}
	command := c.Command("version [--json]", "print the version, commit and Go version of this binary",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

// printVersion prints the version of this binary.
func printVersion(_ context.Context, o *Options) error {
	b := buildInfo()
	return o.Console.Answer(b, func(view.OutputStyle) string {
		text := "nexus " + b.Version
		if b.Commit != "" {
			text += fmt.Sprintf(" (%.12s %s)", b.Commit, b.Time)
		}
		return fmt.Sprintf("%s %s %s\n", text, b.Go, b.Platform)
	})
}

func buildInfo() buildVersion {
	b := buildVersion{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
