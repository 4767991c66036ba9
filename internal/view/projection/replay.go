package projection

import (
	"cmp"
	"iter"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ReplayPoint is an event of a run, and its description.
type ReplayPoint struct {
	At    int64     `json:"at"`    // its number
	First int64     `json:"first"` // of the run's first event
	Last  int64     `json:"last"`  // of the run's last event
	Time  time.Time `json:"time"`
	Line  string    `json:"line"` // the description, for people
}

// ReplayUntil applies the events of a run up to the one with a number, but at least the run's
// first one. A number that is 0, or larger than last, means last.
func ReplayUntil(run nexus.RunID, events iter.Seq2[nexus.Event, error], number, last int64) (*RunProjection, ReplayPoint, error) {
	if number <= 0 || number > last {
		number = last
	}
	p, m := NewProjection(run, Options{}), ReplayPoint{Last: last}
	for e, err := range events {
		if err != nil {
			return nil, ReplayPoint{}, err
		}
		m.First = cmp.Or(m.First, e.Seq)
		if e.Seq > max(number, m.First) {
			break
		}
		if err := p.Apply(e); err != nil {
			return nil, ReplayPoint{}, err
		}
		about, text := view.DescribeFact(e.Fact)
		m.At, m.Time, m.Line = e.Seq, e.At, strings.TrimSpace(about+" "+text)
	}
	return p, m, nil
}
