package policy

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// beginsEntry reports whether a command begins with the words of an entry, word by
// word. An empty entry begins nothing.
func beginsEntry(argv []shell.Word, entry string) bool { return beginsWith(argv, entry, false) }

// fitsEntry reports whether a command is what an entry names, whatever options
// are between its words, and whether it may turn out to be that once its
// unseen words are known.
func fitsEntry(argv []shell.Word, entry string) (certain, maybe bool) {
	bare, short := withoutOptions(argv)
	certain = beginsWith(argv, entry, false) || beginsWith(bare, entry, false) || beginsWith(short, entry, false)
	return certain, beginsWith(bare, entry, true) || beginsWith(short, entry, true)
}

func beginsWith(argv []shell.Word, entry string, unseen bool) bool {
	want := strings.Fields(entry)
	if strings.HasPrefix(entry, "mcp:") { // it is about no command, see ServerTool
		return false
	}
	return len(want) > 0 && len(want) <= len(argv) && slices.EqualFunc(want, argv[:len(want)], func(e string, w shell.Word) bool {
		return w.Dynamic && unseen || !w.Dynamic && w.Text == e
	})
}

// withoutOptions returns a command without its options, and also without the words
// behind them, which may be theirs: what is between a program and its verb
// hides neither.
func withoutOptions(argv []shell.Word) (bare, short []shell.Word) {
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
