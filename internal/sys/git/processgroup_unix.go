//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// setProcessGroup puts git and its children into a process group of their own: an interrupt typed at the
// terminal does not reach them, and a kill reaches all of them.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
