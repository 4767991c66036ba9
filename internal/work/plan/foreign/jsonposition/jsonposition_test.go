package jsonposition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonposition"
)

// said notes what is said.
type said struct{ lines []string }

func (s *said) AddMistake(line int, text string) {
	s.lines = append(s.lines, fmt.Sprintf("%d: %s", line, text))
}

func (s *said) AddLostData(line int, item, what, why string) {
	s.lines = append(s.lines, fmt.Sprintf("%d lost %s %s, %s", line, item, what, why))
}

func TestParseMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "0:0: the file is empty",
		"\xff":                    "0:0: it is not UTF-8",
		"{\n\"a\": [1,\n2,\n]}":   "4:1: it is not JSON: invalid character ']'",
		"{\n\"a\": 1\n\"b\": 2}":  "3:1: it is not JSON: invalid character '\"'",
		"[\n1\n2]":                "3:1: it is not JSON: invalid character '2'",
		"{\n# x\n\"a\": 1}":       "2:1: it is not JSON: invalid character '#'",
		"{\n'a': 1}":              "2:1: it is not JSON: invalid character '\\''",
		"{\n\"a\": [1\n":          "2:8: it is not JSON: unexpected end",
		"{\n\"a\": yes}":          "2:6: it is not JSON",
		"{\n\"a\": 1,\n\"a\": 2}": "3:0: \"a\" is in one object twice",
		strings.Repeat("[", 80) + "1" + strings.Repeat("]", 80): "1:0: it is nested too deeply",
	} {
		_, mistakes := jsonposition.ParseJSON(text)
		if len(mistakes) != 1 || !strings.HasPrefix(fmt.Sprintf("%d:%d: %s", mistakes[0].Line, mistakes[0].Column, mistakes[0].Text), want) {
			t.Errorf("%q: %v, want %s", text, mistakes, want)
		}
	}
}

func TestObject(t *testing.T) {
	n, mistakes := jsonposition.ParseJSON("\ufeff{\n\"a\": \"x\",\n\"b\": [\"y\", {\"text\": \"z\"}, 3],\n\"done\": true,\n\"n\": 7,\n\"extra\": 1,\n\"prioritty\": 2,\n\"none\": []\n}")
	if n == nil || mistakes != nil {
		t.Fatal(n, mistakes)
	}
	s := &said{}
	o, ok := jsonposition.NewObjectReader(n, "the file", s)
	if !ok || o.TextField("z", "a") != "x" || fmt.Sprint(o.TextList("b")) != "[y z 3]" || !o.BoolField("done") || o.NumberField("n") != 7 || o.NumberField("priority") != 0 {
		t.Error(o.TextField("a"), o.TextList("b"), o.BoolField("done"), o.NumberField("n"), s.lines)
	}
	o.NoteUnknownFields()
	if want := `[6 lost  extra, a plan has no such field 7: "prioritty" is unknown; did you mean "priority"?]`; fmt.Sprint(s.lines) != want {
		t.Errorf("%v, want %s", s.lines, want)
	}
	s.lines, o.Name = nil, "T1"
	o.TextField("b")
	o.BoolField("a")
	o.NumberField("done")
	o.ListField("n")
	want := `[3: "b" of T1 is a list; write a text in quotes 2: "a" of T1 is a text; write true or false, without quotes ` +
		`4: "done" of T1 is true; write a number from 0, without quotes 5: "n" of T1 is a number; write a list in [ ]]`
	if fmt.Sprint(s.lines) != want {
		t.Errorf("%v, want %s", s.lines, want)
	}
	if _, ok := jsonposition.NewObjectReader(jsonposition.WrapNode("a", n).Fields[0].Value.Fields[0].Value, "story 1", s); ok {
		t.Error("a text is an object")
	}
}
