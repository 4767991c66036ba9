package nexus

// PromptManifestItem is a part of a prompt: the reason for it, its share of the context in tokens,
// and the reason for a cut.
type PromptManifestItem struct {
	In     string `json:"in"`               // location: system, tools or message
	Title  string `json:"title,omitempty"`  // empty if it has no heading
	Reason string `json:"reason,omitempty"` // why it is included
	Tokens int64  `json:"tokens"`           // estimated; 0 if it was omitted
	Of     int64  `json:"of,omitempty"`     // estimated tokens of the uncut text; 0: it was not cut
	Cut    string `json:"cut,omitempty"`    // why it was cut or omitted
}
