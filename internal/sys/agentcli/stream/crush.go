package stream

import "strings"

// crushDecoder decodes the output of `crush run`, which prints nothing but its last message at the end.
// Its conversation exists by then.
type crushDecoder struct {
	plainTextDecoder

	opened bool
}

// DecodeLine implements [AgentStreamDecoder].
func (c *crushDecoder) DecodeLine(line []byte) []AgentEvent {
	all := c.plainTextDecoder.DecodeLine(line)
	if !c.opened && strings.TrimSpace(string(line)) != "" {
		c.opened = true
		all = append(all, AgentEvent{Kind: ConversationOpened})
	}
	return all
}
