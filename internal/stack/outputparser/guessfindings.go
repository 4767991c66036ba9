package outputparser

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// isUnderstood reports whether a reader understood an output: it found test counts, a position,
// or something that the machine lacks.
func isUnderstood(r ParsedToolOutput) bool {
	return r.Counted || r.Partly || r.State == nexus.Environmental || r.State == nexus.NotRun ||
		slices.ContainsFunc(r.Findings, func(f nexus.Finding) bool { return f.File != "" || f.Test != "" || f.Code == parserbase.CodeVanished })
}

// rereadIfNotUnderstood reads an output again if the format of its command did not match. If it
// contains none of that format's text, its own text decides: most tools have several reporters.
// If it failed in an unknown format, the position patterns of most tools are tried.
func (s OutputFormatSet) rereadIfNotUnderstood(in ToolOutput, f OutputFormat, r ParsedToolOutput) ParsedToolOutput {
	if f.IsCoverage() || in.WasKilled() || f.Go && in.Exit == 0 {
		return r
	}
	if isUnderstood(r) {
		return addMissingPositions(in, f, r)
	}
	if other, ok := s.readAsOtherFormat(in, f); ok {
		return other
	}
	if in.Exit == 0 {
		return r
	}
	if gone, ok := parserbase.MissingFileFinding(in, in.AllLines()); ok {
		return ParsedToolOutput{State: nexus.Environmental, Why: gone.Message, Findings: []nexus.Finding{gone}}
	}
	if general := guessFindings(in, in.AllLines(), !f.Tests); len(general) > 0 {
		if general[0].Code == codeMake && (len(f.Starts) == 0 || slices.ContainsFunc(r.Findings, func(f nexus.Finding) bool { return f.Code != parserbase.CodeExit })) {
			return r // the output has another message, and make only passes the failure on
		}
		r.State, r.Why = nexus.Fail, ""
		r.Findings = append(slices.DeleteFunc(r.Findings, func(f nexus.Finding) bool { return f.Code == parserbase.CodeExit }), general...)
	}
	return r
}

// readAsOtherFormat reads an output in another format than that of its command.
func (s OutputFormatSet) readAsOtherFormat(in ToolOutput, f OutputFormat) (ParsedToolOutput, bool) {
	text := headAndTailText(in)
	var others []OutputFormat
	if own := f.Marks != "" && regexp.MustCompile(f.Marks).MatchString(text); !own {
		checks, tests := formatsInText(s, text)
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
		if other := g.Read(in); isUnderstood(other) {
			return other, true
		}
	}
	return ParsedToolOutput{}, false
}

// codeMake is the code of a finding that has nothing but the line of a recipe.
const codeMake = "make"

// addMissingPositions adds positions to failures that a runner counts without positions, if it also prints
// the same ones in another of its formats.
func addMissingPositions(in ToolOutput, f OutputFormat, r ParsedToolOutput) ParsedToolOutput {
	if r.Counts.Failed == 0 || slices.ContainsFunc(r.Findings, func(x nexus.Finding) bool { return x.File != "" }) {
		return r
	}
	for _, g := range machineFormats() {
		if !g.Tests || g.Name == f.Name || !regexp.MustCompile(g.Marks).MatchString(headAndTailText(in)) {
			continue
		}
		if other := g.Read(in); other.Counts == r.Counts && len(other.Findings) == r.Counts.Failed {
			r.Findings = other.Findings
		}
	}
	return r
}

