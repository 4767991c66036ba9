package definitionofdone_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestLeft finds what is left in a change, line by line, and nothing in code
// that only looks like it.
func TestLeft(t *testing.T) {
	r := nexus.DefaultDefinitionOfDone()
	r.Modes = map[string]nexus.BoundMode{nexus.LeftBound: nexus.BoundWarn}
	for line, path := range map[string]string{
		"<<<<<<< HEAD": "a.go", ">>>>>>> theirs": "a.unknown",
		"// ... rest of the code": "a.go", "# ... existing code ...": "a.py", "  // rest of the implementation remains": "a.ts", "/* your code here */": "a.c", "<!-- ... other fields -->": "a.vue",
		"// In a real implementation, this asks the server.": "a.go", "# for demonstration purposes": "a.py", "// placeholder implementation": "a.js", "// Simplified version of it": "a.go",
		"// Here's the updated code": "a.go", "# As an AI language model I cannot": "a.py",
		"// Changed to a map as requested": "a.go", "# Fixed per review": "a.py",
		"// TODO: implement": "a.go", "# FIXME(ann): handle errors": "a.py",
		`	panic("not implemented")`: "a.go", "    raise NotImplementedError": "a.py", "throw new Error('Not implemented')": "a.ts", "    todo!()": "a.rs", "throw new UnsupportedOperationException();": "A.java",
		"debugger;": "a.js", "    breakpoint()": "a.py", "import pdb": "a.py", "binding.pry": "a.rb",
	} {
		got := definitionofdone.CheckBounds(r, definitionofdone.MeasuredChange{Whole: true, Files: []definitionofdone.FileChange{file(path, line)}})
		if len(got) != 1 || len(got[0].Findings) != 1 || got[0].Findings[0].Line != 1 {
			t.Errorf("%s: %q is left there: %+v", path, line, got)
		}
	}
	for line, path := range map[string]string{
		"// The rest of the words follow.": "a.go", "// In a real sense it is one.": "a.go", "x := placeholder": "a.go", "// TODO(#12): one of two": "a.go", "======= ": "a.rst", "<<<<<<<<<": "a.go",
		"// ... and so on": "a.go", `panic("unreachable")`: "a.go", "// changed by the user": "a.go", "raise NotImplemented": "a.py", "// ... rest of the code": "a.md", "debugger = Debugger()": "a.py",
		`input.placeholder = "Name"`: "a.js", "// ... rest of the file": "a_test.go", "a ... b": "a.txt", "case <-done: // the existing code is": "a.go", "// removed when it is empty": "a.go",
	} {
		if got := definitionofdone.CheckBounds(r, definitionofdone.MeasuredChange{Whole: true, Files: []definitionofdone.FileChange{file(path, line)}}); len(got) != 0 {
			t.Errorf("%s: %q is honest: %+v", path, line, got[0].Findings)
		}
	}
}

// TestTables compiles each row of the tables.
func TestTables(t *testing.T) {
	for _, name := range []string{"sinks.txt", "left.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			parts := strings.SplitN(line, " | ", 3)
			if len(parts) != 3 {
				t.Fatalf("%s: %s", name, line)
			}
			if _, err := regexp.Compile(parts[2]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
