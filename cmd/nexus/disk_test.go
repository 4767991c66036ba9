package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func disk(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	testenv.NeedMachine(storyOf(ts), "a small disk", mountSmall(dir, args[1]))
	ts.Defer(func() { _ = exec.Command("umount", "-l", dir).Run() })
}

func mountSmall(dir, size string) error {
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func mounts(ts *testscript.TestScript, _ bool, _ []string) {
	dir := filepath.Join(ts.Getenv("WORK"), ".mounted")
	ts.Check(os.MkdirAll(dir, 0o755))
	testenv.NeedMachine(storyOf(ts), "a mount", mountSmall(dir, "1m"))
	ts.Check(exec.Command("umount", dir).Run())
}

func readonly(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("mount", "-o", "remount,ro", ts.MkAbs(args[0])))
}
