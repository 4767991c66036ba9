package stream

import "strings"

// crush decodes the output of `crush run`, which prints nothing but its last message at the end.
// Its conversation exists by then.
type crush struct {
	text

	opened bool
}

// Line implements [Decoder].
func (c *crush) Line(line []byte) []Event {
	all := c.text.Line(line)
	if !c.opened && strings.TrimSpace(string(line)) != "" {
		c.opened = true
		all = append(all, Event{Kind: Opened})
	}
	return all
}
