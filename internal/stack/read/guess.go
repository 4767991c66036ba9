package read

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// understood reports whether a reader understood an output: it found test counts, a position,
// or something that the machine lacks.
func understood(r Report) bool {
	return r.Counted || r.Partly || r.State == nexus.Environmental || r.State == nexus.NotRun ||
		slices.ContainsFunc(r.Findings, func(f nexus.Finding) bool { return f.File != "" || f.Test != "" || f.Code == raw.CodeVanished })
}

// rereadIfNotUnderstood reads an output again if the format of its command did not match. If it
// contains none of that format's text, its own text decides: most tools have several reporters.
// If it failed in an unknown format, the position patterns of most tools are tried.
func (s Set) rereadIfNotUnderstood(in Input, f Format, r Report) Report {
	if f.Coverage() || in.Killed() || f.Go && in.Exit == 0 {
		return r
	}
	if understood(r) {
		return placedBy(in, f, r)
	}
	if other, ok := s.spokenElse(in, f); ok {
		return other
	}
	if in.Exit == 0 {
		return r
	}
	if gone, ok := raw.MissingFileFinding(in, in.Text()); ok {
		return Report{State: nexus.Environmental, Why: gone.Message, Findings: []nexus.Finding{gone}}
	}
	if general := guess(in, in.Text(), !f.Tests); len(general) > 0 {
		if general[0].Code == codeMake && (len(f.Starts) == 0 || slices.ContainsFunc(r.Findings, func(f nexus.Finding) bool { return f.Code != raw.CodeExit })) {
			return r // the output has another message, and make only passes the failure on
		}
		r.State, r.Why = nexus.Fail, ""
		r.Findings = append(slices.DeleteFunc(r.Findings, func(f nexus.Finding) bool { return f.Code == raw.CodeExit }), general...)
	}
	return r
}

// spokenElse reads an output in another format than that of its command.
func (s Set) spokenElse(in Input, f Format) (Report, bool) {
	text := ends(in)
	var others []Format
	if own := f.Marks != "" && regexp.MustCompile(f.Marks).MatchString(text); !own {
		checks, tests := spoken(s, text)
		others = append(tests, checks...)
	}
	for _, g := range looseFormats() {
		if !f.Tests && regexp.MustCompile(g.Marks).MatchString(text) {
			others = append(others, g)
		}
	}
	for _, g := range others {
		if g.Name == f.Name || g.Name == tally && f.Tests { // the command runs something with a summary of its own
			continue
		}
		if other := g.Read(in); understood(other) {
			return other, true
		}
	}
	return Report{}, false
}

// codeMake is the code of a finding that has nothing but the line of a recipe.
const codeMake = "make"

// placedBy adds positions to failures that a runner counts without positions, if it also prints
// the same ones in another of its formats.
func placedBy(in Input, f Format, r Report) Report {
	if r.Counts.Failed == 0 || slices.ContainsFunc(r.Findings, func(x nexus.Finding) bool { return x.File != "" }) {
		return r
	}
	for _, g := range machineFormats() {
		if !g.Tests || g.Name == f.Name || !regexp.MustCompile(g.Marks).MatchString(ends(in)) {
			continue
		}
		if other := g.Read(in); other.Counts == r.Counts && len(other.Findings) == r.Counts.Failed {
			r.Findings = other.Findings
		}
	}
	return r
}

// guess searches for the forms in which most tools print a position or a test. Frames allows
// the first frame of a stack if there is nothing else: not so for test runners, which print it
// later.
func guess(in Input, all []string, frames bool) []nexus.Finding {
	if places := races(in, all); len(places) > 0 {
		return places
	}
	if places := unreadable(in, all); len(places) > 0 {
		return places
	}
	g := guesser{in: in, all: all, shapes: shapes(), frames: frames}
	said := regexp.MustCompile(`^(?:\S+ )?\[?(error|warning|ERROR|WARNING|Error|Warning)(?:\[(\w+)\])?\]?:? (.*)$`)
	test := regexp.MustCompile(`^(?:FAILED (\S+?)(?: - (.*))?|test (\S+) \.\.\. FAILED|--- FAIL: (\S+) \(.*|not ok \d+ -? ?(.*)|\s+\x{25cf} (.+ \x{203a} .+))$`)
	whole := regexp.MustCompile(`^(?:would reformat|ERROR:) ([^\s:]+\.\w+)(?: .*)?$`)
	for i, l := range all {
		l = l[:min(len(l), 4096)]
		if len(g.found) >= raw.Enough {
			break
		}
		trimmed := strings.TrimSpace(strings.TrimLeft(l, "\u2502 "))
		if trimmed == "" || !strings.ContainsAny(l, " :.") {
			continue
		}
		if m := said.FindStringSubmatch(trimmed); m != nil {
			g.said = nexus.Finding{Code: m[2], Message: m[3]}
			if strings.EqualFold(m[1], "warning") {
				g.said.Severity = nexus.Minor
			}
		}
		if g.stack(l) || g.trace && l[0] == '\t' || strings.ContainsAny(l, "0123456789") && g.place(i, l) {
			continue
		}
		if m := whole.FindStringSubmatch(l); m != nil {
			g.found = append(g.found, nexus.Finding{File: in.Place(m[1]), Code: raw.CodeFormat, Message: l})
		} else if m := test.FindStringSubmatch(l); m != nil {
			g.found = append(g.found, nexus.Finding{Code: raw.CodeTest, Test: cmp.Or(m[1], m[3], m[4], m[5], m[6]), Message: cmp.Or(m[2], strings.TrimSpace(l))})
		}
		g.before(l, trimmed)
	}
	if len(g.found) == 0 {
		g.last()
	}
	placed := slices.Clone(g.found)
	return slices.DeleteFunc(g.found, func(f nexus.Finding) bool { // the same position exists with its directory
		return f.Line > 0 && !strings.Contains(f.File, "/") && slices.ContainsFunc(placed, func(o nexus.Finding) bool {
			return o.Line == f.Line && strings.HasSuffix(o.File, "/"+f.File)
		})
	})
}

