package mcp

// Revision returns the protocol's revision that is spoken.
func (c *ToolSession) Revision() string {
	if r := c.session.InitializeResult(); r != nil {
		return r.ProtocolVersion
	}
	return ""
}
