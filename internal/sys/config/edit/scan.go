package edit

import "strings"

// statement is a table header or a key with its value, with its position in the text.
type statement struct {
	table bool
	path  []string // full path
	in    []string // table around a key; nil: none
	start int      // start of its line
	value int      // start of the value
	end   int      // end of the value or the header
}

// scanner finds the statements of a text. It is correct only for TOML; its findings in other texts
// are never used.
type scanner struct {
	text string
	at   int
}

// statements returns the statements of a text in order. A text that is not TOML is refused.
func statements(text string) ([]statement, error) {
	var tree map[string]any
	if err := parse(text, &tree); err != nil {
		return nil, err
	}
	var all []statement
	var table []string
	s := scanner{text: text}
	for s.skip() {
		start := 1 + strings.LastIndexByte(text[:s.at], '\n')
		if text[s.at] == '[' {
			list := strings.HasPrefix(text[s.at:], "[[")
			s.at += 1
			if list {
				s.at++
			}
			table = s.key()
			if s.line(); list {
				table = append(table, "[]") // keys in an array of tables are not edited
			}
			all = append(all, statement{table: true, path: table, start: start, end: s.at})
			continue
		}
		path := s.key()
		s.at++ // the equals sign
		for s.at < len(text) && (text[s.at] == ' ' || text[s.at] == '\t') {
			s.at++
		}
		one := statement{path: append(append([]string{}, table...), path...), in: table, start: start, value: min(s.at, len(text))}
		s.at = one.value
		s.skipValue()
		one.end = one.value + len(strings.TrimRight(text[one.value:s.at], " \t\r"))
		all = append(all, one)
	}
	return all, nil
}

// skip advances to the next statement, and reports whether there is one.
func (s *scanner) skip() bool {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		case '#':
			s.line()
		default:
			return true
		}
	}
	return false
}

// line advances to the end of the line.
func (s *scanner) line() {
	if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		s.at += n
		return
	}
	s.at = len(s.text)
}

// key reads a dotted key up to its end.
func (s *scanner) key() []string {
	from := s.at
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"', '\'':
			s.quoted()
			continue
		case '=', ']', '\n':
			path, _ := Path(strings.TrimSpace(s.text[from:s.at])) // cannot fail: the whole text is TOML
			return path
		}
		s.at++
	}
	return nil
}

// skipValue advances to the end of a value, or to the comment after it.
func (s *scanner) skipValue() {
	deep := 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"', '\'':
			s.quoted()
			continue
		case '[', '{':
			deep++
		case ']', '}':
			deep--
		case '#':
			if deep == 0 {
				return
			}
			s.line()
			continue
		case '\n':
			if deep == 0 {
				return
			}
		}
		s.at++
	}
}

// quoted advances past a string in quotes.
func (s *scanner) quoted() {
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
