package related

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// jvm is Java, Kotlin and Groovy, whose files name each other alike: by their
// types, and by packages where those are others.
type jvm struct {
	*survey
	pkgs  map[string]string   // of files, read when they are first wanted
	types map[string][]string // files that declare a type, by its name
	loose map[string][]string // files of Kotlin, by package: they declare more than types
}

// unit is what is known of one file.
type unit struct {
	pkg   string
	types []string        // that it declares
	words map[string]bool // that are in it
	far   map[string]bool // packages that it names, and whatever else has dots
	sure  bool            // nothing in it finds types by other means
}

func (*jvm) mine(file string) bool {
	base := path.Base(file)
	return slices.Contains([]string{".java", ".kt", ".groovy"}, path.Ext(file)) && base != "package-info.java" && base != "module-info.java"
}

// tested is how classes of tests are called where nobody says otherwise.
func tested(class string) bool {
	return strings.HasPrefix(class, "Test") || strings.HasSuffix(class, "Test") || strings.HasSuffix(class, "Tests") || strings.HasSuffix(class, "TestCase")
}

func (l *jvm) test(file string) bool {
	return l.mine(file) && strings.Contains("/"+file, "/src/test/") && tested(stem(file))
}

func stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// uses follows the names of types, where the package is the same or is named,
// and names that are those of tests: FooTest is one of Foo. What a container or
// a scan of the classes puts together may be anything.
func (l *jvm) uses(file string, have map[string]bool) (files []string, sure bool) {
	l.index(have)
	u := parseUnit(l.read(file), true)
	if l.test(file) {
		name := stem(file)
		for _, mark := range []string{"TestCase", "Tests", "Test"} {
			u.words[strings.TrimSuffix(name, mark)] = true
		}
		u.words[strings.TrimPrefix(name, "Test")] = true
	}
	for w := range u.words {
		for _, f := range l.types[w] {
			if p := l.pkgs[f]; f != file && (p == u.pkg || u.far[p]) {
				files = append(files, f)
			}
		}
	}
	files = append(files, l.loose[u.pkg]...)
	for p := range u.far {
		files = append(files, l.loose[p]...)
	}
	return files, u.sure
}

func (l *jvm) index(have map[string]bool) {
	if l.pkgs != nil {
		return
	}
	l.pkgs, l.types, l.loose = map[string]string{}, map[string][]string{}, map[string][]string{}
	for f := range have {
		u := parseUnit(l.read(f), false)
		l.pkgs[f] = u.pkg
		for _, t := range u.types {
			l.types[t] = append(l.types[t], f)
		}
		if path.Ext(f) != ".java" {
			l.loose[u.pkg] = append(l.loose[u.pkg], f)
		}
	}
}

// parseUnit reads a file: what it declares, and on demand what it uses. What
// is in comments and texts counts, too.
func parseUnit(text string, uses bool) unit {
	u := unit{sure: true}
	if uses {
		u.words, u.far = map[string]bool{}, map[string]bool{}
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "package "); ok {
			u.pkg = strings.TrimSpace(rest)
			if end := strings.IndexFunc(u.pkg, func(r rune) bool { return r < 0x80 && r != '.' && !named(byte(r)) }); end >= 0 {
				u.pkg = u.pkg[:end]
			}
			break
		}
	}
	last := ""
	for i, start := 0, -1; i < len(text); {
		if !named(text[i]) {
			i, start = i+1, -1
			continue
		}
		end := i
		for end < len(text) && named(text[end]) {
			end++
		}
		word := text[i:end]
		u.take(last, word, i > 0 && text[i-1] == '@')
		if start < 0 {
			start = i
		} else if uses {
			u.far[text[start:i-1]] = true // all before the dot
		}
		last, i = word, end
		if i+1 < len(text) && text[i] == '.' && named(text[i+1]) {
			i++
		} else {
			start = -1
		}
	}
	return u
}

// named reports whether a byte is one of a name: those of other alphabets are.
func named(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// take notes a word, which follows another one.
func (u *unit) take(last, word string, annotation bool) {
	if u.words != nil {
		u.words[word] = true
	}
	switch last {
	case "class", "interface", "enum", "record", "object", "typealias":
		u.types = append(u.types, word)
	}
	switch word {
	case "forName", "loadClass", "ServiceLoader", "ClassFileImporter", "ContextConfiguration", "ComponentScan", "SelectPackages", "AnalyzeClasses":
		u.sure = false
	case "ParameterizedTest", "RepeatedTest", "BeforeTest", "AfterTest", "Test":
	default:
		if annotation && strings.HasSuffix(word, "Test") { // a part of an application, started for it
			u.sure = false
		}
	}
}

// classes finds the test classes that a change concerns, unless the build
// chooses among them in a way that naming classes would overrule.
func (s *survey) classes(g gate.Gate) Choice {
	picks := regexp.MustCompile(`(?s)<artifactId>\s*maven-surefire-plugin\s*</artifactId>.*?</plugin>`)
	rules := regexp.MustCompile(`<(?:includes|excludes|includesFile|excludesFile|suiteXmlFiles|test)>|<failIfNo\w*>\s*true`)
	for _, f := range s.all() {
		if path.Base(f) != "pom.xml" {
			continue
		}
		for _, plugin := range picks.FindAllString(s.read(f), -1) {
			if rules.MatchString(plugin) {
				return every("%s selects test classes itself", f)
			}
		}
	}
	return s.byImports(g, &jvm{survey: s})
}

// surefire returns how Surefire is told to run the classes of test files. Those
// within them have names of their own; where they are no tests, they may be made
// to fail.
func (s *survey) surefire(g gate.Gate, files []string) string {
	var names []string
	for _, f := range files {
		names = append(names, stem(f))
		if strings.Contains(s.read(path.Join(g.Dir, f)), "@Nested") {
			names = append(names, stem(f)+"$*")
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

// each returns the word once for each class of test files, by its whole name.
func (s *survey) each(g gate.Gate, word string, files []string) []string {
	var words []string
	for _, f := range files {
		name := stem(f)
		if u := parseUnit(s.read(path.Join(g.Dir, f)), false); u.pkg != "" {
			name = u.pkg + "." + name
		}
		words = append(words, strings.ReplaceAll(word, "{class}", name))
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// reactor returns the words that keep Maven to the modules of some files and
// what these need; none where one is not known for a module of the build.
func (s *survey) reactor(g gate.Gate, files []string) []string {
	modules := map[string]bool{}
	s.modules(path.Clean(g.Dir), ".", modules)
	var picked []string
	for _, f := range files {
		owner := "."
		for _, dir := range above(f) {
			if s.there(path.Join(g.Dir, dir, "pom.xml")) {
				owner = dir
				break
			}
		}
		if owner == "." || !modules[owner] {
			return nil
		}
		if !slices.Contains(picked, owner) {
			picked = append(picked, owner)
		}
	}
	slices.Sort(picked)
	return []string{"-pl", strings.Join(picked, ","), "-am"}
}

// modules notes the modules that the project in a directory below root is made
// of, whatever profile is on.
func (s *survey) modules(root, dir string, known map[string]bool) {
	text := s.read(path.Join(root, dir, "pom.xml"))
	text = regexp.MustCompile(`(?s)<!--.*?-->|<profiles>.*?</profiles>`).ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`<module>\s*([^<\s]+)\s*</module>`).FindAllStringSubmatch(text, -1) {
		at := path.Join(dir, m[1])
		if !known[at] && !strings.HasPrefix(at, "..") && !option(at) {
			known[at] = true
			s.modules(root, at, known)
		}
	}
}
