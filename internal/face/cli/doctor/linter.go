package doctor

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// LinterFit reports whether the golangci-lint that judges a directory fits the project's
// configuration.
type LinterFit struct {
	Gate   bool   // it is a gate here
	Wants  string // major version that the configuration requires
	Has    string // installed major version; empty: not found
	Detail string
}

// Fits reports whether the gate can run.
func (l LinterFit) Fits() bool { return !l.Gate || l.Has == l.Wants }

// UnfitReason returns the reason why the gate cannot run.
func (l LinterFit) UnfitReason() string {
	if l.Has == "" {
		return "golangci-lint is not found"
	}
	return "the configuration is for version " + l.Wants + " of golangci-lint, and version " + l.Has + " is installed"
}

// FindLinter asks the golangci-lint in the sandbox for its version, if one of the gates calls it
// with our flags.
func FindLinter(ctx context.Context, box *sandbox.Box, dir string, c config.GateSettings) LinterFit {
	gates, err := detect.DetectGates(dir, c)
	i := slices.IndexFunc(gates, func(g gate.QualityGate) bool { return len(g.Args) > 2 && g.Args[0] == "golangci-lint" })
	if err != nil || i < 0 {
		return LinterFit{}
	}
	l := LinterFit{Gate: true, Wants: "2"}
	if slices.Contains(gates[i].Args, "--out-format=json") {
		l.Wants = "1"
	}
	at, err := os.MkdirTemp("", "nexus-linter-")
	if err != nil {
		return l
	}
	defer func() { _ = os.RemoveAll(at) }() // a temporary directory
	r, err := box.Run(ctx, sandbox.Command{Args: []string{"golangci-lint", "--version"}, Dir: at, Env: sandbox.AgentCommandEnv()})
	if err != nil || r.Exit != 0 {
		return l
	}
	l.Detail = strings.TrimSpace(string(r.Stdout))
	if m := regexp.MustCompile(`version v?(\d+)\.`).FindStringSubmatch(l.Detail); m != nil {
		l.Has = m[1]
	}
	return l
}
