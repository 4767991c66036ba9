package nexus

// LandingChanges describes the parts of a landing that other agents may need to know. Long lists are
// cut.
type LandingChanges struct {
	Files []string             `json:"files,omitempty"`
	Names []ChangedDeclaration `json:"names,omitempty"`
	// lines, of the whole change; lines of binary files are not counted
	Added   int `json:"added,omitzero"`
	Deleted int `json:"deleted,omitzero"` // lines, as for Added
}

// LandedWhy is the Why of a message that reports a landing.
const LandedWhy = "landed"

// ChangedDeclaration is a declaration that a change altered or removed.
type ChangedDeclaration struct {
	File string `json:"file"`
	Name string `json:"name"`
	Was  string `json:"was"`          // its signature
	Now  string `json:"now,omitzero"` // empty: it was removed
}
