package secret

import (
	"bytes"
	"strings"
)

// FindCertainKey says which key a text holds for certain, and in which line, from 1:
// a private key, or a token by its issuer's own shape. It leaves out what only
// may be one, what an issuer means to be public, and what examples show.
func (m *Masker) FindCertainKey(text []byte) (kind string, line int, found bool) {
	if m == nil {
		m = New(nil)
	}
	m.shapes.each(text, func(x shape, at []span) bool {
		if x.says == "" {
			return true
		}
		kind, line, found = x.says, 1+bytes.Count(text[:at[0].from], []byte("\n")), true
		return false
	})
	return kind, line, found
}

const (
	longName  = 100 // bytes of the name of a setting
	longValue = 500 // and of its value
	safeValue = 12  // bytes of a value that no other text has by chance
)

// Values returns what a file of settings (JSON, YAML, TOML, INI, a list of
// variables) keeps under names that say that it is secret, as far as it can be
// told from other words.
func Values(text []byte) []string {
	var all []string
	for i, c := range text {
		if c != ':' && c != '=' {
			continue
		}
		head := bytes.TrimRight(text[max(0, i-longName):i], " \t\"'\\")
		name := head[1+bytes.LastIndexFunc(head, func(r rune) bool { return r >= 0x80 || !word(byte(r)) && r != '-' && r != '.' }):]
		if !isPrivateName(string(name)) {
			continue
		}
		rest := bytes.TrimLeft(text[i+1:min(len(text), i+longValue)], " \t\"'\\=>")
		end := bytes.IndexAny(rest, " \t\r\n\"'\\,;<>(){}[]`")
		if end < 0 {
			end = len(rest)
		}
		if value := string(rest[:end]); len(value) >= safeValue && mixed(value) && !strings.ContainsAny(value, "$*") && value[0] != '/' && !isPlaceholder([]byte(value)) {
			all = append(all, value)
		}
	}
	return all
}

// isPrivateName reports whether the name of a setting says that nobody else is to
// know it.
func isPrivateName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	if strings.HasSuffix(name, "publickey") || strings.HasSuffix(name, "publishablekey") {
		return false
	}
	for _, end := range []string{"key", "keyid", "token", "secret", "password", "passwd", "pwd", "passphrase", "credential", "credentials", "auth", "pat"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
