package parse

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse/raw"
)

// understood reports whether a reader understood an output: it counts tests, or names
// a place, or what the machine lacks.
func understood(r Report) bool {
	return r.Counted || r.Partly || r.State == nexus.Environmental || r.State == nexus.NotRun ||
		slices.ContainsFunc(r.Findings, func(f nexus.Finding) bool { return f.File != "" || f.Test != "" || f.Code == raw.CodeVanished })
}

// instead reads an output anew of which the format of its command understands
// nothing. Where none of the format's own words is in it, it is what its text
// says that it is: most tools have more reporters than one. Where it fails and
// nobody knows its format, the places count that most tools name alike.
func instead(in Input, f Format, r Report) Report {
	if f.Coverage() || in.Killed() || f.Go && in.Exit == 0 {
		return r
	}
	if understood(r) {
		return placedBy(in, f, r)
	}
	if other, ok := spokenElse(in, f); ok {
		return other
	}
	if in.Exit == 0 {
		return r
	}
	if gone, ok := raw.Gone(in, in.Text()); ok {
		return Report{State: nexus.Environmental, Why: gone.Message, Findings: []nexus.Finding{gone}}
	}
	if general := guess(in, in.Text(), !f.Tests); len(general) > 0 {
		if general[0].Code == codeMake && (len(f.Starts) == 0 || slices.ContainsFunc(r.Findings, func(f nexus.Finding) bool { return f.Code != raw.CodeExit })) {
			return r // something else was said, and make only hands on that it failed
		}
		r.State, r.Why = nexus.Fail, ""
		r.Findings = append(slices.DeleteFunc(r.Findings, func(f nexus.Finding) bool { return f.Code == raw.CodeExit }), general...)
	}
	return r
}

// spokenElse reads an output as another format than that of its command.
func spokenElse(in Input, f Format) (Report, bool) {
	text := ends(in)
	var others []Format
	if own := f.Marks != "" && regexp.MustCompile(f.Marks).MatchString(text); !own {
		found, tests := spoken(Formats(), text)
		others = append(tests, found)
	}
	for _, g := range looseFormats() {
		if !f.Tests && regexp.MustCompile(g.Marks).MatchString(text) {
			others = append(others, g)
		}
	}
	for _, g := range others {
		if g.Name == "" || g.Name == f.Name {
			continue
		}
		if other := g.read(in); understood(other) {
			return other, true
		}
	}
	return Report{}, false
}

// codeMake is that of a finding which has nothing but the line of a recipe.
const codeMake = "make"

// placedBy adds places to failures that a runner counts and does not place, where
// it tells of the same ones in another of its formats as well.
func placedBy(in Input, f Format, r Report) Report {
	if r.Counts.Failed == 0 || slices.ContainsFunc(r.Findings, func(x nexus.Finding) bool { return x.File != "" }) {
		return r
	}
	for _, g := range machineFormats() {
		if !g.Tests || g.Name == f.Name || !regexp.MustCompile(g.Marks).MatchString(ends(in)) {
			continue
		}
		if other := g.read(in); other.Counts == r.Counts && len(other.Findings) == r.Counts.Failed {
			r.Findings = other.Findings
		}
	}
	return r
}

// shape is a way to write where something is wrong. The groups are called
// file, line, col, code, sev and text.
type shape struct {
	re    *regexp.Regexp
	after bool // the text is what was said last
	under bool // the file is the line that has nothing else on it
	error bool // an exception is named in the lines after
}

