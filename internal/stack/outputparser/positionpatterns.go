package outputparser

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// positionPattern is a form in which tools print a position. The groups are called file, line, col, code,
// sev and text.
type positionPattern struct {
	re    *regexp.Regexp
	after bool // the text is the last message
	under bool // the file is the line that contains nothing else
	error bool // an exception is named in the lines after
	final bool // the line itself marks an error: not for test runs, which may retry
}

// positionPatterns returns the forms that several tools share; the first that fits counts.
func positionPatterns() []positionPattern {
	const (
		file  = `(?P<file>(?:[A-Za-z]:[\\/])?[^\s:()'"\[\],]+)`
		ended = `(?P<file>(?:[A-Za-z]:[\\/])?[^\s:()'"\[\],]+\.[A-Za-z]\w{0,9})` // it has an ending
		line  = `(?P<line>\d+)`
		col   = `(?P<col>\d+)`
		text  = `(?P<text>\S.*)`
		sev   = `(?P<sev>error|warning|info|refactor|style|convention|suggestion|\x{2716}|\x{26a0}|\x{00d7}|[A-Z]+\d*)`
	)
	re := regexp.MustCompile
	return []positionPattern{
		{re: re(`^\s*(?:-->|[,\x{256d}\x{250c}][-\x{2500}\s]*\[?)\s*` + file + `:` + line + `:` + col + `\s*\]?[\s\x{2500}]*$`), after: true},
		{re: re(`^CMake Error at ` + file + `:` + line + ` (?P<text>.*)$`)},
		{re: re(`^(?:\[\w+\] )?\s*File "(?P<file>[^"]+)", lines? ` + line), error: true},
		{re: re(`^(?:file://)?(?P<file>/?[^\s:()]+\.\w+):` + line + `$`), error: true},
		{re: re(`^\s+` + ended + `:` + line + `(?::` + col + `)?:?$`), after: true},
		{re: re(`^Diff in ` + file + `(?::| at line )` + line + `:$`)},
		{re: re(`^(?P<file>\S+): line ` + line + `(?:, col(?:umn)? ` + col + `)?[:,] (?P<text>.*)$`)},
		{re: re(`^(?P<file>[^\s:]+): ` + line + `: (?P<text>Syntax error: .*)$`)},
		{re: re(`^\W*(?:PHP )?(?P<sev>Fatal error):\s+(?P<text>.*), called in (?P<file>\S+) on line ` + line + ` and defined in `)},
		{re: re(`^\W*(?:PHP )?(?P<sev>Parse error|Fatal error|Warning):\s+(?P<text>.*) in (?P<file>\S+?)(?: on line |:)` + line + `$`)},
		{re: re(`^.*\btemplate: (?P<file>[\w./-]+\.\w+):` + line + `(?::` + col + `)?: (?P<text>.*)$`)},
		{re: re(`^\s*\x{2502}?\s*(?:on|in|Location:|\x{2514}\x{2500}) "?(?P<file>[^\s":()]+?)"?(?:,? (?:on )?line |:)` + line + `\b,?(?: column ` + col + `)?(?P<text>.*)$`), after: true},
		{re: re(`^\W*(?P<text>\S.* )(?:at|in|on) ` + ended + `,? (?:on |at )?line ` + line + `\b`)},
		{re: re(`^\s*\((?:in|at) (?:\w+ )*` + ended + `, line ` + line + `\)$`), after: true},
		{re: re(`^(?P<text>\S.*\S) \(` + ended + `, line ` + line + `\)$`)},
		{re: re(`^(?P<text>\w.* )(?:at|in|on):? ` + ended + `:` + line + `(?::` + col + `)?:?(?: in \S+)?$`), final: true},
		{re: re(`^\S*: \w+Sanitizer: (?P<text>\S+) ` + ended + `:` + line + `\b`)},
		{re: re(`^(?P<file>\S+\.rb):` + line + `:in .*?: (?P<text>.*)$`)},
		{re: re(`^would reformat (?P<file>\S+)$`)},
		{re: re(`^\s+\(?` + line + `(?::|, )` + col + `\)?(?:-[\d:]+)?:?\s+` + sev + `:?\s+` + text + `$`), under: true},
		{re: re(`^\s+\(` + line + `, ` + col + `\)\s+` + text + `$`), under: true},
		{re: re(`^` + sev + `:\s+` + line + `:\s+` + col + `:\s+` + text + `$`), under: true},
		{re: re(`^\s*(?P<sev>[\x{2716}\x{2718}\x{00d7}\x{26a0}])\s+` + line + `:` + col + `\s+` + text + `$`), under: true},
		{re: re(`^\s+L` + line + ` \|` + text + `$`), under: true},
		{re: re(`^(?P<file>(?:\S*/)?(?:[Mm]akefile|Dockerfile)):` + line + `: (?P<text>.*)$`)},
		{re: re(`^` + ended + `\(` + line + `(?:,\s*` + col + `)?\)\s*:?\s+` + text + `$`)},
		{re: re(`^\s{0,4}(?:\[[\w-]+\]:? )?` + ended + `(?::| \+)` + line + `(?::` + col + `)?(?:-[\d:]+)?(?::|\s+-)?\s+` + text + `$`)},
		{re: re(`^(?P<sev>[\w./-]+)(?::| in) ` + ended + `:` + line + `(?::` + col + `)?(?::|\s+-)\s+` + text + `$`)},
		{re: re(`^(?:\[?(?i:error|failed|failure)\]?:? (?:in |at )?)` + ended + `[: ]` + line + `(?::` + col + `)?(?:-\d+(?::\d+)?)?$`)},
	}
}

