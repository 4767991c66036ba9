package policy

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// beginsWithEntry reports whether a command starts with the words of an entry. An empty entry
// matches nothing.
func beginsWithEntry(argv []shell.Word, entry string) bool {
	return beginsWithWords(argv, entry, false)
}

// matchesEntry reports whether a command matches an entry, with any options between its words,
// and whether it may match once its unknown words are known.
func matchesEntry(argv []shell.Word, entry string) (certain, maybe bool) {
	bare, short := splitOffOptions(argv)
	certain = beginsWithWords(argv, entry, false) || beginsWithWords(bare, entry, false) || beginsWithWords(short, entry, false)
	return certain, beginsWithWords(bare, entry, true) || beginsWithWords(short, entry, true)
}

func beginsWithWords(argv []shell.Word, entry string, unseen bool) bool {
	want := strings.Fields(entry)
	if strings.HasPrefix(entry, "mcp:") { // it is not about a command, see ServerTool
		return false
	}
	return len(want) > 0 && len(want) <= len(argv) && slices.EqualFunc(want, argv[:len(want)], func(e string, w shell.Word) bool {
		return w.Dynamic && unseen || !w.Dynamic && w.Text == e
	})
}

// splitOffOptions returns a command without its options, and also without the words after
// them, which may be their values: words between a program and its verb hide neither.
func splitOffOptions(argv []shell.Word) (bare, short []shell.Word) {
	option := false
	for _, w := range argv {
		if strings.HasPrefix(w.Text, "-") {
			option = !strings.Contains(w.Text, "=")
			continue
		}
		if bare = append(bare, w); !option {
			short = append(short, w)
		}
		option = false
	}
	return bare, short
}
