package stream

import "strings"

// crush reads `crush run`, which prints its last message when it is done, and nothing
// before. Its conversation is there by then.
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
