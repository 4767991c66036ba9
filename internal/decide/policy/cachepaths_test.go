package policy

import (
	"strings"
	"testing"
)

// TestCaches checks that caches of dependencies are read, and nothing beside
// them, and that nothing is written there.
func TestCaches(t *testing.T) {
	r := tree()
	r.Caches = []string{"/home/ada/go/pkg/mod", "/state/shell/fetched"}
	for _, command := range []string{
		"cat /home/ada/go/pkg/mod/example.com/x@v1.0.0/errors.go", "ls /home/ada/go/pkg/mod", "cd /home/ada/go/pkg/mod/example.com && ls x@v1.0.0 && cat x@v1.0.0/errors.go",
		"find /home/ada/go/pkg/mod -name '*.go' -exec sed -n 1,9p {} +", "grep -rn Err /home/ada/go/pkg/mod/example.com/", "cp /home/ada/go/pkg/mod/example.com/x/errors.go errors.go",
		"cat $(go list -m -f '{{.Dir}}' example.com/x)/errors.go", "ls \"$(go env GOMODCACHE)\"/example.com", "D=$(go list -m -f '{{.Dir}}' example.com/x) && ls $D && cat $D/errors.go",
		"cat $GOROOT/src/fmt/print.go", "ls $(npm root)/zod", "sed -n 1,9p $(node -p \"require.resolve('zod')\")", "cd $(go env GOROOT)/src && grep -n Println fmt/print.go",
		"cat $(python3 -c \"import requests; print(requests.__file__)\")",
		"cat $(go env GOROOT 2>/dev/null)/VERSION", "cat $(go env GOROOT | head -1)/VERSION", "ls $(rustc --print sysroot)/lib", "ls $(rustc --print=sysroot)/lib", "ls $(bundle show rake)", "ls $(dirname $(which go))",
		"cd /tmp && mkdir -p x && cd x && echo one > a && cat a", "cd /tmp && cat > t.py <<'E'\nprint(1)\nE\npython3 t.py", "T=$(mktemp -d); cd \"$T\"; touch a; ls a",
		"export PATH=$PATH:/home/ada/go/pkg/mod/bin && go version", "git config --global --add safe.directory /srv/tree",
	} {
		if d := JudgeCommand(command, r); !d.IsAllowed() {
			t.Errorf("%s: %+v", command, d)
		}
	}
	for _, command := range []string{
		"cat /home/ada/go/pkg/modern", "cat /home/ada/go/pkg/mod/../../secret", "cat /home/ada/.bashrc", "ls /home/ada", "echo x > /home/ada/go/pkg/mod/a", "rm -rf /home/ada/go/pkg/mod/example.com",
		"cat /home/ada/go/pkg/mod/example.com/.npmrc", "cat /home/ada/go/pkg/mod/x/credentials.json", "cat /home/ada/go/pkg/mod/*/.en*", "chmod -R 777 /home/ada/go/pkg/mod",
		"cat $(go env GOROOT)/../../../etc/shadow", "echo x > $(go env GOROOT)/a", "cd /home/ada/go/pkg/mod && cat ../../.bashrc", "cd /home/ada/go/pkg/mod && rm -rf example.com",
		"cd /home/ada/go/pkg/mod && echo x > a", "cd /home/ada/go/pkg/mod && ./run", "cd /tmp && rm -rf *", "cd /tmp && rm -rf .", "cd /tmp && cat ../home/x", "cd /tmp; rm -rf src", "cd /tmp && echo x > .git/config",
		"cat $(node -p \"require.resolve('./.env')\")", "cat $(python3 -c \"print('/etc/shadow')\")", "cat $(go list -f '{{.Dir}}' ./... | cat)/x", "cd /tmp && cd /home/ada && cat x", "cd /tmp && cd .. && cat home/x",
		"export PATH=/tmp/bin:$PATH", "export PATH=$PATH:bin", "export PATH=", "export PATH=\"\"", "PATH=\"$PATH\" x", "export PATH=$PATH", "PATH=$PATH:/home/ada/x go version", "git config --global --add safe.directory '*'", "git config --global --add safe.directory /srv/other",
		"cat $(go env GOROOT >x)/VERSION", "cat $(! go env GOROOT)/VERSION", "cat $(go env GOROOT &)/VERSION", "cat $(go env GOROOT || head -1)/VERSION", "cat $(X=1 go env GOROOT)/VERSION", "cat $(go env GOR*)/VERSION",
		"cat $(go env GOBIN)/x", "cat $(go env)/x", "cat $(npm bin)/x", "cat $(rustc --print cfg)/x", "cat $(bundle exec x)/x", "cat $(python3 -c \"import os; print(os.getcwd())\")", "cat $(python3 -m site)",
		"cat $(node -p \"require.resolve('../x')\")", "cat $(node -r \"require.resolve('zod')\")", "cat $(node -p \"process.cwd()\")", "cat $(dirname /etc/passwd)/shadow", "cat ~/go/pkg/modern/x",
		"GOROOT=/home/ada/x; cat $GOROOT/y", "cat ~/go/pkg/mod/example.com/x/errors.go",
	} {
		if d := JudgeCommand(command, r); d.IsAllowed() {
			t.Errorf("allowed: %s", command)
		}
	}
	if d := JudgeCommand("cat ~/go/pkg/mod/example.com/x/errors.go", r); d.Part != "~/go/pkg/mod/example.com/x/errors.go" || !strings.Contains(d.Way, "`ls /home/ada/go/pkg/mod/example.com/x/errors.go`") {
		t.Errorf("the home: %+v", d)
	}
	if d := JudgeCommand("cat /home/ada/go/pkg/mod/a", tree()); d.IsAllowed() {
		t.Errorf("without caches: %+v", d)
	}
}

// TestInlineWithoutASandbox asks about inline code where nothing confines it.
func TestInlineWithoutASandbox(t *testing.T) {
	open := tree()
	open.Open = true
	for _, command := range []string{"python3 -c 'print(1)'", "node -e 'console.log(1)'", "node -p 1", "python3 - <<'E'\nprint(1)\nE", "perl -pi -e 's/a/b/' x", "perl -0pi -e 's/a/b/' x", "ruby -e 'puts 1'"} {
		if d := JudgeCommand(command, tree()); !d.IsAllowed() {
			t.Errorf("%s: %+v", command, d)
		}
		if d := JudgeCommand(command, open); d.Decision != Ask || d.Rule != "code.inline" {
			t.Errorf("without a sandbox: %s: %+v", command, d)
		}
	}
	for _, command := range []string{"python3 run.py", "node test.js", "python3 -m pytest", "go test ./..."} {
		if d := JudgeCommand(command, open); !d.IsAllowed() {
			t.Errorf("%s: %+v", command, d)
		}
	}
}
