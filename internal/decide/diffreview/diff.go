// Package diffreview is what people's reviews of changes need to know without
// looking anything up: it reads diffs, puts their files in the order of their
// risk, finds where lines went, reads and writes patches with comments, and
// says to an agent what people said.
package diffreview

// File is a file of a diff.
type File struct {
	Path    string `json:"path"`
	Old     string `json:"old_path,omitzero"` // where it was renamed or copied from
	Status  string `json:"status"`            // added, deleted, modified, renamed, copied
	Mode    string `json:"mode,omitzero"`     // new mode, where it changed or the file is new
	Binary  bool   `json:"binary,omitzero"`
	Added   int    `json:"added"` // lines
	Deleted int    `json:"deleted"`
	Hunks   []Hunk `json:"hunks"`
}

// Hunk is a stretch of a diff.
type Hunk struct {
	Old     int    `json:"old"` // first line before, from 1; 0: the file was empty
	OldLen  int    `json:"old_lines"`
	New     int    `json:"new"`
	NewLen  int    `json:"new_lines"`
	Section string `json:"section,omitzero"` // what git says that it is in
	Lines   []Line `json:"lines"`
}

// Line is a line of a hunk.
type Line struct {
	Kind string `json:"kind"`         // " ", "+" or "-"
	Old  int    `json:"old,omitzero"` // its number before; 0: it was not there
	New  int    `json:"new,omitzero"`
	Text string `json:"text"`          // without its end
	Bare bool   `json:"bare,omitzero"` // the file ends here without the end of a line
}

// Risk is how much depends on a file, the most first.
type Risk string

// The risks, the greatest first.
const (
	HighRisk   Risk = "high"   // public interfaces, migrations, authentication and security, weaker tests, dependencies, CI
	NormalRisk Risk = "normal" // code
	LowRisk    Risk = "low"    // tests that only grew, prose
	NoRisk     Risk = "none"   // written by a program
)