// positionFindings returns the positions in lines of any form, if none of the shapes matches: at most
// one per line, without duplicates.
func positionFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	const file = `["']?((?:[A-Za-z]:[\\/])?[\w@./~+-]*\w\.[A-Za-z]\w{0,9})["']?`
	ways := []*regexp.Regexp{
		regexp.MustCompile(file + `(?::|\()\[?(\d+)(?:[:,.] ?(\d+))?`),
		regexp.MustCompile(file + `(?:,? |: )\(?(?:@ )?(\d+)(?::(\d+)| error|$)`),
		regexp.MustCompile(file + `\b.*?\bline (\d+)(?:[:,] ?(?:col(?:umn)? )?(\d+))?`),
		regexp.MustCompile(file + `: .*\b(\d+):(\d+)(?:[):]|$)`),
	}
	turned := regexp.MustCompile(`(?:\bline:? |\()(\d+)(?::(\d+))?\)?(?:,? col(?:umn)? \d+)? (?:(?:of|in) )?(?:file )?` + file)
	below := regexp.MustCompile(`^\s*(\d+)(?::(\d+)|\s{2,}\w| \| *(?:ERROR|WARNING)\b)`)
	head := regexp.MustCompile(`^(?:FILE: )?([^\s:]*\w\.[A-Za-z]\w{0,9}):?$`)
	aside := regexp.MustCompile(`(?i)^\s*(?:at|from|#\d+|> ?\d+ \||note:|help:)(?:\s|$)|\bhere:?$|://`)
	var found []nexus.Finding
	add := func(f nexus.Finding, l string) {
		f.Message = strings.TrimSpace(l)
		if f.File != "" && f.Line > 0 && !strings.Contains(f.File, "node_modules/") &&
			!slices.ContainsFunc(found, func(g nexus.Finding) bool { return f.File == g.File && f.Line == g.Line }) {
			found = append(found, f)
		}
	}
	under := ""
	for _, l := range all {
		l = l[:min(len(l), 512)]
		if m := head.FindStringSubmatch(strings.TrimSpace(l)); m != nil {
			under = m[1]
			continue
		}
		if !strings.ContainsAny(l, "0123456789") || aside.MatchString(l) || len(found) >= parserbase.Enough {
			continue
		}
		if m := below.FindStringSubmatch(l); m != nil && under != "" {
			add(nexus.Finding{File: in.RelativePath(under), Line: parserbase.ParseNumber(m[1]), Column: parserbase.ParseNumber(m[2])}, l)
			continue
		}
		if m := turned.FindStringSubmatch(l); m != nil {
			add(nexus.Finding{File: in.RelativePath(m[3]), Line: parserbase.ParseNumber(m[1]), Column: parserbase.ParseNumber(m[2])}, l)
			continue
		}
		for _, way := range ways {
			if m := way.FindStringSubmatch(l); m != nil {
				add(nexus.Finding{File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3])}, l)
				break
			}
		}
	}
	return found
}

