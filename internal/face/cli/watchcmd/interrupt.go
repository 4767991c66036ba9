package watchcmd

import (
	"os"
)

// interruptSelf does what Ctrl-C does on an ordinary terminal: it interrupts this process, which
// handles that like any other signal.
func interruptSelf() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Signal(os.Interrupt) // if it cannot be sent, the key does nothing
	}
}
