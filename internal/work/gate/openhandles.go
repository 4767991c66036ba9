package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// handlesMark begins the lines with which a probe of Nexus names open handles: the kind, " at
// ", a file and a line. See [stack.OpenResourceTestCommand].
const handlesMark = "nexus: still open: "

// maxHandles limits how many handles are named.
const maxHandles = 20

// FindOpenHandles returns findings about the handles that keep a runner from exiting, from the
// runner's output or that of a probe of Nexus.
func FindOpenHandles(in parserbase.ToolOutput) []nexus.Finding {
	probe := regexp.MustCompile(`^(?:# )?` + handlesMark + `(.+) at (\S.*?):(\d+)(?::(\d+))?$`)
	var found []nexus.Finding
	add := func(what, file, line, column string) {
		f := nexus.Finding{Code: parserbase.CodeHang, File: in.RelativePath(file), Line: parserbase.ParseNumber(line), Column: parserbase.ParseNumber(column)}
		f.Message = fmt.Sprintf("%s is still open when the tests are done, and keeps the runner from exiting", handleKindText(what))
		if f.File == "" {
			f.Line, f.Column = 0, 0
		}
		if !slices.Contains(found, f) && len(found) < maxHandles {
			found = append(found, f)
		}
	}
	lines := in.AllLines()
	for i, l := range lines {
		lines[i] = l[:min(len(l), maxWatchedLine)]
		if m := probe.FindStringSubmatch(strings.TrimLeft(lines[i], " ")); m != nil {
			add(m[1], m[2], m[3], m[4])
		}
	}
	for _, h := range stack.OpenHandles(lines) {
		add(h.What, h.File, h.Line, h.Column)
	}
	return found
}

// handleKindText returns the description of a kind of handle.
func handleKindText(kind string) string {
	if name := stack.HandleKindText(kind); name != "" {
		return name + " (" + kind + ")"
	}
	if strings.HasPrefix(kind, "thread ") || strings.HasPrefix(kind, "process ") {
		return "the " + kind
	}
	return kind
}

// FindRunningTest returns the test that was running when a runner was ended, or its file; both are
// "" if the output does not show it.
func FindRunningTest(format string, in parserbase.ToolOutput) (test, file string) {
	all := in.AllLines()
	for i := range all {
		all[i] = all[i][:min(len(all[i]), maxWatchedLine)]
	}
	return stack.RunningTest(format, all)
}
