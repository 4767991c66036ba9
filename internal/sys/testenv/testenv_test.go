package testenv_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestWriteProgram writes programs and runs them while others do, too.
func TestWriteProgram(t *testing.T) {
	dir := t.TempDir()
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for k := range 20 {
				name := testenv.WriteProgram(t, filepath.Join(dir, fmt.Sprintf("%d-%d", i, k)), "#!/bin/sh\n")
				if out, err := exec.CommandContext(t.Context(), name).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			}
		})
	}
	writers.Wait()
}
