// Package secret masks keys in all data that leaves the process: facts, blobs, requests to models,
// output, and recorded traffic.
//
// It masks known values everywhere, complete or cut, and texts in the shapes of providers' and
// clouds' keys. A masked key is always replaced by [masked], so that a text is masked in the same
// way by a process that knows the value and by one that knows only the shape. Masking is
// idempotent, keeps valid UTF-8 and JSON valid, and needs the whole text: mask a text before
// cutting it.
package secret

import (
	"bytes"
	"cmp"
	b64 "encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Mark replaces a masked key.
const Mark = "[masked]"

const (
	minPlainValue   = 16 // bytes of a value that is always masked
	minMixedValue   = 8  // bytes of a value that is masked if it has letters and digits
	partSize        = 16 // bytes of a value that are masked by themselves
	probeSize       = 12 // bytes at the start of a search for a part
	minPartialValue = 24 // bytes of a value whose parts are masked
)

// Masker masks keys. It may be used by many goroutines; a nil Masker knows only the shapes.
type Masker struct {
	shapes *keyShapeIndex
	mu     sync.Mutex // held by Learn
	known  atomic.Pointer[[]string]
	codes  atomic.Pointer[[]string] // their encoded forms, masked only as a whole
}

// NewMasker returns a masker with the secrets of an environment: the values of variables with secret
// names.
func NewMasker(environ []string) *Masker {
	m := &Masker{shapes: newKeyShapeIndex()}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if isSecretName(name) && !strings.HasPrefix(value, "/") && !strings.ContainsAny(value, " \t\n") {
			m.AddSecret(value)
		}
	}
	return m
}

// isSecretName reports whether the name of a variable marks its value as a secret.
func isSecretName(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_PAT"}, func(end string) bool {
		return strings.HasSuffix(name, end)
	})
}

// AddSecret adds a value to the masker. A value that is too short or too plain to be distinguished
// from other words is ignored: a local server may accept any word as a key.
func (m *Masker) AddSecret(value string) {
	value = strings.TrimSpace(value)
	if m == nil || len(value) < minMixedValue || len(value) < minPlainValue && !isMixed(value) || strings.Contains(Mark, value) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	if old := m.known.Load(); old != nil {
		all = slices.Clone(*old)
	}
	quoted, _ := json.Marshal(value) // cannot fail for a string
	for _, form := range []string{value, string(bytes.Trim(quoted, `"`)), url.QueryEscape(value)} {
		if !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	slices.SortStableFunc(all, func(x, y string) int { return len(y) - len(x) }) // longest first, because one may contain another
	m.known.Store(&all)
	codes := encodedForms(value)
	if old := m.codes.Load(); old != nil {
		codes = append(codes, *old...)
	}
	longest := func(x, y string) int { return cmp.Or(len(y)-len(x), strings.Compare(x, y)) }
	slices.SortStableFunc(codes, longest)
	codes = slices.Compact(codes)
	m.codes.Store(&codes)
}

// encodedForms returns the encoded forms of a value: in hex, with all bytes percent-encoded, and in
// base64, also inside of a longer text whose beginning shifts it.
func encodedForms(value string) []string {
	digits := hex.EncodeToString([]byte(value))
	var percent strings.Builder
	for i := 0; i < len(digits); i += 2 {
		percent.WriteString("%" + digits[i:i+2])
	}
	all := []string{digits, strings.ToUpper(digits), percent.String(), strings.ToUpper(percent.String()), url.PathEscape(value)}
	for _, code := range []*b64.Encoding{b64.StdEncoding, b64.RawStdEncoding, b64.URLEncoding, b64.RawURLEncoding} {
		all = append(all, code.EncodeToString([]byte(value)))
		for shift := range 3 {
			whole := len(value) - (shift+len(value))%3 // without the part that depends on the following text
			text := code.EncodeToString(append(make([]byte, shift), value[:whole]...))
			all = append(all, text[(shift*8+5)/6:]) // without the part that depends on the preceding text
		}
	}
	return slices.DeleteFunc(all, func(form string) bool { return len(form) < minMixedValue })
}

func isMixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
}

