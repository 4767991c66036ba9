package files

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

// textEncoding is the character encoding of a file.
type textEncoding int

// The encodings.
const (
	utf8Encoding textEncoding = iota
	utf16LE
	utf16BE
	latin1 // one byte per character; files that are neither UTF-8 nor UTF-16
)

const (
	mark8  = "\xef\xbb\xbf"
	mark16 = '\ufeff'
)

// errBinary means that a file is binary.
var errBinary = errors.New("it is a binary file")

// textFormat is the format of a file's text. The zero textFormat is UTF-8 with plain line endings.
type textFormat struct {
	Code textEncoding
	BOM  bool // it begins with a byte order mark
	CRLF bool // every line ends with CR and LF
}

// decodeText returns a file's text, without mark and with plain line endings, and the format
// with which [textFormat.Write] restores the same bytes.
func decodeText(data []byte) (string, textFormat, error) {
	s, f, err := decodeBytes(data)
	if err != nil {
		return "", textFormat{}, err
	}
	if n := strings.Count(s, "\n"); n > 0 && strings.Count(s, "\r\n") == n {
		f.CRLF, s = true, strings.ReplaceAll(s, "\r\n", "\n")
	}
	if f.Code == utf16LE || f.Code == utf16BE { // half a character could not be restored
		if back, err := f.Write(s); err != nil || !bytes.Equal(back, data) {
			return "", textFormat{}, errBinary
		}
	}
	return s, f, nil
}

func decodeBytes(data []byte) (string, textFormat, error) {
	if rest, ok := bytes.CutPrefix(data, []byte{0xff, 0xfe}); ok {
		s, err := decodeUTF16(rest, binary.LittleEndian)
		return s, textFormat{Code: utf16LE, BOM: true}, err
	}
	if rest, ok := bytes.CutPrefix(data, []byte{0xfe, 0xff}); ok {
		s, err := decodeUTF16(rest, binary.BigEndian)
		return s, textFormat{Code: utf16BE, BOM: true}, err
	}
	rest, mark := bytes.CutPrefix(data, []byte(mark8))
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return "", textFormat{}, errBinary
	case utf8.Valid(data):
		return string(rest), textFormat{BOM: mark}, nil
	case slices.ContainsFunc(data, isControl):
		return "", textFormat{}, errBinary
	}
	s := make([]rune, len(data))
	for i, b := range data {
		s[i] = rune(b)
	}
	return string(s), textFormat{Code: latin1}, nil
}

// isControl reports whether a byte is not allowed in a text.
func isControl(b byte) bool {
	return b < ' ' && !bytes.ContainsRune([]byte("\t\n\v\f\r\x1b\b\a"), rune(b)) || b == 0x7f
}

func decodeUTF16(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", errBinary
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		if units[i] = order.Uint16(data[2*i:]); units[i] == 0 {
			return "", errBinary
		}
	}
	return string(utf16.Decode(units)), nil
}

// normaliseLineEnds returns a text as [decodeText] would return it in this format, whatever its line
// endings.
func (f textFormat) normaliseLineEnds(s string) string {
	if f.CRLF {
		return strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s
}

// Write returns the bytes of a text in the format, or an error if the format cannot represent
// it.
func (f textFormat) Write(s string) ([]byte, error) {
	if f.CRLF {
		s = strings.ReplaceAll(s, "\n", "\r\n")
	}
	switch f.Code {
	case utf16LE, utf16BE:
		return f.encodeUTF16(s), nil
	case latin1:
		return encodeLatin1(s)
	case utf8Encoding:
	}
	if f.BOM {
		s = mark8 + s
	}
	return []byte(s), nil
}

func (f textFormat) encodeUTF16(s string) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	if f.Code == utf16BE {
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

func encodeLatin1(s string) ([]byte, error) {
	data := make([]byte, 0, len(s))
	for i, r := range s {
		if r > 0xff {
			line := strings.Count(s[:i], "\n") + 1
			return nil, fmt.Errorf("the file is not UTF-8: it has one byte for each character, and none for %q (line %d)", r, line)
		}
		data = append(data, byte(r))
	}
	return data, nil
}

// String describes how the format differs from the zero format, or returns "".
func (f textFormat) String() string {
	var parts []string
	switch f.Code {
	case utf16LE, utf16BE:
		parts = append(parts, "UTF-16")
	case latin1:
		parts = append(parts, "not UTF-8, read as Latin-1")
	case utf8Encoding:
		if f.BOM {
			parts = append(parts, "byte order mark")
		}
	}
	if f.CRLF {
		parts = append(parts, "CRLF")
	}
	return strings.Join(parts, ", ")
}
