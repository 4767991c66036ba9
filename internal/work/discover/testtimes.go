package discover

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
	"github.com/nexus-ai-builder/nexus/internal/stack/read"
	"github.com/nexus-ai-builder/nexus/internal/stack/toolreport"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// timer returns a gate that reports the durations of single tests, and a parser of its output;
// false if its runner does not report them.
func timer(g gate.Gate) (gate.Gate, func(printed string) []toolreport.TestDuration, bool) {
	if g.Format == read.GoTestJSON {
		return g, elapsed, true
	}
	more, reads, ok := toolreport.Times(g.Format, g.Args, g.Lone.Args)
	if len(more) > 0 {
		g.Name, g.Args = "times: "+g.Name, append(slices.Clone(g.Args), more...)
	}
	return g, reads, ok
}

// withinHalf returns a command that passes once a test takes half as long.
func withinHalf(g gate.Gate, t toolreport.TestDuration) string {
	if g.Format == read.GoTestJSON {
		return singleTestCommand(g, t.Name, fmt.Sprintf("-timeout=%.1fs", t.Seconds/2))
	}
	command := singleTestCommand(g, t.Name)
	if command == "" {
		return ""
	}
	return cd(g) + fmt.Sprintf("out=$(timeout %.1f %s 2>&1); test $? -eq 0", t.Seconds/2, strings.TrimPrefix(command, cd(g)))
}

// coverCheck returns a command that fails until the tests cover the wanted lines of a file, or
// "" if no short command is known.
func coverCheck(g gate.Gate, w toolreport.CoverageTarget) string {
	if cd(g) != "" {
		w.File = strings.TrimPrefix(w.File, path.Clean(g.Dir)+"/")
	}
	line := toolreport.Cover(g.Goes.Name, g.Format, g.Args, w)
	if g.Format == read.GoTestJSON {
		line = toolreport.CoverGo(w)
	}
	if line == "" || len(cd(g)+line) > longestCheck {
		return ""
	}
	return cd(g) + line
}

// cd returns a prefix that changes to the directory of a gate.
func cd(g gate.Gate) string {
	if g.Dir == "" || g.Dir == "." {
		return ""
	}
	return "cd " + cmdline.Quote(g.Dir) + " && "
}
