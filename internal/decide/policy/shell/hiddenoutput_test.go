package shell_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// TestHidden finds the tests of which nobody sees how many ran.
func TestHidden(t *testing.T) {
	for line, want := range map[string]string{
		"go test -v -run TestX . | grep -q '^--- PASS: TestX'":          "go test -v -run TestX .",
		"go test -v ./... 2>&1 | grep -qE 'PASS'":                       "go test -v ./...",
		"go test -v . | grep PASS | wc -l":                              "go test -v .",
		"go test -v . | tee log | grep -c PASS":                         "go test -v .",
		"test -e a.go && go test -run TestX . >/dev/null":               "go test -run TestX .",
		"go test . >/dev/null 2>&1":                                     "go test .",
		"{ go vet .; go test . ; } >log":                                "go test .",
		`test "$(go test -v -run 'TestX' . | grep -c '^--- PASS')" = 1`: "go test -v -run 'TestX' .",
		"go test -v -run TestX . | grep '^--- PASS: TestX'":             "",
		"go test -run '^TestX$' ./...":                                  "",
		"go test . 2>/dev/null":                                         "",
		"go test . 2>&1 | tail -5":                                      "",
		"cd a && go test . && grep -q x README.md":                      "",
		"echo go tests | grep -q tests":                                 "",
		"go test . 1>log":                                               "go test .",
		"go test . >>log":                                               "go test .",
		"go test . >|log":                                               "go test .",
		"go test -v . | grep --count PASS":                              "go test -v .",
		"go test -v . | grep --quiet PASS":                              "go test -v .",
		"go test -v . | grep --silent PASS":                             "go test -v .",
		"go test -v . | cat >/dev/null":                                 "go test -v .",
		"echo . | go test . >/dev/null":                                 "go test .",
		"{ echo . | go test . ; } >log":                                 "go test .",
		"go test -v . | { grep PASS; }":                                 "",
		"go test -v . | grep --color PASS":                              "",
		"go test -v . | grep --color -c PASS":                           "go test -v .",
		"go test -v . |& wc -l":                                         "", // not of this shell
		"go test . |":                                                   "",
	} {
		if got := shell.FindHiddenOutput(line, func(c string) bool { return strings.HasPrefix(c, "go test") }); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
