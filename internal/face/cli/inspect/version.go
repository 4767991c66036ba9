package inspect

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

func versionCommand(a *console.Console) *cobra.Command {
	c := a.Command("version [--json]", "print the version, commit and Go version of this binary", func(context.Context, []string) error {
		b := buildInfo()
		return a.Answer(b, func(view.Style) string {
			text := "nexus " + b.Version
			if b.Commit != "" {
				text += fmt.Sprintf(" (%.12s %s)", b.Commit, b.Time)
			}
			return fmt.Sprintf("%s %s %s\n", text, b.Go, b.Platform)
		})
	}, console.CodeOK, console.CodeUsage)
	a.JSONFlag(c)
	return c
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
