package gitread_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/gitread"
)

// TestCheck holds which calls of git only look, and that those which show changes run no program of the tree's.
func TestCheck(t *testing.T) {
	const hard = " --no-ext-diff --no-textconv"
	for args, want := range map[string]string{
		"status -s -uno": "status -s -uno", "status -uall -unormal": "status -uall -unormal", "diff": "diff" + hard, "log -5": "log" + hard + " -5", "show -12 HEAD": "show" + hard + " -12 HEAD",
		"diff --unified=3 a": "diff" + hard + " --unified=3 a", "diff -U3 -M90 -C5 -Sx -Gx": "diff" + hard + " -U3 -M90 -C5 -Sx -Gx", "log -L1,2:a.go -n4": "log" + hard + " -L1,2:a.go -n4", "blame -L1,2 -M3 -C4 a.go": "blame -L1,2 -M3 -C4 a.go",
		"diff -- -x ../a": "", "diff -- -x": "diff" + hard + " -- -x", "ls-files -o a..b": "ls-files -o a..b", "diff a...b": "diff" + hard + " a...b", "show -p": "show" + hard + " -p",
		"push": "", "status -ux": "", "status -U3": "", "diff -uno": "", "diff -5": "", "diff -": "", "diff -Mx": "", "blame -n4": "", "blame -U3": "", "ls-files -M3": "", "diff -L1,2": "", "show -L1,2:a": "", "status -Sx": "", "blame -Gx": "",
		"status --stat": "", "blame --stat": "", "diff --oneline": "", "status -p": "", "log --output=x": "", "diff /a": "", "diff a/../b": "", "diff ..": "", "diff a\x00": "", "log -x": "", "log --bogus": "", "log -x5": "",
	} {
		got, err := gitread.CheckReadOnly(strings.Split(args, " "))
		if strings.Join(got, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", args, got, err)
		}
	}
}
