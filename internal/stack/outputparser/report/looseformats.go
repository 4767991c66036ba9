package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// deepest limits the nesting depth of values.
const deepest = 12

// looseFormatReader collects findings from values that have no common format, but common names for a file,
// a line and a message.
type looseFormatReader struct {
	in    parserbase.ToolOutput
	found []nexus.Finding
}

// ReadLooseJSON reads JSON of any kind with files, lines and messages: one value, or one in each line.
// Many compilers and linters print such JSON.
func ReadLooseJSON(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	l := looseFormatReader{in: in}
	values, whole := 0, true
	for _, data := range [][]byte{in.Stdout, in.Stderr} {
		n, ok := l.readStream(data)
		values, whole = values+n, whole && ok
	}
	r := in.CheckerReport(l.found, values > 0 && whole)
	if r.State == nexus.Unverifiable && values > 0 {
		r.Why = "its JSON is incomplete"
	}
	return r
}

// readStream reads the values of a stream, each of which begins a line; ok reports whether all of
// them end.
func (l *looseFormatReader) readStream(data []byte) (values int, ok bool) {
	ok = true
	for len(data) > 0 && len(l.found) < parserbase.Enough {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if t := bytes.TrimSpace(line); len(t) < 2 || t[0] != '{' && t[0] != '[' || t[0] == '[' && !bytes.ContainsRune([]byte("{[\"]"), rune(bytes.TrimSpace(t[1:])[0])) && len(t) > 1 {
			if !bytes.Equal(t, []byte("[")) && !bytes.Equal(t, []byte("{")) {
				data = rest
				continue
			}
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			ok, data = false, rest
			continue
		}
		values++
		l.walkValue(v, nexus.Finding{}, 0)
		data = data[d.InputOffset():]
	}
	return values, ok
}

// fileFieldNames and the functions below return the different names of the same field; see [normalizeNames].
func fileFieldNames() []string {
	return []string{"file", "filename", "path", "filepath", "uri"}
}

func lineFieldNames() []string {
	return []string{"line", "linenumber", "linestart", "startline", "row", "begin"}
}

func columnFieldNames() []string {
	return []string{"column", "col", "columnstart", "startcolumn", "character"}
}

func messageFieldNames() []string {
	return []string{"message", "text", "msg", "summary", "description", "title", "reason", "failure", "issuetext"}
}

func severityFieldNames() []string { return []string{"severity", "level", "kind", "type"} }

func codeFieldNames() []string {
	return []string{"code", "rule", "ruleid", "rulename", "symbol", "checkname", "option", "check", "linter", "testid", "id"}
}

// positionFieldNames returns the names of fields that contain a position, by precedence.
func positionFieldNames() []string {
	return []string{"location", "locations", "labels", "range", "span", "spans", "caret", "pos", "position", "positions", "start", "begin", "lines"}
}

// walkValue searches a value for findings, at any depth. A file name at an upper level applies to
// the levels below.
func (l *looseFormatReader) walkValue(v any, above nexus.Finding, depth int) {
	named := regexp.MustCompile(`^(?:/|\w:\\|\./)?[\w@.-]+(?:[/\\][\w@.-]+)+\.\w+$`)
	if depth > deepest || len(l.found) >= parserbase.Enough {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			l.walkValue(x, above, depth+1)
		}
	case map[string]any:
		v = normalizeNames(v)
		f := nexus.Finding{File: above.File}
		l.readPlace(v, &f, 0)
		f.Message = parserbase.PlainText(firstText(v, messageFieldNames()))
		if f.Message != "" && f.File != "" && f.Line > 0 {
			l.addFinding(v, f)
			return
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if strings.HasPrefix(k, "suppressed") { // the code marks it as no finding
				continue
			}
			file := f.File
			if named.MatchString(k) { // the values below belong to that file
				file = k
			}
			l.walkValue(v[k], nexus.Finding{File: file}, depth+1)
		}
	}
}

// addFinding adds a finding.
func (l *looseFormatReader) addFinding(v map[string]any, f nexus.Finding) {
	f.Code = parserbase.PlainText(firstText(v, codeFieldNames()))
	if code, ok := v["code"].(map[string]any); ok {
		f.Code = parserbase.PlainText(firstText(code, []string{"code"}))
	}
	word := strings.ToLower(firstText(v, severityFieldNames()))
	switch word {
	case "warning", "warn", "minor", "convention", "refactor", "style", "performance", "portability":
		f.Severity = nexus.Minor
	case "info", "note", "help", "notice", "hint", "information", "suggestion":
		f.Severity = nexus.Suggestion
	default:
		f.Severity = nexus.Major
	}
	if f.File = l.in.RelativePath(unescapeURI(f.File)); f.File != "" {
		l.found = append(l.found, f)
	}
}

