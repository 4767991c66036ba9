// Package citoolstest gives tests the tools that .ci/deps installs.
package citoolstest

import (
	"os"
	"path/filepath"
	"testing"
)

// JavaScript is the directory of the JavaScript tools.
const JavaScript = "/usr/local/lib/nexus-tools/node_modules"

// LinkJavaScriptTools links the JavaScript tools into a project, in a directory to which they can write.
func LinkJavaScriptTools(tb testing.TB, dir string) {
	tb.Helper()
	all, err := os.ReadDir(JavaScript)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	for _, e := range all {
		if err == nil {
			err = os.Symlink(filepath.Join(JavaScript, e.Name()), filepath.Join(dir, e.Name()))
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
}
