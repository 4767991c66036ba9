// Package missingdocs finds public names and directories without a describing comment, by patterns
// of lines, and writes commands that check the same. It is pure.
package missingdocs

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

// DocPatterns holds the patterns of a language's public names and of their descriptions. All are
// for Go and for awk, except those of never, only and find.
type DocPatterns struct {
	ends   string // of a file's name
	public string // a line that declares a public name
	but    string // a declaration whose name is description enough
	above  string // a line that describes the name below it
	until  string // a line after which a description no longer counts
	hides  string // a line after which nothing is public; empty: there is none
	shows  string // a line after which names are public again

	only  string // a line that a file must have for its names to be public; empty: they always are
	never string // a line of files that cannot be judged
	lib   bool   // only names in a directory lib are public

	find func(lines []string) []int // finds the undescribed lines, instead of the patterns
	asks func(file string) string   // returns the command that checks this
}

// known matches Go methods whose names describe them: those of the standard library's
// interfaces.
const known = `^func [(][^)]*[)] (Len|Less|Swap|Error|Unwrap|Is|As|String|Read|Write|Close|ServeHTTP|(Unm|M)arshal[A-Za-z]+)[(]`

// ended matches a line, not of a comment, that ends a statement or begins a block that is not
// part of an annotation.
const ended = `^[ \t]*([^/ \t].*)?(;|}|(^|[^(])[{]) *$`

// LanguageOf returns the language of a file, and false if it has no public names or they cannot
// be determined.
func LanguageOf(name string) (DocPatterns, bool) {
	rows := []DocPatterns{
		{
			ends: ".go", public: `^(func|type|var|const) ([(]([a-z_A-Z0-9]+ )?[*]?[A-Z][^)]*[)] )?[A-Z]`, but: known,
			above: `^//|[*]/$`, until: `^`,
		},
		{
			ends: ".rs", public: `^ *pub ((async|unsafe|const) )*(fn|struct|enum|trait|const|static) [A-Za-z_]`, but: `^$`,
			above: `^ *//[/!]|^ *#[[]|[*]/$`, until: `^`,
		},
		{ends: ".ts", public: `^export (async )?(function|class|interface|const) `, but: `^$`, above: `^//|[*]/ *$|^@`, until: `[^ ]`},
		{ends: ".js", public: `^export (async )?(function|class|const) `, but: `^$`, above: `^//|[*]/ *$`, until: `[^ ]`},
		{ends: ".py", find: undocumentedPythonNames, asks: pythonMissingDocsCommand, never: `^if __name__ *==`},
		{
			ends: ".java", public: `^(  |    |\t)?public ([^=;(]+ [A-Za-z0-9_]+[(]|[a-z ]*(class|interface|enum|record) [A-Z])`,
			but:   ` ((get|set|is)[A-Z][A-Za-z0-9]*|equals|hashCode|toString|compareTo|main)[(]`,
			above: `[*]/ *$|@Override`, until: ended, only: `^public `,
		},
		{
			ends: ".rb", public: `^ *(class [A-Z][A-Za-z:]* <[^<;]*$|def [a-z])`, lib: true, // a class without a base may continue one of another file
			but:   `:nodoc:|def (self[.])?(initialize|to_[a-z]+|inspect|hash|each|eql[?]|method_missing|respond_to_missing[?])`,
			above: `^ *#`, until: `^ *(end|class|module|def)`,
			hides: `^ *(private|protected) *(#.*)?$`, shows: `^ *(class|module|public)( |$)`,
			never: `^ *(sig |private[( ]+[:*%]|private_class_method|private_constant)`,
		},
		{
			ends: ".php", public: `^(((abstract|final|readonly) )*(class|interface|trait|enum) [A-Z]|    public (static )?function [a-z])`,
			but: `function (get|set|is|has)[A-Z]`, above: `[*]/ *$|^ *#[[]Override`, until: ended,
		},
		{
			ends:   ".kt",
			public: `^((public|open|abstract|data|sealed|inline|suspend|operator|infix|value|enum|annotation) )*(class|interface|object|fun) `,
			but:    `fun main[(]`, above: `[*]/ *$`, until: `^[^@ )]`,
		},
		{
			ends:   ".swift",
			public: `^ *(public|open) ((final|static|class|indirect|mutating|override) )*(func|class|struct|enum|protocol|actor|var|let) `,
			but:    ` override `, above: `^ *///|[*]/ *$|^ *@`, until: `[^ ]`,
		},
	}
	for _, d := range rows {
		if path.Ext(name) == d.ends && !strings.HasSuffix(name, ".d.ts") {
			own := d.ends == ".py" && isPrivatePythonFile(name) || d.ends == ".java" && strings.Contains("/"+name, "/internal/")
			return d, !own && (!d.lib || strings.Contains("/"+name, "/lib/"))
		}
	}
	return DocPatterns{}, false
}

