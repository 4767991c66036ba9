package discover

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/read"
	"github.com/nexus-ai-builder/nexus/internal/stack/told"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// timer returns the gate that tells how long single tests take, and what reads its output; false where its
// runner does not tell.
func timer(g gate.Gate) (gate.Gate, func(printed string) []told.Timed, bool) {
	if g.Format == read.GoTestJSON {
		return g, elapsed, true
	}
	more, reads, ok := told.Times(g.Format, g.Args, g.Lone.Args)
	if len(more) > 0 {
		g.Name, g.Args = "times: "+g.Name, append(slices.Clone(g.Args), more...)
	}
	return g, reads, ok
}

// withinHalf returns a command that passes once a test takes half as long.
func withinHalf(g gate.Gate, t told.Timed) string {
	if g.Format == read.GoTestJSON {
		return alone(g, t.Name, fmt.Sprintf("-timeout=%.1fs", t.Seconds/2))
	}
	command := alone(g, t.Name)
	if command == "" {
		return ""
	}
	return cd(g) + fmt.Sprintf("out=$(timeout %.1f %s 2>&1); test $? -eq 0", t.Seconds/2, strings.TrimPrefix(command, cd(g)))
}

// coverCheck returns a command that fails until tests go through so many percent of a file, empty where
// nobody knows a short one.
func coverCheck(g gate.Gate, name string, percent int) string {
	local := name
	if cd(g) != "" {
		local = strings.TrimPrefix(name, path.Clean(g.Dir)+"/")
	}
	line := told.Cover(g.Goes.Name, g.Format, g.Args, local, percent)
	if g.Format == read.GoTestJSON {
		const sum = `index($1, f ":") && substr($1, index($1, f ":")-1, 1) == "/" {n += $2; if ($3 > 0) c += $2} ` +
			`END {exit !(n > 0 && 100*c >= p*n)}`
		line = fmt.Sprintf(`p=$(mktemp) && go test -count=1 -coverprofile="$p" %s >/dev/null && awk -v f=%s -v p=%d %s "$p"`,
			quote("./"+path.Dir(local)), quote(path.Base(local)), percent, quote(sum))
	}
	if line == "" || len(cd(g)+line) > longestCheck {
		return ""
	}
	return cd(g) + line
}

// cd changes to the directory of a gate.
func cd(g gate.Gate) string {
	if g.Dir == "" || g.Dir == "." {
		return ""
	}
	return "cd " + quote(g.Dir) + " && "
}
