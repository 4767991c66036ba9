package nexus

// Coverage is test coverage of a tree, and of the lines that a change adds. A zero total
// means that it was not measured; it is unknown, not zero percent.
type Coverage struct {
	Lines      Covered     `json:"lines,omitzero"`
	Branches   Covered     `json:"branches,omitzero"`
	Functions  Covered     `json:"functions,omitzero"`
	Statements Covered     `json:"statements,omitzero"`
	New        Share       `json:"new"`               // of the executable lines that the change adds
	Missed     []Uncovered `json:"missed,omitempty"`  // added lines that no test runs, the longest ranges first
	Unknown    []string    `json:"unknown,omitempty"` // files with new lines that the report does not mention
}

// Covered is a share now and, if it is known, before the change.
type Covered struct {
	Share
	Before *Share `json:"before,omitempty"`
}

// Share is a part of a whole. A zero total is unknown.
type Share struct {
	Covered int `json:"covered"`
	Total   int `json:"total"`
}

// Percent returns the share in percent, or 0 and false if the total is unknown.
func (s Share) Percent() (float64, bool) {
	return 100 * float64(s.Covered) / float64(max(1, s.Total)), s.Total > 0
}

// Uncovered is a range of new lines of a file that no test runs.
type Uncovered struct {
	File  string `json:"file"`
	From  int    `json:"from"` // first line
	To    int    `json:"to"`
	Lines int    `json:"lines"`          // executable lines among them
	Text  string `json:"text,omitempty"` // text of the first line
}