// guessFindings searches for the forms in which most tools print a position or a test. Frames allows
// the first frame of a stack if there is nothing else: not so for test runners, which print it
// later.
func guessFindings(in ToolOutput, all []string, frames bool) []nexus.Finding {
	if places := raceFindings(in, all); len(places) > 0 {
		return places
	}
	if places := manifestFindings(in, all); len(places) > 0 {
		return places
	}
	g := findingGuesser{in: in, all: all, shapes: positionPatterns(), frames: frames}
	said := regexp.MustCompile(`^(?:\S+ )?\[?(error|warning|ERROR|WARNING|Error|Warning)(?:\[(\w+)\])?\]?:? (.*)$`)
	test := regexp.MustCompile(`^(?:FAILED (\S+?)(?: - (.*))?|test (\S+) \.\.\. FAILED|--- FAIL: (\S+) \(.*|not ok \d+ -? ?(.*)|\s+\x{25cf} (.+ \x{203a} .+))$`)
	whole := regexp.MustCompile(`^(?:would reformat|ERROR:) ([^\s:]+\.\w+)(?: .*)?$`)
	for i, l := range all {
		l = l[:min(len(l), 4096)]
		if len(g.found) >= parserbase.Enough {
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
		if g.readGoStackLine(l) || g.trace && l[0] == '\t' || strings.ContainsAny(l, "0123456789") && g.readPlaceLine(i, l) {
			continue
		}
		if m := whole.FindStringSubmatch(l); m != nil {
			g.found = append(g.found, nexus.Finding{File: in.RelativePath(m[1]), Code: parserbase.CodeFormat, Message: l})
		} else if m := test.FindStringSubmatch(l); m != nil {
			g.found = append(g.found, nexus.Finding{Code: parserbase.CodeTest, Test: cmp.Or(m[1], m[3], m[4], m[5], m[6]), Message: cmp.Or(m[2], strings.TrimSpace(l))})
		}
		g.rememberContext(l, trimmed)
	}
	if len(g.found) == 0 {
		g.addPlacelessFindings()
	}
	placed := slices.Clone(g.found)
	return slices.DeleteFunc(g.found, func(f nexus.Finding) bool { // the same position exists with its directory
		return f.Line > 0 && !strings.Contains(f.File, "/") && slices.ContainsFunc(placed, func(o nexus.Finding) bool {
			return o.Line == f.Line && strings.HasSuffix(o.File, "/"+f.File)
		})
	})
}

// findingGuesser holds the findings so far.
type findingGuesser struct {
	in     ToolOutput
	all    []string
	shapes []positionPattern
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

// rememberContext stores the context of a line for the next ones.
func (g *findingGuesser) rememberContext(l, trimmed string) {
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

// readGoStackLine processes lines of a crashed Go program: the first frame in the tree is the position.
func (g *findingGuesser) readGoStackLine(l string) bool {
	if code := testDisasterReason(l); code == parserbase.CodePanic {
		g.broke = l
		return true
	}
	at, _, _ := strings.Cut(l, " +0x")
	file, line, ok := strings.Cut(strings.TrimSpace(at), ".go:")
	if !ok || !strings.HasPrefix(l, "\t") || strings.Trim(line, "0123456789") != "" {
		return false
	}
	if place := g.in.RelativePath(file + ".go"); g.broke != "" && place != "" {
		g.found = append(g.found, nexus.Finding{File: place, Line: parserbase.ParseNumber(line), Code: parserbase.CodePanic, Message: g.broke})
		g.broke = ""
	}
	return true
}

// readPlaceLine processes a line with a position in one of the known shapes.
func (g *findingGuesser) readPlaceLine(i int, l string) bool {
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
		f := nexus.Finding{Line: parserbase.ParseNumber(get("line")), Column: parserbase.ParseNumber(get("col")), Message: get("text")}
		switch {
		case s.under:
			file = g.head
		case s.after:
			f.Message, f.Code, f.Severity = cmp.Or(g.said.Message, g.prior), g.said.Code, g.said.Severity
		case s.error:
			f.Message = exceptionAfter(g.all[i+1:])
		}
		f.File = g.in.RelativePath(g.fullPath(file))
		if f.File == "" || s.error && f.Message == "" || !s.under && strings.Contains(strings.TrimPrefix(l, "file://"), "://") || g.isHarmlessPlace(f) {
			continue
		}
		if g.isExplanationLine(l, s, f.Message) {
			return true
		}
		if isWarningLine(l, get("sev")) {
			f.Severity = nexus.Minor
		}
		if s.after {
			g.said, g.head = nexus.Finding{}, file
		}
		g.addFinding(f, l)
		return true
	}
	return false
}

// addFinding adds a finding, unless it is the source line itself, which a shell prints below it.
func (g *findingGuesser) addFinding(f nexus.Finding, l string) {
	f.Message = cmp.Or(f.Message, strings.TrimSpace(l))
	if n := len(g.found); n == 0 || !strings.HasPrefix(f.Message, "`") || g.found[n-1].File != f.File || g.found[n-1].Line != f.Line {
		g.found = append(g.found, f)
	}
}

// isWarningLine reports whether a line with a severity word is a warning.
func isWarningLine(l, word string) bool {
	return strings.Contains(strings.ToLower(l), ": warning") || strings.EqualFold(word, "warning") || word == "\u26a0"
}

// isHarmlessPlace reports whether a position is not a problem in the tree.
func (g *findingGuesser) isHarmlessPlace(f nexus.Finding) bool {
	return g.skipped || f.Message == "Skipped" || strings.HasPrefix(f.Message, ":") || strings.ContainsAny(f.File, " \t") ||
		strings.Contains(f.File, "node_modules/") || regexp.MustCompile(`(?i)\bthere were \d+ (?:errors|warnings)\b`).MatchString(f.Message)
}

// isExplanationLine reports whether a line only explains the finding before it.
func (g *findingGuesser) isExplanationLine(l string, s positionPattern, message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(strings.ToLower(l), ": note:") || strings.HasPrefix(l, "  thrown in ") || s.after && g.said.Message == "" &&
		(message == "" || strings.HasPrefix(message, "note") || strings.HasPrefix(message, "help") || strings.Contains(" "+message, " while ") || strings.HasSuffix(message, "here:"))
}

// fullPath returns the full path of a file if only its name is given and the path was printed
// last.
func (g *findingGuesser) fullPath(file string) string {
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

// exceptionAfter returns the exception in the lines after a position.
func exceptionAfter(rest []string) string {
	named := regexp.MustCompile(`^(?:Uncaught )?(?:[\w.]+\.)?\w*(?:Error|Exception|Exit|Interrupt|Warning)\b(?: [\w\[\]-]+){0,3}(?::|$)`)
	if said := parserbase.RaisedException(rest); named.MatchString(said) {
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

// addPlacelessFindings finds messages in none of the shapes: from the parser of a file in the command, from the
// runtime about an import, from a formatter, from stacks, and, if there is nothing else, from
// make about the line of a recipe, the innermost of nested ones.
func (g *findingGuesser) addPlacelessFindings() {
	json := regexp.MustCompile(`^(.*): line (\d+) column (\d+) \(char \d+\)$`)
	imported := regexp.MustCompile(`^.*\b(?i:could not resolve|cannot find|can't resolve|failed to resolve)\b(.*?) (?:imported )?from ['"]?([^\s'"]+\.\w+)`)
	manifest := regexp.MustCompile(`^npm (?:ERR!|error) .*Invalid (package\.json): (.*)$`)
	for _, l := range g.all {
		l = l[:min(len(l), 4096)]
		if m := json.FindStringSubmatch(l); m != nil {
			g.found = []nexus.Finding{{File: g.in.RelativePath(onlyWordWithSuffix(g.in.Command, ".json")), Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), Message: m[1]}}
		} else if m := imported.FindStringSubmatch(l); m != nil {
			g.found = []nexus.Finding{{File: g.in.RelativePath(m[2]), Message: m[1]}}
		} else if m := manifest.FindStringSubmatch(l); m != nil {
			g.found = []nexus.Finding{{File: m[1], Message: m[2]}}
		}
		if len(g.found) > 0 && g.found[0].File != "" {
			return
		}
	}
	g.found = append(diffFindings(g.in, g.all), listedFileFindings(g.in, g.all)...)
	if len(g.found) == 0 && g.frames && !g.in.Cut { // in a truncated output it is unknown whether a runner prints more
		g.found = append(tracebackFindings(g.in, g.all), stackFindings(g.in, g.all)...)
	}
	if len(g.found) == 0 && g.frames {
		g.found = positionFindings(g.in, g.all)
	}
	if len(g.found) == 0 {
		g.addRecipeFinding()
	}
}

// addRecipeFinding adds the line of a Makefile, if only make reports a failure.
func (g *findingGuesser) addRecipeFinding() {
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
			g.found = append(g.found, nexus.Finding{File: g.in.RelativePath(path.Join(dir, m[1])), Line: parserbase.ParseNumber(m[2]), Code: codeMake, Message: g.in.LastLines()})
			return
		}
		if complaint.MatchString(l) {
			return
		}
	}
}

// onlyWordWithSuffix returns the only word of a command with a suffix.
func onlyWordWithSuffix(command, suffix string) string {
	found := slices.DeleteFunc(strings.Fields(command), func(w string) bool { return !strings.HasSuffix(w, suffix) || strings.HasPrefix(w, "-") })
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
