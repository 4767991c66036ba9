package console

import (
	"fmt"
	"os"
)

// OpenEditor opens a file in an editor, which is a shell command, on the terminal of this process, and
// waits until it ends.
func OpenEditor(editor, file string) error {
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", editor + ` "$1"`, "sh", file}, &os.ProcAttr{
		Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return err
	}
	state, err := p.Wait()
	if err != nil {
		return err
	}
	if !state.Success() {
		return fmt.Errorf("it ended with %s", state)
	}
	return nil
}
