package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// parseStrictJSON parses one JSON value strictly, like [encoding/json] except for duplicate keys, which
// it refuses. It passes over the text once, while a [json.Decoder] does several times: the
// content of a file is most of a call.
func parseStrictJSON(text []byte) (any, error) {
	r := strictJSONReader{text: text}
	value, err := r.parseValue(0)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if r.peekByte() != 0 || r.at < len(text) {
		return nil, errors.New("not JSON: there is something after the object")
	}
	return value, nil
}

// strictJSONReader is a JSON text with a read position.
type strictJSONReader struct {
	text []byte
	at   int
}

// peekByte returns the next byte that is no space, without consuming it; 0 at the end.
func (r *strictJSONReader) peekByte() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// expectByte consumes a byte, which must be c.
func (r *strictJSONReader) expectByte(c byte) error {
	if r.peekByte() != c || r.at == len(r.text) {
		return r.unexpectedByteError("wants " + strconv.QuoteRune(rune(c)))
	}
	r.at++
	return nil
}

// unexpectedByteError returns an error about the next byte.
func (r *strictJSONReader) unexpectedByteError(wants string) error {
	if r.at >= len(r.text) {
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%q at byte %d %s", r.text[r.at], r.at, wants)
}

func (r *strictJSONReader) parseValue(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("it is nested too deeply")
	}
	switch r.peekByte() {
	case '{':
		return r.parseObject(depth)
	case '[':
		return r.parseList(depth)
	case '"':
		return r.parseString()
	default:
		return r.parseLiteral()
	}
}

func (r *strictJSONReader) parseObject(depth int) (any, error) {
	object, folded := map[string]any{}, map[string]bool{}
	err := r.readMembers('}', func() error {
		if r.peekByte() != '"' {
			return r.unexpectedByteError("is not a key")
		}
		key, err := r.parseString()
		if err != nil {
			return err
		}
		fold := strings.ToLower(strings.ToUpper(key)) // like a reader that ignores case
		if folded[fold] {
			return fmt.Errorf("the key %q is given twice", key)
		}
		folded[fold] = true
		if err = r.expectByte(':'); err == nil {
			object[key], err = r.parseValue(depth + 1)
		}
		return err
	})
	return object, err
}

func (r *strictJSONReader) parseList(depth int) (any, error) {
	list := []any{}
	err := r.readMembers(']', func() error {
		v, err := r.parseValue(depth + 1)
		list = append(list, v)
		return err
	})
	return list, err
}

// readMembers parses the text between an opening byte and its closing one.
func (r *strictJSONReader) readMembers(end byte, member func() error) error {
	r.at++
	if r.peekByte() == end {
		r.at++
		return nil
	}
	for {
		if err := member(); err != nil {
			return err
		}
		switch r.peekByte() {
		case ',':
			r.at++
		case end:
			r.at++
			return nil
		default:
			return r.unexpectedByteError("follows a value")
		}
	}
}

// parseString parses a string. A half of a surrogate pair becomes U+FFFD.
func (r *strictJSONReader) parseString() (string, error) {
	r.at++
	from, end, plain := r.at, r.at, true
	for ; end < len(r.text) && r.text[end] != '"'; end++ {
		switch c := r.text[end]; {
		case c == '\\':
			plain = false
			end++ // the next character is not the end
		case c < ' ':
			r.at = end
			return "", r.unexpectedByteError("must be written as an escape")
		}
	}
	if end >= len(r.text) {
		return "", io.ErrUnexpectedEOF
	}
	if plain {
		r.at = end + 1
		return string(r.text[from:end]), nil
	}
	var b strings.Builder
	b.Grow(end - from)
	for r.at < end {
		n := bytes.IndexByte(r.text[r.at:end], '\\')
		if n < 0 {
			n = end - r.at
		}
		b.Write(r.text[r.at : r.at+n])
		if r.at += n; r.at == end {
			break
		}
		c, err := r.parseEscape()
		if err != nil {
			return "", err
		}
		b.WriteRune(c)
	}
	r.at++
	return b.String(), nil
}

// escapes are the letters of short escapes, and escaped their values.
const escapes, escaped = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// parseEscape parses an escape, which begins at its backslash.
func (r *strictJSONReader) parseEscape() (rune, error) {
	if r.at+1 >= len(r.text) {
		return 0, io.ErrUnexpectedEOF
	}
	r.at++
	if i := strings.IndexByte(escapes, r.text[r.at]); i >= 0 {
		r.at++
		return rune(escaped[i]), nil
	}
	c, ok := r.parseUnicodeEscape(r.at)
	if !ok {
		return 0, r.unexpectedByteError("is not an escape")
	}
	r.at += 5
	if !utf16.IsSurrogate(c) {
		return c, nil
	}
	if r.at < len(r.text) && r.text[r.at] == '\\' {
		low, ok := r.parseUnicodeEscape(r.at + 1)
		if pair := utf16.DecodeRune(c, low); ok && pair != utf8.RuneError {
			r.at += 6
			return pair, nil
		}
	}
	return utf8.RuneError, nil
}

// parseUnicodeEscape returns the number of an escape such as u00e9.
func (r *strictJSONReader) parseUnicodeEscape(at int) (rune, bool) {
	if at+5 > len(r.text) || r.text[at] != 'u' {
		return 0, false
	}
	var n rune
	for _, c := range r.text[at+1 : at+5] {
		i := strings.IndexByte("0123456789abcdef", c|0x20)
		if i < 0 || c < '0' {
			return 0, false
		}
		n = n<<4 | rune(i)
	}
	return n, true
}

// parseLiteral parses a number, true, false or null.
func (r *strictJSONReader) parseLiteral() (any, error) {
	n := 0
	for r.at+n < len(r.text) && !strings.ContainsRune(" \t\n\r,:]}\"[{", rune(r.text[r.at+n])) {
		n++
	}
	var v any
	if n == 0 {
		return nil, r.unexpectedByteError("is not a value")
	}
	if err := json.Unmarshal(r.text[r.at:r.at+n], &v); err != nil {
		return nil, err
	}
	r.at += n
	return v, nil
}
