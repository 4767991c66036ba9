package discover

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/finding"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// documented says how a language's public names look, and what describes them. All are patterns for Go and for awk, but
// never, only and find.
type documented struct {
	ends   string // of a file's name
	public string // a line that declares a public name
	but    string // one that needs no words: it says itself what it does
	above  string // a line that describes the name below it
	until  string // a line behind which a description counts for nothing
	hides  string // a line behind which nothing is public; empty: there is none
	shows  string // one behind which it is, again

	only  string // a pattern of a line that a file has, if others can reach what is in it; empty: they can
	never string // one of a line of files in which nobody can tell
	lib   bool   // only what is in a directory lib is for others

	find func(lines []string) []int // finds the lines without a description, instead of the patterns
	asks func(file string) string   // the check of that
}

// known are methods of Go that say by their names what they do: those of the standard library's interfaces.
const known = `^func [(][^)]*[)] (Len|Less|Swap|Error|Unwrap|Is|As|String|Read|Write|Close|ServeHTTP|(Unm|M)arshal[A-Za-z]+)[(]`

// ended is a line that ends a statement, or begins a block which is none of an annotation.
const ended = `(;|}|(^|[^(])[{]) *$`

func documentedIn(name string) (documented, bool) {
	rows := []documented{
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
		{ends: ".py", find: pythonNames, asks: pythonCheck, never: `^if __name__ *==`},
		{
			ends: ".java", public: `^(  |    |\t)?public ([^=;(]+ [A-Za-z0-9_]+[(]|[a-z ]*(class|interface|enum|record) [A-Z])`,
			but:   ` ((get|set|is)[A-Z][A-Za-z0-9]*|equals|hashCode|toString|compareTo|main)[(]`,
			above: `[*]/ *$|@Override`, until: ended, only: `^public `,
		},
		{
			ends: ".rb", public: `^ *(class [A-Z][A-Za-z:]* <[^<;]*$|def [a-z])`, lib: true, // a class without a base may be one of another file
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
			return d, (!d.lib || strings.Contains("/"+name, "/lib/")) && (d.ends != ".py" || !pythonOwn(name))
		}
	}
	return documented{}, false
}

