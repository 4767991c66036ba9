package stack

import (
	"path"
	"slices"
	"strings"
)

// Syntax describes the lexical form of a language's sources, for code that reads lines and
// parses nothing.
type Syntax struct {
	Ends     []string  // of the names of files, in lower case
	Comments []string  // beginnings of comments that end with the line
	Block    [2]string // begin and end of a comment of several lines; empty: there are none
	Long     []string  // marks around literals of several lines
	Quotes   string    // bytes around literals of one line
	Unbuilt  bool      // code between #if 0 and #endif is not built
	Exports  string    // pattern of exported names; the last group that matched is the name; empty: unknown
	Heads    string    // pattern of a function's first line; the last group that matched is its name; empty: unknown
	Dented   bool      // a function ends with its indentation, not at a brace
	Faults   Mutations // zero: none are made
}

// Mutations are small changes of a line that make a program wrong, to check that tests notice.
type Mutations struct {
	Swaps   [][3]string // name, text, replacement
	Nothing string      // replacement of a line that is only a call
	Calls   bool        // there are such lines
	Returns string      // pattern of a return line: the part before the value, and the value; empty: unknown
	None    string      // the value returned instead
}

// SyntaxOf returns the syntax of a file, and false for an unknown language.
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

// bareSyntax returns the syntax of languages without a stack.
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

// braces returns the syntax of languages that are written like C, with the usual swaps if f has
// mutations.
func braces(ends []string, f Mutations) Syntax {
	if f.Calls {
		f.Swaps = slices.Concat(compareSwaps(), signSwaps(), booleanSwaps("true", "false"))
	}
	return Syntax{Ends: ends, Comments: []string{"//"}, Block: [2]string{"/*", "*/"}, Quotes: "\"'`", Faults: f}
}

// typedHeads matches the first line of a function whose type is before its name.
const typedHeads = `^\s*(?:[\w@<][\w<>\[\],.?@]* )+(\w+)(?:<[^>]*>)?\([^;]*$`

// begins returns the syntax with a pattern of a function's first line.
func (s Syntax) begins(heads string) Syntax {
	s.Heads = heads
	return s
}

// with returns the syntax with a pattern of exported names and marks of long literals.
func (s Syntax) with(exports string, long ...string) Syntax {
	s.Exports, s.Long = exports, long
	return s
}

// Patterns of a return line: with a semicolon at the end, with an optional one, and without.
const (
	returnsEnded = `^(\s*return )([^;{(\[]+?)(;?\s*)$`
	returnsLine  = `^(\s*return )([^({\[]+?)(\s*)$`
)

// compareSwaps returns the swaps of comparisons that almost all languages have.
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
