package files

import (
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
)

// ripgrepPattern returns an expression that ripgrep finds in every file that has a line which
// expr matches, and maybe in more. A file may be encoded in UTF-8, or in one byte per
// character.
func ripgrepPattern(expr string) (string, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	writeRipgrepPattern(&b, re)
	return b.String(), nil
}

// nonASCIIByte matches any byte that begins no ASCII character.
const nonASCIIByte = `(?-u:[\x80-\xff])`

func writeRipgrepPattern(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		b.WriteString(`[^\x{0}-\x{10FFFF}]`)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			writeRipgrepLetter(b, r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		writeRipgrepClass(b, re.Rune)
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		b.WriteString("(?:.|" + nonASCIIByte + ")")
	case syntax.OpBeginLine, syntax.OpBeginText:
		b.WriteString(`(?:^\x{FEFF}?)`)
	case syntax.OpEndLine, syntax.OpEndText:
		b.WriteString(`(?:\r?$)`)
	case syntax.OpWordBoundary:
		b.WriteString(`(?-u:\b)`)
	case syntax.OpCapture:
		writeRipgrepPattern(b, re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		writeRipgrepRepeat(b, re)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			writeRipgrepPattern(b, sub)
		}
	case syntax.OpAlternate:
		b.WriteString("(?:")
		for i, sub := range re.Sub {
			if i > 0 {
				b.WriteByte('|')
			}
			writeRipgrepPattern(b, sub)
		}
		b.WriteByte(')')
	// an empty match allows more than the absence of a boundary
	case syntax.OpEmptyMatch, syntax.OpNoWordBoundary:
		b.WriteString("(?:)")
	}
}

func writeRipgrepRepeat(b *strings.Builder, re *syntax.Regexp) {
	sub := re.Sub[0]
	if op := sub.Op; re.Op == syntax.OpStar && (op == syntax.OpAnyCharNotNL || op == syntax.OpAnyChar) {
		b.WriteString(`(?-u:[^\n]*)`)
		return
	}
	b.WriteString("(?:")
	writeRipgrepPattern(b, sub)
	b.WriteByte(')')
	switch re.Op {
	case syntax.OpStar:
		b.WriteByte('*')
	case syntax.OpPlus:
		b.WriteByte('+')
	case syntax.OpQuest:
		b.WriteByte('?')
	default:
		b.WriteByte('{')
		b.WriteString(strconv.Itoa(re.Min))
		if re.Max != re.Min {
			b.WriteByte(',')
		}
		if re.Max > re.Min {
			b.WriteString(strconv.Itoa(re.Max))
		}
		b.WriteByte('}')
	}
}

func writeRipgrepLetter(b *strings.Builder, r rune, fold bool) {
	open, end := "", ""
	if fold {
		open, end = "(?i:", ")"
	}
	switch {
	// in either encoding; case folding may lead from one to the other
	case r >= 0x80 && (r <= 0xff || fold):
		fmt.Fprintf(b, "(?:%s\\x{%X}%s|%s)", open, r, end, nonASCIIByte)
	case r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		b.WriteString(open + string(r) + end)
	default:
		fmt.Fprintf(b, `%s\x{%X}%s`, open, r, end)
	}
}

func writeRipgrepClass(b *strings.Builder, ranges []rune) {
	wide := false
	b.WriteString("(?:[")
	for i := 0; i < len(ranges); i += 2 {
		fmt.Fprintf(b, `\x{%X}-\x{%X}`, ranges[i], ranges[i+1])
		wide = wide || ranges[i+1] >= 0x80 && ranges[i] <= 0xff
	}
	b.WriteByte(']')
	if wide {
		b.WriteString("|" + nonASCIIByte)
	}
	b.WriteByte(')')
}
