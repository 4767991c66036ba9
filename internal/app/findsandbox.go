package app

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// FindSandbox returns the configured sandbox, with its limits.
func FindSandbox(ctx context.Context, c config.Config) (*sandbox.Box, error) {
	b, err := sandbox.FindSandbox(ctx, sandbox.ConfinementMode(c.Sandbox))
	if err != nil {
		return nil, err
	}
	return b.WithLimits(SandboxLimits(c)), nil
}

// SandboxLimits returns the configured limits of a command.
func SandboxLimits(c config.Config) sandbox.ResourceLimits {
	return sandbox.ResourceLimits{Memory: c.Bounds.Memory, CPU: c.Bounds.CPU, Disk: c.Bounds.Disk, Processes: c.Bounds.Processes}
}

// CheckSandbox returns an error for unattended work without a sandbox, unless that was chosen
// for this very command: an old setting in a file does not count. The choice is recorded with
// the run, and reported when it starts.
func (a *App) CheckSandbox(alone bool) error {
	c, origins, err := a.LoadSettings()
	if err != nil || c.Sandbox != "off" || !alone {
		return err
	}
	at := origins.OriginOf("sandbox")
	if at.Layer == config.LayerFlag || at.Layer == config.LayerEnv {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeSandbox, Message: fmt.Sprintf("%s turns off the sandbox, and no person is there to watch", at.Where),
		Hint: "Use --sandbox=off with this command if agents may touch everything that you can: the run records it. Or remove the setting.",
	}
}