// Mask returns data with every key masked, or data itself if there is none.
func (m *Masker) Mask(data []byte) []byte {
	if m == nil {
		m = NewMasker(nil)
	}
	if all := m.known.Load(); all != nil {
		for _, value := range *all { // whole ones first, because the forms of a value share parts
			data = maskSpans(data, findOccurrences(data, value, func(i int) byteSpan { return byteSpan{i, i + len(value)} }))
		}
		for _, value := range *all {
			data = maskSpans(data, findCutParts(data, value))
		}
	}
	if all := m.codes.Load(); all != nil {
		for _, value := range *all {
			data = maskSpans(data, findOccurrences(data, value, func(i int) byteSpan { return byteSpan{i, i + len(value)} }))
		}
	}
	data = maskSpans(data, m.shapes.findKeys(data))
	return maskSpans(data, findPasswords(data))
}

// MaskText is [Masker.Mask] for a string.
func (m *Masker) MaskText(text string) string {
	data := unsafe.Slice(unsafe.StringData(text), len(text)) // only read
	masked := m.Mask(data)
	if len(masked) == len(data) && (len(data) == 0 || &masked[0] == &data[0]) {
		return text
	}
	return string(masked)
}

// CheckNoNewMaskMarks returns an error if a replacement text has marks that the old text lacks: its
// author saw marks instead of keys, and the keys would be lost.
func CheckNoNewMaskMarks(old, text []byte) error {
	if bytes.Count(text, []byte(Mark)) <= bytes.Count(old, []byte(Mark)) {
		return nil
	}
	return errors.New(Mark + " stands for a key that you were not shown; use edit_file, and leave that part of the file unchanged")
}

// byteSpan is a range of a text, from its first byte to the one after its last.
type byteSpan struct{ from, to int }

// maskSpans returns a copy of data with the spans, which are sorted, replaced by marks.
func maskSpans(data []byte, spans []byteSpan) []byte {
	if len(spans) == 0 {
		return data
	}
	out := make([]byte, 0, len(data))
	at := 0
	for _, s := range spans {
		s.from = max(at, s.from)
		s.from += escapeLength(data, s.from)
		if s.to <= s.from {
			continue
		}
		out = append(append(out, data[at:s.from]...), Mark...)
		at = s.to
	}
	return append(out, data[at:]...)
}

// escapeLength returns the length of an escape at i, such as \n in JSON, which must not be split.
func escapeLength(data []byte, i int) int {
	for back := 1; back <= 5 && back <= i; back++ {
		if data[i-back] != '\\' {
			continue
		}
		n := 0
		for i-back-n >= 0 && data[i-back-n] == '\\' {
			n++
		}
		switch {
		case n%2 == 0: // an escaped backslash
			return 0
		case back == 1 && i < len(data) && data[i] == 'u':
			return min(5, len(data)-i)
		case back == 1:
			return min(1, len(data)-i)
		case data[i-back+1] == 'u':
			return min(6-back, len(data)-i)
		}
		return 0
	}
	return 0
}

// findCutParts returns the spans in which the beginning or the end of a value occurs alone, after a
// cut.
func findCutParts(data []byte, value string) []byteSpan {
	if len(value) < minPartialValue {
		return nil
	}
	heads := findOccurrences(data, value[:probeSize], func(i int) byteSpan {
		n := probeSize
		for n < len(value) && i+n < len(data) && data[i+n] == value[n] {
			n++
		}
		return byteSpan{i, i + n}
	})
	tails := findOccurrences(data, value[len(value)-probeSize:], func(i int) byteSpan {
		n := probeSize
		for n < len(value) && i+probeSize-n > 0 && data[i+probeSize-n-1] == value[len(value)-n-1] {
			n++
		}
		return byteSpan{i + probeSize - n, i + probeSize}
	})
	spans := slices.DeleteFunc(append(heads, tails...), func(s byteSpan) bool { return s.to-s.from < partSize })
	slices.SortStableFunc(spans, func(x, y byteSpan) int { return x.from - y.from })
	return spans
}

func findOccurrences(data []byte, what string, at func(int) byteSpan) []byteSpan {
	var spans []byteSpan
	needle := unsafe.Slice(unsafe.StringData(what), len(what)) // only read
	for from := 0; ; {
		i := bytes.Index(data[from:], needle)
		if i < 0 {
			return spans
		}
		spans = append(spans, at(from+i))
		from += i + 1
	}
}
