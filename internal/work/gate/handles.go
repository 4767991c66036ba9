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
// what it is, " at ", a file and a line. See [stack.Held].
const handlesMark = "nexus: still open: "

// maxHandles bounds how many things are named.
const maxHandles = 20

// OpenHandles returns what keeps a runner from exiting, as far as its output says:
// that of jest --detectOpenHandles, or of a probe.
func OpenHandles(in raw.Input) []nexus.Finding {
	probe := regexp.MustCompile(`^(?:# )?` + handlesMark + `(.+) at (\S.*?):(\d+)(?::(\d+))?$`)
	jest := regexp.MustCompile(`^ {2}\x{25cf} {2}(\S+)$`)
	frame := regexp.MustCompile(`^\s+at (?:.* \()?([^\s():]+):(\d+):(\d+)\)?$`)
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
	detected, open := false, ""
	for _, l := range in.Text() {
		l = l[:min(len(l), maxWatchedLine)]
		if m := probe.FindStringSubmatch(strings.TrimLeft(l, " ")); m != nil {
			add(m[1], m[2], m[3], m[4])
			continue
		}
		detected = detected || strings.HasPrefix(l, "Jest has detected the following ")
		if m := jest.FindStringSubmatch(l); detected && m != nil {
			open = m[1]
		} else if m := frame.FindStringSubmatch(l); open != "" && m != nil && !strings.Contains(m[1], "node_modules/") {
			add(open, m[1], m[2], m[3])
			open = ""
		}
	}
	return found
}

// handleName says what a kind of handle is.
func handleName(kind string) string {
	for _, x := range []struct{ pattern, what string }{
		{`^TCPSERVERWRAP$`, "a server that listens"},
		{`^PIPESERVERWRAP$`, "a server on a socket"},
		{`^(?:TCPWRAP|PIPEWRAP|HTTPCLIENTREQUEST|HTTPINCOMINGMESSAGE|TLSWRAP)$`, "a connection"},
		{`^(?:UDPWRAP|UDPSENDWRAP)$`, "a socket"},
		{`^(?:Timeout|Immediate)$`, "a timer"},
		{`^(?:PROCESSWRAP|ChildProcess)$`, "a child process"},
		{`^(?:WORKER|MESSAGEPORT)$`, "a worker"},
		{`^(?:FSEVENTWRAP|STATWATCHER)$`, "a file watcher"},
	} {
		if regexp.MustCompile(x.pattern).MatchString(kind) {
			return x.what + " (" + kind + ")"
		}
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
