package nexus

import (
	"time"
)

// decodeFactFast decodes the facts that make up most of a journal, as [EncodeFact] writes them, four
// times as fast as encoding/json. It returns nil for all other facts, and for JSON with
// anything unusual, such as an escape: encoding/json decodes those. The result is always
// equal to that of encoding/json.
func decodeFactFast(kind string, data []byte) Fact {
	s := jsonScanner{data: data}
	var f Fact
	switch kind {
	case "turn.taken":
		f = s.turnTaken()
	case "tool.called":
		f = s.toolCalled()
	case "tool.answered":
		f = s.toolAnswered()
	case "tools.answered":
		f = s.toolsAnswered()
	case "budget.reserved":
		f = s.budgetReserved()
	case "budget.spent":
		f = s.budgetSpent()
	default:
		return nil
	}
	if s.odd || s.at != len(data) {
		return nil
	}
	return f
}

func (s *jsonScanner) turnTaken() (f TurnTaken) {
	for s.beginObject(); ; {
		switch s.key() {
		case "session":
			f.Session = SessionID(s.readText())
		case "turn":
			f.Turn = int(s.readNumber())
		case "message":
			f.Message = s.readText()
		case "stop":
			f.Stop = s.readText()
		case "says":
			f.Says = s.readText()
		case "":
			return f
		default:
			s.odd = true
			return f
		}
	}
}

func (s *jsonScanner) toolCalled() (f ToolCalled) {
	for s.beginObject(); ; {
		switch s.key() {
		case "session":
			f.Session = SessionID(s.readText())
		case "call":
			f.Call = s.readText()
		case "tool":
			f.Tool = s.readText()
		case "about":
			f.About = s.readText()
		case "":
			return f
		default:
			s.odd = true
			return f
		}
	}
}

func (s *jsonScanner) toolAnswered() (f ToolAnswered) {
	for s.beginObject(); ; {
		switch s.key() {
		case "session":
			f.Session = SessionID(s.readText())
		case "call":
			f.Call = s.readText()
		case "failed":
			f.Failed = s.readTrue()
		case "duration":
			f.Duration = time.Duration(s.readNumber())
		case "about":
			f.About = s.readText()
		case "over":
			f.Over = s.readText()
		case "":
			return f
		default:
			s.odd = true
			return f
		}
	}
}

func (s *jsonScanner) toolsAnswered() (f ToolsAnswered) {
	for s.beginObject(); ; {
		switch s.key() {
		case "session":
			f.Session = SessionID(s.readText())
		case "message":
			f.Message = s.readText()
		case "":
			return f
		default:
			s.odd = true
			return f
		}
	}
}

func (s *jsonScanner) budgetReserved() (f BudgetReserved) {
	for s.beginObject(); ; {
		switch s.key() {
		case "id":
			f.ID = s.readText()
		case "task":
			f.Task = TaskID(s.readText())
		case "session":
			f.Session = SessionID(s.readText())
		case "role":
			f.Role = Role(s.readText())
		case "model":
			f.Model = s.readText()
		case "tier":
			f.Tier = Tier(s.readText())
		case "money":
			f.Money = s.readMoney()
		case "tokens":
			f.Tokens = s.readNumber()
		case "":
			return f
		default:
			s.odd = true
			return f
		}
	}
}

func (s *jsonScanner) budgetSpent() (f BudgetSpent) {
	for s.beginObject(); ; {
		switch s.key() {
		case "id":
			f.ID = s.readText()
		case "money":
			f.Money = s.readMoney()
		case "usage":
			s.usage(&f.Usage)
		case "estimated":
			f.Estimated = s.readTrue()
		case "service":
			f.Service = s.readText()
		case "":
			return f
		default:
			s.odd = true
			return f
		}
	}
}

func (s *jsonScanner) usage(u *Usage) {
	for s.beginObject(); ; {
		switch s.key() {
		case "input":
			u.Input = s.readNumber()
		case "output":
			u.Output = s.readNumber()
		case "cache_read":
			u.CacheRead = s.readNumber()
		case "cache_write":
			u.CacheWrite = s.readNumber()
		case "cache_hour":
			u.CacheHour = s.readNumber()
		case "":
			return
		default:
			s.odd = true
			return
		}
	}
}

// jsonScanner reads JSON as [json.Marshal] writes it, and stops at anything else.
type jsonScanner struct {
	data []byte
	at   int
	odd  bool // it stopped
	new  bool // nothing of the object was read yet
}

// readByte reads one byte.
func (s *jsonScanner) readByte(c byte) bool {
	if s.odd || s.at >= len(s.data) || s.data[s.at] != c {
		s.odd = true
		return false
	}
	s.at++
	return true
}

// beginObject reads the start of an object.
func (s *jsonScanner) beginObject() {
	s.readByte('{')
	s.new = true
}

// key reads the name of the next field. It returns "" at the end of the object.
func (s *jsonScanner) key() string {
	if s.odd || s.at >= len(s.data) {
		s.odd = true
		return ""
	}
	if s.data[s.at] == '}' {
		s.at++
		s.new = false
		return ""
	}
	if !s.new && !s.readByte(',') {
		return ""
	}
	s.new = false
	name := s.readQuoted()
	if !s.readByte(':') || len(name) == 0 {
		s.odd = true
		return ""
	}
	return string(name)
}

// readQuoted reads a string without escapes, of printable ASCII.
func (s *jsonScanner) readQuoted() []byte {
	if !s.readByte('"') {
		return nil
	}
	from := s.at
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return s.data[from : s.at-1]
		case c < ' ' || c == '\\' || c > '~':
			s.odd = true
			return nil
		}
	}
	s.odd = true
	return nil
}

func (s *jsonScanner) readText() string { return string(s.readQuoted()) }

// readTrue reads the literal true. The encoder never writes false.
func (s *jsonScanner) readTrue() bool {
	for _, c := range []byte("true") {
		s.readByte(c)
	}
	return !s.odd
}

// readDigits reads up to 18 digits and a point, which may be a number.
func (s *jsonScanner) readDigits() []byte {
	from := s.at
	for s.at < len(s.data) && (s.data[s.at] >= '0' && s.data[s.at] <= '9' || s.data[s.at] == '.') {
		s.at++
	}
	d := s.data[from:s.at]
	if len(d) == 0 || len(d) > 18 || d[0] == '.' || d[len(d)-1] == '.' || d[0] == '0' && len(d) > 1 && d[1] != '.' {
		s.odd = true
		return nil
	}
	return d
}

// readNumber reads a whole number that is not negative.
func (s *jsonScanner) readNumber() int64 {
	n := int64(0)
	for _, c := range s.readDigits() {
		if c == '.' {
			s.odd = true
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

func (s *jsonScanner) readMoney() Money {
	n, ok := parsePlainMoney(s.readDigits())
	s.odd = s.odd || !ok
	return n
}
