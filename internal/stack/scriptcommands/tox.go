package scriptcommands

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// startableTestCommand returns the words of a command that runs tests, in the form in which Nexus starts it.
func startableTestCommand(words []string) ([]string, bool) {
	for len(words) > 0 && (words[0] == "coverage" || words[0] == "run" || words[0] == "-") {
		words = words[1:]
	}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") && words[0] != "-m" {
		words = words[1:] // options of the coverage tool
	}
	if len(words) > 0 && words[0] == "-m" {
		words = append([]string{"python3"}, words...)
	}
	if len(words) == 0 {
		return nil, false
	}
	if regexp.MustCompile(`^python[\d.]*$`).MatchString(path.Base(words[0])) {
		if len(words) < 3 || words[1] != "-m" {
			return nil, false
		}
		if words[2] == "unittest" {
			return append([]string{"python3", "-m", "unittest"}, words[3:]...), true
		}
		words = words[2:]
	}
	if words[0] != "pytest" && words[0] != "py.test" {
		return nil, false
	}
	return append([]string{"pytest", "-p", "no:cacheprovider"}, words[1:]...), true
}

// toxSettings returns the settings of the default environment in a tox.ini, by key.
func toxSettings(text string) map[string][]string {
	section, key := "", ""
	values := map[string][]string{}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \t\r\n")
		trimmed := strings.TrimSpace(l)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";"):
		case strings.HasPrefix(l, "["):
			section, key = strings.Trim(l, "[]"), ""
		case l[0] == ' ' || l[0] == '\t':
			if section == "testenv" && key != "" {
				values[key] = append(values[key], trimmed)
			}
		default:
			k, v, _ := strings.Cut(l, "=")
			key = strings.TrimSpace(k)
			if section == "testenv" {
				values[key] = nil
				if v = strings.TrimSpace(v); v != "" {
					values[key] = []string{v}
				}
			}
		}
	}
	return values
}

// ToxTestCommands returns the test commands of a tox.ini's default environment, and their working
// directory, relative to that of the file. It skips commands that only tox can resolve.
func ToxTestCommands(text string) (dir string, calls [][]string) {
	values := toxSettings(text)
	for _, name := range []string{"changedir", "change_dir"} {
		if v := values[name]; len(v) == 1 {
			dir = path.Clean(strings.TrimPrefix(strings.TrimPrefix(v[0], "{toxinidir}"), "/"))
			if dir == ".." || strings.HasPrefix(dir, "../") || strings.ContainsAny(dir, "{}\x00") || path.IsAbs(dir) {
				return "", nil
			}
		}
	}
	if dir == "." {
		dir = ""
	}
	posargs := regexp.MustCompile(`\{posargs:?([^{}]*)\}`)
	for _, l := range values["commands"] {
		l = posargs.ReplaceAllString(l, "$1")
		l = strings.NewReplacer("{envpython}", "python3", "{toxinidir}/", pathToBase(dir), "{toxinidir}", path.Clean("./"+pathToBase(dir))).Replace(l)
		words, ok := splitWords(l)
		if !ok || strings.ContainsAny(l, "{}") {
			continue
		}
		if run, ok := startableTestCommand(words); ok {
			calls = append(calls, run)
		}
	}
	return dir, calls
}

// pathToBase returns the relative path from a directory back to its base.
func pathToBase(dir string) string {
	if dir == "" {
		return ""
	}
	return strings.Repeat("../", strings.Count(dir, "/")+1)
}

// NoxTestCommands returns the test commands of a noxfile.py that are plain text.
func NoxTestCommands(text string) (calls [][]string) {
	call := regexp.MustCompile(`session\.run\(([^()]*)\)`)
	word := regexp.MustCompile(`^\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*$`)
	for _, m := range call.FindAllStringSubmatch(text, -1) {
		var words []string
		for arg := range strings.SplitSeq(m[1], ",") {
			w := word.FindStringSubmatch(arg)
			switch {
			case w != nil:
				words = append(words, w[1]+w[2])
			case strings.Contains(arg, "session.posargs") || strings.TrimSpace(arg) == "" || strings.Contains(arg, "="):
			default:
				words = append(words, "")
			}
		}
		if run, ok := startableTestCommand(words); ok && !slices.Contains(run, "") {
			calls = append(calls, run)
		}
	}
	return calls
}
