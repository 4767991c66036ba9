package depend

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// mostNamed is how many packages are named that a lock file lacks.
const mostNamed = 5

// refused says what npm ci has against the lock file of a place, and how that is
// mended; empty where it failed for another reason. It prints the reason above
// its whole usage. Without a network it may not get that far: then the files
// say it.
func refused(tree string, p Place, out string) (why, mend string) {
	if p.Name != "npm" {
		return "", ""
	}
	lacks := complaints(out)
	switch {
	case len(lacks) > 0:
	case strings.Contains(out, "can only install with an existing package-lock.json"):
		lacks = []string{"it cannot be read"}
	case strings.Contains(out, "ENOTCACHED"):
		lacks = absent(tree, p)
	}
	if len(lacks) == 0 {
		return "", ""
	}
	if more := len(lacks) - mostNamed; more > 0 {
		lacks = append(lacks[:mostNamed], fmt.Sprintf("and %d more", more))
	}
	file := path.Base(p.File)
	own := "npm install"
	if p.Dir != "." {
		own = "cd " + p.Dir + " && " + own
	}
	return fmt.Sprintf("%s does not fit package.json: %s", file, strings.Join(lacks, "; ")),
		fmt.Sprintf("Run %q in your own checkout, and commit %s with package.json.", own, file)
}

// complaints returns what npm ci says about the packages of a lock file.
func complaints(out string) []string {
	said := regexp.MustCompile(`(?m)^npm (?:error|ERR!) ((?:Missing|Invalid): .{1,300})$`)
	var all []string
	for _, m := range said.FindAllStringSubmatch(out, -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}

// absent returns what package.json asks for by a name that its lock file does
// not have.
func absent(tree string, p Place) []string {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only read
	var manifest struct{ Dependencies, DevDependencies map[string]string }
	var lock struct{ Packages map[string]json.RawMessage }
	read := func(name string, into any) bool {
		return json.Unmarshal([]byte(stack.ReadLock(root.FS(), path.Join(filepath.ToSlash(p.Dir), name))), into) == nil
	}
	if !read("package.json", &manifest) || !read(path.Base(p.File), &lock) || len(lock.Packages) == 0 {
		return nil
	}
	var all []string
	for _, names := range []map[string]string{manifest.Dependencies, manifest.DevDependencies} {
		for name, spec := range names {
			if _, ok := lock.Packages["node_modules/"+name]; !ok {
				all = append(all, fmt.Sprintf("Missing: %s %s", name, spec))
			}
		}
	}
	slices.Sort(all)
	return all
}
