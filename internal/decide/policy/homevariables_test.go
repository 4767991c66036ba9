package policy_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
)

// TestHomes lets a program of the tree have another home for one command, where agents may
// write, and nothing that looks there for programs to run.
func TestHomes(t *testing.T) {
	r := policy.CallerRules{Dir: "/src/tree"}
	for _, command := range []string{
		"XDG_CONFIG_HOME=/tmp/c go run . add 12-01 Ann",
		"HOME=/tmp/h ./app",
		"HOME=/tmp/h /tmp/app list",
		"HOME=$(mktemp -d) go run .",
		"XDG_STATE_HOME=testdata/home XDG_DATA_HOME=/tmp/d python3 app.py",
		"HOME=/src/tree/testdata/home node app.js",
		"TMPDIR=/tmp/x go test ./...",
		"HOME=/tmp/h python3 -m app",
		"HOME=/tmp/h sh notes.sh milk",
		"mkdir -p /tmp/h && HOME=/tmp/h ./app && ls /tmp/h",
		"PLANTS_FILE=/tmp/p.json go run . add fern 3",
		"PLANTS_FILE=/src/tree/testdata/p.json PLANTS_DAY=2026-05-01 ./plants",
		"NOTES_DIR=/tmp/notes /tmp/notes-bin list",
		"env HOME=/tmp/h PLANTS_FILE=/tmp/p.json ./plants",
		"env NOTES_DIR=/tmp/notes python3 notes.py",
	} {
		if d := policy.JudgeCommand(command, r); !d.IsAllowed() {
			t.Errorf("%s: %+v", command, d)
		}
		if d := policy.JudgeCommand(command, policy.CallerRules{Dir: r.Dir, Open: true}); d.IsAllowed() {
			t.Errorf("%s is allowed without a sandbox", command)
		}
	}
	for _, command := range []string{
		"PLANTS_FILE=/etc/passwd go run .",
		"PLANTS_FILE=~/p.json ./plants",
		"PLANTS_FILE=/tmp/p.json git status",
		"PLANTS_FILE=/tmp/p.json make",
		"PLANTS_FILE=.git/config ./plants",
		"PLANTS_PATH=/tmp/a:/opt/b ./plants",
		"PLANTS_FILE='/tmp/a&b' ./plants",
		"PLANTS_PLUGIN=/tmp/p.so ./plants",
		"API_TOKEN=/tmp/t ./plants",
		"GOFLAGS=/tmp/f go run .",
		"LD_PRELOAD=/tmp/x.so ./plants",
		"GIT_DIR=/tmp/g ./plants",
		"env LD_PRELOAD=/tmp/x.so ./plants",
		"env HOME=/tmp/h git status",
		"env -S 'HOME=/tmp/h git' status",
		"HOME=/tmp/h git status",
		"XDG_CONFIG_HOME=/tmp/c git log",
		"HOME=/tmp/h npm test",
		"HOME=/tmp/h cargo build",
		"HOME=/tmp/h make",
		"HOME=/tmp/h bash -c ./app",
		"HOME=/tmp/h bash -l app.sh",
		"HOME=/tmp/h python3 -c 'import os'",
		"HOME=/tmp/h go generate ./...",
		"HOME=/opt/h ./app",
		"HOME=/tmp ./app",
		"HOME=/tmp/../etc ./app",
		"HOME=.git ./app",
		"HOME=$X ./app",
		"HOME=~ ./app",
		"HOME=/tmp/a:/opt/b ./app",
		"HOME+=/tmp/h ./app",
		"XDG_CONFIG_DIRS=/tmp/c ./app",
		"HOME=/tmp/h",
		"export HOME=/tmp/h",
		"PATH=/tmp/h ./app",
	} {
		if d := policy.JudgeCommand(command, r); d.IsAllowed() {
			t.Errorf("%s is allowed", command)
		}
	}
	for _, command := range []string{"HOME=/tmp/h git status", "export XDG_DATA_HOME=/tmp/h", "export TMPDIR=/tmp/x", "echo $HOME", "ls ~"} {
		if d := policy.JudgeCommand(command, r); !strings.Contains(d.Way, "`HOME=/tmp/home go run .`") {
			t.Errorf("%s: %+v", command, d)
		}
	}
}
