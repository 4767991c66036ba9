package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/sys/jsonline"
)

// FuzzLines holds what is read before the SDK does: what gets through is whole
// messages, a line each, and every other line is refused once.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}\n", "hello\n", "[]", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", "\r\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"} \r\n7\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\n\"method\":\"ping\"}", "\xff\x00\n\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		refused := 0
		m := &clientMessageReader{r: jsonline.NewLineReader(bytes.NewReader(data), maxMessage), refuse: func(int64, string) { refused++ }}
		got, err := io.ReadAll(m)
		if err != nil {
			t.Fatal(err)
		}
		through := 0
		for line := range bytes.Lines(got) {
			if through++; !json.Valid(line) || !isMessage(line) || line[len(line)-1] != '\n' {
				t.Errorf("%q got through", line)
			}
		}
		said := 0
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSpace(line)) > 0 {
				said++
			}
		}
		if through+refused != said {
			t.Errorf("%d lines, of which %d got through and %d were refused", said, through, refused)
		}
	})
}

// FuzzArguments reads arguments of calls: what passes fits the schema, and is
// what every other reader would read.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", `{"a":"x"}`, `{"a":"x","a":"y"}`, `{"a":{"a":1}}`, `{"n":1e400}`, `{"n":7}`, `["a"]`, `{"a":"\ud800"}`, `{"a":"x"}{"a":"y"}`} {
		f.Add([]byte(seed))
	}
	one := &jsonschema.Schema{
		Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		Properties: map[string]*jsonschema.Schema{"a": {Type: "string"}, "n": {Type: "integer"}},
	}
	schema, err := one.Resolve(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := readArguments(data, schema)
		if err != nil {
			return
		}
		for name, value := range in {
			switch value.(type) {
			case string:
				if name != "a" {
					t.Errorf("%s is %v", name, value)
				}
			case float64:
				if name != "n" {
					t.Errorf("%s is %v", name, value)
				}
			default:
				t.Errorf("%s is %v", name, value)
			}
		}
		if strings.Count(string(data), `"a"`) > 1 && !strings.Contains(string(data), `\`) && in["a"] != "a" {
			t.Errorf("%s was read as %v", data, in)
		}
	})
}

// FuzzNames makes names of clients harmless, and reads token files.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{"", "claude-code", "a b", "\x1b[2J", "a-very-long-name-that-goes-on-and-on-until-it-is-cut", "a-token-of-some-length\n", "a-token-of-some-length\r\n", "\u202e"} {
		f.Add(seed)
	}
	const fine = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	f.Fuzz(func(t *testing.T, text string) {
		if name := sanitizeName(text); name == "" || len(name) > maxClient || strings.Trim(name, fine) != "" || sanitizeName(name) != name {
			t.Errorf("%q is named %q", text, name)
		}
		if token, ok := parseToken([]byte(text)); ok && (len(token) < minToken || strings.ContainsAny(token, " \t\r\n\x00")) {
			t.Errorf("%q has the token %q", text, token)
		}
	})
}
