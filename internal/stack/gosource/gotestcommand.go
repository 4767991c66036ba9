package gosource

import (
	"regexp"
	"slices"
	"strings"
)

// GoTestCommand is a parsed go test command line.
type GoTestCommand struct {
	flags []string // without those that select tests
	Picks bool     // it runs only some tests
	First bool     // it stops at the first failure
}

// ParseGoTestCommand parses a command line, and returns false if that is not certain.
func ParseGoTestCommand(args []string) (c GoTestCommand, ok bool) {
	if len(args) < 2 || args[0] != "go" || args[1] != "test" {
		return c, false
	}
	plain := strings.Fields("a asan benchmem c cover failfast fullpath i json linkshared modcacherw msan n race short trimpath v work x")
	valued := strings.Fields("asmflags bench benchtime blockprofile buildmode buildvcs compiler count covermode coverpkg coverprofile cpu cpuprofile exec fuzz " +
		"fuzztime gcflags installsuffix ldflags list memprofile mod modfile mutexprofile o outputdir p parallel pgo pkgdir run shuffle skip tags timeout trace vet")
	for i := 2; i < len(args); i++ {
		word := args[i]
		if !strings.HasPrefix(word, "-") {
			continue // a package
		}
		name, _, set := strings.Cut(strings.TrimLeft(word, "-"), "=")
		name = strings.TrimPrefix(name, "test.")
		one := []string{word}
		switch {
		case slices.Contains(plain, name):
		case !slices.Contains(valued, name):
			return c, false
		case !set && i+1 < len(args):
			i++
			one = append(one, args[i])
		}
		c.First = c.First || name == "failfast"
		if slices.Contains([]string{"run", "skip", "list", "fuzz", "c", "n", "exec"}, name) {
			c.Picks = true
			continue
		}
		c.flags = append(c.flags, one...)
	}
	return c, true
}

// MayOmitTests reports whether a go test command line may omit tests.
func MayOmitTests(args []string) bool {
	c, ok := ParseGoTestCommand(args)
	return !ok || c.Picks || c.First
}

// CommandFor returns the command for some packages and, if tests is not empty, for those of their
// tests.
func (c GoTestCommand) CommandFor(packages, tests []string, more ...string) []string {
	args := append([]string{"go", "test"}, c.flags...)
	args = append(args, more...)
	if len(tests) > 0 {
		names := make([]string, len(tests))
		for i, t := range tests {
			names[i] = regexp.QuoteMeta(t)
		}
		args = append(args, "-run=^("+strings.Join(names, "|")+")$")
	}
	return append(args, packages...)
}

// SplitTestName splits the name of a test in findings into its package and its name.
func SplitTestName(s string) (pkg, name string, ok bool) {
	at := -1
	for _, sep := range []string{".Test", ".Fuzz", ".Example"} {
		if i := strings.Index(s, sep); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+1:], true
}
