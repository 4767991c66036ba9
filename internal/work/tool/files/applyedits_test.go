package files

import (
	"strings"
	"testing"
)

const program = "package a\n\nfunc One() int {\n\treturn 1\n}\n\nfunc Two() int {\n\treturn 1\n}\n"

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		edits []TextReplacement
		want  string
		err   string // what the error says; empty for none
	}{
		{"one", program, []TextReplacement{{Old: "One", New: "Uno"}}, strings.Replace(program, "One", "Uno", 1), ""},
		{"several in order", "a b", []TextReplacement{{Old: "a", New: "x"}, {Old: "x b", New: "y"}}, "y", ""},
		{"all", program, []TextReplacement{{Old: "return 1", New: "return 2", All: true}}, strings.ReplaceAll(program, "return 1", "return 2"), ""},
		{"deletes", "a b", []TextReplacement{{Old: " b"}}, "a", ""},
		{"ambiguous", program, []TextReplacement{{Old: "return 1", New: "x"}}, "", "2 times, on lines 4, 8"},
		{"white space", program, []TextReplacement{{Old: "func Two() int {\n    return 1\n}", New: "x"}}, "", "lines 7-9 differ from it in white space only (line 8 begins with 1 tab there, with 4 spaces in old). They are:\nfunc Two() int {\n\treturn 1\n}"},
		{"spaces at the end", "a\nb  \nc\n", []TextReplacement{{Old: "a\nb\nc", New: "x"}}, "", "line 2 ends with 2 spaces there, with none in old"},
		{"mixed ends", "a\r\nb\nc\n", []TextReplacement{{Old: "a\nb\n", New: "x"}}, "", "the file mixes both"},
		{"CRLF in old", "a\nb\nc\n", []TextReplacement{{Old: "a\r\nb\r\n", New: "x"}}, "", "LF there, with CRLF in old"},
		{"space within", "a = b\nc\n", []TextReplacement{{Old: "a  =  b", New: "x"}}, "", "within line 1"},
		{"first that differs", program, []TextReplacement{{Old: "func Two() int {\n\treturn 3\n}", New: "x"}}, "", "lines are 7-9, the first that differs is 8"},
		{"nearest", program, []TextReplacement{{Old: "func Two(n int) int {\n\treturn n + 1\n}", New: "x"}}, "", "The nearest lines are 7-9:\nfunc Two() int {"},
		{"nothing like it", program, []TextReplacement{{Old: "SELECT * FROM t", New: "x"}}, "", "nor anything like it"},
		{"made before", program, []TextReplacement{{Old: "func Uno", New: "func One"}}, "", "made before"},
		{"same", program, []TextReplacement{{Old: "One", New: "One"}}, "", "the same"},
		{"empty", program, []TextReplacement{{New: "x"}}, "", "empty"},
		{"second fails", "a b", []TextReplacement{{Old: "a", New: "x"}, {Old: "q", New: "y"}}, "", "edit 2 of 2"},
		{"lines of the file as it is", program, []TextReplacement{{Old: "package a\n", New: "package a\n\nimport \"b\"\n"}, {Old: "return 1", New: "x"}}, "", "edit 2 of 2: old is in the file 2 times, on lines 4, 8"},
		{"nearest in the file as it is", program, []TextReplacement{{Old: "package a\n", New: "package a\n\n\n\n"}, {Old: "func Two(n int) int {\n\treturn n + 1\n}", New: "x"}}, "", "The nearest lines are 7-9:"},
		{"changed by the edit before", program, []TextReplacement{{Old: "func One", New: "func Uno"}, {Old: "func One() int", New: "x"}}, "", "old is at line 3, but an edit before it"},
		{"made twice by the edit before", program, []TextReplacement{{Old: "Two", New: "One"}, {Old: "One", New: "x"}}, "", "2 times after the edits before it, now at lines 3;"},
		{"numbers of lines", program, []TextReplacement{{Old: "     7\tfunc Two() int {\n     8\t\treturn 1\n", New: "7\tfunc Two() int {\n8\t\treturn 2\n"}}, strings.Replace(program, "Two() int {\n\treturn 1", "Two() int {\n\treturn 2", 1), ""},
		{"numbers in old alone", program, []TextReplacement{{Old: "7\tfunc Two", New: "func Duo"}}, strings.Replace(program, "Two", "Duo", 1), ""},
		{"numbers on some lines", program, []TextReplacement{{Old: "7\tfunc Two() int {", New: "7\tfunc Two() int {\n\t// no\n"}}, "", "some lines of new begin with line numbers"},
		{"numbers that are there", "7\ta\n8\tb\n", []TextReplacement{{Old: "7\ta", New: "7\tc"}}, "7\tc\n8\tb\n", ""},
		{"mixed line ends stay", "a\r\nb\nc", []TextReplacement{{Old: "b\nc", New: "x\ny"}}, "a\r\nx\ny", ""},
		{"no regular expressions", "a.b $1", []TextReplacement{{Old: ".", New: "$1"}}, "a$1b $1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := applyEdits(c.text, c.edits)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func FuzzApply(f *testing.F) {
	f.Add(program, "return 1", "return 2", true)
	f.Add("a\r\nb\r\n", "a\nb", "x", false)
	f.Add("aaa", "aa", "a", true)
	f.Fuzz(func(t *testing.T, text, before, after string, all bool) {
		got, err := applyEdits(text, []TextReplacement{{Old: before, New: after, All: all}})
		if err != nil {
			if got != "" {
				t.Errorf("an error with %q", got)
			}
			return
		}
		if n := strings.Count(text, before); n == 0 {
			return // its lines had numbers
		} else if n > 1 && !all {
			t.Errorf("%d times in %q, and yet it became %q", n, text, got)
		}
		if !all && got != strings.Replace(text, before, after, 1) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
