package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// sampleTask is one of the fixed tasks of the sample. It changes one function of a module, and may
// include a failure on the way.
type sampleTask struct {
	module, verb string
	strategy     nexus.WritingStrategy
	trouble      string // gate, review or tester; empty: no failure
	needs        string
}

// sampleTasks returns the ten tasks.
func sampleTasks() []sampleTask {
	return []sampleTask{
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

func (e sampleTask) sourceFile() string   { return "src/" + e.module + "/" + e.module + ".py" }
func (e sampleTask) testFile() string     { return "tests/" + e.module + "_" + e.verb + "_test.sh" }
func (e sampleTask) functionName() string { return e.verb + "_" + e.module }

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
	for _, e := range sampleTasks() {
		var b strings.Builder
		fmt.Fprintf(&b, "class %s:\n    def __init__(self, items):\n        self.items = items\n\n", strings.ToUpper(e.module[:1])+e.module[1:])
		for i, part := range []string{"first", "last", "count", "empty", "sorted", "reverse", "filter", "find", "copy", "clear", "render", "parse"} {
			fmt.Fprintf(&b, "    def set_%s(self, value):\n        self.%s = value + %d\n\n", part, part, i)
		}
		fmt.Fprintf(&b, "def %s(items):\n    return items\n\n\ndef describe(items):\n    return str(items)\n", e.functionName())
		files[e.sourceFile()] = b.String()
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

type callArgs = map[string]any

func callTurn(all ...llmtest.ScriptCall) llmtest.ScriptTurn { return llmtest.ScriptTurn{Calls: all} }

func toolCall(tool string, input callArgs) llmtest.ScriptCall {
	return llmtest.ScriptCall{Tool: tool, Input: input}
}

func finishTurn(summary string) llmtest.ScriptTurn {
	return callTurn(toolCall("finish", callArgs{"status": "done", "subject": "Do it", "summary": summary}))
}

// shopScript returns the scripted model's answers as planner and in each task.
func shopScript() llmtest.Script {
	var tasks []any
	var all []llmtest.ScriptConversation
	for i, e := range sampleTasks() {
		id := fmt.Sprintf("T%d", i+1)
		t := callArgs{
			"id": id, "title": fmt.Sprintf("Let %s %s what it is given", e.functionName(), e.verb), "strategy": string(e.strategy), "minutes": 10,
			"brief": fmt.Sprintf("%s returns what it is given. It has to %s it, by a line with the word %sd.", e.functionName(), e.verb, e.verb),
			"files": []any{e.sourceFile(), e.testFile()}, "criteria": []any{callArgs{"text": e.functionName() + " works", "check": "test"}},
		}
		if e.strategy == nexus.NoTest {
			t["reason"] = "it is seen, and not computed"
			t["criteria"] = []any{callArgs{"text": e.functionName() + " works", "check": "grep -q " + e.verb + "d " + e.sourceFile()}}
		}
		if e.needs != "" {
			t["needs"] = []any{e.needs}
		}
		tasks = append(tasks, t)
		all = append(all, e.conversations(id)...)
	}
	planner := llmtest.ScriptConversation{Match: "plan.1/planner.1", Turns: []llmtest.ScriptTurn{
		callTurn(toolCall("list_files", callArgs{}), toolCall("read_file", callArgs{"path": "src/price/price.py"}), toolCall("read_file", callArgs{"path": "test.sh"})),
		callTurn(toolCall("finish", callArgs{"tasks": tasks})),
	}}
	verdict := callArgs{"approved": true, "criteria": []any{callArgs{"criterion": 1, "met": true, "note": "the test"}}, "quality": callArgs{"rating": "good", "issues": []any{}}, "reasoning": "shown"}
	agrees := callArgs{"approved": true, "summary": "Correct.", "findings": []any{}}
	return llmtest.Script{Conversations: append(append([]llmtest.ScriptConversation{planner}, all...),
		llmtest.ScriptConversation{Match: "*/verifier.*", Turns: []llmtest.ScriptTurn{callTurn(toolCall("finish", verdict))}},
		llmtest.ScriptConversation{Match: "*/reviewer.*", Turns: []llmtest.ScriptTurn{callTurn(toolCall("search_code", callArgs{"pattern": "def describe"})), callTurn(toolCall("finish", agrees))}},
	)}
}

// conversations returns the conversations of one task.
func (e sampleTask) conversations(id string) []llmtest.ScriptConversation {
	wrote := func(word string) llmtest.ScriptCall {
		return toolCall("edit_file", callArgs{"path": e.sourceFile(), "edits": []any{callArgs{"old": "def " + e.functionName() + "(items):\n    return items\n", "new": "def " + e.functionName() + "(items):\n    # " + word + "\n    return items\n"}}})
	}
	again := func(old, word string) llmtest.ScriptCall {
		return toolCall("edit_file", callArgs{"path": e.sourceFile(), "edits": []any{callArgs{"old": "    # " + old + "\n", "new": "    # " + word + "\n"}}})
	}
	good := e.verb + "d"
	testFile := toolCall("write_file", callArgs{"path": e.testFile(), "content": "grep -q '# " + e.verb + "d' " + e.sourceFile() + "\n"})
	look := callTurn(toolCall("read_file", callArgs{"path": e.sourceFile()}), toolCall("search_code", callArgs{"pattern": e.functionName()}))
	run := callTurn(toolCall("shell", callArgs{"command": "sh test.sh"}))
	tester := []llmtest.ScriptTurn{look, callTurn(testFile), finishTurn("Covers the word. Not covered: empty lists.")}
	turns := []llmtest.ScriptTurn{look}
	first := good
	if e.trouble == "gate" {
		first = good + " BROKEN"
	}
	change := []llmtest.ScriptCall{wrote(first)}
	if !e.strategy.UsesSeparateSessions() && e.strategy != nexus.NoTest && e.trouble != "tester" {
		change = append(change, testFile)
	}
	turns = append(turns, callTurn(change...), run, finishTurn("Done."))
	all := []llmtest.ScriptConversation{}
	switch e.trouble {
	case "gate":
		turns = append(turns, callTurn(again(first, good)), finishTurn("Repaired."))
	case "review":
		turns = append(turns, callTurn(again(good, good+" once")), finishTurn("Repaired. The name stays: it is that of the module."))
		rejects := callArgs{"approved": false, "summary": "Not exact.", "findings": []any{
			callArgs{"severity": "major", "file": e.sourceFile(), "line": 42, "message": "it does not say how often"},
			callArgs{"severity": "minor", "file": e.sourceFile(), "line": 41, "message": "the name is long"},
		}}
		all = append(all, llmtest.ScriptConversation{Match: id + ".1/reviewer.1", Turns: []llmtest.ScriptTurn{callTurn(toolCall("finish", rejects))}})
	}
	return append(all,
		llmtest.ScriptConversation{Match: id + ".1/tester.1", Turns: tester},
		llmtest.ScriptConversation{Match: id + ".1/coder.1", Turns: turns},
	)
}
