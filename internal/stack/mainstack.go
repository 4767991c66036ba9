package stack

import (
	"path"
	"slices"
	"strings"
)

// MainStack returns the stack in whose language most of the files are written, the first one if
// two have as many, or "" if no stack knows any of them.
func MainStack(files []string) string {
	count, most := map[string]int{}, ""
	for _, file := range files {
		name := stackOfFile(file)
		if name == "" {
			continue
		}
		if count[name]++; count[name] > count[most] {
			most = name
		}
	}
	return most
}

// stackOfFile returns the stack in whose language a file is written, "" for none.
func stackOfFile(file string) string {
	ending := strings.ToLower(path.Ext(file))
	if ending == "" {
		return ""
	}
	for _, s := range AllStacks() {
		for _, x := range rowsOfPart(s.Syntax) {
			if slices.Contains(x.Ends, ending) {
				return s.Name
			}
		}
	}
	return ""
}