// shapes are those that more than one tool has, the first that fits counts.
func shapes() []shape {
	const file = `(?P<file>(?:[A-Za-z]:[\\/])?[^\s:()'"]+)`
	re := regexp.MustCompile
	return []shape{
		{re: re(`^\s*--> ` + file + `:(?P<line>\d+):(?P<col>\d+)$`), after: true},
		{re: re(`^CMake Error at ` + file + `:(?P<line>\d+) (?P<text>.*)$`)},
		{re: re(`^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)`), error: true},
		{re: re(`^(?P<file>/?[^\s:()]+\.\w+):(?P<line>\d+)$`), error: true},
		{re: re(`^Diff in ` + file + `(?::| at line )(?P<line>\d+):$`)},
		{re: re(`^(?P<file>\S+): line (?P<line>\d+): (?P<text>.*)$`)},
		{re: re(`^(?P<file>[^\s:]+): (?P<line>\d+): (?P<text>Syntax error: .*)$`)},
		{re: re(`^(?:PHP )?(?P<sev>Parse error|Fatal error|Warning):\s+(?P<text>.*) in (?P<file>\S+?)(?: on line |:)(?P<line>\d+)$`)},
		{re: re(`^.*\btemplate: (?P<file>[\w./-]+\.\w+):(?P<line>\d+)(?::(?P<col>\d+))?: (?P<text>.*)$`)},
		{re: re(`^\s*\x{2502}?\s*on (?P<file>\S+) line (?P<line>\d+)\b(?P<text>.*)$`), after: true},
		{re: re(`^(?P<file>\S+\.rb):(?P<line>\d+):in .*?: (?P<text>.*)$`)},
		{re: re(`^would reformat (?P<file>\S+)$`)},
		{re: re(`^\s+\(?(?P<line>\d+)(?::|, )(?P<col>\d+)\)?\s+(?P<sev>error|warning|\x{2716}|\x{26a0}|[A-Z]+\d+)\s+(?P<text>\S.*)$`), under: true},
		{re: re(`^(?P<file>(?:\S*/)?(?:[Mm]akefile|Dockerfile)):(?P<line>\d+): (?P<text>.*)$`)},
		{re: re(`^(?P<file>[^\s:()]+\.[A-Za-z]\w{0,9})\((?P<line>\d+)(?:,\s*(?P<col>\d+))?\)\s*: (?P<text>\S.*)$`)},
		{re: re(`^\s{0,4}(?:\[\w+\] )?` + `(?P<file>(?:[A-Za-z]:[\\/])?[^\s:()'"]+\.[A-Za-z]\w{0,9}):(?P<line>\d+)(?::(?P<col>\d+))?(?::|\s+-)?\s+(?P<text>\S.*)$`)},
	}
}

// guess looks for the ways in which most tools name a place or a test. Where
// nothing else is named, frames tells that the first of a stack counts: not so
// for runners of tests, which name them later.
func guess(in Input, all []string, frames bool) []nexus.Finding {
	if places := races(in, all); len(places) > 0 {
		return places
	}
	g := guesser{in: in, all: all, shapes: shapes()}
	said := regexp.MustCompile(`^(?:\S+ )?\[?(error|warning|ERROR|WARNING|Error|Warning)(?:\[(\w+)\])?\]?:? (.*)$`)
	test := regexp.MustCompile(`^(?:FAILED (\S+?)(?: - (.*))?|test (\S+) \.\.\. FAILED|--- FAIL: (\S+) \(.*|not ok \d+ -? ?(.*)|\s+\x{25cf} (.+ \x{203a} .+))$`)
	for i, l := range all {
		l = l[:min(len(l), 4096)]
		if len(g.found) >= raw.Enough {
			break
		}
		if strings.TrimSpace(l) == "" || !strings.ContainsAny(l, " :") && !strings.Contains(l, ".") {
			continue
		}
		trimmed := strings.TrimSpace(strings.TrimLeft(l, "\u2502 "))
		if m := said.FindStringSubmatch(trimmed); m != nil {
			g.said = nexus.Finding{Code: m[2], Message: m[3]}
			if strings.EqualFold(m[1], "warning") {
				g.said.Severity = nexus.Minor
			}
		}
		switch m := test.FindStringSubmatch(l); {
		case g.stack(l) || g.place(i, l):
		case m != nil:
			g.found = append(g.found, nexus.Finding{Code: raw.CodeTest, Test: cmp.Or(m[1], m[3], m[4], m[5], m[6]), Message: cmp.Or(m[2], strings.TrimSpace(l))})
		}
		if l[0] != ' ' && l[0] != '\t' {
			g.head = l
		}
	}
	if len(g.found) == 0 {
		g.last(frames)
	}
	return g.found
}

// guesser is what was found so far.
type guesser struct {
	in     Input
	all    []string
	shapes []shape
	said   nexus.Finding // that waits for its place
	head   string        // the last line that is not indented
	broke  string        // what ended a Go program, until its place is known
	found  []nexus.Finding
}

// stack takes lines of a Go program that went down: the first frame in the
// tree is where it did.
func (g *guesser) stack(l string) bool {
	if code := disaster(l); code == raw.CodePanic {
		g.broke = l
		return true
	}
	at, _, ok := strings.Cut(l, " +0x")
	if !ok || !strings.HasPrefix(l, "\t") {
		return false
	}
	file, line, _ := strings.Cut(strings.TrimSpace(at), ".go:")
	if place := g.in.Place(file + ".go"); g.broke != "" && place != "" {
		g.found = append(g.found, nexus.Finding{File: place, Line: raw.Number(line), Code: raw.CodePanic, Message: g.broke})
		g.broke = ""
	}
	return true
}

