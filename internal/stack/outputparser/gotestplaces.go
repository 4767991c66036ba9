package outputparser

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// testFilePath returns the path of a file in a package that a test names without its directory.
func (l *goTestLog) testFilePath(pkg, file string) string {
	dir, known := packageDir(l.in, pkg)
	if !known {
		dir = l.guessedPackageDir(pkg)
		if l.in.Find != nil {
			if found := l.in.Find("/" + path.Join(path.Base(pkg), file)); found != "" {
				return found
			}
		}
	}
	return path.Join(dir, file)
}

// relocateTemplateFailure moves a failure to the template file, if the message is about that.
func (l *goTestLog) relocateTemplateFailure(pkg string, f *nexus.Finding) {
	if file, line, column := goTemplatePosition(f.Message); file != "" && f.Code == parserbase.CodeTest {
		if l.in.Find != nil {
			file = l.in.Find("/" + file)
		} else {
			file = l.testFilePath(pkg, file)
		}
		if file != "" {
			f.File, f.Line, f.Column = file, line, column
		}
	}
}

// goTemplatePosition returns the position in a file that an error of Go's templates names.
func goTemplatePosition(message string) (file string, line, column int) {
	m := regexp.MustCompile(`template: ([\w./-]+\.\w+):(\d+)(?::(\d+))?: `).FindStringSubmatch(message)
	if m == nil {
		return "", 0, 0
	}
	return m[1], parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3])
}

// guessedPackageDir returns the likely directory of a package of an unknown module: all packages in the
// output are in that module, and its name is a host with an owner and a name, or a word.
func (l *goTestLog) guessedPackageDir(pkg string) string {
	parts := strings.Split(strings.TrimSuffix(pkg, "_test"), "/")
	module := 1
	if host := parts[0]; strings.Contains(host, ".") {
		module = 2
		if slices.Contains([]string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"}, host) {
			module = 3
		}
	}
	for _, u := range l.order {
		n := 0
		for i, part := range strings.Split(strings.TrimSuffix(u.pkg, "_test"), "/") {
			if i == len(parts) || part != parts[i] {
				break
			}
			n++
		}
		if n > 0 {
			module = min(module, n)
		}
	}
	return path.Join(parts[min(module, len(parts)):]...)
}

// packageDir returns the directory of a package, as far as the modules show it.
func packageDir(in ToolOutput, pkg string) (dir string, known bool) {
	pkg = strings.TrimSuffix(pkg, "_test")
	best := -1
	for module, at := range in.Modules {
		rest, ok := strings.CutPrefix(pkg, module)
		if ok && (rest == "" || rest[0] == '/') && len(module) > best {
			best, dir = len(module), path.Join(at, rest)
		}
	}
	if best < 0 {
		return "", false
	}
	if in.RelativePath(dir+"/x") == "" {
		return "", true
	}
	return strings.TrimPrefix(dir, "/"), true
}

// importCycleFinding reads the line of the go command that ends an import cycle: the file with the closing
// import is in the package that the line before names.
func importCycleFinding(in ToolOutput, before []string, l string) (nexus.Finding, bool) {
	if !strings.Contains(l, "import cycle") {
		return nexus.Finding{}, false
	}
	m := regexp.MustCompile(`^\s+imports (\S+) from (\S+): (import cycle not allowed.*)$`).FindStringSubmatch(l)
	if m == nil || len(before) == 0 {
		return nexus.Finding{}, false
	}
	f := nexus.Finding{Message: m[3] + ": " + strings.TrimSpace(l)}
	last := regexp.MustCompile(`^(?:package|\s+imports) (\S+)`).FindStringSubmatch(before[len(before)-1])
	if last != nil {
		log := newGoTestLog(in)
		log.order = []*goTestResult{{pkg: m[1]}, {pkg: last[1]}}
		f.File = in.RelativePath(log.testFilePath(last[1], m[2]))
	}
	return f, true
}

// raceFindings finds the positions of data races in a text: for each conflicting access the first
// frame in the tree.
func raceFindings(in ToolOutput, all []string) []nexus.Finding {
	access := regexp.MustCompile(`^\s*(?:Previous )?([Rr]ead|[Ww]rite|[Aa]tomic read|[Aa]tomic write) at 0x\w+ by `)
	frame := regexp.MustCompile(`^\s+(\S+\.go):(\d+)(?: \+0x\w+)?$`)
	var found []nexus.Finding
	inside, open := false, false
	for _, l := range all {
		l = l[:min(len(l), 4096)]
		switch {
		case strings.HasSuffix(l, "WARNING: DATA RACE"):
			inside, open = true, false
		case strings.HasPrefix(strings.TrimSpace(l), "====="):
			inside = false
		case inside && access.MatchString(l):
			open = true
		case inside && strings.TrimSpace(l) == "", strings.HasPrefix(strings.TrimSpace(l), "Goroutine "):
			open = false
		case open && frame.MatchString(l):
			m := frame.FindStringSubmatch(l)
			if file := in.RelativePath(m[1]); file != "" && in.Root != "" && !strings.HasPrefix(file, "_") {
				f := nexus.Finding{File: file, Line: parserbase.ParseNumber(m[2]), Code: parserbase.CodeRace, Message: "data race: one goroutine reads or writes here what another writes"}
				if open = false; !slices.Contains(found, f) && len(found) < parserbase.Enough {
					found = append(found, f)
				}
			}
		}
	}
	return found
}
