//go:build unix

package progress

import (
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// hasKeyboard reports whether a person types input for this process. A shell may have put the
// process into the background, where reading would stop it. If that happens later, reading fails.
func hasKeyboard(in io.Reader) bool {
	if _, played := in.(*console.ScriptedInput); played {
		return true
	}
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	if err != nil || group != unix.Getpgrp() {
		return false
	}
	signal.Ignore(unix.SIGTTIN)
	return true
}
