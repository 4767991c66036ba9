//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// own puts git and its children into a process group of their own: an interrupt typed at the
// terminal does not reach them, and a kill reaches all of them.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
