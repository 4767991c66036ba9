package depend

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// says returns the command of a gate, and the scripts of the package.json in
// its directory that the command runs, and those that they run.
func says(dir string, g gate.Gate) string {
	all := strings.Join(g.Args, " ")
	root, err := os.OpenRoot(dir)
	if err != nil {
		return all
	}
	defer root.Close() //nolint:errcheck // only read
	var manifest struct{ Scripts map[string]string }
	if json.Unmarshal([]byte(stack.ReadLock(root.FS(), path.Join(path.Clean("./"+filepath.ToSlash(g.Dir)), "package.json"))), &manifest) != nil {
		return all
	}
	had := map[string]bool{}
	for open := stack.Words(g.Args); len(open) > 0; open = open[1:] {
		for _, name := range []string{"pre" + open[0], open[0], "post" + open[0]} {
			line := manifest.Scripts[name]
			if line == "" || had[name] {
				continue
			}
			had[name] = true
			all += "\n" + line
			open = slices.Concat(open, stack.Words([]string{line}))
		}
	}
	return all
}
