package gate

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// maxTestName limits the name of a test; a longer one is invalid.
const maxTestName = 1000

// SingleTestArgs returns the command that runs a test alone, by its name in findings. Dir is the
// directory, below the tree, where the gate runs. It returns false if the runner cannot run
// single tests, or the name is ambiguous.
func SingleTestArgs(l stack.SingleTestCommand, dir, test string) (args []string, ok bool) {
	if len(l.Args) == 0 || test == "" || len(test) > maxTestName || strings.ContainsFunc(test, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return nil, false
	}
	name, file, ok := stack.TestArgument(l.Name, test)
	if !ok || name == "" || isOptionLike(name) || isOptionLike(file) {
		return nil, false
	}
	if file != "" && dir != "" && dir != "." {
		if file, ok = strings.CutPrefix(file, path.Clean(dir)+"/"); !ok || isOptionLike(file) {
			return nil, false
		}
	}
	for _, a := range l.Args {
		if strings.HasSuffix(a, "{file}") && file == "" {
			return nil, false
		}
		switch {
		case a == "{file}", a == "./{file}":
			a = strings.TrimSuffix(a, "{file}") + file
		case a == "{test}":
			a = name
		case strings.HasSuffix(a, "={test}"):
			a = strings.TrimSuffix(a, "{test}") + name
		}
		args = append(args, a)
	}
	return args, true
}

// isOptionLike reports whether a runner could parse a word as something other than a name: an
// option, or a file of arguments.
func isOptionLike(word string) bool {
	return strings.HasPrefix(word, "-") || strings.HasPrefix(word, "@")
}

// hasMain matches the main function of a C or C++ program, or tests of a framework.
var hasMain = regexp.MustCompile(`\bmain\s*\(|(?m)^\s*(?:TEST|SCENARIO|BOOST_AUTO_TEST)\w*\s*\(`)

// MayAffectTest reports whether the work may have affected a test: it changed the file of the
// finding, one with the test in it, or a test helper. If unsure, it returns true. Now is the
// tree; for a deleted file the contents of base count.
func MayAffectTest(l stack.SingleTestCommand, base, now string, changed []string, test, file string) bool {
	leaf, last := lastTestNamePart(test)
	return slices.ContainsFunc(changed, func(f string) bool {
		switch {
		case f == file:
			return true
		case !filepath.IsLocal(f):
			return false
		case stack.ServesTests(f) && !isTestFile(f):
			return true // a helper, or data
		}
		if l.Name == stack.NameCTest && path.Base(f) == "CMakeLists.txt" {
			return true
		}
		text := gosource.ReadRegularFile(os.DirFS(base), f) + gosource.ReadRegularFile(os.DirFS(now), f)
		if isTestFile(f) {
			return text == "" || strings.Contains(text, last)
		}
		if l.Name == stack.NameCTest && hasMain.MatchString(text) {
			return true // it is unknown to which test the program belongs
		}
		return strings.Contains(text, leaf)
	})
}

// isTestFile reports whether a file is a test by its own name, so that its content affects no
// other test.
func isTestFile(file string) bool {
	return regexp.MustCompile(`^test_\w+\.py$|(?:_test|\.test|\.spec|_spec|Test)\.\w+$`).MatchString(path.Base(file))
}

// IsTestNamed reports whether one of the texts names a test, by its full name or by its last
// part.
func IsTestNamed(test string, texts []string) bool {
	leaf, _ := lastTestNamePart(test)
	word := regexp.MustCompile(`(?i)(?:^|[^\pL\pN_])` + regexp.QuoteMeta(leaf) + `(?:$|[^\pL\pN_])`)
	return slices.ContainsFunc(texts, func(s string) bool {
		return strings.Contains(s, test) || word.MatchString(s)
	})
}

// lastTestNamePart returns the last part of a test's name as it is in the code, and the last word of
// that.
func lastTestNamePart(test string) (name, last string) {
	name = test
	if i := strings.Index(name, " with data set "); i > 0 {
		name = name[:i]
	}
	for _, sep := range []string{" > ", "::"} {
		if i := strings.LastIndex(name, sep); i >= 0 {
			name = name[i+len(sep):]
		}
	}
	if i := strings.IndexByte(name, '['); i > 0 {
		name = name[:i]
	}
	// a Python path, followed by a subtest
	if head, _, _ := strings.Cut(name, " "); strings.Contains(head, ".") {
		name = head[strings.LastIndexByte(head, '.')+1:]
	}
	if words := regexp.MustCompile(`[\pL\pN_]+`).FindAllString(name, -1); len(words) > 0 {
		return name, words[len(words)-1]
	}
	return name, name
}
