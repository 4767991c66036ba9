package text

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, data, text string
		form             Form
	}{
		{"plain", "a\nb\n", "a\nb\n", Form{}},
		{"empty", "", "", Form{}},
		{"CRLF", "a\r\nb\r\n", "a\nb\n", Form{CRLF: true}},
		{"mixed", "a\r\nb\n", "a\r\nb\n", Form{}},
		{"lone CR", "a\rb\n", "a\rb\n", Form{}},
		{"doubled CR", "a\r\r\n", "a\r\n", Form{CRLF: true}},
		{"mark", "\xef\xbb\xbfa\r\n", "a\n", Form{BOM: true, CRLF: true}},
		{"UTF-16LE", "\xff\xfea\x00\r\x00\n\x00\xe4\x00", "a\n\u00e4", Form{Code: UTF16LE, BOM: true, CRLF: true}},
		{"UTF-16BE", "\xfe\xff\x00a\xd8\x3d\xde\x00", "a\U0001f600", Form{Code: UTF16BE, BOM: true}},
		{"Latin-1", "caf\xe9\n", "caf\u00e9\n", Form{Code: Latin1}},
	} {
		got, form, err := Read([]byte(c.data))
		if err != nil || got != c.text || form != c.form {
			t.Errorf("%s: %q %+v %v", c.name, got, form, err)
		}
		if back, err := form.Write(got); err != nil || string(back) != c.data {
			t.Errorf("%s: came back as %q, %v", c.name, back, err)
		}
	}
	for _, data := range []string{"a\x00b", "\xff\xfea", "\xff\xfe\x00\xd8", "\xff\x01", "\x89PNG\r\n\x1a\n\xff", "\xff\xfe\x00\x00"} {
		if got, _, err := Read([]byte(data)); !errors.Is(err, ErrBinary) {
			t.Errorf("%q is read as %q, %v", data, got, err)
		}
	}
	if _, err := (Form{Code: Latin1}).Write("a\nb \u20ac"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
	if got := (Form{CRLF: true, BOM: true}).String(); got != "byte order mark, CRLF" {
		t.Error(got)
	}
}

// FuzzRead holds every text to what the package promises: it comes back.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"a\r\nb", "\xff\xfea\x00", "\xfe\xff\x00a", "\xef\xbb\xbf", "caf\xe9", "a\r\r\n", "\xef\xbb\xbf\xef\xbb\xbf"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, form, err := Read(data)
		if err != nil {
			return
		}
		back, err := form.Write(text)
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%q became %q in %+v and came back as %q, %v", data, text, form, back, err)
		}
	})
}
