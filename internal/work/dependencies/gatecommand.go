package dependencies

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// expandGateCommand returns the command of a gate, with the scripts of the package in its
// directory that the command runs, and those that they run.
func expandGateCommand(dir string, g gate.QualityGate) string {
	all := strings.Join(g.Args, " ")
	root, err := os.OpenRoot(dir)
	if err != nil {
		return all
	}
	defer root.Close() //nolint:errcheck // only read
	at, err := fs.Sub(root.FS(), path.Clean("./"+filepath.ToSlash(g.Dir)))
	if err != nil {
		return all
	}
	for _, x := range stack.AllStacks() {
		if x.Expands != nil {
			all += x.Expands(at, stack.CommandWords(g.Args))
		}
	}
	return all
}
