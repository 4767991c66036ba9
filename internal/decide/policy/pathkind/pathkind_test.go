package pathkind_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
)

// TestOf holds where a path lies, and its name in the worktree.
func TestOf(t *testing.T) {
	type place struct {
		kind pathkind.Kind
		name string
	}
	for p, want := range map[string]place{
		"/srv/tree": {pathkind.Tree, "."}, "/srv/tree/a/b": {pathkind.Tree, "a/b"}, "/srv/trees": {pathkind.Outside, "/srv/trees"}, "/srv": {pathkind.Outside, "/srv"},
		"/tmp/x": {pathkind.Tmp, "/tmp/x"}, "/tmp": {pathkind.Outside, "/tmp"}, "/dev/null": {pathkind.Tmp, "/dev/null"}, "/dev/fd/3": {pathkind.Tmp, "/dev/fd/3"}, "/dev/fd": {pathkind.Tmp, "/dev/fd"},
		"/dev/sda": {pathkind.Device, "/dev/sda"}, "/dev": {pathkind.Device, "/dev"}, "/dev/fdx": {pathkind.Device, "/dev/fdx"}, "/device": {pathkind.Outside, "/device"},
		"/usr/bin/ls": {pathkind.System, "/usr/bin/ls"}, "/usr": {pathkind.System, "/usr"}, "/usrx": {pathkind.Outside, "/usrx"}, "/etc/hosts": {pathkind.System, "/etc/hosts"}, "/etc/passwd": {pathkind.Outside, "/etc/passwd"},
	} {
		if kind, name := pathkind.LocatePath(p, "/srv/tree/"); (place{kind, name}) != want {
			t.Errorf("%s: %d, %s", p, kind, name)
		}
	}
	for _, dir := range []string{"/", "", "srv", "."} {
		if kind, _ := pathkind.LocatePath("/srv/x", dir); kind != pathkind.Outside {
			t.Errorf("in %q: %d", dir, kind)
		}
	}
	if !pathkind.IsBelow([]string{"/a", "/b/"}, "/b/c") || !pathkind.IsBelow([]string{"/b/"}, "/b") || pathkind.IsBelow(nil, "/b") || pathkind.IsBelow([]string{"/b"}, "/bc") {
		t.Error("below")
	}
}

