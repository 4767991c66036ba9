package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// errand is one of the fixed tasks of the sample. It changes one function of a module, and may
// include a failure on the way.
type errand struct {
	module, verb string
	strategy     nexus.Strategy
	trouble      string // gate, review or tester; empty: no failure
	needs        string
}

// errands returns the ten tasks.
func errands() []errand {
	return []errand{
		{"price", "round", nexus.TestAfter, "", ""},
		{"cart", "merge", nexus.TestAfter, "gate", ""},
		{"stock", "reserve", nexus.TestAfter, "review", ""},
		{"mail", "quote", nexus.TDDLite, "", ""},
		{"login", "expire", nexus.TDDLite, "review", ""},
		{"report", "group", nexus.TDDSimple, "", ""},
		{"export", "escape", nexus.TestAfter, "tester", ""},
		{"search", "highlight", nexus.NoTest, "", ""},
		{"cache", "evict", nexus.TestAfter, "gate", "T1"},
		{"config", "override", nexus.TDDSimple, "", "T2"},
	}
}

func (e errand) source() string   { return "src/" + e.module + "/" + e.module + ".py" }
func (e errand) test() string     { return "tests/" + e.module + "_" + e.verb + "_test.sh" }
func (e errand) function() string { return e.verb + "_" + e.module }

