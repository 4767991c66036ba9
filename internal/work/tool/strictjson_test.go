package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRead holds that an input is read as encoding/json reads it, and refused
// where that refuses it or where a key is there twice.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{}`, ` [ ] `, `{"a":[1,-2.5e3,true,false,null,"x"],"b":{"c":""}}`, `"\"\\\/\b\f\n\r\t\u00e9\u20AC"`, `"\ud83d\ude00 \ud83d \ude00 \ud83d\u0041 \ud83d\n"`,
		`{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{"a" 1}`, `{a:1}`, `"a`, `"a\`, `"a\u12`, `"\u00g0"`, `"\x"`, "\"a\nb\"", "\"\x00\"",
		`01`, `1.`, `-`, `+1`, `nul`, `truex`, `1"a"`, `{}{}`, `[1]]`, ``, ` `, "\x00", `{"a":"\u0000"}`, `1e999`, "[\"a\tb\"]", "\u00a01", strings.Repeat("[", 70),
		"{\"path\":\"a\",\"content\":\"" + `package a\n\nfunc a() string { return \"\u003c\" }\n` + "\"}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip("refused before it is read")
		}
		got, err := parseStrictJSON([]byte(text))
		var want any
		no := json.Unmarshal([]byte(text), &want)
		switch {
		case err == nil && no != nil:
			t.Fatalf("%q is read as %v, and is none: %v", text, got, no)
		case err == nil && !reflect.DeepEqual(got, want):
			t.Fatalf("%q is read as %#v, want %#v", text, got, want)
		case err != nil && no == nil && !twice(text) && !strings.Contains(err.Error(), "too deep"):
			t.Fatalf("%q is refused: %v", text, err)
		}
	})
}

// twice reports whether keys of an object differ in nothing but their case.
func twice(text string) bool {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	type level struct {
		keys   map[string]bool
		object bool
		key    bool // the next string is one
	}
	stack := []level{{}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return false
		}
		top := &stack[len(stack)-1]
		word, text := token.(string)
		if top.object && top.key && text {
			fold := strings.ToLower(strings.ToUpper(word))
			if top.keys[fold] {
				return true
			}
			top.keys[fold], top.key = true, false
			continue
		}
		top.key = true
		switch token {
		case json.Delim('{'), json.Delim('['):
			stack = append(stack, level{map[string]bool{}, token == json.Delim('{'), true})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
			stack[len(stack)-1].key = true
		}
	}
}
