package stack

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// jvmSources describes how files of Java, Kotlin and Groovy depend on each other. In the words
// of a PartialTestCommand, {classes} is replaced by the test classes in the form of Surefire, a word
// with {class} by one word per class, and {modules} by the words that limit Maven to their
// modules.
func jvmSources() []SourceDependencyRules {
	return []SourceDependencyRules{{
		Name: "jvm", Mine: isJVMSource, Test: isJVMTest, Chooses: surefireSelectionReason,
		Uses: func(tree fs.FS, have map[string]bool) func(string) ([]string, bool) {
			return indexJVMSources(tree, have).filesUsedBy
		},
		Words: func(tree fs.FS, dir, word string, tests []string) ([]string, bool) {
			switch {
			case word == "{modules}":
				return mavenModuleArgs(tree, dir, tests), true
			case strings.Contains(word, "{classes}"):
				return []string{strings.ReplaceAll(word, "{classes}", surefireTestArg(tree, dir, tests))}, true
			case strings.Contains(word, "{class}"):
				return testClassArgs(tree, dir, word, tests), true
			}
			return nil, false
		},
	}}
}

// jvmSourceIndex holds files of Java, Kotlin and Groovy, which refer to each other in the same way:
// by their types, and by packages where those differ.
type jvmSourceIndex struct {
	tree  fs.FS
	pkgs  map[string]string   // of files
	types map[string][]string // files that declare a type, by its name
	loose map[string][]string // Kotlin files, by package: they declare more than types
}

// jvmSourceFile holds the declarations and references of one file.
type jvmSourceFile struct {
	pkg   string
	types []string        // that it declares
	words map[string]bool // that it contains
	far   map[string]bool // packages that it names, and all other names with dots
	sure  bool            // it does not find types by other means
}

func isJVMSource(file string) bool {
	base := path.Base(file)
	return slices.Contains([]string{".java", ".kt", ".groovy"}, path.Ext(file)) && base != "package-info.java" && base != "module-info.java"
}

// isTestClass reports whether a class has the default name of a test class.
func isTestClass(class string) bool {
	end := func(mark string) bool { return strings.HasSuffix(class, mark) }
	return strings.HasPrefix(class, "Test") || slices.ContainsFunc([]string{"Test", "Tests", "TestCase"}, end)
}

func isJVMTest(file string) bool {
	return isJVMSource(file) && strings.Contains("/"+file, "/src/test/") && isTestClass(fileStem(file))
}

func fileStem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// filesUsedBy follows the names of types in the same package or in a named one, and the names of
// tests: FooTest tests Foo. A container, or code that scans the classes, may refer to any file.
func (l *jvmSourceIndex) filesUsedBy(file string) (files []string, sure bool) {
	u := parseJVMSource(gosource.ReadRegularFile(l.tree, file), true)
	if isJVMTest(file) {
		name := fileStem(file)
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

// indexJVMSources reads the declarations in the source files of a tree.
func indexJVMSources(tree fs.FS, have map[string]bool) *jvmSourceIndex {
	l := &jvmSourceIndex{tree: tree, pkgs: map[string]string{}, types: map[string][]string{}, loose: map[string][]string{}}
	for f := range have {
		u := parseJVMSource(gosource.ReadRegularFile(tree, f), false)
		l.pkgs[f] = u.pkg
		for _, t := range u.types {
			l.types[t] = append(l.types[t], f)
		}
		if path.Ext(f) != ".java" {
			l.loose[u.pkg] = append(l.loose[u.pkg], f)
		}
	}
	return l
}

// parseJVMSource reads a file's declarations and, on demand, its references. Names in comments and
// strings count, too.
func parseJVMSource(text string, uses bool) jvmSourceFile {
	u := jvmSourceFile{sure: true}
	if uses {
		u.words, u.far = map[string]bool{}, map[string]bool{}
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "package "); ok {
			u.pkg = strings.TrimSpace(rest)
			if end := strings.IndexFunc(u.pkg, func(r rune) bool { return r < 0x80 && r != '.' && !isNameByte(byte(r)) }); end >= 0 {
				u.pkg = u.pkg[:end]
			}
			break
		}
	}
	last := ""
	for i, start := 0, -1; i < len(text); {
		if !isNameByte(text[i]) {
			i, start = i+1, -1
			continue
		}
		end := i
		for end < len(text) && isNameByte(text[end]) {
			end++
		}
		word := text[i:end]
		u.recordWord(last, word, i > 0 && text[i-1] == '@')
		if start < 0 {
			start = i
		} else if uses {
			u.far[text[start:i-1]] = true // all before the dot
		}
		last, i = word, end
		if i+1 < len(text) && text[i] == '.' && isNameByte(text[i+1]) {
			i++
		} else {
			start = -1
		}
	}
	return u
}

// isNameByte reports whether a byte can be part of a name; all bytes of other alphabets can.
func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// recordWord records a word and the word before it.
func (u *jvmSourceFile) recordWord(last, word string, annotation bool) {
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
		if annotation && strings.HasSuffix(word, "Test") { // a slice of an application that is started for the test
			u.sure = false
		}
	}
}