// guesser holds the findings so far.
type guesser struct {
	in     Input
	all    []string
	shapes []shape
	said   nexus.Finding // the finding that waits for its position
	prior  string        // the last message, if it has no position of its own
	head   string        // the file that indented lines are about
	dir    string        // of the package whose test is being printed
	broke  string        // the cause that ended a Go program, until its position is known
	found  []nexus.Finding

	skipped bool // that test was skipped
	trace   bool // a Lua stack is printed, whose top was named before
	frames  bool // no test runner is known to print this
}

// before stores the context of a line for the next ones.
func (g *guesser) before(l, trimmed string) {
	g.trace = trimmed == "stack traceback:" || g.trace && (l[0] == ' ' || l[0] == '\t')
	switch name := strings.Trim(trimmed, "=#*: "); {
	case !strings.ContainsAny(name, " :()") && strings.ContainsAny(name, "./"):
		g.head = name
	case l[0] != ' ' && l[0] != '\t':
		g.head = ""
	}
	if i := strings.IndexByte(trimmed, '|'); i < 0 || strings.Trim(trimmed[:i], "0123456789> ") != "" { // a line of source
		g.prior = trimmed
	}
}

// stack processes lines of a crashed Go program: the first frame in the tree is the position.
func (g *guesser) stack(l string) bool {
	if code := disaster(l); code == raw.CodePanic {
		g.broke = l
		return true
	}
	at, _, _ := strings.Cut(l, " +0x")
	file, line, ok := strings.Cut(strings.TrimSpace(at), ".go:")
	if !ok || !strings.HasPrefix(l, "\t") || strings.Trim(line, "0123456789") != "" {
		return false
	}
	if place := g.in.Place(file + ".go"); g.broke != "" && place != "" {
		g.found = append(g.found, nexus.Finding{File: place, Line: raw.Number(line), Code: raw.CodePanic, Message: g.broke})
		g.broke = ""
	}
	return true
}

