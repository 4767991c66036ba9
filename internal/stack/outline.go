package stack

// Outline is how lines look with which a file of a language declares something or
// names another file. Nothing is parsed: a line at the very beginning of which a
// word stands is taken for what it looks like.
type Outline struct {
	Name      string
	Ends      []string // of a file's name
	Tests     []string // as in [path.Match], of names whose files declare nothing for others
	Declares  []string // what a line begins with that declares something
	Hides     string   // names that are private: lower, underscore
	Imports   []string // what a line begins with, less its indent, that names another file
	Stands    []string // files that stand for their directory, without their ending
	Between   string   // what is between the parts of that name; empty: it is the last quoted text of the line
	Members   bool     // methods are declared without a word that says so
	Flat      bool     // nothing is within something else
	Tail      string   // the line from which on a file holds tests
	Generated string   // what a line begins with that says that nobody wrote the file
}

// Outlines returns how files of all languages are outlined, and those of Protobuf,
// which has no stack.
func Outlines() []Outline {
	var all []Outline
	for _, s := range All() {
		all = append(all, rows(s.Outlines)...)
	}
	return append(all,
		Outline{Name: "Protobuf", Ends: []string{".proto"}, Declares: []string{"message ", "service ", "enum "}, Imports: []string{"import "}},
	)
}
