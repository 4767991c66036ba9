package discover

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/finding"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// What is too much for a function to be read at once (the predecessor's figures).
const (
	longFunction = 50 // lines of code
	deepFunction = 4  // conditions and loops within each other
)

// function is what is known of one.
type function struct {
	name  string
	mark  string // what its first line begins with, up to its name and the byte behind that
	line  int    // from 1
	lines int    // of code in it: blank lines and comments do not count, so that removing them is no way to shorten it
	depth int    // conditions and loops around its innermost line
}

// refactoring finds functions that are too long, or in which too much is within something else.
func refactoring(ctx context.Context, s *Site) (Found, error) {
	found := Found{Quick: true}
	for _, file := range s.files {
		syntax, ok := stack.SyntaxOf(file.path)
		if !ok || syntax.Heads == "" || extra(file.path) || !plain(file.path) {
			continue
		}
		lines, err := s.lines(ctx, file.path)
		if err != nil {
			return found, err
		}
		for _, f := range functions(syntax, lines) {
			if one, ok := f.tangled(file.path, syntax.Dented); ok {
				found.Findings = append(found.Findings, one)
			}
		}
	}
	return found, nil
}

// tangled makes a finding of a function that is too long or too deep.
func (f function) tangled(name string, dented bool) (finding.Finding, bool) {
	one := finding.Finding{
		Strategy: "refactoring", Kind: finding.Refactor, Severity: nexus.PriorityLow, Places: []finding.Place{{File: name, Line: f.line}},
	}
	switch {
	case f.lines > longFunction:
		one.ID, one.Count = finding.ID("refactoring", name, f.mark, "long"), f.lines
		one.Title = fmt.Sprintf("Split %s in %s, which has %d lines", f.name, one.Places[0], f.lines)
		one.Why = fmt.Sprintf("it has %d lines of code; more than %d are hard to follow", f.lines, longFunction)
		if f.depth > deepFunction {
			one.Why += fmt.Sprintf(", and %d conditions and loops are within each other", f.depth)
		}
		one.Minutes = finding.Minutes("refactoring", f.lines/longFunction)
		one.Check = measuring(name, f.mark, longScript(dented))
	case f.depth > deepFunction:
		one.ID, one.Count = finding.ID("refactoring", name, f.mark, "deep"), f.depth
		one.Title = fmt.Sprintf("Make %s in %s less deep: %d conditions and loops are within each other", f.name, one.Places[0], f.depth)
		one.Why = fmt.Sprintf("%d conditions and loops are within each other; more than %d are hard to follow", f.depth, deepFunction)
		one.Minutes = finding.Minutes("refactoring", 1)
		one.Check = measuring(name, f.mark, deepScript(dented))
	default:
		return one, false
	}
	one.Evidence = strings.TrimSpace(f.mark)
	return one, plain(f.mark) && !strings.Contains(f.mark, `\`) && len(one.Check) <= longestCheck
}

// The scripts measure as [functions] does, so that people can run them anywhere. One ends well where the function
// whose first line begins with m is over the bound.
const (
	scriptIndent = `{t=$0;sub(/^[ \t]+/,"",t);i=length()-length(t)}`
	scriptDocs   = `{w=s||t~/^[rbuf]?("""|\047\047\047)/;if(gsub(/"""|\047\047\047/,"&",t)%2)s=!s}`
	scriptBrace  = `o&&i<=k&&t~/^[}]/&&t!~/[{]$/{o=0}o&&t!=""&&t!~"^(#|//|/?[*])"`
	scriptDented = `o&&!w&&t!=""&&t!~/^#/&&(i<k||i==k&&t!~/^([])}]|rescue|ensure|else)/){o=0}o&&!w&&t!=""&&t!~/^#/`
	scriptHead   = `index(t,m)==1&&t!~/;$/{o=1;k=i;n=p=0}END{exit!x}`
)

// body is the part of a script that sees the lines of code of a function.
func scriptBody(dented bool) string {
	if dented {
		return scriptIndent + scriptDocs + scriptDented
	}
	return scriptIndent + scriptBrace
}

func longScript(dented bool) string {
	return scriptBody(dented) + fmt.Sprintf("&&++n>%d{x=1}", longFunction) + scriptHead
}

func deepScript(dented bool) string {
	return scriptBody(dented) + fmt.Sprintf("{while(p&&(i<a[p]||i==a[p]&&t!~/%s/))p--;if(p>%d)x=1;if(t~/%s/)a[++p]=i}",
		branches, deepFunction, nests(dented)) + scriptHead
}

// measuring returns a check that fails as long as a script finds a function too large.
func measuring(name, mark, script string) string {
	return fmt.Sprintf("! awk -v m=%s %s %s", quote(mark), quote(script), quote("./"+name))
}

// branches is a line that is no end of what begins above it, though it is indented like that; for Go and for awk.
const branches = `^([{]|case|default)`

