package nexus

// Coverage is what tests go through, of a tree and of the lines that a change
// adds. What nobody measured is a zero total, which is unknown and no percent.
type Coverage struct {
	Lines      Covered     `json:"lines,omitzero"`
	Branches   Covered     `json:"branches,omitzero"`
	Functions  Covered     `json:"functions,omitzero"`
	Statements Covered     `json:"statements,omitzero"`
	New        Share       `json:"new"`               // of the lines that the change adds and that can be run
	Missed     []Uncovered `json:"missed,omitempty"`  // of them, those that no test runs, the longest rows first
	Unknown    []string    `json:"unknown,omitempty"` // files with new lines of which the report says nothing
}

// Covered is a share now and, where that is known, before.
type Covered struct {
	Share
	Before *Share `json:"before,omitempty"`
}

// Share is a part of a whole. A zero total is unknown.
type Share struct {
	Covered int `json:"covered"`
	Total   int `json:"total"`
}

// Percent returns the share in percent; of an unknown one it is 0, and false.
func (s Share) Percent() (float64, bool) {
	return 100 * float64(s.Covered) / float64(max(1, s.Total)), s.Total > 0
}

// Uncovered is a row of new lines of a file.
type Uncovered struct {
	File  string `json:"file"`
	From  int    `json:"from"` // first line
	To    int    `json:"to"`
	Lines int    `json:"lines"`          // of them that can be run
	Text  string `json:"text,omitempty"` // of the first
}
