package edit

import "strings"

// tomlStatement is a table header or a key with its value, with its position in the text.
type tomlStatement struct {
	table bool
	path  []string // full path
	in    []string // table around a key; nil: none
	start int      // start of its line
	value int      // start of the value
	end   int      // end of the value or the header
}

// tomlScanner finds the statements of a text. It is correct only for TOML; its findings in other texts
// are never used.
type tomlScanner struct {
	text string
	at   int
}

// scanStatements returns the statements of a text in order. A text that is not TOML is refused.
func scanStatements(text string) ([]tomlStatement, error) {
	var tree map[string]any
	if err := parseTOML(text, &tree); err != nil {
		return nil, err
	}
	var all []tomlStatement
	var table []string
	s := tomlScanner{text: text}
	for s.skipToStatement() {
		start := 1 + strings.LastIndexByte(text[:s.at], '\n')
		if text[s.at] == '[' {
			list := strings.HasPrefix(text[s.at:], "[[")
			s.at += 1
			if list {
				s.at++
			}
			table = s.readKey()
			if s.skipLine(); list {
				table = append(table, "[]") // keys in an array of tables are not edited
			}
			all = append(all, tomlStatement{table: true, path: table, start: start, end: s.at})
			continue
		}
		path := s.readKey()
		s.at++ // the equals sign
		for s.at < len(text) && (text[s.at] == ' ' || text[s.at] == '\t') {
			s.at++
		}
		one := tomlStatement{path: append(append([]string{}, table...), path...), in: table, start: start, value: min(s.at, len(text))}
		s.at = one.value
		s.skipValue()
		one.end = one.value + len(strings.TrimRight(text[one.value:s.at], " \t\r"))
		all = append(all, one)
	}
	return all, nil
}

// skipToStatement advances to the next statement, and reports whether there is one.
func (s *tomlScanner) skipToStatement() bool {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		case '#':
			s.skipLine()
		default:
			return true
		}
	}
	return false
}

// skipLine advances to the end of the line.
func (s *tomlScanner) skipLine() {
	if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		s.at += n
		return
	}
	s.at = len(s.text)
}

// readKey reads a dotted key up to its end.
func (s *tomlScanner) readKey() []string {
	from := s.at
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"', '\'':
			s.skipQuoted()
			continue
		case '=', ']', '\n':
			path, _ := ParseKey(strings.TrimSpace(s.text[from:s.at])) // cannot fail: the whole text is TOML
			return path
		}
		s.at++
	}
	return nil
}

// skipValue advances to the end of a value, or to the comment after it.
func (s *tomlScanner) skipValue() {
	deep := 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"', '\'':
			s.skipQuoted()
			continue
		case '[', '{':
			deep++
		case ']', '}':
			deep--
		case '#':
			if deep == 0 {
				return
			}
			s.skipLine()
			continue
		case '\n':
			if deep == 0 {
				return
			}
		}
		s.at++
	}
}

// skipQuoted advances past a string in quotes.
func (s *tomlScanner) skipQuoted() {
	quote := s.text[s.at : s.at+1]
	end := quote
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.at:], long) {
		end = long
	}
	for s.at += len(end); s.at < len(s.text); s.at++ {
		switch {
		case quote == `"` && s.text[s.at] == '\\':
			s.at++
		case strings.HasPrefix(s.text[s.at:], end):
			for s.at += len(end); len(end) == 3 && strings.HasPrefix(s.text[s.at:], quote); {
				s.at++ // one or two quotes may precede the end of a long string
			}
			return
		}
	}
	s.at = min(s.at, len(s.text))
}
