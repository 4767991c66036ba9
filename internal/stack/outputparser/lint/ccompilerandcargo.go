package lint

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadGCC reads gcc and clang, and the output of make and CMake around them.
func ReadGCC(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	return in.CheckerReport(GCCFindings(in, in.AllLines()), true)
}

// GCCFindings returns the findings of gcc, clang, the linker, make and CMake. A note belongs to
// the finding before it.
func GCCFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	at := regexp.MustCompile(`^(?:In file included from )?((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d+):(?:(\d+):)? ([^\s:][^:]{0,40}): (.*)$`)
	link := regexp.MustCompile(`^(?:[^\s:]*ld(?:\.\w+)?: )?(?:([^\s:]+\.(?:c|cc|cpp|cxx|m|f90)):)?(?:\(\.\w[^)]*\): )?(undefined reference to .*|multiple definition of .*|cannot find -l.*)$`)
	section := regexp.MustCompile(`^(?:\S*ld(?:\.\w+)?[ \x{a0}]?: )?([^\s:]+\.(?:c|cc|cpp|cxx|m|f90)):\(\.\w[^)]*\)[ \x{a0}]?: (.+)$`) // in any language
	rule := regexp.MustCompile(`^g?make(?:\[\d+\])?: \*\*\* +([^\s\[].*?[^.])\.?\s*(?:Stop\.)?$`)
	syntax := regexp.MustCompile(`^((?:GNU)?[Mm]akefile|\S+\.mk):(\d+): \*\*\* (.*?)\s*(?:Stop\.)?$`)
	script := regexp.MustCompile(`^CMake (Error|Warning)(?: \(dev\))? at ([^:]+):(\d+) \((.*)\):$`)
	code := regexp.MustCompile(`\s+\[(-W[\w=+-]+)\]$`)
	var found []nexus.Finding
	for i, l := range all {
		l = l[:min(len(l), longest)]
		switch {
		case at.MatchString(l):
			m := at.FindStringSubmatch(l)
			f := nexus.Finding{File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), Severity: wordSeverity(m[4]), Message: m[5]}
			if f.Severity == "" {
				continue
			}
			if c := code.FindStringSubmatchIndex(f.Message); c != nil {
				f.Code, f.Message = f.Message[c[2]:c[3]], f.Message[:c[0]]
			}
			if f.File == "" {
				f.Line, f.Column, f.Message = 0, 0, l
			}
			found = append(found, f)
		case link.MatchString(l):
			m := link.FindStringSubmatch(l)
			found = append(found, nexus.Finding{File: in.RelativePath(m[1]), Severity: nexus.Major, Code: "link", Message: m[2]})
		case section.MatchString(l):
			m := section.FindStringSubmatch(l)
			if word, _, _ := strings.Cut(m[2], ":"); wordSeverity(word) != nexus.Minor {
				found = append(found, nexus.Finding{File: in.RelativePath(m[1]), Severity: nexus.Major, Code: "link", Message: m[2]})
			}
		case rule.MatchString(l):
			found = append(found, nexus.Finding{Severity: nexus.Major, Code: "make", Message: rule.FindStringSubmatch(l)[1]})
		case syntax.MatchString(l):
			m := syntax.FindStringSubmatch(l)
			found = append(found, nexus.Finding{File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Severity: nexus.Major, Code: "make", Message: m[3]})
		case script.MatchString(l):
			m := script.FindStringSubmatch(l)
			message := m[4]
			if i+1 < len(all) && strings.TrimSpace(all[i+1]) != "" {
				message = strings.TrimSpace(all[i+1])
			}
			found = append(found, nexus.Finding{File: in.RelativePath(m[2]), Line: parserbase.ParseNumber(m[3]), Severity: parseSeverity(m[1]), Code: "cmake", Message: message})
		}
		if len(found) == parserbase.Enough {
			break
		}
	}
	return found
}

// cargoMessage is a line of cargo --message-format=json.
type cargoMessage struct {
	Reason  string
	Success *bool
	Message struct {
		Level, Message, Rendered string
		Code                     *struct{ Code string }
		Spans                    []struct {
			FileName    string `json:"file_name"`
			LineStart   int    `json:"line_start"`
			LineEnd     int    `json:"line_end"`
			ColumnStart int    `json:"column_start"`
			ColumnEnd   int    `json:"column_end"`
			Primary     bool   `json:"is_primary"`
			Label       string
		}
	}
}