// surefireSelectionReason returns the reason why the build itself chooses the test classes of Surefire,
// with the pom.xml that does, or "".
func surefireSelectionReason(tree fs.FS, files []string) string {
	picks := regexp.MustCompile(`(?s)<artifactId>\s*maven-surefire-plugin\s*</artifactId>.*?</plugin>`)
	rules := regexp.MustCompile(`<(?:includes|excludes|includesFile|excludesFile|suiteXmlFiles|test)>|<failIfNo\w*>\s*true`)
	for _, f := range files {
		if path.Base(f) != "pom.xml" {
			continue
		}
		for _, plugin := range picks.FindAllString(gosource.ReadRegularFile(tree, f), -1) {
			if rules.MatchString(plugin) {
				return f + " selects test classes itself"
			}
		}
	}
	return ""
}

// surefireTestArg returns the -Dtest option of Surefire for the classes of test files. Nested
// classes have names of their own; if they are not tests, naming them can make the run fail.
func surefireTestArg(tree fs.FS, dir string, files []string) string {
	var names []string
	for _, f := range files {
		names = append(names, fileStem(f))
		if strings.Contains(gosource.ReadRegularFile(tree, path.Join(dir, f)), "@Nested") {
			names = append(names, fileStem(f)+"$*")
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

// testClassArgs returns the word once per class of the test files, with its full name.
func testClassArgs(tree fs.FS, dir, word string, files []string) []string {
	var words []string
	for _, f := range files {
		name := fileStem(f)
		if u := parseJVMSource(gosource.ReadRegularFile(tree, path.Join(dir, f)), false); u.pkg != "" {
			name = u.pkg + "." + name
		}
		words = append(words, strings.ReplaceAll(word, "{class}", name))
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// mavenModuleArgs returns the words that limit Maven to the modules of some files and to their
// dependencies; none if one of them is not known to be a module of the build.
func mavenModuleArgs(tree fs.FS, at string, files []string) []string {
	modules := map[string]bool{}
	collectMavenModules(tree, path.Clean(at), ".", modules)
	var picked []string
	for _, f := range files {
		owner := "."
		for _, dir := range DirectoriesAbove(f) {
			if gosource.IsFile(tree, path.Join(at, dir, "pom.xml")) {
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

// collectMavenModules records the modules of the project in a directory below root, of all profiles.
func collectMavenModules(tree fs.FS, root, dir string, known map[string]bool) {
	text := gosource.ReadRegularFile(tree, path.Join(root, dir, "pom.xml"))
	text = regexp.MustCompile(`(?s)<!--.*?-->|<profiles>.*?</profiles>`).ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`<module>\s*([^<\s]+)\s*</module>`).FindAllStringSubmatch(text, -1) {
		at := path.Join(dir, m[1])
		if !known[at] && !strings.HasPrefix(at, "..") && !strings.HasPrefix(at, "-") {
			known[at] = true
			collectMavenModules(tree, root, at, known)
		}
	}
}
