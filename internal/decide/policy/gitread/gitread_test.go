package gitread_test

import (
	"slices"
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

// TestSetting holds which settings only change how git writes, and which may be printed.
func TestSetting(t *testing.T) {
	for setting, want := range map[string]bool{
		"color.ui=always": true, "advice.x=false": true, "User.Name=ada": true, "user.email=a": true, "core.quotepath=off": true, "commit.gpgsign=false": true, "core.abbrev=8": true,
		"commit.gpgsign=true": false, "commit.gpgsign=": false, "color.ui": false, "core.pager=sh": false, "alias.x=!sh": false, "mycolor.ui=x": false, "": false, "commit.gpgsign": false,
	} {
		if gitread.IsOutputSetting(setting) != want {
			t.Errorf("%s: %v", setting, !want)
		}
	}
	for setting, want := range map[string]bool{"user.name": true, "User.Email": true, "core.eol": true, "credential.helper": false, "http.extraheader": false, "": false} {
		if gitread.IsPrintableSetting(setting) != want {
			t.Errorf("%s is printed: %v", setting, !want)
		}
	}
}

// TestLists holds where branch and tag only list.
func TestLists(t *testing.T) {
	for args, want := range map[string]bool{
		"": true, "-a": true, "-vv": true, "--list x*": true, "-l v1.*": true, "--sort=x y": true, "--format=x y": true, "--points-at=HEAD y": true, "-n": true, "-n1": true, "-n x": true, "--contains HEAD": true, "--show-current": true,
		"x": false, "-d x": false, "-D": false, "--list -d": false, "-a x": false, "--contains x": false, "-n5": false, "-m a b": false, "--sort x": false,
	} {
		if got := gitread.OnlyLists(slices.DeleteFunc(strings.Split(args, " "), func(a string) bool { return a == "" })); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}
