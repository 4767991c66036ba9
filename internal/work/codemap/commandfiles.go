package codemap

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// CommandNameFile is a file at the root of a repository that names commands.
type CommandNameFile struct {
	Run   string   // prefix that starts one of them, such as npm run
	Names []string // names of the commands, in the order of the file, if it has one
	More  int      // number of omitted names
}

// maxScripts limits the commands of one file.
const maxScripts = 20

// named matches valid names of commands: other names are skipped, as the file is untrusted.
var named = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,39}$`)

// FindCommandFiles returns the commands in the files at the root of a directory: those of the
// languages' tools, recipes of a justfile and tasks of a Taskfile. It runs nothing.
func FindCommandFiles(dir string) []CommandNameFile {
	p := untrustedDirectory{dir}
	var all []CommandNameFile
	add := func(run string, names []string) {
		seen := map[string]bool{}
		names = slices.DeleteFunc(names, func(n string) bool {
			bad := seen[n] || !named.MatchString(n)
			seen[n] = true
			return bad
		})
		if n := len(names); n > 0 {
			all = append(all, CommandNameFile{Run: run, Names: names[:min(n, maxScripts)], More: max(0, n-maxScripts)})
		}
	}
	for _, o := range stack.ScriptFiles() {
		run := o.Run
		for _, other := range slices.Backward(o.Instead) {
			if p.firstExistingFile(other[0]) != "" {
				run = other[1]
			}
		}
		if name := p.firstExistingFile(o.Files...); name != "" {
			add(run, o.Names(p.readSmallFile(name)))
		}
	}
	if name := p.firstExistingFile("justfile", "Justfile", ".justfile"); name != "" {
		add("just", justfileRecipes(p.readSmallFile(name)))
	}
	if name := p.firstExistingFile("Taskfile.yml", "Taskfile.yaml"); name != "" {
		add("task", taskfileTasks(p.readSmallFile(name)))
	}
	return all
}

// justfileRecipes returns the recipes of a justfile, without the private ones.
func justfileRecipes(text string) []string {
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

// taskfileTasks returns the tasks of a Taskfile: the keys one level below the line that begins them.
func taskfileTasks(text string) []string {
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
