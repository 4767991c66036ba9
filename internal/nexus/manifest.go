package nexus

// PromptItem is a part of what was sent to a model: why it was there, how much
// of its context it took, and what was cut of it.
type PromptItem struct {
	In     string `json:"in"`               // system, tools or message
	Title  string `json:"title,omitempty"`  // empty for what has no heading
	Reason string `json:"reason,omitempty"` // why it is there
	Tokens int64  `json:"tokens"`           // about; 0 where it was left out
	Of     int64  `json:"of,omitempty"`     // about as many tokens as it has in full; 0: it was not cut
	Cut    string `json:"cut,omitempty"`    // why it was cut or left out
}
