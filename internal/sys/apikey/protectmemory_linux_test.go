package apikey

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func TestGuard(t *testing.T) {
	before, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		testenv.NeedMachine(t, "prctl", err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(before), 0, 0, 0) })
	ProtectMemory()
	if now, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || now != 0 {
		t.Errorf("dumpable is %d, %v", now, err)
	}
}
