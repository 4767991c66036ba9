package checkcmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// RunWorkingTreeGates runs every gate of the working tree in the sandbox, and returns their evidence.
func RunWorkingTreeGates(ctx context.Context, a *console.Console) ([]nexus.GateEvidence, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	dir = app.WorkTreeRoot(dir)
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	gates, err := detect.DetectGates(dir, settings.Gates)
	if err != nil {
		return nil, err
	}
	got, err := judgeWorkingTree(ctx, a, Options{}, "text", dir, settings, gates)
	got.looked.close()
	return got.all, err
}
