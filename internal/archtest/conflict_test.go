package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// marker is a line that a merge left behind. A line of equal signs alone may
// be a heading, so it is not looked for.
var marker = regexp.MustCompile(`(?m)^(<{7}|\|{7}|>{7})( .*)?\r?$`)

// TestConflicts looks for markers of a merge in every text file that git
// tracks, testdata aside, where they may be what a test is about.
func TestConflicts(t *testing.T) {
	root := filepath.Join("..", "..")
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a clone of git: ", err)
	}
	seen := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if strings.Contains("/"+name, "/testdata/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || bytes.IndexByte(data, 0) >= 0 {
			continue // deleted and not yet committed, a link to a directory, or no text
		}
		seen++
		if at := marker.FindIndex(data); at != nil {
			t.Errorf("%s:%d: %s", name, 1+bytes.Count(data[:at[0]], []byte("\n")), data[at[0]:at[1]])
		}
	}
	if seen < 100 {
		t.Errorf("git named %d text files", seen)
	}
}
