package discover

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
	"github.com/nexus-ai-builder/nexus/internal/stack/toolreport"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// testTimingGate returns a gate that reports the durations of single tests, and a parser of its output;
// false if its runner does not report them.
func testTimingGate(g gate.QualityGate) (gate.QualityGate, func(printed string) []toolreport.TestDuration, bool) {
	if g.Format == outputparser.GoTestJSON {
		return g, parseGoTestDurations, true
	}
	more, reads, ok := toolreport.TestDurationsReader(g.Format, g.Args, g.Lone.Args)
	if len(more) > 0 {
		g.Name, g.Args = "times: "+g.Name, append(slices.Clone(g.Args), more...)
	}
	return g, reads, ok
}

// halfTimeCheckCommand returns a command that passes once a test takes half as long.
func halfTimeCheckCommand(g gate.QualityGate, t toolreport.TestDuration) string {
	if g.Format == outputparser.GoTestJSON {
		return singleTestCommand(g, t.Name, fmt.Sprintf("-timeout=%.1fs", t.Seconds/2))
	}
	command := singleTestCommand(g, t.Name)
	if command == "" {
		return ""
	}
	return changeDirectoryPrefix(g) + fmt.Sprintf("out=$(timeout %.1f %s 2>&1); test $? -eq 0", t.Seconds/2, strings.TrimPrefix(command, changeDirectoryPrefix(g)))
}

// coverageCheckCommand returns a command that fails until the tests cover the wanted lines of a file, or
// "" if no short command is known.
func coverageCheckCommand(g gate.QualityGate, w toolreport.FileCoverageTarget) string {
	if changeDirectoryPrefix(g) != "" {
		w.File = strings.TrimPrefix(w.File, path.Clean(g.Dir)+"/")
	}
	line := toolreport.CoverageCheckCommand(g.Goes.Name, g.Format, g.Args, w)
	if g.Format == outputparser.GoTestJSON {
		line = toolreport.GoCoverageCommand(w)
	}
	if line == "" || len(changeDirectoryPrefix(g)+line) > longestCheck {
		return ""
	}
	return changeDirectoryPrefix(g) + line
}

// changeDirectoryPrefix returns a prefix that changes to the directory of a gate.
func changeDirectoryPrefix(g gate.QualityGate) string {
	if g.Dir == "" || g.Dir == "." {
		return ""
	}
	return "cd " + scriptcommands.QuoteShellWord(g.Dir) + " && "
}