// sampleShop writes a repository of eleven modules, one per task, with gates that need only a
// shell.
func sampleShop(dir string) error {
	files := map[string]string{
		"nexus.toml": "[gates]\nbuild = \"sh build.sh\"\ntest = \"sh test.sh\"\nlint = false\n\n[mutation]\nmode = \"off\"\n",
		"build.sh":   "if grep -rn BROKEN src; then exit 1; fi\n",
		"test.sh":    "n=0\nbad=0\nfor t in tests/*_test.sh; do\n  n=$((n+1))\n  if sh \"$t\"; then echo \"ok $n - $t\"; else echo \"not ok $n - $t\"; bad=1; fi\ndone\necho 1..$n\nexit $bad\n",
		"Makefile":   "docs:\n\ttrue\nserve:\n\ttrue\n",
		"AGENTS.md":  "# Rules\n\n- Keep functions short.\n",
		"README.md":  "# Shop\n", "tests/base_test.sh": "true\n",
		"src/util/text.py": "def words(text):\n    return text.split()\n",
	}
	for _, e := range errands() {
		var b strings.Builder
		fmt.Fprintf(&b, "class %s:\n    def __init__(self, items):\n        self.items = items\n\n", strings.ToUpper(e.module[:1])+e.module[1:])
		for i, part := range []string{"first", "last", "count", "empty", "sorted", "reverse", "filter", "find", "copy", "clear", "render", "parse"} {
			fmt.Fprintf(&b, "    def set_%s(self, value):\n        self.%s = value + %d\n\n", part, part, i)
		}
		fmt.Fprintf(&b, "def %s(items):\n    return items\n\n\ndef describe(items):\n    return str(items)\n", e.function())
		files[e.source()] = b.String()
		for _, more := range []string{"store", "view", "rules"} {
			files["src/"+e.module+"/"+more+".py"] = fmt.Sprintf("def load_%s_%s(path):\n    return open(path)\n\n\ndef save_%s_%s(path, data):\n    return path\n", e.module, more, e.module, more)
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

type args = map[string]any

func calls(all ...llmtest.Call) llmtest.Turn { return llmtest.Turn{Calls: all} }

func asks(tool string, input args) llmtest.Call { return llmtest.Call{Tool: tool, Input: input} }

func ends(summary string) llmtest.Turn {
	return calls(asks("finish", args{"status": "done", "subject": "Do it", "summary": summary}))
}

// shopScript returns the scripted model's answers as planner and in each task.
func shopScript() llmtest.Script {
	var tasks []any
	var all []llmtest.Conversation
	for i, e := range errands() {
		id := fmt.Sprintf("T%d", i+1)
		t := args{
			"id": id, "title": fmt.Sprintf("Let %s %s what it is given", e.function(), e.verb), "strategy": string(e.strategy), "minutes": 10,
			"brief": fmt.Sprintf("%s returns what it is given. It has to %s it, by a line with the word %sd.", e.function(), e.verb, e.verb),
			"files": []any{e.source(), e.test()}, "criteria": []any{args{"text": e.function() + " works", "check": "test"}},
		}
		if e.strategy == nexus.NoTest {
			t["reason"] = "it is seen, and not computed"
			t["criteria"] = []any{args{"text": e.function() + " works", "check": "grep -q " + e.verb + "d " + e.source()}}
		}
		if e.needs != "" {
			t["needs"] = []any{e.needs}
		}
		tasks = append(tasks, t)
		all = append(all, e.script(id)...)
	}
	planner := llmtest.Conversation{Match: "plan.1/planner.1", Turns: []llmtest.Turn{
		calls(asks("list_files", args{}), asks("read_file", args{"path": "src/price/price.py"}), asks("read_file", args{"path": "test.sh"})),
		calls(asks("finish", args{"tasks": tasks})),
	}}
	verdict := args{"approved": true, "criteria": []any{args{"criterion": 1, "met": true, "note": "the test"}}, "quality": args{"rating": "good", "issues": []any{}}, "reasoning": "shown"}
	agrees := args{"approved": true, "summary": "Correct.", "findings": []any{}}
	return llmtest.Script{Conversations: append(append([]llmtest.Conversation{planner}, all...),
		llmtest.Conversation{Match: "*/verifier.*", Turns: []llmtest.Turn{calls(asks("finish", verdict))}},
		llmtest.Conversation{Match: "*/reviewer.*", Turns: []llmtest.Turn{calls(asks("search_code", args{"pattern": "def describe"})), calls(asks("finish", agrees))}},
	)}
}

// script returns the conversations of one task.
func (e errand) script(id string) []llmtest.Conversation {
	wrote := func(word string) llmtest.Call {
		return asks("edit_file", args{"path": e.source(), "edits": []any{args{"old": "def " + e.function() + "(items):\n    return items\n", "new": "def " + e.function() + "(items):\n    # " + word + "\n    return items\n"}}})
	}
	again := func(old, word string) llmtest.Call {
		return asks("edit_file", args{"path": e.source(), "edits": []any{args{"old": "    # " + old + "\n", "new": "    # " + word + "\n"}}})
	}
	good := e.verb + "d"
	testFile := asks("write_file", args{"path": e.test(), "content": "grep -q '# " + e.verb + "d' " + e.source() + "\n"})
	look := calls(asks("read_file", args{"path": e.source()}), asks("search_code", args{"pattern": e.function()}))
	run := calls(asks("shell", args{"command": "sh test.sh"}))
	tester := []llmtest.Turn{look, calls(testFile), ends("Covers the word. Not covered: empty lists.")}
	turns := []llmtest.Turn{look}
	first := good
	if e.trouble == "gate" {
		first = good + " BROKEN"
	}
	change := []llmtest.Call{wrote(first)}
	if !e.strategy.Sessions() && e.strategy != nexus.NoTest && e.trouble != "tester" {
		change = append(change, testFile)
	}
	turns = append(turns, calls(change...), run, ends("Done."))
	all := []llmtest.Conversation{}
	switch e.trouble {
	case "gate":
		turns = append(turns, calls(again(first, good)), ends("Repaired."))
	case "review":
		turns = append(turns, calls(again(good, good+" once")), ends("Repaired. The name stays: it is that of the module."))
		rejects := args{"approved": false, "summary": "Not exact.", "findings": []any{
			args{"severity": "major", "file": e.source(), "line": 42, "message": "it does not say how often"},
			args{"severity": "minor", "file": e.source(), "line": 41, "message": "the name is long"},
		}}
		all = append(all, llmtest.Conversation{Match: id + ".1/reviewer.1", Turns: []llmtest.Turn{calls(asks("finish", rejects))}})
	}
	return append(all,
		llmtest.Conversation{Match: id + ".1/tester.1", Turns: tester},
		llmtest.Conversation{Match: id + ".1/coder.1", Turns: turns},
	)
}
