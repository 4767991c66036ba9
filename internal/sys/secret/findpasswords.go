package secret

import (
	"bytes"
	"slices"
	"strings"
)

// findPasswords returns the spans of data with an obvious password: in a URL, in a database connection
// string, or after the word.
func findPasswords(data []byte) []byteSpan {
	spans := addressPasswords(data)
	for _, word := range []string{"assword", "ASSWORD", "asswd", "ASSWD", "wd=", "WD=", "assphrase", "ASSPHRASE"} {
		for from := 0; ; {
			i := bytes.Index(data[from:], []byte(word))
			if i < 0 {
				break
			}
			from += i + len(word)
			if s, ok := assignedValue(data, from-len(word), strings.TrimSuffix(word, "=")); ok {
				spans = append(spans, s)
			}
		}
	}
	slices.SortStableFunc(spans, func(x, y byteSpan) int { return x.from - y.from })
	return spans
}

const maxAddressPart = 500 // bytes of a user, a password and a host

// addressPasswords returns the passwords of user:password@host after :// and before @tcp( and the like.
func addressPasswords(data []byte) []byteSpan {
	var spans []byteSpan
	add := func(from, to int) {
		user, password, ok := bytes.Cut(data[from:to], []byte(":"))
		start := from + len(user) + 1
		if ok && len(password) >= 4 && !bytes.ContainsAny(password, "${}<>*%()|") && !isPlaceholder(password) && !bytes.Equal(user, password) ||
			ok && isPercentEncoded(password) && !isPlaceholder(password) {
			spans = append(spans, byteSpan{start, to})
		}
	}
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte("://"))
		if i < 0 {
			break
		}
		from += i + 3
		rest := data[from:min(len(data), from+maxAddressPart)]
		if end := bytes.IndexAny(rest, "/?# \t\r\n\"'`\\<>,"); end >= 0 {
			rest = rest[:end]
		}
		if at := bytes.LastIndexByte(rest, '@'); at > 0 {
			add(from, from+at)
		}
	}
	for _, mark := range []string{"@tcp(", "@unix("} {
		for from := 0; ; {
			i := bytes.Index(data[from:], []byte(mark))
			if i < 0 {
				break
			}
			start := bytes.LastIndexAny(data[:from+i], " \t\r\n\"'`\\=/") + 1
			if at := from + i; at-start < maxAddressPart {
				add(start, at)
			}
			from += i + len(mark)
		}
	}
	return spans
}

// isPercentEncoded reports whether a password has percent-encoded bytes, and no other sign of being a
// compound of variables.
func isPercentEncoded(password []byte) bool {
	i := bytes.IndexByte(password, '%')
	return i >= 0 && len(password) >= i+3 && isHexDigit(password[i+1]) && isHexDigit(password[i+2]) && !bytes.ContainsAny(password, "${}<>*()|")
}

func isHexDigit(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// assignedValue returns the value after a word for a password whose second letter is at i. Expressions
// of a program and placeholders of examples are not returned.
func assignedValue(data []byte, i int, word string) (byteSpan, bool) {
	if i == 0 || data[i-1]|0x20 != 'p' {
		return byteSpan{}, false
	}
	loud := data[i-1] == 'P' && data[i] < 'a' // written like an environment variable
	at := i + len(word)
	listed := bytes.IndexByte([]byte(";?&"), byteAt(data, i-2)) >= 0 // part of a connection string
	at = skipBytes(data, at, "\\\"'")
	blanks := skipBytes(data, at, " \t")
	at = blanks
	switch {
	case bytes.HasPrefix(data[at:], []byte("=>")), bytes.HasPrefix(data[at:], []byte(":=")):
		at += 2
	case byteAt(data, at) == '=' && byteAt(data, at+1) != '=', byteAt(data, at) == ':' && byteAt(data, at+1) != ':':
		at++
	default:
		return byteSpan{}, false
	}
	at = skipBytes(data, at, " \t")
	from := skipBytes(data, at, "\\\"'`")
	quoted := from > at
	to := from
	for to < len(data) && bytes.IndexByte([]byte(" \t\r\n\"'`\\;,&<>()[]{}"), data[to]) < 0 {
		to++
	}
	value := data[from:to]
	code := !quoted && bytes.IndexByte([]byte("([{"), byteAt(data, to)) >= 0 || bytes.ContainsAny(value, "$%*") && !quoted || bytes.HasPrefix(value, []byte("$"))
	sure := quoted && isMixed(string(value)) || loud || listed || !quoted && isMixed(string(value)) && !isDottedName(value)
	if len(value) < 6 && (!listed || len(value) < 4) || code || !sure || isPlaceholder(value) {
		return byteSpan{}, false
	}
	return byteSpan{from, to}, true
}

// isDottedName reports whether a value is a qualified name in a program.
func isDottedName(value []byte) bool {
	return bytes.ContainsAny(value, ".") && len(bytes.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")) == 0
}

func skipBytes(data []byte, at int, what string) int {
	for n := 0; n < 8 && at < len(data) && strings.IndexByte(what, data[at]) >= 0; n++ {
		at++
	}
	return at
}

// byteAt returns a byte, or 0 if out of range.
func byteAt(data []byte, i int) byte {
	if i < 0 || i >= len(data) {
		return 0
	}
	return data[i]
}

// isPlaceholder reports whether a value is a placeholder for a password: a common word, with any
// digits and signs around it.
func isPlaceholder(value []byte) bool {
	word := strings.Map(func(r rune) rune {
		if r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r | 0x20
		}
		return -1
	}, string(value))
	for _, p := range []string{"your", "my", "some", "the", "new", "old", "change", "replace", "insert", "fake", "dummy", "test", "example", "sample", "default", "wrong", "bad", "good", "db", "user", "secure", "strong", "super", "top"} {
		if rest := strings.TrimPrefix(word, p); rest != word && (rest == "" || isCommonWord(rest)) {
			return true
		}
	}
	return isCommonWord(word) || strings.Trim(word, "x") == ""
}

func isCommonWord(word string) bool {
	return slices.Contains([]string{
		"password", "passwd", "passwrd", "passw", "pass", "pw", "pwd", "passphrase", "secret", "secrets", "test", "tests", "testing", "tester", "testpass", "me", "it", "this", "example", "sample", "dummy", "fake",
		"foo", "bar", "baz", "foobar", "qux", "abc", "abcd", "abcdef", "qwerty", "admin", "root", "user", "username", "guest", "demo", "default", "none", "null", "nil", "true", "false", "undefined", "empty", "string", "str", "required", "optional",
		"postgres", "mysql", "mariadb", "mongo", "redis", "rabbit", "rabbitmq", "sa", "app", "api", "db", "local", "localhost", "dev", "development", "changeme", "change", "masked", "redacted", "removed", "hidden", "hash", "hashed", "value", "key", "token", "auth", "login", "here",
	}, word)
}
