package stack

import (
	"path"
	"slices"
	"strings"
)

// SourceSyntax describes the lexical form of a language's sources, for code that reads lines and
// parses nothing.
type SourceSyntax struct {
	Ends     []string      // of the names of files, in lower case
	Comments []string      // beginnings of comments that end with the line
	Block    [2]string     // begin and end of a comment of several lines; empty: there are none
	Long     []string      // marks around literals of several lines
	Quotes   string        // bytes around literals of one line
	Unbuilt  bool          // code between #if 0 and #endif is not built
	Exports  string        // pattern of exported names; the last group that matched is the name; empty: unknown
	Heads    string        // pattern of a function's first line; the last group that matched is its name; empty: unknown
	Dented   bool          // a function ends with its indentation, not at a brace
	Faults   LineMutations // zero: none are made
}

// LineMutations are small changes of a line that make a program wrong, to check that tests notice.
type LineMutations struct {
	Swaps   [][3]string // name, text, replacement
	Nothing string      // replacement of a line that is only a call
	Calls   bool        // there are such lines
	Returns string      // pattern of a return line: the part before the value, and the value; empty: unknown
	None    string      // the value returned instead
}

// SyntaxOf returns the syntax of a file, and false for an unknown language.
func SyntaxOf(file string) (SourceSyntax, bool) {
	ending := strings.ToLower(path.Ext(file))
	for _, s := range AllStacks() {
		for _, x := range rowsOfPart(s.Syntax) {
			if slices.Contains(x.Ends, ending) {
				return x, true
			}
		}
	}
	return firstMatch(otherSyntaxes(), func(x SourceSyntax) bool { return slices.Contains(x.Ends, ending) })
}

// otherSyntaxes returns the syntax of languages without a stack.
func otherSyntaxes() []SourceSyntax {
	return []SourceSyntax{
		braceSyntax(splitWords(".dart"), LineMutations{Calls: true, Nothing: ";", Returns: returnsEnded, None: "null"}),
		braceSyntax(splitWords(".zig"), LineMutations{Calls: true, Nothing: ";"}),
		{
			Ends: []string{".sql"}, Comments: []string{"//"}, Block: [2]string{"/*", "*/"},
			Exports: `(?mi)^\s*create (?:or replace )?(?:table|view|index|function|type)\s+(?:if not exists\s+)?([\w."]+)`,
		},
	}
}

// braceSyntax returns the syntax of languages that are written like C, with the usual swaps if f has
// mutations.
func braceSyntax(ends []string, f LineMutations) SourceSyntax {
	if f.Calls {
		f.Swaps = slices.Concat(comparisonSwaps(), signSwaps(), booleanSwaps("true", "false"))
	}
	return SourceSyntax{Ends: ends, Comments: []string{"//"}, Block: [2]string{"/*", "*/"}, Quotes: "\"'`", Faults: f}
}

// typedHeads matches the first line of a function whose type is before its name.
const typedHeads = `^\s*(?:[\w@<][\w<>\[\],.?@]* )+(\w+)(?:<[^>]*>)?\([^;]*$`

// withFunctionHeads returns the syntax with a pattern of a function's first line.
func (s SourceSyntax) withFunctionHeads(heads string) SourceSyntax {
	s.Heads = heads
	return s
}

// withExports returns the syntax with a pattern of exported names and marks of long literals.
func (s SourceSyntax) withExports(exports string, long ...string) SourceSyntax {
	s.Exports, s.Long = exports, long
	return s
}

// Patterns of a return line: with a semicolon at the end, with an optional one, and without.
const (
	returnsEnded = `^(\s*return )([^;{(\[]+?)(;?\s*)$`
	returnsLine  = `^(\s*return )([^({\[]+?)(\s*)$`
)

// comparisonSwaps returns the swaps of comparisons that almost all languages have.
func comparisonSwaps() [][3]string {
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
