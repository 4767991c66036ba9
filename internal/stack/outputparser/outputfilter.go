package outputparser

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Limits for the part of a stream that is in memory at once.
const (
	whole    = 64 << 20 // output that is stored unchanged
	mostUnit = 64 << 10 // of each end of one test's output, as [raw.TextHeadAndTail] stores it
	around   = 25       // lines that are stored after a relevant one
)

// OutputFilter filters the output of a tool as it arrives, of any length, and stores the part that the
// reader of the tool's format needs, in bounded memory. Output of up to 64 MiB is stored
// unchanged.
//
// From longer output of go test -json it drops the output of passed tests, so that nothing is
// cut: the stored events mean the same. Of other output it stores both ends and, of the middle,
// the lines with results of tests or problems.
type OutputFilter struct {
	events bool
	most   int // bytes of output that are stored unchanged
	limit  int // bytes of buf before it is filtered
	total  int64
	head   []byte
	mid    []byte
	buf    []byte
	lost   int64 // dropped bytes that may have mattered
	after  int   // lines that are still stored after a relevant one
}

// Patterns of lines that report problems, and of lines that report results of tests.
var (
	wrong = regexp.MustCompile(`[Ff]ail|FAIL|[Ee]rror|ERROR|[Ee]xception|panic|not ok|timed out|\x{2716}|\x{2717}|\x{2718}|\x{25cf}`)
	ended = regexp.MustCompile(`^\s*ok\b|^\s*1\.\.\d|^test |^running \d|Tests run: |PASS|pass(?:ed|ing)|skipped|pending|^\d+ (?:runs|tests|examples?), |^Ran \d+ tests? |[Ww]arning`)
)

// NewOutputFilter returns a sieve for the output of a tool in a format, which stores that many bytes
// unchanged; 0 means 64 MiB.
func NewOutputFilter(format string, most int) *OutputFilter {
	most = cmp.Or(most, whole)
	return &OutputFilter{events: format == GoTestJSON, most: most, limit: most}
}

// Write adds output. It never fails and never retains p.
func (s *OutputFilter) Write(p []byte) (int, error) {
	s.total += int64(len(p))
	s.buf = append(s.buf, p...)
	if len(s.buf) > s.limit {
		s.shrinkBuffer()
	}
	return len(p), nil
}

// Bytes returns the stored output, and whether anything is missing that may have mattered.
func (s *OutputFilter) Bytes() (kept []byte, cut bool) {
	if s.lost == 0 {
		return s.buf, false
	}
	kept = append(s.head[:len(s.head):len(s.head)], s.mid...)
	kept = fmt.Appendf(kept, "\n[... %d bytes left out before this line; lines that tell of failures and counts were kept ...]\n", s.lost)
	return append(kept, s.buf...), true
}

func (s *OutputFilter) shrinkBuffer() {
	if s.events {
		s.buf = s.dropPassedEvents(s.buf)
		if s.limit = max(s.limit, 2*len(s.buf)); s.limit <= 4*s.most {
			return
		}
		s.limit = s.most // still too much: more tests than any project has
	}
	if s.head == nil {
		end := lastLineEnd(s.buf, s.most/4)
		s.head, s.buf = bytes.Clone(s.buf[:end]), s.buf[end:]
	}
	end := lastLineEnd(s.buf, max(len(s.buf)-s.most/2, 0))
	for l := range bytes.Lines(s.buf[:end]) {
		s.keepIfRelevant(l)
	}
	s.buf = bytes.Clone(s.buf[end:])
}

// lastLineEnd returns the end of the last line within a number of bytes, or that number if the lines
// before are less than half of it: a line is very long there.
func lastLineEnd(data []byte, most int) int {
	if end := bytes.LastIndexByte(data[:most], '\n') + 1; end > most/2 {
		return end
	}
	return most
}

// keepIfRelevant stores a line between the ends if it is relevant, or comes soon after one that is.
func (s *OutputFilter) keepIfRelevant(l []byte) {
	start := l[:min(len(l), 1<<10)]
	bad := wrong.Match(start)
	if bad {
		s.after = around + 1
	}
	room := s.most / 8
	if s.after > 0 {
		s.after--
	}
	if !bad && s.after > 0 {
		room /= 2 // the explanation of a failure must not use all the space
	}
	if !bad && s.after == 0 && !ended.Match(start) || len(s.mid)+len(l) > room || len(l) > mostUnit {
		s.lost += int64(len(l))
		return
	}
	s.mid = append(s.mid, l...)
}

// filteredTestState is the state of a test or a package while its lines are filtered.
type filteredTestState struct {
	over  bool // it passed or was skipped, and reported so itself
	ended bool
	bytes int // size of its whole output
	seen  int
}

// dropPassedEvents removes the events that no reader needs: output of passed tests, and the middle of the
// output of others.
func (s *OutputFilter) dropPassedEvents(data []byte) []byte {
	units := map[[2]string]*filteredTestState{}
	of := func(e goTestEvent) *filteredTestState {
		k := [2]string{e.Package + e.ImportPath, e.Test}
		if units[k] == nil {
			units[k] = &filteredTestState{}
		}
		return units[k]
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	for l := range bytes.Lines(data[:end]) {
		e, ok := parseGoTestEvent(l)
		u := of(e)
		switch {
		case !ok || strings.HasSuffix(e.Action, "output"):
			u.bytes += len(l)
			text := strings.TrimSpace(e.Output)
			u.ended = u.ended || e.Test != "" && isTestResultLine(text, e.Test) || e.Test == "" && (text == "PASS" || strings.HasPrefix(text, "ok  \t"))
		case e.Action == "run":
			u.over, u.ended = false, false
		case e.Action == "pass" || e.Action == "skip":
			u.over = u.ended || e.Test == ""
		}
	}
	kept := data[:0]
	for l := range bytes.Lines(data[:end]) {
		e, ok := parseGoTestEvent(l)
		if u := of(e); isNeededEvent(e, ok, l, u) {
			kept = append(kept, l...)
		}
	}
	return append(kept, data[end:]...)
}

// parseGoTestEvent parses a line of go test -json; ok is false for a line that is no event.
func parseGoTestEvent(l []byte) (e goTestEvent, ok bool) {
	ok = len(l) > 0 && l[0] == '{' && json.Unmarshal(l, &e) == nil && e.Action != ""
	if !ok {
		e = goTestEvent{}
	}
	return e, ok
}

// isNeededEvent reports whether a reader needs an event.
func isNeededEvent(e goTestEvent, ok bool, l []byte, u *filteredTestState) bool {
	switch {
	case ok && !strings.HasSuffix(e.Action, "output"):
		return e.Action != "pause" && e.Action != "cont" && e.Action != "start"
	case ok && u.over:
		text := strings.TrimSpace(e.Output)
		return isTestResultLine(text, e.Test) || text == "PASS" || strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "coverage: ")
	}
	u.seen += len(l)
	room := 6 * mostUnit // an event is longer than its text
	return u.seen <= room || u.seen > u.bytes-room
}
