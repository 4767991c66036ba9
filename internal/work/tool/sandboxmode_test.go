package tool

import (
	"errors"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func box(t *testing.T) *sandbox.Box {
	t.Helper()
	return boxOfMode(t, sandbox.ModeAuto)
}

func boxOfMode(t *testing.T, mode sandbox.ConfinementMode) *sandbox.Box {
	t.Helper()
	b, err := sandbox.FindSandbox(t.Context(), mode)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeSandbox}) {
		testenv.NeedMachine(t, "a sandbox: "+string(mode), err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
