// Package function finds the functions of a file by patterns of lines, and measures their lines
// of code and their nesting depth. It is pure.
package function

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Limits above which a function cannot be read at once (the predecessor's figures).
const (
	Long = 50 // lines of code
	Deep = 4  // nested conditions and loops
)

// Function holds the measures of a function.
type Function struct {
	Name  string
	Mark  string // beginning of its first line, up to its name and the byte after that
	Line  int    // from 1
	Lines int    // lines of code; blank lines and comments do not count, so that removing them is no way to shorten it
	Depth int    // conditions and loops around its innermost line
}

// The scripts measure as [FunctionsIn] does, so that people can run them anywhere. A script
// succeeds while the function whose first line begins with m is over the limit.
const (
	scriptIndent = `{t=$0;sub(/^[ \t]+/,"",t);i=length()-length(t)}`
	scriptDocs   = `{w=s||t~/^[rbuf]?("""|\047\047\047)/;if(gsub(/"""|\047\047\047/,"&",t)%2)s=!s}`
	scriptBrace  = `o&&i<=k&&t~/^[}]/&&t!~/[{]$/{o=0}o&&t!=""&&t!~"^(#|//|/?[*])"`
	scriptDented = `o&&!w&&t!=""&&t!~/^#/&&(i<k||i==k&&t!~/^([])}]|rescue|ensure|else)/){o=0}o&&!w&&t!=""&&t!~/^#/`
	scriptHead   = `index(t,m)==1&&t!~/;$/{o=1;k=i;n=p=0}END{exit!x}`
)

// scriptBody is the part of a script that handles the lines of code of a function.
func scriptBody(dented bool) string {
	if dented {
		return scriptIndent + scriptDocs + scriptDented
	}
	return scriptIndent + scriptBrace
}

// LongScript returns the script for functions that are too long.
func LongScript(dented bool) string {
	return scriptBody(dented) + fmt.Sprintf("&&++n>%d{x=1}", Long) + scriptHead
}

// DeepScript returns the script for functions that are nested too deeply.
func DeepScript(dented bool) string {
	return scriptBody(dented) + fmt.Sprintf("{while(p&&(i<a[p]||i==a[p]&&t!~/%s/))p--;if(p>%d)x=1;if(t~/%s/)a[++p]=i}",
		branches, Deep, nestingPattern(dented)) + scriptHead
}

// branches matches a line that does not end the block above it, although it has the same
// indentation; for Go and for awk.
const branches = `^([{]|case|default)`

// nestingPattern returns a pattern of a line whose following indented lines are nested in it; for Go and
// for awk.
func nestingPattern(dented bool) string {
	if dented {
		return `^(if|el[a-z]+|for|while|until|unless|try|except|finally|rescue|begin|with)([ (:]|$)`
	}
	return `^([}] *)?(if|else|for|foreach|while|do|switch|match|loop|select|try|catch)([ ({:]|$)`
}

var (
	doc        = pattern.LazyRegexp(`^[rbuf]?("""|''')`)
	threefold  = pattern.LazyRegexp(`"""|'''`)
	braceNote  = pattern.LazyRegexp(`^(#|//|/?[*])`)
	dentedMore = pattern.LazyRegexp(`^([\])}]|rescue|ensure|else)`)
	branching  = pattern.LazyRegexp(branches)
	braceNests = pattern.LazyRegexp(nestingPattern(false))
	dentNests  = pattern.LazyRegexp(nestingPattern(true))
)

// sourceRow is a line without its indentation.
type sourceRow struct {
	text   string
	indent int
	quoted bool // a part of a string of several lines
}

// rowsOf returns the lines of a file.
func rowsOf(dented bool, lines []string) []sourceRow {
	all := make([]sourceRow, len(lines))
	within := false
	for i, line := range lines {
		text := strings.TrimLeft(line, " \t")
		r := sourceRow{text: text, indent: len(line) - len(text)}
		if dented {
			r.quoted = within || doc().MatchString(text)
			if len(threefold().FindAllStringIndex(text, -1))%2 == 1 {
				within = !within
			}
		}
		all[i] = r
	}
	return all
}

// FunctionsIn returns the functions of a file, ordered by line. Of functions whose first lines
// begin alike it returns the largest.
func FunctionsIn(x stack.SourceSyntax, lines []string) []Function {
	heads := regexp.MustCompile(x.Heads)
	rows := rowsOf(x.Dented, lines)
	var all []Function
	for n, r := range rows {
		if r.text == "#[cfg(test)]" {
			break
		}
		f, ok := headOf(heads, lines[n])
		if !ok || r.quoted || strings.HasSuffix(r.text, ";") || !x.Dented && !opensBrace(rows[n:]) {
			continue
		}
		f.Line = n + 1
		f.Lines, f.Depth = measureBody(x.Dented, r.indent, rows[n+1:])
		at := slices.IndexFunc(all, func(other Function) bool { return other.Mark == f.Mark })
		switch {
		case at < 0:
			all = append(all, f)
		case f.Lines > all[at].Lines || f.Lines == all[at].Lines && f.Depth > all[at].Depth:
			all[at] = f
		}
	}
	return all
}

// headOf parses the first line of a function.
func headOf(heads *regexp.Regexp, line string) (Function, bool) {
	groups := heads.FindStringSubmatchIndex(line)
	for i := len(groups) - 2; i > 0; i -= 2 {
		if groups[i] < 0 {
			continue
		}
		name, before := line[groups[i]:groups[i+1]], line[:groups[i]]
		if slices.ContainsFunc(append(strings.Fields(before), name), isStatementWord) {
			return Function{}, false
		}
		return Function{Name: name, Mark: strings.TrimLeft(line[:min(groups[i+1]+1, len(line))], " \t")}, true
	}
	return Function{}, false
}

// isStatementWord reports whether a word begins a statement and not a function.
func isStatementWord(word string) bool {
	switch word {
	case "if", "else", "for", "foreach", "while", "until", "switch", "catch", "return", "new", "throw", "case", "await", "yield", "assert",
		"using", "lock", "goto", "delete", "class", "record", "interface", "enum", "struct", "with",
		"typedef", "do", "try", "super", "typeof", "elseif", "when":
		return true
	}
	return false
}

// mostHead limits the number of lines of a function's signature.
const mostHead = 30

// opensBrace reports whether the declaration that begins at the first row opens a brace. Others are
// only declarations, or functions in a single statement.
func opensBrace(rows []sourceRow) bool {
	for i, r := range rows[:min(len(rows), mostHead)] {
		switch {
		case strings.HasSuffix(r.text, "{"):
			return true
		case strings.HasSuffix(r.text, ";"), strings.HasSuffix(r.text, "}"), i > 0 && r.text == "":
			return false
		}
	}
	return false
}

// measureBody counts the lines of code after the first line of a function, and the largest nesting
// depth.
func measureBody(dented bool, indent int, rows []sourceRow) (lines, depth int) {
	var around []int // indentations of the open blocks
	for _, r := range rows {
		if r.text == "" || r.quoted || dented && strings.HasPrefix(r.text, "#") {
			continue
		}
		if r.endsFunction(dented, indent) {
			break
		}
		if !dented && braceNote().MatchString(r.text) {
			continue
		}
		lines++
		around = r.openBlocksAround(around)
		depth = max(depth, len(around))
		if dented && dentNests().MatchString(r.text) || !dented && braceNests().MatchString(r.text) {
			around = append(around, r.indent)
		}
	}
	return lines, depth
}

// endsFunction reports whether a line ends the function whose first line has the given indentation.
func (r sourceRow) endsFunction(dented bool, indent int) bool {
	if dented {
		return r.indent < indent || r.indent == indent && !dentedMore().MatchString(r.text)
	}
	return r.indent <= indent && strings.HasPrefix(r.text, "}") && !strings.HasSuffix(r.text, "{")
}

// openBlocksAround returns those of the conditions and loops that contain a line.
func (r sourceRow) openBlocksAround(around []int) []int {
	for len(around) > 0 {
		last := around[len(around)-1]
		if r.indent > last || r.indent == last && branching().MatchString(r.text) {
			break
		}
		around = around[:len(around)-1]
	}
	return around
}
