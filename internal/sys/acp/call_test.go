package acp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJudged holds as what the policy judges the calls of different agents.
func TestJudged(t *testing.T) {
	for name, c := range map[string]struct {
		call call
		want []string
	}{
		"a command":             {call{kind: "execute", input: json.RawMessage(`{"command":"go test"}`)}, []string{`Bash {"command":"go test"}`}},
		"its words":             {call{kind: "execute", input: json.RawMessage(`{"command":["rm","a b"]}`)}, []string{`Bash {"command":"rm 'a b'"}`}},
		"a shell's":             {call{input: json.RawMessage(`{"command":["/bin/bash","-lc","rm a | b"]}`)}, []string{`Bash {"command":"rm a | b"}`}},
		"a title, as gemini's":  {call{kind: "execute", title: "rm a [current working directory /w] (clean up)"}, []string{`Bash {"command":"rm a"}`}},
		"a title in quotes":     {call{kind: "execute", title: "`rm a`"}, []string{`Bash {"command":"rm a"}`}},
		"a title of no command": {call{kind: "execute", title: "[current working directory /w] (show it)"}, []string{`Bash {"description":"[current working directory /w] (show it)"}`}},
		"files":                 {call{kind: "delete", paths: []string{"/a", "/b"}}, []string{`Edit {"file_path":"/a"}`, `Edit {"file_path":"/b"}`}},
		"a diff of any kind":    {call{kind: "other", diff: true, paths: []string{"/a"}}, []string{`Edit {"file_path":"/a"}`}},
		"a path of its input":   {call{kind: "read", input: json.RawMessage(`{"filePath":"/a","path":7}`)}, []string{`Read {"file_path":"/a"}`}},
		"a page":                {call{kind: "fetch", title: "http://x"}, []string{`WebFetch {"description":"http://x"}`}},
		"a server's tool":       {call{name: "mcp__x__y", title: "look"}, []string{`mcp__x__y {"description":"look"}`}},
	} {
		var got []string
		for _, one := range c.call.judged() {
			got = append(got, one.Tool+" "+string(one.Input))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
