package stack

import (
	"path"
	"slices"
	"strings"
)

// Syntax is how sources of a language look to somebody who reads lines and
// parses nothing.
type Syntax struct {
	Ends     []string  // of the names of files, in lower case
	Comments []string  // what begins one that goes to the end of its line
	Block    [2]string // what opens and closes one of several lines; empty: nothing does
	Long     []string  // marks around literals of several lines
	Quotes   string    // bytes around literals of one line
	Unbuilt  bool      // what stands between #if 0 and #endif is not built
	Exports  string    // pattern of what other files may use, whose last group that matched is the name; empty: not known
	Heads    string    // pattern of a line that begins a function, whose last group that matched is its name; empty: not known
	Dented   bool      // a function ends where its indentation does, and not at a brace
	Faults   Mutations // zero: none are made
}

// Mutations are small changes of a line that make a program wrong, for tests to
// notice.
type Mutations struct {
	Swaps   [][3]string // what it is called, what stands there, what it becomes
	Nothing string      // what a line becomes that is a call and nothing else
	Calls   bool        // there are such lines
	Returns string      // pattern of a line that returns something: what stands before it, and the value; empty: not known
	None    string      // what it returns instead
}

// SyntaxOf returns how a file looks, false for one of a language that is not
// known.
func SyntaxOf(file string) (Syntax, bool) {
	ending := strings.ToLower(path.Ext(file))
	for _, s := range All() {
		for _, x := range rows(s.Syntax) {
			if slices.Contains(x.Ends, ending) {
				return x, true
			}
		}
	}
	return first(bareSyntax(), func(x Syntax) bool { return slices.Contains(x.Ends, ending) })
}

// bareSyntax is how files of languages look that have no stack.
func bareSyntax() []Syntax {
	return []Syntax{
		braces(words(".dart"), Mutations{Calls: true, Nothing: ";", Returns: returnsEnded, None: "null"}),
		braces(words(".zig"), Mutations{Calls: true, Nothing: ";"}),
		{
			Ends: []string{".sql"}, Comments: []string{"//"}, Block: [2]string{"/*", "*/"},
			Exports: `(?mi)^\s*create (?:or replace )?(?:table|view|index|function|type)\s+(?:if not exists\s+)?([\w."]+)`,
		},
	}
}

// braces is how languages look that are written like C, with the usual swaps where it
// has faults.
func braces(ends []string, f Mutations) Syntax {
	if f.Calls {
		f.Swaps = slices.Concat(compareSwaps(), signSwaps(), booleanSwaps("true", "false"))
	}
	return Syntax{Ends: ends, Comments: []string{"//"}, Block: [2]string{"/*", "*/"}, Quotes: "\"'`", Faults: f}
}

// typedHeads is how a function begins whose type stands before its name.
const typedHeads = `^\s*(?:[\w@<][\w<>\[\],.?@]* )+(\w+)(?:<[^>]*>)?\([^;]*$`

// begins returns a syntax with what a line looks like that begins a function.
func (s Syntax) begins(heads string) Syntax {
	s.Heads = heads
	return s
}

// with returns a syntax with what its files may export and marks of long literals.
func (s Syntax) with(exports string, long ...string) Syntax {
	s.Exports, s.Long = exports, long
	return s
}

// A line that returns something, where it ends with a semicolon, or may, and
// where it ends with the line.
const (
	returnsEnded = `^(\s*return )([^;{(\[]+?)(;?\s*)$`
	returnsLine  = `^(\s*return )([^({\[]+?)(\s*)$`
)

// compareSwaps holds for almost all languages.
func compareSwaps() [][3]string {
	return [][3]string{
		{"boundary", " <= ", " < "},
		{"boundary", " >= ", " > "},
		{"boundary", " < ", " <= "},
		{"boundary", " > ", " >= "},
		{"equality", " === ", " !== "},
		{"equality", " !== ", " === "},
		{"equality", " == ", " != "},
		{"equality", " != ", " == "},
		{"arithmetic", " + ", " - "},
		{"arithmetic", " - ", " + "},
		{"arithmetic", " * ", " / "},
		{"arithmetic", " / ", " * "},
		{"arithmetic", " % ", " * "},
		{"arithmetic", " += ", " -= "},
		{"arithmetic", " -= ", " += "},
	}
}

func signSwaps() [][3]string {
	return [][3]string{{"logic", " && ", " || "}, {"logic", " || ", " && "}}
}

func wordSwaps() [][3]string {
	return [][3]string{{"logic", " and ", " or "}, {"logic", " or ", " and "}}
}

func booleanSwaps(yes, no string) [][3]string {
	return [][3]string{{"boolean", yes, no}, {"boolean", no, yes}}
}