// place takes a line that names a place in one of the known shapes.
func (g *guesser) place(i int, l string) bool {
	for _, s := range g.shapes {
		m := s.re.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		get := func(name string) string {
			if n := s.re.SubexpIndex(name); n >= 0 {
				return m[n]
			}
			return ""
		}
		file := get("file")
		f := nexus.Finding{Line: raw.Number(get("line")), Column: raw.Number(get("col")), Message: get("text")}
		if s.under {
			file = g.head
		}
		if s.after {
			f.Message, f.Code, f.Severity = cmp.Or(g.said.Message, strings.TrimSpace(l)), g.said.Code, g.said.Severity
		}
		if s.error {
			f.Message = thrown(g.all[i+1:])
		}
		f.File = g.in.Place(file)
		lower := strings.ToLower(l)
		switch {
		case f.File == "" || s.error && f.Message == "" || strings.ContainsAny(f.File, " \t") || strings.Contains(lower, "://"):
			return false
		case s.after && g.said.Message == "" || strings.Contains(lower, ": note:"):
			return true
		case strings.Contains(lower, ": warning") || strings.EqualFold(get("sev"), "warning") || get("sev") == "\u26a0":
			f.Severity = nexus.Minor
		}
		if s.after {
			g.said = nexus.Finding{}
		}
		f.Message = cmp.Or(f.Message, strings.TrimSpace(l))
		if n := len(g.found); n > 0 && strings.HasPrefix(f.Message, "`") && g.found[n-1].File == f.File && g.found[n-1].Line == f.Line {
			return true // a shell shows the line as well
		}
		g.found = append(g.found, f)
		return true
	}
	return false
}

// thrown returns the exception that soon follows a place.
func thrown(rest []string) string {
	named := regexp.MustCompile(`^(?:Uncaught )?(?:[\w.]+\.)?\w*(?:Error|Exception|Exit|Interrupt|Warning)\b(?: \[\w+\])?(?::|$)`)
	if said := raw.Raised(rest); named.MatchString(said) {
		return said
	}
	for i, l := range rest {
		if i > 6 || strings.HasPrefix(strings.TrimSpace(l), "File \"") {
			return ""
		}
		if named.MatchString(l) {
			return l
		}
	}
	return ""
}

// last finds what is said without a place in any of the shapes: by the parser
// of a file that the command names, by the runtime of what it imports, and by
// make of the line of a recipe, of nested ones the innermost.
func (g *guesser) last(frames bool) {
	json := regexp.MustCompile(`^(.*): line (\d+) column (\d+) \(char \d+\)$`)
	imported := regexp.MustCompile(`^Error \[ERR_\w+\]: (.*) imported from (\S+)$`)
	manifest := regexp.MustCompile(`^npm (?:ERR!|error) .*Invalid (package\.json): (.*)$`)
	recipe := regexp.MustCompile(`^g?make(?:\[\d+\])?: \*\*\* \[(\S+?):(\d+)[ \x{a0}]?: (.*)\] \S.*\d`)
	frame := regexp.MustCompile(`(?:\(|\bat |\x{203a} )((?:file://)?[^\s()]+\.\w+):(\d+):(\d+)\)?$`)
	var thrown nexus.Finding
	dir, message := "", ""
	for _, l := range g.all {
		l = l[:min(len(l), 4096)]
		if m := regexp.MustCompile(`^g?make\[\d+\]: Entering directory '(.*)'$`).FindStringSubmatch(l); m != nil {
			dir = m[1]
		}
		var f nexus.Finding
		if m := json.FindStringSubmatch(l); m != nil {
			f = nexus.Finding{File: g.in.Place(argument(g.in.Command, ".json")), Line: raw.Number(m[2]), Column: raw.Number(m[3]), Message: m[1]}
		} else if m := imported.FindStringSubmatch(l); m != nil {
			f = nexus.Finding{File: g.in.Place(m[2]), Message: m[1]}
		} else if m := manifest.FindStringSubmatch(l); m != nil {
			f = nexus.Finding{File: m[1], Message: m[2]}
		} else if m := recipe.FindStringSubmatch(l); m != nil {
			f = nexus.Finding{File: g.in.Place(path.Join(dir, m[1])), Line: raw.Number(m[2]), Code: codeMake, Message: g.in.Last()}
		}
		if f.File != "" {
			g.found = append(g.found, f)
			return
		}
		if m := frame.FindStringSubmatch(l); m == nil && strings.Contains(l, "Error") {
			message = strings.TrimSpace(l)
		} else if m != nil && thrown.File == "" && !strings.Contains(m[1], "node_modules/") {
			thrown = nexus.Finding{File: g.in.Place(m[1]), Line: raw.Number(m[2]), Column: raw.Number(m[3]), Message: cmp.Or(message, strings.TrimSpace(l))}
		}
	}
	if thrown.File != "" && frames && !g.in.Cut { // of a part it is not known whether a runner says more
		g.found = append(g.found, thrown)
	}
}

// argument returns the only word of a command that ends so.
func argument(command, suffix string) string {
	found := slices.DeleteFunc(strings.Fields(command), func(w string) bool { return !strings.HasSuffix(w, suffix) || strings.HasPrefix(w, "-") })
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
