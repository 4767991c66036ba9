package codemap

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Script is a file at the root of a repository that names commands.
type Script struct {
	Run   string   // what starts one of them, such as npm run
	Names []string // in order of the file where it has one
	More  int      // that are left out
}

// maxScripts bounds the commands of one file.
const maxScripts = 20

// named is what a command may be called: what looks like anything else is left
// out, as nobody vouches for the file.
var named = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,39}$`)

// Scripts returns what the files at the root of a directory offer to run:
// scripts of package.json and composer.json, targets of a Makefile, recipes of
// a justfile, tasks of a Taskfile or a Rakefile. It runs nothing.
func Scripts(dir string) []Script {
	p := place{dir}
	var all []Script
	add := func(run string, names []string) {
		seen := map[string]bool{}
		names = slices.DeleteFunc(names, func(n string) bool {
			bad := seen[n] || !named.MatchString(n)
			seen[n] = true
			return bad
		})
		if n := len(names); n > 0 {
			all = append(all, Script{Run: run, Names: names[:min(n, maxScripts)], More: max(0, n-maxScripts)})
		}
	}
	add(manager(p)+" run", scriptsOf(p.text("package.json")))
	add("composer run", scriptsOf(p.text("composer.json")))
	if name := p.has("GNUmakefile", "makefile", "Makefile"); name != "" {
		add("make", rules(p.text(name)))
	}
	if name := p.has("justfile", "Justfile", ".justfile"); name != "" {
		add("just", recipes(p.text(name)))
	}
	if name := p.has("Taskfile.yml", "Taskfile.yaml"); name != "" {
		add("task", tasks(p.text(name)))
	}
	if name := p.has("Rakefile"); name != "" {
		add("rake", rake(p.text(name)))
	}
	return all
}

// manager returns the package manager that a lock file names.
func manager(p place) string {
	for _, lock := range [][2]string{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if p.has(lock[0]) != "" {
			return lock[1]
		}
	}
	return "npm"
}

// scriptsOf returns the names of the scripts of a manifest, less those that
// only run before or after another.
func scriptsOf(text string) []string {
	var m struct {
		Scripts map[string]json.RawMessage `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(m.Scripts))
	return slices.DeleteFunc(names, func(n string) bool {
		for _, hook := range []string{"pre", "post"} {
			if of, ok := strings.CutPrefix(n, hook); ok && of != "" {
				if _, there := m.Scripts[of]; there {
					return true
				}
			}
		}
		return false
	})
}

// rules returns the targets of a Makefile that people would name.
func rules(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		target, rest, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":=") || strings.ContainsAny(line[:1], "\t #.") || strings.ContainsAny(target, "=$%") {
			continue
		}
		names = append(names, strings.Fields(target)...)
	}
	return slices.DeleteFunc(names, func(n string) bool { return strings.ContainsAny(n, "./") })
}

// recipes returns the recipes of a justfile, less the private ones.
func recipes(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		head, rest, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(rest, "=") || strings.ContainsAny(line[:1], "\t #_") {
			continue
		}
		if words := strings.Fields(strings.TrimPrefix(head, "@")); len(words) > 0 && !slices.Contains([]string{"set", "alias", "export", "import", "mod"}, words[0]) {
			names = append(names, words[0])
		}
	}
	return names
}

// tasks returns the tasks of a Taskfile: what stands one level below the line
// that begins them.
func tasks(text string) []string {
	var names []string
	within, indent := false, ""
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		own := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if own == "" {
			within, indent = strings.HasPrefix(line, "tasks:"), ""
			continue
		}
		if indent == "" {
			indent = own
		}
		if name, _, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && within && own == indent {
			names = append(names, strings.Trim(name, `"'`))
		}
	}
	return names
}

var task = regexp.MustCompile(`^task\s+\(?[:"']?([A-Za-z0-9_]+)`)

// rake returns the tasks of a Rakefile that are in no namespace.
func rake(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if m := task.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}