// CanFindNames reports whether the public names of a file can be determined from its lines.
func (d DocPatterns) CanFindNames(lines []string) bool {
	has := func(pattern string) bool { return slices.ContainsFunc(lines, regexp.MustCompile(pattern).MatchString) }
	return (d.never == "" || !has(d.never)) && (d.only == "" || has(d.only))
}

// UndescribedLines returns the lines of undescribed public names, counted from 0.
func (d DocPatterns) UndescribedLines(lines []string) (all []int) {
	switch {
	case !d.CanFindNames(lines):
		return nil
	case d.find != nil:
		return d.find(lines)
	}
	public, but, above := regexp.MustCompile(d.public), regexp.MustCompile(d.but), regexp.MustCompile(d.above)
	until, hides, shows := regexp.MustCompile(d.until), regexp.MustCompile(d.hides), regexp.MustCompile(d.shows)
	described, comment, hidden := false, false, false
	for n, text := range lines {
		switch comment = comment || opens.MatchString(text); {
		case comment:
			comment, described = !strings.Contains(text, "*/"), true
			continue
		case above.MatchString(text):
			described = true
			continue
		}
		hidden = hidden && !shows.MatchString(text)
		if public.MatchString(text) && !but.MatchString(text) && !described && !hidden {
			all = append(all, n)
		}
		hidden = hidden || d.hides != "" && hides.MatchString(text)
		described = described && !until.MatchString(text)
	}
	return all
}

// MissingDocsCommand returns a command that fails if a file has such lines.
func (d DocPatterns) MissingDocsCommand(name string) string {
	if d.asks != nil {
		return d.asks(name)
	}
	shows, visible, hides := "", "", ""
	if d.hides != "" {
		shows, visible, hides = fmt.Sprintf(` /%s/{v=0}`, escapeSlashes(d.shows)), "&&!v", fmt.Sprintf(` /%s/{v=1}`, escapeSlashes(d.hides))
	}
	const program = `{sub(/\r$/,"")} /%s/{c=1} c{if(/[*]\//)c=0;d=1;next} /%s/{d=1;next}%s /%s/&&!/%s/&&!d%s{x=1}%s /%s/{d=0} END{exit x}`
	return fmt.Sprintf("awk %s %s", scriptcommands.QuoteShellWord(fmt.Sprintf(program, escapeSlashes(opens.String()), escapeSlashes(d.above), shows, escapeSlashes(d.public),
		escapeSlashes(d.but), visible, hides, escapeSlashes(d.until))), scriptcommands.QuoteShellWord("./"+name))
}

// opens matches a line that begins a comment of several lines, for Go and for awk.
var opens = regexp.MustCompile(`^[ \t]*/[*]`)

// escapeSlashes escapes a pattern for use between the slashes of awk.
func escapeSlashes(pattern string) string { return strings.ReplaceAll(pattern, "/", `\/`) }

var (
	pythonDef   = regexp.MustCompile(`^(\s*)(?:async )?def (\w+)`)
	pythonClass = regexp.MustCompile(`^class (\w+)\s*(\(\s*\))?\s*:`)
	pythonSub   = regexp.MustCompile(`^class (\w+)`)
	pythonText  = regexp.MustCompile(`^\s*[rRuU]?["']`)
	pythonDoc   = regexp.MustCompile(`^[rbuf]?("""|''')`)
	pythonThree = regexp.MustCompile(`"""|'''`)
	pythonEnd   = regexp.MustCompile(`:\s*(?:#.*)?$`)
)

