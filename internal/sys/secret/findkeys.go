package secret

import (
	"bytes"
	"strings"
)

// FindCertainKey returns the kind and the line, from 1, of a key that a text certainly contains: a
// private key, or a token of its issuer's own shape. It ignores uncertain shapes, tokens that are
// public by design, and keys in examples.
func (m *Masker) FindCertainKey(text []byte) (kind string, line int, found bool) {
	if m == nil {
		m = NewMasker(nil)
	}
	m.shapes.eachMatch(text, func(x keyShape, at []byteSpan) bool {
		if x.says == "" {
			return true
		}
		kind, line, found = x.says, 1+bytes.Count(text[:at[0].from], []byte("\n")), true
		return false
	})
	return kind, line, found
}

const (
	maxSettingName  = 100 // bytes of a setting's name
	maxSettingValue = 500 // bytes of a setting's value
	minSafeValue    = 12  // bytes of a value that do not occur in other texts by chance
)

// SecretValues returns the values of a settings file (JSON, YAML, TOML, INI, a list of variables) whose
// names mark them as secret, if they can be distinguished from other words.
func SecretValues(text []byte) []string {
	var all []string
	for i, c := range text {
		if c != ':' && c != '=' {
			continue
		}
		head := bytes.TrimRight(text[max(0, i-maxSettingName):i], " \t\"'\\")
		name := head[1+bytes.LastIndexFunc(head, func(r rune) bool { return r >= 0x80 || !isWordByte(byte(r)) && r != '-' && r != '.' }):]
		if !isPrivateName(string(name)) {
			continue
		}
		rest := bytes.TrimLeft(text[i+1:min(len(text), i+maxSettingValue)], " \t\"'\\=>")
		end := bytes.IndexAny(rest, " \t\r\n\"'\\,;<>(){}[]`")
		if end < 0 {
			end = len(rest)
		}
		if value := string(rest[:end]); len(value) >= minSafeValue && isMixed(value) && !strings.ContainsAny(value, "$*") && value[0] != '/' && !isPlaceholder([]byte(value)) {
			all = append(all, value)
		}
	}
	return all
}

// isPrivateName reports whether the name of a setting marks its value as secret.
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