// ReadCargo reads cargo build, check and clippy, with --message-format=json or as text, and rustc.
func ReadCargo(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var found []nexus.Finding
	native, finished := false, true
	rest := parserbase.EachObject(in.Stdout, func(line []byte) bool {
		var m cargoMessage
		if json.Unmarshal(line, &m) != nil || m.Reason == "" {
			return false
		}
		if m.Reason == "build-finished" {
			finished = true
		} else if !native {
			native, finished = true, false
		}
		if m.Reason == "compiler-message" {
			found = append(found, rustFinding(in, m)...)
		}
		return true
	})
	if native {
		r := in.CheckerReport(found, finished)
		if r.State == nexus.Unverifiable {
			r.Why = "its JSON is incomplete"
		}
		return r
	}
	all := append(rest, parserbase.SplitLines(in.Stderr)...)
	return in.CheckerReport(RustcFindings(in, all), hasMatchingLine(all, `^\s+(?:Finished|Checking|Compiling|Fresh) |^(?:error|warning)`) || len(all) == 0)
}

func rustFinding(in parserbase.ToolOutput, m cargoMessage) []nexus.Finding {
	if m.Message.Level != "error" && m.Message.Level != "warning" || len(m.Message.Spans) == 0 {
		return nil // the summary: "aborting due to 2 previous errors"
	}
	f := nexus.Finding{Severity: parseSeverity(m.Message.Level), Message: parserbase.PlainText(m.Message.Message)}
	if m.Message.Code != nil {
		f.Code = m.Message.Code.Code
	}
	for _, s := range m.Message.Spans {
		if s.Primary {
			f.File, f.Line, f.Column, f.EndLine, f.EndColumn = in.RelativePath(s.FileName), s.LineStart, s.ColumnStart, s.LineEnd, s.ColumnEnd
			break
		}
	}
	return []nexus.Finding{f}
}

// RustcFindings reads the text of rustc and clippy.
func RustcFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	found := arrowFindings(in, all, `^(error|warning)(?:\[(\w+)\])?: (.*)$`)
	code := regexp.MustCompile("^\\s+= note: `(?:#\\[(?:warn|deny)\\(|-[DWF] )([\\w:-]+)")
	help := regexp.MustCompile(`^\s+= help: for further information visit \S+#(\w+)$`)
	i := -1
	arrow := regexp.MustCompile(`^\s*--> `)
	for _, l := range all { // names of lints follow their finding
		l = l[:min(len(l), longest)]
		if arrow.MatchString(l) {
			i++
			continue
		}
		if i < 0 || i >= len(found) || found[i].Code != "" {
			continue
		}
		if m := help.FindStringSubmatch(l); m != nil {
			found[i].Code = "clippy::" + m[1]
		} else if m := code.FindStringSubmatch(l); m != nil {
			found[i].Code = strings.ReplaceAll(m[1], "-", "_")
		}
	}
	return found
}

// arrowFindings reads findings whose position is below their message: " --> a:1:2". The pattern of the
// message has the groups severity, code, message, or code and message. There is a finding for
// each arrow.
func arrowFindings(in parserbase.ToolOutput, all []string, pattern string) []nexus.Finding {
	head, arrow := regexp.MustCompile(pattern), regexp.MustCompile(`^\s*--> (.+?):(\d+):(\d+)$`)
	aside := regexp.MustCompile(`^(?:note|help): `)
	var found []nexus.Finding
	said, prior := nexus.Finding{}, false
	for _, l := range all {
		l = l[:min(len(l), longest)]
		if m := head.FindStringSubmatch(l); m != nil {
			said = nexus.Finding{Severity: nexus.Major, Code: m[1], Message: m[2]}
			if len(m) == 4 {
				said = nexus.Finding{Severity: parseSeverity(m[1]), Code: m[2], Message: m[3]}
			}
			continue
		}
		if m := arrow.FindStringSubmatch(l); m != nil {
			if said.Message == "" && prior {
				continue // it explains the finding before it
			}
			f := said
			f.File, f.Line, f.Column = in.RelativePath(m[1]), parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3])
			if f.Message == "" {
				f.Message, f.Severity = strings.TrimSpace(l), nexus.Suggestion // the position of a note
			}
			found = append(found, f)
			said = nexus.Finding{}
		}
		prior = aside.MatchString(l)
	}
	return found
}
