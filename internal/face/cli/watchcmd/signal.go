package watchcmd

import (
	"os"
)

// interrupt does what Ctrl-C does where the terminal is not drawn on: it interrupts this
// process, which hears of that as of any other signal.
func interrupt() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Signal(os.Interrupt) // where it cannot be sent, the key does nothing
	}
}
