// Package text reads files as text and writes them back in the form that they
// had: their encoding, their byte order mark and their ends of lines.
package text

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Code is how a file writes characters.
type Code int

// The encodings.
const (
	UTF8 Code = iota
	UTF16LE
	UTF16BE
	Latin1 // one byte a character; what is neither UTF-8 nor UTF-16
)

const (
	mark8  = "\xef\xbb\xbf"
	mark16 = '\ufeff'
)

// ErrBinary says that a file is no text.
var ErrBinary = errors.New("it is a binary file")

// Form is how a file's text is written down. The zero Form is UTF-8 with
// plain ends of lines.
type Form struct {
	Code Code
	BOM  bool // it begins with a byte order mark
	CRLF bool // every line ends with CR and LF
}

// Read returns a file's text, without mark and with plain ends of lines, and
// the form that [Form.Write] needs to give the very same bytes back.
func Read(data []byte) (string, Form, error) {
	s, f, err := decode(data)
	if err != nil {
		return "", Form{}, err
	}
	if n := strings.Count(s, "\n"); n > 0 && strings.Count(s, "\r\n") == n {
		f.CRLF, s = true, strings.ReplaceAll(s, "\r\n", "\n")
	}
	if f.Code == UTF16LE || f.Code == UTF16BE { // half a character would not come back
		if back, err := f.Write(s); err != nil || !bytes.Equal(back, data) {
			return "", Form{}, ErrBinary
		}
	}
	return s, f, nil
}

func decode(data []byte) (string, Form, error) {
	if rest, ok := bytes.CutPrefix(data, []byte{0xff, 0xfe}); ok {
		s, err := wide(rest, binary.LittleEndian)
		return s, Form{Code: UTF16LE, BOM: true}, err
	}
	if rest, ok := bytes.CutPrefix(data, []byte{0xfe, 0xff}); ok {
		s, err := wide(rest, binary.BigEndian)
		return s, Form{Code: UTF16BE, BOM: true}, err
	}
	rest, mark := bytes.CutPrefix(data, []byte(mark8))
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return "", Form{}, ErrBinary
	case utf8.Valid(data):
		return string(rest), Form{BOM: mark}, nil
	case slices.ContainsFunc(data, control):
		return "", Form{}, ErrBinary
	}
	s := make([]rune, len(data))
	for i, b := range data {
		s[i] = rune(b)
	}
	return string(s), Form{Code: Latin1}, nil
}

// control reports whether a byte does not belong into a text.
func control(b byte) bool {
	return b < ' ' && !bytes.ContainsRune([]byte("\t\n\v\f\r\x1b\b\a"), rune(b)) || b == 0x7f
}

func wide(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", ErrBinary
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		if units[i] = order.Uint16(data[2*i:]); units[i] == 0 {
			return "", ErrBinary
		}
	}
	return string(utf16.Decode(units)), nil
}

// Plain returns a text as [Read] would give it in this form, whatever ends of
// lines who wrote it used.
func (f Form) Plain(s string) string {
	if f.CRLF {
		return strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s
}

// Write returns the bytes of a text in the form, or says what the form cannot
// hold.
func (f Form) Write(s string) ([]byte, error) {
	if f.CRLF {
		s = strings.ReplaceAll(s, "\n", "\r\n")
	}
	switch f.Code {
	case UTF16LE, UTF16BE:
		return f.wide(s), nil
	case Latin1:
		return latin1(s)
	case UTF8:
	}
	if f.BOM {
		s = mark8 + s
	}
	return []byte(s), nil
}

func (f Form) wide(s string) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	if f.Code == UTF16BE {
		order = binary.BigEndian
	}
	units := utf16.Encode([]rune(s))
	data := make([]byte, 0, 2*len(units)+2)
	if f.BOM {
		data = order.AppendUint16(data, mark16)
	}
	for _, u := range units {
		data = order.AppendUint16(data, u)
	}
	return data
}

func latin1(s string) ([]byte, error) {
	data := make([]byte, 0, len(s))
	for i, r := range s {
		if r > 0xff {
			line := strings.Count(s[:i], "\n") + 1
			return nil, fmt.Errorf("the file is not UTF-8 but one byte a character, which has no %q (line %d)", r, line)
		}
		data = append(data, byte(r))
	}
	return data, nil
}

// String says what is not plain about the form, empty where all is.
func (f Form) String() string {
	var parts []string
	switch f.Code {
	case UTF16LE, UTF16BE:
		parts = append(parts, "UTF-16")
	case Latin1:
		parts = append(parts, "not UTF-8, read as Latin-1")
	case UTF8:
		if f.BOM {
			parts = append(parts, "byte order mark")
		}
	}
	if f.CRLF {
		parts = append(parts, "CRLF")
	}
	return strings.Join(parts, ", ")
}
