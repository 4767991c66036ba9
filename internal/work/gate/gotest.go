package gate

import (
	"regexp"
	"slices"
	"strings"
)

// testCommand takes the command line of go test apart.
type testCommand struct {
	flags []string // without what picks tests
	picks bool     // it runs some tests only
	first bool     // it ends with the first failure
}

// readTest returns the parts of a command line, and false where they cannot
// be told for sure.
func readTest(args []string) (c testCommand, ok bool) {
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
		c.first = c.first || name == "failfast"
		if slices.Contains([]string{"run", "skip", "list", "fuzz", "c", "n", "exec"}, name) {
			c.picks = true
			continue
		}
		c.flags = append(c.flags, one...)
	}
	return c, true
}

// picks reports whether a command line of go test may leave tests out.
func picks(args []string) bool {
	c, ok := readTest(args)
	return !ok || c.picks || c.first
}

// only returns the gate for some packages and, unless there are none, some of
// their tests.
func (c testCommand) only(g Gate, packages, tests []string, more ...string) Gate {
	g.Args = append([]string{"go", "test"}, c.flags...)
	g.Args = append(g.Args, more...)
	if len(tests) > 0 {
		names := make([]string, len(tests))
		for i, t := range tests {
			names[i] = regexp.QuoteMeta(t)
		}
		g.Args = append(g.Args, "-run=^("+strings.Join(names, "|")+")$")
	}
	g.Args = append(g.Args, packages...)
	return g
}

// testName separates what findings call a test into its package and its name.
func testName(s string) (pkg, name string, ok bool) {
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
