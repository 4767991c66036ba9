package sandboxcmd_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/sandboxcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, sandboxcmd.NewExec, map[string]*sandboxcmd.ExecOptions{
		"-- ls -l": {Command: sandbox.Command{Args: []string{"ls", "-l"}}, Network: "off"},
		"--worktree tree --git --network list --timeout 90s -- ls": {
			Command: sandbox.Command{Args: []string{"ls"}, Dir: "tree", Timeout: 90 * time.Second}, Copy: true, Network: "list",
		},
		"--memory 2G --cpu 3s --processes 4 --file-size 5K --open-files 6 --disk 7M --tmp 8 -- ls": {Network: "off", Command: sandbox.Command{
			Args: []string{"ls"}, Limits: sandbox.ResourceLimits{Memory: 2 << 30, CPU: 3 * time.Second, Processes: 4, FileSize: 5 << 10, OpenFiles: 6, Disk: 7 << 20, Tmp: 8},
		}},
		"":                     nil,
		"--memory much -- ls":  nil,
		"--memory 0 -- ls":     nil,
		"--processes -1 -- ls": nil,
		"--cpu -1s -- ls":      nil,
		"--worktree= -- ls":    nil,
	})
	if _, err := clitest.ParseOptions(t, sandboxcmd.NewExec, "--disk", "1X", "--", "ls"); err == nil || err.Error() != `"1X" is not a valid limit` {
		t.Errorf("an unknown unit: %v", err)
	}
}

// TestExec passes the streams and the exit code of the command on.
func TestExec(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{"sub/x": ""})
	u.In = "typed\n"
	if code := u.Run(sandboxcmd.New, "exec", "--", "sh", "-c", "cat; echo wrong >&2; pwd; exit 7"); code != 7 || u.Out != "typed\n"+u.Dir+"\n" || u.Err != "wrong\n" {
		t.Errorf("exit code %d, %q, %q", code, u.Out, u.Err)
	}
	u.Expect(0, []string{u.Dir + "/sub\n"}, sandboxcmd.New, "exec", "--worktree", u.Dir+"/sub", "--", "pwd")
	u.Expect(4, []string{"killed: it exceeded its limit of time"}, sandboxcmd.New, "exec", "--timeout", "50ms", "--", "sleep", "60")
}
