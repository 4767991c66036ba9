// Package hostiletest fills every field of a value with text that terminals, browsers or readers
// would misinterpret, so that a test of the code that draws the value forgets none of them.
package hostiletest

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// HostileText returns a text that clears a screen, sets a title and a clipboard, contains markup,
// reverses the direction, hides letters, and does not end.
func HostileText() string {
	const short = "\x1b[2J\x1b]0;owned\x07\x1b]52;c;aGk=\x07<script>alert(1)</script>\"' onload=\"x" +
		"\u202etxt.exe\u2066 \u009b31m\U000e0041\u200b \x00\r\n::error::x"
	return short + strings.Repeat("x\u4e16", 300) + "\n" + short
}

// ObeyedPart returns the sequence in an uncoloured text that a terminal or a reader would
// misinterpret; empty if there is none.
func ObeyedPart(text string) string {
	for i, r := range text {
		if r == '\n' || r == '\t' || r == '\r' && strings.HasPrefix(text[i+1:], "\n") {
			continue
		}
		if sanitize.IsInvisibleAt(text, i) || r < 0x20 || r >= 0x7f && r < 0xa0 {
			return text[max(i-20, 0):min(i+20, len(text))]
		}
	}
	return ""
}

// deepest is the depth up to which lists have more than one element.
const deepest = 3

// FillFields sets every field below the pointer v: texts to text, lists to two elements, numbers to 3.
func FillFields(v any, text string) { fillValue(reflect.ValueOf(v).Elem(), text, 0) }

func fillValue(v reflect.Value, text string, deep int) {
	switch {
	case !v.CanSet() || deep > 9:
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1_800_000_000, 0).UTC()))
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), text, deep+1)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes([]byte(text))
	case v.Kind() == reflect.Slice:
		n := 2
		if deep > deepest {
			n = 1
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fillValue(v.Index(i), text, deep+1)
		}
	case v.Kind() == reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillValue(key, text, deep+1)
		fillValue(value, text, deep+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fillValue(v.Field(i), text, deep+1)
		}
	case v.CanInt():
		v.SetInt(3)
	case v.CanUint():
		v.SetUint(3)
	case v.CanFloat():
		v.SetFloat(3)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	}
}

// HostileFacts returns a fact of every kind, filled with text.
func HostileFacts(text string) ([]nexus.Fact, error) {
	kinds := nexus.FactKinds()
	all := make([]nexus.Fact, len(kinds))
	for i, kind := range kinds {
		zero, err := nexus.DecodeFact(kind, []byte("{}"))
		if err != nil {
			return nil, err
		}
		v := reflect.New(reflect.TypeOf(zero))
		fillValue(v.Elem(), text, 0)
		fact, ok := reflect.TypeAssert[nexus.Fact](v.Elem())
		if !ok {
			return nil, fmt.Errorf("%s is no fact", kind)
		}
		all[i] = fact
	}
	return all, nil
}
