package edit

import "strings"

// statement is a header of a table or a key with its value, and where it is.
type statement struct {
	table bool
	path  []string // in full
	in    []string // table that a key is written in; nil: none
	start int      // of the line that it begins on
	value int      // where the value begins
	end   int      // of the value or the header
}

// scanner finds the statements of a text. It is only right about TOML: what it
// finds in anything else is never used.
type scanner struct {
	text string
	at   int
}

// statements returns what a text has, in order. A text that is not TOML is refused.
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
				table = append(table, "[]") // a key in one of several tables is none of ours
			}
			all = append(all, statement{table: true, path: table, start: start, end: s.at})
			continue
		}
		path := s.key()
		s.at++ // the sign
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

// skip goes to the next statement, and reports whether there is one.
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

// line goes to the end of the line.
func (s *scanner) line() {
	if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		s.at += n
		return
	}
	s.at = len(s.text)
}

// key reads a dotted key up to what ends it.
func (s *scanner) key() []string {
	from := s.at
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"', '\'':
			s.quoted()
			continue
		case '=', ']', '\n':
			path, _ := Path(strings.TrimSpace(s.text[from:s.at])) // the whole text is TOML
			return path
		}
		s.at++
	}
	return nil
}

// skipValue goes to the end of a value, or to the comment behind it.
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

// quoted goes behind a text in quotes.
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
				s.at++ // one or two quotes may end a long text
			}
			return
		}
	}
	s.at = min(s.at, len(s.text))
}