// undocumentedPythonNames finds public classes and functions of a module without a docstring, and methods
// of classes that have no base from which they may inherit a docstring. It skips decorated
// names: the decorator may describe them.
func undocumentedPythonNames(lines []string) (all []int) {
	quotes := markStringLines(lines)
	within, decorated, body := false, false, 0 // a class whose methods count, and their indentation
	for n, line := range lines {
		text := strings.TrimLeft(line, " \t")
		indent := len(line) - len(text)
		if text == "" || quotes[n] || strings.HasPrefix(text, "#") {
			continue
		}
		def, class := pythonDef.FindStringSubmatch(lines[n]), pythonSub.FindStringSubmatch(lines[n])
		named := ""
		switch {
		case indent == 0:
			within, body = pythonClass.MatchString(lines[n]) && !strings.HasPrefix(class[1], "_"), 0
			if class != nil {
				named, decorated = class[1], false
			} else if def != nil {
				named = def[2]
			}
		case within && body == 0:
			body = indent
			fallthrough
		case within && indent == body:
			if def != nil {
				named = def[2]
			}
		}
		if named != "" && !strings.HasPrefix(named, "_") && !decorated && !isDocstring(lines[n:]) {
			all = append(all, n)
		}
		if strings.HasPrefix(text, "@") {
			decorated = true
		} else if def != nil || class != nil {
			decorated = false
		}
	}
	return all
}

// markStringLines marks the lines that begin a string of several lines or are within one.
func markStringLines(lines []string) []bool {
	all, quoted := make([]bool, len(lines)), false
	for n, line := range lines {
		text := strings.TrimLeft(line, " \t")
		all[n] = quoted || pythonDoc.MatchString(text)
		if len(pythonThree.FindAllStringIndex(text, -1))%2 == 1 {
			quoted = !quoted
		}
	}
	return all
}

// isPrivatePythonFile reports whether a Python file is, by its name, no module for others.
func isPrivatePythonFile(name string) bool {
	if slices.Contains([]string{"setup.py", "noxfile.py", "manage.py", "conf.py"}, path.Base(name)) {
		return true
	}
	private := func(part string) bool { return strings.HasPrefix(part, "_") && part != "__init__.py" }
	return slices.ContainsFunc(strings.Split(name, "/"), private)
}

// longestHead limits the number of lines of a function's signature.
const longestHead = 30

// isDocstring reports whether a string follows the signature of a function or a class, which ends
// with a colon.
func isDocstring(lines []string) bool {
	for n, text := range lines[:min(len(lines), longestHead)] {
		if !pythonEnd.MatchString(text) {
			if n == 0 && strings.Count(text, "(") == strings.Count(text, ")") {
				return false // all of it is in one line
			}
			continue
		}
		for _, below := range lines[n+1:] {
			if text := strings.TrimSpace(below); text != "" && !strings.HasPrefix(text, "#") {
				return pythonText.MatchString(text)
			}
		}
		return false
	}
	return true // a signature that cannot be parsed
}

// pythonMissingDocsCommand returns a command that lets Python itself check a file.
func pythonMissingDocsCommand(name string) string {
	const program = `import ast,sys;F=(ast.FunctionDef,ast.AsyncFunctionDef);C=ast.ClassDef;` +
		`p=lambda n:n.name[0]!="_"and(isinstance(n,C)or isinstance(n,F)and not n.decorator_list);` +
		`s=[n for n in ast.parse(open(sys.argv[1],"rb").read()).body if isinstance(n,F+(C,))and p(n)];` +
		`s+=[m for n in s if isinstance(n,C)and not n.bases for m in n.body if isinstance(m,F)and p(m)];` +
		`sys.exit(None in map(ast.get_docstring,s))`
	return "python3 -c " + scriptcommands.QuoteShellWord(program) + " " + scriptcommands.QuoteShellWord("./"+name)
}
