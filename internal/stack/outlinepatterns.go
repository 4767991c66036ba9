package stack

// OutlinePatterns describes the lines with which a file of a language declares something or imports
// another file. Nothing is parsed: a keyword at the very beginning of a line is enough.
type OutlinePatterns struct {
	Name      string
	Ends      []string // of a file's name
	Tests     []string // of names, as in [path.Match], of files that declare nothing for others
	Declares  []string // beginnings of a line that declares something
	Hides     string   // names that are private: lower, underscore
	Imports   []string // beginnings of a line, without its indent, that imports another file
	Stands    []string // files that represent their directory, without their ending
	Between   string   // separates the parts of that name; empty: the last quoted text of the line is the name
	Members   bool     // methods are declared without a keyword
	Flat      bool     // declarations are not nested
	Tail      string   // the first line of the tests in a file
	Generated string   // beginnings of a line that marks a generated file
}

// FileOutlines returns the outlines of all languages, and of Protobuf, which has no stack.
func FileOutlines() []OutlinePatterns {
	var all []OutlinePatterns
	for _, s := range AllStacks() {
		all = append(all, rowsOfPart(s.Outlines)...)
	}
	return append(all,
		OutlinePatterns{Name: "Protobuf", Ends: []string{".proto"}, Declares: []string{"message ", "service ", "enum "}, Imports: []string{"import "}},
	)
}