// nests returns what a line looks like that holds what is indented below it; for Go and for awk.
func nests(dented bool) string {
	if dented {
		return `^(if|el[a-z]+|for|while|until|unless|try|except|finally|rescue|begin|with)([ (:]|$)`
	}
	return `^([}] *)?(if|else|for|foreach|while|do|switch|match|loop|select|try|catch)([ ({:]|$)`
}

var (
	doc        = pattern.Lazy(`^[rbuf]?("""|''')`)
	threefold  = pattern.Lazy(`"""|'''`)
	braceNote  = pattern.Lazy(`^(#|//|/?[*])`)
	dentedMore = pattern.Lazy(`^([\])}]|rescue|ensure|else)`)
	branching  = pattern.Lazy(branches)
	braceNests = pattern.Lazy(nests(false))
	dentNests  = pattern.Lazy(nests(true))
)

// row is a line, less its indent.
type row struct {
	text   string
	indent int
	quoted bool // a part of a text of several lines
}

// rows returns the lines of a file.
func rowsOf(dented bool, lines []string) []row {
	all := make([]row, len(lines))
	within := false
	for i, line := range lines {
		text := strings.TrimLeft(line, " \t")
		r := row{text: text, indent: len(line) - len(text)}
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

// functions returns the functions of a file, of those whose first lines begin alike the largest, by line.
func functions(x stack.Syntax, lines []string) []function {
	heads := regexp.MustCompile(x.Heads)
	rows := rowsOf(x.Dented, lines)
	var all []function
	for n, r := range rows {
		if r.text == "#[cfg(test)]" {
			break
		}
		f, ok := headOf(heads, lines[n])
		if !ok || r.quoted || strings.HasSuffix(r.text, ";") || !x.Dented && !braced(rows[n:]) {
			continue
		}
		f.line = n + 1
		f.lines, f.depth = follow(x.Dented, r.indent, rows[n+1:])
		at := slices.IndexFunc(all, func(other function) bool { return other.mark == f.mark })
		switch {
		case at < 0:
			all = append(all, f)
		case f.lines > all[at].lines || f.lines == all[at].lines && f.depth > all[at].depth:
			all[at] = f
		}
	}
	return all
}

// headOf reads a line that begins a function.
func headOf(heads *regexp.Regexp, line string) (function, bool) {
	groups := heads.FindStringSubmatchIndex(line)
	for i := len(groups) - 2; i > 0; i -= 2 {
		if groups[i] < 0 {
			continue
		}
		name, before := line[groups[i]:groups[i+1]], line[:groups[i]]
		if slices.ContainsFunc(append(strings.Fields(before), name), statement) {
			return function{}, false
		}
		return function{name: name, mark: strings.TrimLeft(line[:min(groups[i+1]+1, len(line))], " \t")}, true
	}
	return function{}, false
}

// statement reports whether a word begins something else than a function.
func statement(word string) bool {
	switch word {
	case "if", "else", "for", "foreach", "while", "until", "switch", "catch", "return", "new", "throw", "case", "await", "yield", "assert",
		"using", "lock", "goto", "delete", "class", "record", "interface", "enum", "struct", "with",
		"typedef", "do", "try", "super", "typeof", "elseif", "when":
		return true
	}
	return false
}

// mostHead is over how many lines the first line of a function may be spread.
const mostHead = 30

// braced reports whether a brace is opened by what begins with the first of some lines: the others declare only, or are
// a function as a whole.
func braced(rows []row) bool {
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

// follow counts the lines of code that follow the first line of a function, and how deep the innermost lies.
func follow(dented bool, indent int, rows []row) (lines, depth int) {
	var around []int // how far what is open is indented
	for _, r := range rows {
		if r.text == "" || r.quoted || dented && strings.HasPrefix(r.text, "#") {
			continue
		}
		if r.ends(dented, indent) {
			break
		}
		if !dented && braceNote().MatchString(r.text) {
			continue
		}
		lines++
		around = r.within(around)
		depth = max(depth, len(around))
		if dented && dentNests().MatchString(r.text) || !dented && braceNests().MatchString(r.text) {
			around = append(around, r.indent)
		}
	}
	return lines, depth
}

// ends reports whether a line ends the function whose first line is indented so far.
func (r row) ends(dented bool, indent int) bool {
	if dented {
		return r.indent < indent || r.indent == indent && !dentedMore().MatchString(r.text)
	}
	return r.indent <= indent && strings.HasPrefix(r.text, "}") && !strings.HasSuffix(r.text, "{")
}

// within returns what of some conditions and loops a line is within.
func (r row) within(around []int) []int {
	for len(around) > 0 {
		last := around[len(around)-1]
		if r.indent > last || r.indent == last && branching().MatchString(r.text) {
			break
		}
		around = around[:len(around)-1]
	}
	return around
}
