package read

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// How much of a stream is held at once.
const (
	whole    = 64 << 20 // output that is kept as it is
	mostUnit = 64 << 10 // of each end of what one test printed, as [raw.Tail] keeps it
	around   = 25       // lines that are kept after one that says something
)

// Sieve takes the output of a tool as it arrives, however long it gets, and
// keeps what the reader of the tool's format needs, in bounded memory. Output
// of up to 64 MiB it keeps as it is.
//
// Of longer output of go test -json it drops what tests printed that passed,
// so that nothing is cut: what is kept means the same. Of other output it keeps
// both ends and, of what lies between, the lines that tell how tests ended or
// what is wrong.
type Sieve struct {
	events bool
	most   int // bytes of output that is kept as it is
	limit  int // bytes of buf before it is looked through
	total  int64
	head   []byte
	mid    []byte
	buf    []byte
	lost   int64 // bytes that were left out and may have mattered
	after  int   // lines that are still kept after one that says something
}

// What lines say that tell what is wrong, and that tell how tests ended.
var (
	wrong = pattern.Lazy(`[Ff]ail|FAIL|[Ee]rror|ERROR|[Ee]xception|panic|not ok|timed out|\x{2716}|\x{2717}|\x{2718}|\x{25cf}`)
	ended = pattern.Lazy(`^\s*ok\b|^\s*1\.\.\d|^test |^running \d|Tests run: |PASS|pass(?:ed|ing)|skipped|pending|^\d+ (?:runs|tests|examples?), |^Ran \d+ tests? |[Ww]arning`)
)

// NewSieve returns a sieve for the output of a tool in a format, that keeps so
// many bytes as they are; 0 means 64 MiB.
func NewSieve(format string, most int) *Sieve {
	most = cmp.Or(most, whole)
	return &Sieve{events: format == GoTestJSON, most: most, limit: most}
}

// Write takes more of the output. It never fails and never keeps p.
func (s *Sieve) Write(p []byte) (int, error) {
	s.total += int64(len(p))
	s.buf = append(s.buf, p...)
	if len(s.buf) > s.limit {
		s.shrink()
	}
	return len(p), nil
}

// Bytes returns what was kept, and whether anything is missing that may have
// mattered.
func (s *Sieve) Bytes() (kept []byte, cut bool) {
	if s.lost == 0 {
		return s.buf, false
	}
	kept = append(s.head[:len(s.head):len(s.head)], s.mid...)
	kept = fmt.Appendf(kept, "\n[... %d bytes left out before this line; lines that tell of failures and counts were kept ...]\n", s.lost)
	return append(kept, s.buf...), true
}

func (s *Sieve) shrink() {
	if s.events {
		s.buf = s.drop(s.buf)
		if s.limit = max(s.limit, 2*len(s.buf)); s.limit <= 4*s.most {
			return
		}
		s.limit = s.most // not even that is enough: more tests than anybody has
	}
	if s.head == nil {
		end := line(s.buf, s.most/4)
		s.head, s.buf = bytes.Clone(s.buf[:end]), s.buf[end:]
	}
	end := line(s.buf, max(len(s.buf)-s.most/2, 0))
	for l := range bytes.Lines(s.buf[:end]) {
		s.look(l)
	}
	s.buf = bytes.Clone(s.buf[end:])
}

// line returns where the last line ends that ends within so many bytes, or that
// many where less than half of them were left: a line is very long there.
func line(data []byte, most int) int {
	if end := bytes.LastIndexByte(data[:most], '\n') + 1; end > most/2 {
		return end
	}
	return most
}

// look keeps a line between the ends if it says something, or comes soon after
// one that does.
func (s *Sieve) look(l []byte) {
	start := l[:min(len(l), 1<<10)]
	bad := wrong().Match(start)
	if bad {
		s.after = around + 1
	}
	room := s.most / 8
	if s.after > 0 {
		s.after--
	}
	if !bad && s.after > 0 {
		room /= 2 // what explains a failure leaves room for others
	}
	if !bad && s.after == 0 && !ended().Match(start) || len(s.mid)+len(l) > room || len(l) > mostUnit {
		s.lost += int64(len(l))
		return
	}
	s.mid = append(s.mid, l...)
}

// unitProgress is what is known of a test or a package while its lines are looked
// through.
type unitProgress struct {
	over  bool // it passed or was skipped, and said so itself
	ended bool
	bytes int // that it printed, all together
	seen  int
}

// drop leaves out of events what no reader needs: what tests printed that have
// passed, and the middle of what others printed.
func (s *Sieve) drop(data []byte) []byte {
	units := map[[2]string]*unitProgress{}
	of := func(e event) *unitProgress {
		k := [2]string{e.Package + e.ImportPath, e.Test}
		if units[k] == nil {
			units[k] = &unitProgress{}
		}
		return units[k]
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	for l := range bytes.Lines(data[:end]) {
		e, ok := eventOf(l)
		u := of(e)
		switch {
		case !ok || strings.HasSuffix(e.Action, "output"):
			u.bytes += len(l)
			text := strings.TrimSpace(e.Output)
			u.ended = u.ended || e.Test != "" && closes(text, e.Test) || e.Test == "" && (text == "PASS" || strings.HasPrefix(text, "ok  \t"))
		case e.Action == "run":
			u.over, u.ended = false, false
		case e.Action == "pass" || e.Action == "skip":
			u.over = u.ended || e.Test == ""
		}
	}
	kept := data[:0]
	for l := range bytes.Lines(data[:end]) {
		e, ok := eventOf(l)
		if u := of(e); needed(e, ok, l, u) {
			kept = append(kept, l...)
		}
	}
	return append(kept, data[end:]...)
}

// eventOf reads a line of go test -json; ok is false for one that is no event.
func eventOf(l []byte) (e event, ok bool) {
	ok = len(l) > 0 && l[0] == '{' && json.Unmarshal(l, &e) == nil && e.Action != ""
	if !ok {
		e = event{}
	}
	return e, ok
}

// needed reports whether a reader needs a line of events.
func needed(e event, ok bool, l []byte, u *unitProgress) bool {
	switch {
	case ok && !strings.HasSuffix(e.Action, "output"):
		return e.Action != "pause" && e.Action != "cont" && e.Action != "start"
	case ok && u.over:
		text := strings.TrimSpace(e.Output)
		return closes(text, e.Test) || text == "PASS" || strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "coverage: ")
	}
	u.seen += len(l)
	room := 6 * mostUnit // an event is longer than what it says
	return u.seen <= room || u.seen > u.bytes-room
}
