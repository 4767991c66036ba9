package flaky

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// head is the heading of a new record.
const head = `# Tests whose failures do not count for a while. Only people edit this file; agents
# may not. See nexus quarantine --help.
`

// AddQuarantineEntry returns the text of a record with one more entry and no other change. Data is nil
// if there is no record yet.
func AddQuarantineEntry(data []byte, e QuarantineEntry) ([]byte, error) {
	if err := e.Check(); err != nil {
		return nil, &nexus.Error{Code: nexus.CodeInvalidInput, Message: err.Error(), Hint: "See nexus quarantine add --help."}
	}
	text := strings.TrimRight(string(data), "\n")
	if text == "" {
		text = strings.TrimRight(head, "\n")
	}
	text += "\n\n[[test]]\n"
	for _, x := range []struct{ name, text string }{{"test", e.Test}, {"gate", e.Gate}, {"reason", e.Reason}} {
		text += fieldLine(x.name, x.text)
	}
	text += fmt.Sprintf("since = %s\nuntil = %s\n", e.Since, e.Until)
	text += fieldLine("owner", e.Owner) + fieldLine("issue", e.Issue)
	all, err := ParseQuarantine([]byte(text))
	if err == nil && (len(all) == 0 || all[len(all)-1] != e) {
		err = fileError("its format is one that nexus cannot add to: add the entry by hand")
	}
	return []byte(text), err
}

func fieldLine(name, text string) string {
	if text == "" {
		return ""
	}
	line, err := toml.Marshal(map[string]string{name: text})
	if err != nil {
		return ""
	}
	return string(line)
}

// RemoveQuarantineEntries returns the text of a record without the entries of a test, and their number.
// If a gate is given, only its entries are removed.
func RemoveQuarantineEntries(data []byte, test, gate string) ([]byte, int, error) {
	all, err := ParseQuarantine(data)
	if err != nil {
		return nil, 0, err
	}
	gone := func(e QuarantineEntry) bool { return e.Test == test && (gate == "" || e.Gate == gate) }
	n := 0
	for _, e := range all {
		if gone(e) {
			n++
		}
	}
	if n == 0 {
		return data, 0, nil
	}
	starts := regexp.MustCompile(`(?m)^\s*\[\[\s*test\s*\]\]`).FindAllIndex(data, -1)
	if len(starts) != len(all) {
		return nil, 0, fileError("its format is one that nexus cannot remove from: remove the entry by hand")
	}
	kept := slices.Clone(data[:starts[0][0]])
	for i, at := range starts {
		end := len(data)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		if !gone(all[i]) {
			kept = append(kept, data[at[0]:end]...)
		}
	}
	left, err := ParseQuarantine(kept)
	if err == nil && !slices.Equal(left, slices.DeleteFunc(slices.Clone(all), gone)) {
		err = fileError("its format is one that nexus cannot remove from: remove the entry by hand")
	}
	return kept, n, err
}