// readPlace reads a position from a value, or from one of its fields for positions.
func (l *looseFormatReader) readPlace(v map[string]any, f *nexus.Finding, depth int) {
	f.File = cmp.Or(firstText(v, fileFieldNames()), f.File, firstText(v, []string{"source"}))
	if n := firstNumber(v, lineFieldNames()); n > 0 && f.Line == 0 {
		f.Line, f.Column = n, firstNumber(v, columnFieldNames())
	}
	for _, word := range positionFieldNames() {
		if f.Line > 0 && f.File != "" || depth > 4 {
			return
		}
		below := v[word]
		if all, ok := below.([]any); ok {
			below = mainValue(all)
		}
		if m, ok := below.(map[string]any); ok {
			l.readPlace(normalizeNames(m), f, depth+1)
		}
	}
}

// mainValue returns the value of a list that is marked as the main one, or else the first one.
func mainValue(all []any) any {
	for _, v := range all {
		if m, ok := v.(map[string]any); ok && m["is_primary"] == true || m["primary"] == true {
			return m
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// normalizeNames normalizes the names in a value: lineNumber, line_number and LineNumber are one word.
func normalizeNames(v map[string]any) map[string]any {
	names := make(map[string]any, len(v))
	for k, x := range v {
		if !strings.ContainsAny(k, "/\\") { // not the name of a file
			k = normalizedFieldName(k)
		}
		names[k] = x
	}
	return names
}

func normalizedFieldName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

func firstText(v map[string]any, words []string) string {
	for _, w := range words {
		if s, ok := v[w].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

func firstNumber(v map[string]any, words []string) int {
	for _, w := range words {
		if n, ok := v[w].(json.Number); ok {
			return parserbase.ParseNumber(n.String())
		}
	}
	return 0
}

// ReadLooseXML reads XML of any kind whose elements have a file and a line, and a message in them or
// around them.
func ReadLooseXML(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var found []nexus.Finding
	var above []nexus.Finding
	root, whole := "", false
	for t := range xmlTokens(in, `[A-Za-z][\w:.-]*`) {
		switch e := t.(type) {
		case xml.StartElement:
			root = cmp.Or(root, e.Name.Local)
			f := nexus.Finding{}
			if len(above) > 0 {
				f = above[len(above)-1]
			}
			named := f.Line
			f = addElementAttributes(e, f)
			if f.Line > 0 && named == 0 && f.Message != "" && in.RelativePath(f.File) != "" {
				g := f
				g.File = in.RelativePath(f.File)
				found = append(found, g)
			}
			above = append(above, f)
		case xml.EndElement:
			above = above[:max(0, len(above)-1)]
			whole = e.Name.Local == root
		}
		if len(found) >= parserbase.Enough || len(above) > 100 {
			break
		}
	}
	return in.CheckerReport(found, root != "" && whole)
}

// addElementAttributes adds the attributes of an element to those of the elements around it.
func addElementAttributes(e xml.StartElement, f nexus.Finding) nexus.Finding {
	any := func(words ...string) (s string) {
		for _, w := range words {
			s = cmp.Or(s, xmlAttribute(e, w))
		}
		return s
	}
	f.File = cmp.Or(any("file", "path", "filename", "name"), f.File)
	f.Message = cmp.Or(any("message", "msg", "text", "rule"), f.Message)
	f.Code = cmp.Or(any("id", "rule", "source"), f.Code)
	if s := any("severity", "level", "priority"); s != "" {
		f.Severity = parseSeverity(s)
	}
	if n := cmp.Or(countAttribute(e, "line"), countAttribute(e, "beginline")); n > 0 {
		f.Line, f.Column = n, countAttribute(e, "column")
	}
	return f
}

// ReadGitHubAnnotations reads the annotations that a tool prints for GitHub's runners.
func ReadGitHubAnnotations(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	row := regexp.MustCompile(`^\s*::(error|warning|notice) (\S.*?)::(.*)$`)
	plain := strings.NewReplacer("%0A", "\n", "%0D", "", "%3A", ":", "%2C", ",", "%25", "%")
	var found []nexus.Finding
	for _, l := range in.AllLines() {
		m := row.FindStringSubmatch(l[:min(len(l), 8<<10)])
		if m == nil {
			continue
		}
		f := nexus.Finding{Severity: parseSeverity(m[1]), Message: strings.TrimSpace(plain.Replace(m[3]))}
		for pair := range strings.SplitSeq(m[2], ",") {
			switch key, value, _ := strings.Cut(pair, "="); strings.TrimSpace(key) {
			case "file":
				f.File = in.RelativePath(plain.Replace(value))
			case "line":
				f.Line, _ = strconv.Atoi(value)
			case "col":
				f.Column, _ = strconv.Atoi(value)
			case "title":
				f.Code = plain.Replace(value)
			}
		}
		if f.File != "" && len(found) < parserbase.Enough {
			found = append(found, f)
		}
	}
	return in.CheckerReport(found, len(found) > 0)
}
