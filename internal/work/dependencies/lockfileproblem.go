package dependencies

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// mostNamed limits how many missing packages of a lock file are named.
const mostNamed = 5

// lockFileProblem returns the problem that an install command reports with a lock file, and
// its fix; both are "" if the command failed for another reason.
func lockFileProblem(tree string, p LockDirectory, out string) (why, fix string) {
	if p.Lacks == nil {
		return "", ""
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return "", ""
	}
	defer root.Close() //nolint:errcheck // only read
	at, err := fs.Sub(root.FS(), path.Clean(filepath.ToSlash(p.Dir)))
	if err != nil {
		return "", ""
	}
	lacks := p.Lacks(at, p.File, out)
	if len(lacks) == 0 {
		return "", ""
	}
	if more := len(lacks) - mostNamed; more > 0 {
		lacks = append(lacks[:mostNamed], fmt.Sprintf("and %d more", more))
	}
	file, own := path.Base(p.File), p.Renew
	if p.Dir != "." {
		own = "cd " + p.Dir + " && " + own
	}
	return fmt.Sprintf("%s does not fit %s: %s", file, p.Manifest, strings.Join(lacks, "; ")),
		fmt.Sprintf("Run %q in your own checkout, and commit %s with %s.", own, file, p.Manifest)
}
