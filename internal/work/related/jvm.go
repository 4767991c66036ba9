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
	units map[string]unit     // by file, read when they are first wanted
	types map[string][]string // files that declare a type, by its name
	loose map[string][]string // files of Kotlin, by package: they declare more than types
}

// unit is what is known of one file.
type unit struct {
	pkg   string
	types []string        // that it declares
	words map[string]bool // that stand in it
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
	u := l.units[file]
	for w := range u.words {
		for _, f := range l.types[w] {
			if p := l.units[f].pkg; f != file && (p == u.pkg || u.far[p]) {
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
	if l.units != nil {
		return
	}
	l.units, l.types, l.loose = map[string]unit{}, map[string][]string{}, map[string][]string{}
	for f := range have {
		u := parseUnit(l.read(f), l.test(f), stem(f))
		l.units[f] = u
		for _, t := range u.types {
			l.types[t] = append(l.types[t], f)
		}
		if path.Ext(f) != ".java" {
			l.loose[u.pkg] = append(l.loose[u.pkg], f)
		}
	}
}

const javaName = `[\p{L}_$][\p{L}\p{N}_$]*`

// parseUnit reads a file. What stands in comments and texts counts, too.
func parseUnit(text string, test bool, name string) unit {
	u := unit{words: map[string]bool{}, far: map[string]bool{}}
	if m := regexp.MustCompile(`(?m)^\s*package\s+(` + javaName + `(?:\.` + javaName + `)*)`).FindStringSubmatch(text); m != nil {
		u.pkg = m[1]
	}
	for _, m := range regexp.MustCompile(`\b(?:class|interface|enum|record|object|typealias)\s+(`+javaName+`)`).FindAllStringSubmatch(text, -1) {
		u.types = append(u.types, m[1])
	}
	for _, w := range regexp.MustCompile(javaName).FindAllString(text, -1) {
		u.words[w] = true
	}
	for _, chain := range regexp.MustCompile(javaName+`(?:\.`+javaName+`)+`).FindAllString(text, -1) {
		for i := strings.LastIndexByte(chain, '.'); i > 0; i = strings.LastIndexByte(chain[:i], '.') {
			u.far[chain[:i]] = true
		}
	}
	u.sure = !regexp.MustCompile(`\bforName\s*\(|\bloadClass\s*\(|\bServiceLoader\b|\bClassFileImporter\b|@ContextConfiguration\b|@ComponentScan\b|@Suite\b|@SelectPackages\b|@AnalyzeClasses\b`).MatchString(text)
	for _, m := range regexp.MustCompile(`@(\w+Test)\b`).FindAllStringSubmatch(text, -1) { // a part of an application, started for it
		u.sure = u.sure && slices.Contains([]string{"ParameterizedTest", "RepeatedTest", "BeforeTest", "AfterTest"}, m[1])
	}
	if test {
		for _, mark := range []string{"TestCase", "Tests", "Test"} {
			u.words[strings.TrimSuffix(name, mark)] = true
		}
		u.words[strings.TrimPrefix(name, "Test")] = true
	}
	return u
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
				return every("%s chooses the classes of tests itself", f)
			}
		}
	}
	return s.byImports(g, &jvm{survey: s})
}

// named returns how Surefire is told to run the classes of test files. Those
// within them have names of their own; where they are no tests, they may be made
// to fail.
func (s *survey) named(g gate.Gate, files []string) string {
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
		if u := parseUnit(s.read(path.Join(g.Dir, f)), false, name); u.pkg != "" {
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
