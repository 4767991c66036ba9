package gate

import (
	"context"
	"os"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// progname matches a word that is certainly a program's name at the beginning of a command
// line.
var progname = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]*$`)

// ProgramName returns the program of a gate's command, or "" if it is in the tree or unknown.
func (g QualityGate) ProgramName() string {
	words := g.Args
	if len(words) == 3 && words[0] == "sh" && words[1] == "-c" {
		words = strings.Fields(words[2])
	}
	if len(words) == 0 || !progname.MatchString(words[0]) {
		return ""
	}
	return words[0]
}

// MissingPrograms returns the programs that are missing inside the sandbox.
func MissingPrograms(ctx context.Context, box *sandbox.Box, programs []string) ([]string, error) {
	if len(programs) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "nexus-programs-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	const each = `for p do command -v "$p" >/dev/null 2>&1 || echo "$p"; done`
	r, err := box.Run(ctx, sandbox.Command{Args: append([]string{"sh", "-c", each, "sh"}, programs...), Dir: dir, Env: sandbox.AgentCommandEnv()})
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(r.Stdout)), nil
}
