package sandbox

import (
	"context"
	"net"
	"strings"
	"testing"
)

// TestExplainFailure names the way out of what a box stops, and stays silent about the rest.
func TestExplainFailure(t *testing.T) {
	proxied := Command{Proxy: func(context.Context, net.Listener) {}}
	for _, c := range []struct {
		mode    ConfinementMode
		command Command
		output  string
		want    string // part of the line; empty: none
	}{
		{ModeNative, Command{}, "curl: (6) Could not resolve host: example.com", "no network here"},
		{ModeNative, proxied, "curl: (6) Could not resolve host: example.com", ""},
		{ModeNative, Command{}, "touch: cannot touch '/usr/x': Read-only file system", "only the worktree"},
		{ModeBwrap, Command{}, "error: could not lock config file .git/config: Read-only file system", "git's commands"},
		{ModeNative, Command{}, "Error: EROFS: read-only file system, open '/usr/lib/x'", "only the worktree"},
		{ModeLandlock, Command{}, "cat: /etc/shadow: Permission denied", "nothing else of the machine"},
		{ModeNative, Command{}, "cat: /home/ada/.ssh/id_rsa: No such file or directory", "nothing else of the machine"},
		{ModeNative, Command{}, "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "no container engine"},
		{ModeNative, Command{}, "mount: /mnt: must be root", "no further rights"},
		{ModeNative, Command{}, "sudo: a password is required", "no further rights"},
		{ModeNative, Command{}, "cat: a.txt: No such file or directory", ""},
		{ModeNative, Command{}, "--- FAIL: TestRead (0.00s)\n    x_test.go:7: got 1, want 2", ""},
		{ModeNative, Command{}, "", ""},
		{ModeOff, Command{}, "cat: /etc/shadow: Permission denied", ""},
	} {
		got := (&Box{mode: c.mode}).ExplainFailure(c.command, c.output)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || c.want != "" && (got[0] != '[' || strings.Contains(got, "\n")) {
			t.Errorf("%s: %q: %q", c.mode, c.output, got)
		}
	}
}