// TestCredential holds which paths name secrets wherever they lie.
func TestCredential(t *testing.T) {
	for p, want := range map[string]bool{
		"/home/ada/.ssh": true, "/home/ada/.ssh/x": true, "a/id_rsa": true, "/proc/1/environ": true, "/run/secrets/x": true, "/home/ada/.sshx": false, "src/main.go": false, "": false,
	} {
		if pathkind.IsCredentialFile(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
}

// TestProtected holds which files of the worktree are left alone when they are read, and when they are written.
func TestProtected(t *testing.T) {
	const free, git, agent, secret = pathkind.Free, pathkind.Git, pathkind.AgentConfig, pathkind.MaySecret
	for name, want := range map[string][2]pathkind.ProtectionReason{
		"main.go": {free, free}, ".git": {git, git}, "a/.git/config": {git, git}, "GIT~1/x": {git, git}, ".Git./x": {git, git}, ".git:x": {git, git}, "a.git/x": {free, free}, ".gitignore": {free, free},
		".claude/x": {free, agent}, "a/.vscode/tasks.json": {free, agent}, ".idea": {free, agent}, "nexus.toml": {free, agent}, "a/.mcp.json": {free, agent}, "nexus.toml/x": {free, free},
		"x.code-workspace": {free, agent}, "x.sublime-project": {free, agent}, "x.sublime": {free, free}, ".vimrc": {free, agent},
		".env": {secret, secret}, "a/.env.local": {secret, secret}, ".env/x": {free, free}, ".env.example": {free, free}, ".env.local.sample": {free, free}, ".env.template": {free, free}, ".env.dist": {free, free}, ".envx": {free, free},
		"id_rsa": {secret, secret}, "testdata/id_rsa": {secret, secret}, "server.key": {secret, secret}, "testdata/server.key": {free, free}, "a/tests/x/server.key": {free, free}, "server.pem": {free, free}, "example.key": {free, free},
		"test/secrets.yml": {free, free}, "secrets.yml": {secret, secret}, "secrets.production.yml": {secret, secret}, ".secrets.yml": {secret, secret}, "secrets.example.yml": {free, free}, "secrets.sample.yml": {free, free},
		"secrets.template.yml": {free, free}, "secrets.schema.json": {free, free}, "credentials": {secret, secret}, "credentials.go": {free, free}, "client_secret.json": {secret, secret}, "client secret.json": {secret, secret},
		"service-account-x.json": {secret, secret}, "client-secret-x.json": {secret, secret}, "x-firebase-adminsdk-y.json": {secret, secret}, "my-credentials.yml": {secret, secret}, "credentials-my.yml": {free, free},
		".key": {free, free}, "a.key": {secret, secret}, ".docker/config.json": {secret, secret}, "a/.Docker/config.json": {secret, secret}, "docker/config.json": {free, free}, "config.json": {free, free}, ".docker/config.yml": {free, free},
		"master.key": {secret, secret}, "test/master.key": {free, free}, ".npmrc": {secret, secret}, "fixtures": {free, free}, "prod.tfvars": {secret, secret}, "passwords.txt": {secret, secret}, "password.txt": {free, free},
	} {
		for i, write := range []bool{false, true} {
			if got := pathkind.ProtectionOf(name, write); got != want[i] {
				t.Errorf("%s, write %v: %d, want %d", name, write, got, want[i])
			}
		}
	}
}

// TestShown holds which files a pattern of people names: those, and all in a directory that it names.
func TestShown(t *testing.T) {
	for name, want := range map[string]bool{"a/b.yml": true, "./a/b.yml": true, "fake/x": true, "fake/deep/x": true, "a/c.yml": false, "b.yml": false, "fake": false, ".": false, "/": false, "": false} {
		if got := pathkind.MatchesShowPattern([]string{"[", "a/b.yml", "fake/*"}, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if pathkind.MatchesShowPattern(nil, "a") {
		t.Error("nobody says so")
	}
}

// TestNamesOfMadeUpFiles holds what says that a file is made up, or shows what one looks like.
func TestNamesOfMadeUpFiles(t *testing.T) {
	for name, want := range map[string][2]bool{
		"testdata/x": {true, false}, "a/Tests/b/x": {true, false}, "testdata": {false, false}, "a/x": {false, false}, "contest/x": {false, false}, "e2e/x": {true, false},
		"key.example": {false, true}, "a/sample-key.json": {false, true}, "a/my_Mock.yml": {false, true}, "examples.d/x": {false, false}, "sampled": {false, false}, "x": {false, false}, "example/x": {true, false},
	} {
		if got := [2]bool{pathkind.IsTestDataFile(name), pathkind.IsExampleFile(name)}; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestFold holds which name a file system may take a name for.
func TestFold(t *testing.T) {
	for name, want := range map[string]string{".GIT": ".git", ".git. .": ".git", ".git::$DATA": ".git", ".g\u200dit": ".git", "...": "...", ".": ".", " ": " ", "": "", "A b": "a b"} {
		if got := pathkind.NormalizeFileName(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// TestMayMatch holds which patterns are meant for files with secrets.
func TestMayMatch(t *testing.T) {
	for p, want := range map[string]bool{
		".en?": true, ".env*": true, ".ENV.*": true, ".env.ex*": false, "cred*": true, "*.pem": true, "*.key": true, "*.env": true, "id_*": true, ".[e]nv": true, ".*": true, ".n*": true, "*rsa": true, "sec*.json": true,
		"*": false, "*.json": false, "*.yml": false, "a*": false, "id*": false, "c*": false, "?redentials": true, ".env": false, "credentials": false, "src/*": false, "[": false, "s[!e]crets.yml": false, "s[!x]crets.yml": true, "sec[!x]ets.yml": true, "*e*": false, "*net*": true,
	} {
		if got := pathkind.MayMatchSecret(p); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}
