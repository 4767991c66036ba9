package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"nexus": main})
}

// TestScripts tells what users do, one story a file. Each has a home, a state
// directory and an identity of its own, and no provider.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands(),
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			setup(t, e)
			exe, err := exec.LookPath("nexus")
			if err != nil {
				return err
			}
			home := filepath.Join(e.WorkDir, "home")
			e.Vars = append(e.Vars,
				"NEXUS="+exe, "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
				"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
				"GIT_CONFIG_NOSYSTEM=1", "LANG=C.UTF-8", "USER=ada",
			)
			return os.MkdirAll(home, 0o700)
		},
	})
}
