package report

import (
	"encoding/csv"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadCSV reads a table of any kind whose first line has columns for a file, a line and a message.
func ReadCSV(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var found []nexus.Finding
	all := parserbase.SplitLines(in.Stdout)
	head := slices.IndexFunc(all, func(l string) bool {
		names := csvColumns(l)
		return slices.ContainsFunc(fileFieldNames(), func(w string) bool { _, ok := names[w]; return ok }) &&
			slices.ContainsFunc(lineFieldNames(), func(w string) bool { _, ok := names[w]; return ok })
	})
	if head < 0 {
		return in.CheckerReport(nil, false)
	}
	names := csvColumns(all[head])
	for _, l := range all[head+1:] {
		row, err := csv.NewReader(strings.NewReader(l)).Read()
		if err != nil || len(row) < len(names) || len(found) >= parserbase.Enough {
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
		f := nexus.Finding{File: in.RelativePath(get(fileFieldNames())), Line: parserbase.ParseNumber(get(lineFieldNames())), Column: parserbase.ParseNumber(get(columnFieldNames())), Code: get(codeFieldNames()), Message: get(messageFieldNames())}
		if f.File != "" && f.Line > 0 {
			found = append(found, f)
		}
	}
	return in.CheckerReport(found, true)
}

// csvColumns returns the index of each column by its word.
func csvColumns(l string) map[string]int {
	names := map[string]int{}
	if !strings.Contains(l, ",") || len(l) > 1000 {
		return names
	}
	row, _ := csv.NewReader(strings.NewReader(l)).Read()
	for i, name := range row {
		names[normalizedFieldName(name)] = i
	}
	return names
}
