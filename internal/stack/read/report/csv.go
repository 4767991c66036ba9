package report

import (
	"encoding/csv"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// CSV reads a table of any kind whose first line has columns for a file, a line and a message.
func CSV(in raw.ToolOutput) raw.OutputReport {
	var found []nexus.Finding
	all := raw.SplitLines(in.Stdout)
	head := slices.IndexFunc(all, func(l string) bool {
		names := csvColumns(l)
		return slices.ContainsFunc(fileWords(), func(w string) bool { _, ok := names[w]; return ok }) &&
			slices.ContainsFunc(lineWords(), func(w string) bool { _, ok := names[w]; return ok })
	})
	if head < 0 {
		return in.CheckReport(nil, false)
	}
	names := csvColumns(all[head])
	for _, l := range all[head+1:] {
		row, err := csv.NewReader(strings.NewReader(l)).Read()
		if err != nil || len(row) < len(names) || len(found) >= raw.Enough {
			continue
		}
		get := func(words []string) string {
			for _, w := range words {
				if i, ok := names[w]; ok && row[i] != "" {
					return row[i]
				}
			}
			return ""
		}
		f := nexus.Finding{File: in.RelativePath(get(fileWords())), Line: raw.ParseNumber(get(lineWords())), Column: raw.ParseNumber(get(columnWords())), Code: get(codeWords()), Message: get(messageWords())}
		if f.File != "" && f.Line > 0 {
			found = append(found, f)
		}
	}
	return in.CheckReport(found, true)
}

// csvColumns returns the index of each column by its word.
func csvColumns(l string) map[string]int {
	names := map[string]int{}
	if !strings.Contains(l, ",") || len(l) > 1000 {
		return names
	}
	row, _ := csv.NewReader(strings.NewReader(l)).Read()
	for i, name := range row {
		names[plainWord(name)] = i
	}
	return names
}
