package files

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, data, text string
		form             textFormat
	}{
		{"plain", "a\nb\n", "a\nb\n", textFormat{}},
		{"empty", "", "", textFormat{}},
		{"CRLF", "a\r\nb\r\n", "a\nb\n", textFormat{CRLF: true}},
		{"mixed", "a\r\nb\n", "a\r\nb\n", textFormat{}},
		{"lone CR", "a\rb\n", "a\rb\n", textFormat{}},
		{"doubled CR", "a\r\r\n", "a\r\n", textFormat{CRLF: true}},
		{"mark", "\xef\xbb\xbfa\r\n", "a\n", textFormat{BOM: true, CRLF: true}},
		{"UTF-16LE", "\xff\xfea\x00\r\x00\n\x00\xe4\x00", "a\n\u00e4", textFormat{Code: utf16LE, BOM: true, CRLF: true}},
		{"UTF-16BE", "\xfe\xff\x00a\xd8\x3d\xde\x00", "a\U0001f600", textFormat{Code: utf16BE, BOM: true}},
		{"Latin-1", "caf\xe9\n", "caf\u00e9\n", textFormat{Code: latin1}},
	} {
		got, form, err := decodeText([]byte(c.data))
		if err != nil || got != c.text || form != c.form {
			t.Errorf("%s: %q %+v %v", c.name, got, form, err)
		}
		if back, err := form.Write(got); err != nil || string(back) != c.data {
			t.Errorf("%s: came back as %q, %v", c.name, back, err)
		}
	}
	for _, data := range []string{"a\x00b", "\xff\xfea", "\xff\xfe\x00\xd8", "\xff\x01", "\x89PNG\r\n\x1a\n\xff", "\xff\xfe\x00\x00"} {
		if got, _, err := decodeText([]byte(data)); !errors.Is(err, errBinary) {
			t.Errorf("%q is read as %q, %v", data, got, err)
		}
	}
	if _, err := (textFormat{Code: latin1}).Write("a\nb \u20ac"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
	if got := (textFormat{CRLF: true, BOM: true}).String(); got != "byte order mark, CRLF" {
		t.Error(got)
	}
}

// FuzzRead holds every text to what the package promises: it comes back.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"a\r\nb", "\xff\xfea\x00", "\xfe\xff\x00a", "\xef\xbb\xbf", "caf\xe9", "a\r\r\n", "\xef\xbb\xbf\xef\xbb\xbf"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, form, err := decodeText(data)
		if err != nil {
			return
		}
		back, err := form.Write(text)
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%q became %q in %+v and came back as %q, %v", data, text, form, back, err)
		}
	})
}
