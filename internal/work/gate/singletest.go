package gate

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
)

// maxTestName bounds the name of a test; what is longer is no name.
const maxTestName = 1000

// SingleTest returns the command that runs a test alone, as findings call it. Dir is
// where the gate runs, below the tree. It is not ok where the runner cannot be
// told, or the name could be taken for something else.
func SingleTest(l stack.SingleTest, dir, test string) (args []string, ok bool) {
	if len(l.Args) == 0 || test == "" || len(test) > maxTestName || strings.ContainsFunc(test, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return nil, false
	}
	name, file, ok := stack.TestWord(l.Name, test)
	if !ok || name == "" || isOption(name) || isOption(file) {
		return nil, false
	}
	if file != "" && dir != "" && dir != "." {
		if file, ok = strings.CutPrefix(file, path.Clean(dir)+"/"); !ok || isOption(file) {
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

// isOption reports whether a runner could take a word for something other than a
// name: an option, or a file of arguments.
func isOption(word string) bool { return strings.HasPrefix(word, "-") || strings.HasPrefix(word, "@") }

// hasMain begins a program of its own in C or C++, or tests of a framework.
var hasMain = pattern.Lazy(`\bmain\s*\(|(?m)^\s*(?:TEST|SCENARIO|BOOST_AUTO_TEST)\w*\s*\(`)

// TouchesTest reports whether the work may have had a hand in a test: it changed
// the file that the finding is about, one with the test in it, or one that
// serves tests. In doubt it did. Now is the tree; a file that is gone counts
// with what base had.
func TouchesTest(l stack.SingleTest, base, now string, changed []string, test, file string) bool {
	leaf, last := leafName(test)
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
		text := gosrc.ReadSmall(os.DirFS(base), f) + gosrc.ReadSmall(os.DirFS(now), f)
		if isTestFile(f) {
			return text == "" || strings.Contains(text, last)
		}
		if l.Name == stack.NameCTest && hasMain().MatchString(text) {
			return true // nothing says about which test it is the program
		}
		return strings.Contains(text, leaf)
	})
}

// isTestFile reports whether a file is a test by its own name: what it says
// concerns no other.
func isTestFile(file string) bool {
	return regexp.MustCompile(`^test_\w+\.py$|(?:_test|\.test|\.spec|_spec|Test)\.\w+$`).MatchString(path.Base(file))
}

// NamesTest reports whether one of the texts names a test, by all its name or by
// the last part of it.
func NamesTest(test string, texts []string) bool {
	leaf, _ := leafName(test)
	word := regexp.MustCompile(`(?i)(?:^|[^\pL\pN_])` + regexp.QuoteMeta(leaf) + `(?:$|[^\pL\pN_])`)
	return slices.ContainsFunc(texts, func(s string) bool {
		return strings.Contains(s, test) || word.MatchString(s)
	})
}

// leafName returns the last part of a test's name as it is in the code, and
// the last word of that.
func leafName(test string) (name, last string) {
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
	if head, _, _ := strings.Cut(name, " "); strings.Contains(head, ".") { // a path of Python, with a subtest after it
		name = head[strings.LastIndexByte(head, '.')+1:]
	}
	if words := regexp.MustCompile(`[\pL\pN_]+`).FindAllString(name, -1); len(words) > 0 {
		return name, words[len(words)-1]
	}
	return name, name
}
