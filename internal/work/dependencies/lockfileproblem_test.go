package dependencies

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// FuzzRefused reads any output of npm: what it says is short, and made of what
// npm said about packages.
func FuzzRefused(f *testing.F) {
	f.Add("npm error code EUSAGE\nnpm error\nnpm error Missing: a@2.0.0 from lock file\nnpm error Missing: a@2.0.0 from lock file\nnpm error Invalid: lock file's b@1.0.0 does not satisfy b@2.0.0\nnpm error Usage:\n")
	f.Add("npm ERR! Missing: x@1 from lock file\n")
	f.Add("npm error The `npm ci` command can only install with an existing package-lock.json or\n")
	all := stack.InstallMethods()
	npm := all[slices.IndexFunc(all, func(i stack.InstallMethod) bool { return i.Name == "npm" })]
	f.Fuzz(func(t *testing.T, out string) {
		p := LockDirectory{Dir: "web", File: "web/package-lock.json", InstallMethod: npm}
		why, mend := lockFileProblem(t.TempDir(), p, out)
		if (why == "") != (mend == "") || strings.Contains(why, "\n") || len(why) > 2_000 || utf8.ValidString(out) && !utf8.ValidString(why) {
			t.Errorf("%q, %q", why, mend)
		}
		if said := strings.Contains(out, "Missing: ") || strings.Contains(out, "Invalid: ") || strings.Contains(out, "can only install"); why != "" && !said {
			t.Errorf("made up: %q", why)
		}
	})
}