// diffFindings returns the positions of the differences in a text in the form of diff -u: for each
// part the first differing line of the original file.
func diffFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	head := regexp.MustCompile(`^--- ([^\t]+?)(?:\.orig)?(?:\t.*)?$`)
	part := regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@`)
	var found []nexus.Finding
	file, at := "", 0
	for i, l := range all {
		if m := head.FindStringSubmatch(l); m != nil && i+1 < len(all) && strings.HasPrefix(all[i+1], "+++ ") {
			file, at = m[1], 0
			if strings.HasPrefix(all[i+1], "+++ b/") { // as git writes it
				file = strings.TrimPrefix(file, "a/")
			}
			file = in.RelativePath(file)
		} else if m := part.FindStringSubmatch(l); m != nil && file != "" {
			at = parserbase.ParseNumber(m[1])
		} else if at > 0 && strings.HasPrefix(l, " ") {
			at++
		} else if at > 0 && (strings.HasPrefix(l, "-") || strings.HasPrefix(l, "+")) {
			found = append(found, nexus.Finding{File: file, Line: at, Code: parserbase.CodeFormat, Message: "it is not as the tool would write it"})
			at = 0
		}
	}
	return found
}

// listedFileFindings returns the files that an output lists, one per line and nothing else: formatters
// print the files that they would change in this form.
func listedFileFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	file := regexp.MustCompile(`^(?:\./)?[\w@+-][\w@+./-]*\.[A-Za-z]\w{0,9}$`)
	frame := regexp.MustCompile(`^$|^> |^g?make(?:\[\d+\])?: |^npm (?:ERR!|error)`)
	var found []nexus.Finding
	for _, l := range all {
		switch l = strings.TrimSpace(l[:min(len(l), 4096)]); {
		case file.MatchString(strings.TrimPrefix(l, in.Root)):
			found = append(found, nexus.Finding{File: in.RelativePath(l), Code: parserbase.CodeFormat, Message: "the tool names this file, and says no more"})
		case !frame.MatchString(l):
			return nil
		}
	}
	return found
}

// tracebackFindings returns, for each Python traceback, the innermost frame in the tree.
func tracebackFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	frame := regexp.MustCompile(`^\s+File "([^"]+)", line (\d+)(?:, in |$)`)
	var found []nexus.Finding
	open := false
	for i, l := range all {
		l = l[:min(len(l), 4096)]
		m := frame.FindStringSubmatch(l)
		switch {
		case strings.HasSuffix(l, "Traceback (most recent call last):"):
			open, found = true, append(found, nexus.Finding{})
		case open && m != nil && in.RelativePath(m[1]) != "" && !strings.Contains(m[1], "-packages/"):
			found[len(found)-1].File, found[len(found)-1].Line = in.RelativePath(m[1]), parserbase.ParseNumber(m[2])
		case open && l != "" && l[0] != ' ':
			open, found[len(found)-1].Message = false, all[i]
		}
	}
	return slices.DeleteFunc(found, func(f nexus.Finding) bool { return f.File == "" || f.Message == "" })
}

// stackFindings returns, for each stack in an output, the first frame in the tree.
func stackFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	frame := regexp.MustCompile(`(?:^\s*(?:at|from|in|#\d+)\b(?:.*[\s(])?|\x{203a} )((?:file://)?[^\s()?]+\.\w+)(?:\?[^\s:()]*)?:(\d+)(?::(\d+))?(?::in .*|\)?)$`)
	elixir := regexp.MustCompile(`^ {5,}([^\s:()]+\.exs?):(\d+)(): \S`)
	jvm := regexp.MustCompile(`^\s*at (?:\S+/)?([\w.$]+)\.[\w$<>]+\(\w+\.\w+:\d+\)$`)
	var found []nexus.Finding
	message, open := "", false
	for _, l := range all {
		l = l[:min(len(l), 4096)]
		m := frame.FindStringSubmatch(l)
		if m == nil {
			m = elixir.FindStringSubmatch(l)
		}
		if m == nil {
			open = false
			if strings.Contains(l, "Error") || strings.Contains(l, "Exception") || strings.Contains(l, "ERROR") {
				message = strings.TrimSpace(l)
			}
			continue
		}
		place := in.RelativePath(m[1])
		if java := jvm.FindStringSubmatch(l); java != nil {
			place = fileOfJavaClass(in, java[1], m[1])
		}
		if open || place == "" || strings.HasPrefix(strings.TrimSpace(l), "at new ") || strings.Contains(m[1], "node_modules/") || strings.HasPrefix(m[1], "../") || strings.HasPrefix(m[1], "node:") {
			continue
		}
		open = true
		if message == "" {
			message = strings.TrimSpace(l)
		}
		found = append(found, nexus.Finding{File: place, Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), Message: message})
	}
	return found
}

// fileOfJavaClass returns the file of a class that a frame names by its last part. Without a tree,
// only a class without a package has a known path: the file that the frame names.
func fileOfJavaClass(in parserbase.ToolOutput, class, file string) string {
	outer, _, _ := strings.Cut(class, "$")
	dot := strings.LastIndexByte(outer, '.')
	switch {
	case in.Find != nil:
		return in.Find(strings.ReplaceAll(outer[:max(dot, 0)], ".", "/") + "/" + file)
	case dot < 0:
		return in.RelativePath(file)
	default:
		return ""
	}
}