// lacking returns the lines of public names that nothing describes, from 0.
func (d documented) lacking(lines []string) (all []int) {
	has := func(pattern string) bool { return slices.ContainsFunc(lines, regexp.MustCompile(pattern).MatchString) }
	switch {
	case d.never != "" && has(d.never), d.only != "" && !has(d.only):
		return nil
	case d.find != nil:
		return d.find(lines)
	}
	public, but, above := regexp.MustCompile(d.public), regexp.MustCompile(d.but), regexp.MustCompile(d.above)
	until, hides, shows := regexp.MustCompile(d.until), regexp.MustCompile(d.hides), regexp.MustCompile(d.shows)
	described, comment, hidden := false, false, false
	for n, text := range lines {
		switch comment = comment || opens().MatchString(text); {
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

// check returns a command that says the same.
func (d documented) check(name string) string {
	if d.asks != nil {
		return d.asks(name)
	}
	shows, visible, hides := "", "", ""
	if d.hides != "" {
		shows, visible, hides = fmt.Sprintf(` /%s/{v=0}`, slashes(d.shows)), "&&!v", fmt.Sprintf(` /%s/{v=1}`, slashes(d.hides))
	}
	const program = `{sub(/\r$/,"")} /%s/{c=1} c{if(/[*]\//)c=0;d=1;next} /%s/{d=1;next}%s /%s/&&!/%s/&&!d%s{x=1}%s /%s/{d=0} END{exit x}`
	return fmt.Sprintf("awk %s %s", quote(fmt.Sprintf(program, slashes(opens().String()), slashes(d.above), shows, slashes(d.public),
		slashes(d.but), visible, hides, slashes(d.until))), quote("./"+name))
}

// missing makes a finding of the public names of a file that nothing describes.
func (d documented) missing(name string, lines []string) (finding.Finding, bool) {
	f := finding.Finding{Strategy: "documentation", Kind: finding.Docs, Severity: nexus.PriorityTrivial}
	parts := []string{name}
	for _, n := range d.lacking(lines) {
		f.Places = append(f.Places, finding.Place{File: name, Line: n + 1})
		parts = append(parts, lines[n])
	}
	if f.Count = len(f.Places); f.Count == 0 {
		return f, false
	}
	f.Places = f.Places[:min(f.Count, 20)]
	f.ID, f.Minutes = finding.ID("documentation", parts...), finding.Minutes("documentation", f.Count)
	f.Title = fmt.Sprintf("Describe %s of %s", many(f.Count, "public name"), name)
	f.Why = "others use them, and no comment says what they do"
	f.Evidence = cut(strings.TrimSpace(parts[1]), 200)
	f.Check = d.check(name)
	return f, len(f.Check) <= longestCheck
}

// opens finds a line that begins a comment of several lines, for Go and for awk.
var opens = pattern.Lazy(`^[ \t]*/[*]`)

// slashes writes a pattern between the slashes of awk.
func slashes(pattern string) string { return strings.ReplaceAll(pattern, "/", `\/`) }

var (
	pythonDef   = pattern.Lazy(`^(\s*)(?:async )?def (\w+)`)
	pythonClass = pattern.Lazy(`^class (\w+)\s*(\(\s*\))?\s*:`)
	pythonSub   = pattern.Lazy(`^class (\w+)`)
	pythonText  = pattern.Lazy(`^\s*[rRuU]?["']`)
	pythonEnd   = pattern.Lazy(`:\s*(?:#.*)?$`)
)

// pythonNames finds public classes and functions of a module, and methods of classes that have no base from which
// they may inherit a text, without a docstring. What is decorated may be described by that.
func pythonNames(lines []string) (all []int) {
	rows := rowsOf(true, lines)
	within, decorated, body := false, false, 0 // a class whose methods count, and how far they are indented
	for n, r := range rows {
		if r.text == "" || r.quoted || strings.HasPrefix(r.text, "#") {
			continue
		}
		def, class := pythonDef().FindStringSubmatch(lines[n]), pythonSub().FindStringSubmatch(lines[n])
		named := ""
		switch {
		case r.indent == 0:
			within, body = pythonClass().MatchString(lines[n]) && !strings.HasPrefix(class[1], "_"), 0
			if class != nil {
				named, decorated = class[1], false
			} else if def != nil {
				named = def[2]
			}
		case within && body == 0:
			body = r.indent
			fallthrough
		case within && r.indent == body:
			if def != nil {
				named = def[2]
			}
		}
		if named != "" && !strings.HasPrefix(named, "_") && !decorated && !docstring(lines[n:]) {
			all = append(all, n)
		}
		if strings.HasPrefix(r.text, "@") {
			decorated = true
		} else if def != nil || class != nil {
			decorated = false
		}
	}
	return all
}

// pythonOwn reports whether a file of Python is no module for others, by its name.
func pythonOwn(name string) bool {
	if slices.Contains([]string{"setup.py", "noxfile.py", "manage.py", "conf.py"}, path.Base(name)) {
		return true
	}
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, "_") && part != "__init__.py" })
}

// docstring reports whether a text is the first thing below the head of a function or a class, which ends with a colon.
func docstring(lines []string) bool {
	for n, text := range lines[:min(len(lines), mostHead)] {
		if !pythonEnd().MatchString(text) {
			if n == 0 && strings.Count(text, "(") == strings.Count(text, ")") {
				return false // all of it is in one line
			}
			continue
		}
		for _, below := range lines[n+1:] {
			if text := strings.TrimSpace(below); text != "" && !strings.HasPrefix(text, "#") {
				return pythonText().MatchString(text)
			}
		}
		return false
	}
	return true // a head that nobody can read
}

// pythonCheck lets Python itself say the same of a file.
func pythonCheck(name string) string {
	const program = `import ast,sys;F=(ast.FunctionDef,ast.AsyncFunctionDef);C=ast.ClassDef;` +
		`p=lambda n:n.name[0]!="_"and(isinstance(n,C)or isinstance(n,F)and not n.decorator_list);` +
		`s=[n for n in ast.parse(open(sys.argv[1],"rb").read()).body if isinstance(n,F+(C,))and p(n)];` +
		`s+=[m for n in s if isinstance(n,C)and not n.bases for m in n.body if isinstance(m,F)and p(m)];` +
		`sys.exit(None in map(ast.get_docstring,s))`
	return "python3 -c " + quote(program) + " " + quote("./"+name)
}
