package nexus

// Changes is what a landing changes, as far as others may have to know: of a lot not
// all.
type Changes struct {
	Files   []string     `json:"files,omitempty"`
	Names   []NameChange `json:"names,omitempty"`
	Added   int          `json:"added,omitzero"`   // lines, of the whole change; nobody counts those of a binary file
	Deleted int          `json:"deleted,omitzero"` // the same
}

// LandedWhy is why a message is sent that tells of a landing.
const LandedWhy = "landed"

// NameChange is a declaration that a change altered or took away.
type NameChange struct {
	File string `json:"file"`
	Name string `json:"name"`
	Was  string `json:"was"`          // its signature
	Now  string `json:"now,omitzero"` // empty: it is gone
}
