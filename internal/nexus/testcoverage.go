package nexus

// TestCoverage is test coverage of a tree, and of the lines that a change adds. A zero total
// means that it was not measured; it is unknown, not zero percent.
type TestCoverage struct {
	Lines      CoverageChange   `json:"lines,omitzero"`
	Branches   CoverageChange   `json:"branches,omitzero"`
	Functions  CoverageChange   `json:"functions,omitzero"`
	Statements CoverageChange   `json:"statements,omitzero"`
	New        CoverageShare    `json:"new"`               // of the executable lines that the change adds
	Missed     []UncoveredLines `json:"missed,omitempty"`  // added lines that no test runs, the longest ranges first
	Unknown    []string         `json:"unknown,omitempty"` // files with new lines that the report does not mention
}

// CoverageChange is a share now and, if it is known, before the change.
type CoverageChange struct {
	CoverageShare
	Before *CoverageShare `json:"before,omitempty"`
}

// CoverageShare is a part of a whole. A zero total is unknown.
type CoverageShare struct {
	Covered int `json:"covered"`
	Total   int `json:"total"`
}

// Percent returns the share in percent, or 0 and false if the total is unknown.
func (s CoverageShare) Percent() (float64, bool) {
	return 100 * float64(s.Covered) / float64(max(1, s.Total)), s.Total > 0
}

// UncoveredLines is a range of new lines of a file that no test runs.
type UncoveredLines struct {
	File  string `json:"file"`
	From  int    `json:"from"` // first line
	To    int    `json:"to"`
	Lines int    `json:"lines"`          // executable lines among them
	Text  string `json:"text,omitempty"` // text of the first line
}
