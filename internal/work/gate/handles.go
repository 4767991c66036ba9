package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// handlesMark begins the lines with which a probe of ours names what is still open:
// what it is, " at ", a file and a line. See [stack.OpenHandleCheck].
const handlesMark = "nexus: still open: "

// maxHandles bounds how many things are named.
const maxHandles = 20

// OpenHandles returns what keeps a runner from exiting, as far as its output says:
// its own, or that of a probe of ours.
func OpenHandles(in raw.Input) []nexus.Finding {
	probe := regexp.MustCompile(`^(?:# )?` + handlesMark + `(.+) at (\S.*?):(\d+)(?::(\d+))?$`)
	var found []nexus.Finding
	add := func(what, file, line, column string) {
		f := nexus.Finding{Code: raw.CodeHang, File: in.Place(file), Line: raw.Number(line), Column: raw.Number(column)}
		f.Message = fmt.Sprintf("%s is still open when the tests are done, and keeps the runner from exiting", handleName(what))
		if f.File == "" {
			f.Line, f.Column = 0, 0
		}
		if !slices.Contains(found, f) && len(found) < maxHandles {
			found = append(found, f)
		}
	}
	lines := in.Text()
	for i, l := range lines {
		lines[i] = l[:min(len(l), maxWatchedLine)]
		if m := probe.FindStringSubmatch(strings.TrimLeft(lines[i], " ")); m != nil {
			add(m[1], m[2], m[3], m[4])
		}
	}
	for _, h := range stack.Handles(lines) {
		add(h.What, h.File, h.Line, h.Column)
	}
	return found
}

// handleName says what a kind of handle is.
func handleName(kind string) string {
	if name := stack.HandleName(kind); name != "" {
		return name + " (" + kind + ")"
	}
	if strings.HasPrefix(kind, "thread ") || strings.HasPrefix(kind, "process ") {
		return "the " + kind
	}
	return kind
}

// RunningTest returns the test that was under way when a runner was ended, or the
// file of it, empty where the output does not tell.
func RunningTest(format string, in raw.Input) (test, file string) {
	all := in.Text()
	for i := range all {
		all[i] = all[i][:min(len(all[i]), maxWatchedLine)]
	}
	return stack.RunningTest(format, all)
}