// place processes a line with a position in one of the known shapes.
func (g *guesser) place(i int, l string) bool {
	if m := regexp.MustCompile(`^=== (FAIL|SKIP): (\S+) `).FindStringSubmatch(l); m != nil { // gotestsum
		g.dir, g.skipped = m[2], m[1] == "SKIP"
		return true
	}
	for _, s := range g.shapes {
		m := s.re.FindStringSubmatch(l)
		if m == nil || s.final && !g.frames {
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
		switch {
		case s.under:
			file = g.head
		case s.after:
			f.Message, f.Code, f.Severity = cmp.Or(g.said.Message, g.prior), g.said.Code, g.said.Severity
		case s.error:
			f.Message = thrown(g.all[i+1:])
		}
		f.File = g.in.Place(g.longer(file))
		if f.File == "" || s.error && f.Message == "" || !s.under && strings.Contains(strings.TrimPrefix(l, "file://"), "://") || g.idle(f) {
			continue
		}
		if g.aside(l, s, f.Message) {
			return true
		}
		if remark(l, get("sev")) {
			f.Severity = nexus.Minor
		}
		if s.after {
			g.said, g.head = nexus.Finding{}, file
		}
		g.add(f, l)
		return true
	}
	return false
}

// add adds a finding, unless it is the source line itself, which a shell prints below it.
func (g *guesser) add(f nexus.Finding, l string) {
	f.Message = cmp.Or(f.Message, strings.TrimSpace(l))
	if n := len(g.found); n == 0 || !strings.HasPrefix(f.Message, "`") || g.found[n-1].File != f.File || g.found[n-1].Line != f.Line {
		g.found = append(g.found, f)
	}
}

// remark reports whether a line with a severity word is a warning.
func remark(l, word string) bool {
	return strings.Contains(strings.ToLower(l), ": warning") || strings.EqualFold(word, "warning") || word == "\u26a0"
}

// idle reports whether a position is not a problem in the tree.
func (g *guesser) idle(f nexus.Finding) bool {
	return g.skipped || f.Message == "Skipped" || strings.HasPrefix(f.Message, ":") || strings.ContainsAny(f.File, " \t") ||
		strings.Contains(f.File, "node_modules/") || regexp.MustCompile(`(?i)\bthere were \d+ (?:errors|warnings)\b`).MatchString(f.Message)
}

// aside reports whether a line only explains the finding before it.
func (g *guesser) aside(l string, s shape, message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(strings.ToLower(l), ": note:") || strings.HasPrefix(l, "  thrown in ") || s.after && g.said.Message == "" &&
		(message == "" || strings.HasPrefix(message, "note") || strings.HasPrefix(message, "help") || strings.Contains(" "+message, " while ") || strings.HasSuffix(message, "here:"))
}

// longer returns the full path of a file if only its name is given and the path was printed
// last.
func (g *guesser) longer(file string) string {
	end := strings.Index(g.prior, "/"+file)
	if g.dir != "" && !strings.Contains(file, "/") {
		return path.Join(g.dir, file)
	}
	if strings.Contains(file, "/") || end < 0 {
		return file
	}
	begin := strings.LastIndexAny(g.prior[:end], " '\"`(") + 1
	return g.prior[begin:end] + "/" + file
}

// thrown returns the exception in the lines after a position.
func thrown(rest []string) string {
	named := regexp.MustCompile(`^(?:Uncaught )?(?:[\w.]+\.)?\w*(?:Error|Exception|Exit|Interrupt|Warning)\b(?: [\w\[\]-]+){0,3}(?::|$)`)
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

// last finds messages in none of the shapes: from the parser of a file in the command, from the
// runtime about an import, from a formatter, from stacks, and, if there is nothing else, from
// make about the line of a recipe, the innermost of nested ones.
func (g *guesser) last() {
	json := regexp.MustCompile(`^(.*): line (\d+) column (\d+) \(char \d+\)$`)
	imported := regexp.MustCompile(`^.*\b(?i:could not resolve|cannot find|can't resolve|failed to resolve)\b(.*?) (?:imported )?from ['"]?([^\s'"]+\.\w+)`)
	manifest := regexp.MustCompile(`^npm (?:ERR!|error) .*Invalid (package\.json): (.*)$`)
	for _, l := range g.all {
		l = l[:min(len(l), 4096)]
		if m := json.FindStringSubmatch(l); m != nil {
			g.found = []nexus.Finding{{File: g.in.Place(argument(g.in.Command, ".json")), Line: raw.Number(m[2]), Column: raw.Number(m[3]), Message: m[1]}}
		} else if m := imported.FindStringSubmatch(l); m != nil {
			g.found = []nexus.Finding{{File: g.in.Place(m[2]), Message: m[1]}}
		} else if m := manifest.FindStringSubmatch(l); m != nil {
			g.found = []nexus.Finding{{File: m[1], Message: m[2]}}
		}
		if len(g.found) > 0 && g.found[0].File != "" {
			return
		}
	}
	g.found = append(patch(g.in, g.all), listed(g.in, g.all)...)
	if len(g.found) == 0 && g.frames && !g.in.Cut { // in a truncated output it is unknown whether a runner prints more
		g.found = append(tracebacks(g.in, g.all), stacks(g.in, g.all)...)
	}
	if len(g.found) == 0 && g.frames {
		g.found = anywhere(g.in, g.all)
	}
	if len(g.found) == 0 {
		g.recipe()
	}
}

// recipe adds the line of a Makefile, if only make reports a failure.
func (g *guesser) recipe() {
	recipe := regexp.MustCompile(`^g?make(?:\[\d+\])?: \*\*\* \[(\S+?):(\d+)[ \x{a0}]?: (.*)\] \S.*\d`)
	enter := regexp.MustCompile(`^g?make\[\d+\]: Entering directory '(.*)'$`)
	complaint := regexp.MustCompile(`(?i)\b(?:error|fail|failed|cannot|unable|invalid)\b`)
	dir := ""
	for _, l := range g.all {
		l = l[:min(len(l), 4096)]
		if m := enter.FindStringSubmatch(l); m != nil {
			dir = m[1]
		}
		if m := recipe.FindStringSubmatch(l); m != nil {
			g.found = append(g.found, nexus.Finding{File: g.in.Place(path.Join(dir, m[1])), Line: raw.Number(m[2]), Code: codeMake, Message: g.in.Last()})
			return
		}
		if complaint.MatchString(l) {
			return
		}
	}
}

// argument returns the only word of a command with a suffix.
func argument(command, suffix string) string {
	found := slices.DeleteFunc(strings.Fields(command), func(w string) bool { return !strings.HasSuffix(w, suffix) || strings.HasPrefix(w, "-") })
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
