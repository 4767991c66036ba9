// Package own compares simple commands with the rules that people write: the
// words that a command begins with, such as "make deploy".
package own

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// Begins reports whether a command begins with the words of an entry, word by
// word. An empty entry begins nothing.
func Begins(argv []shell.Word, entry string) bool { return begins(argv, entry, false) }

// Fits reports whether a command is what an entry names, whatever options
// stand between its words, and whether it may turn out to be that once its
// unseen words are known.
func Fits(argv []shell.Word, entry string) (certain, maybe bool) {
	bare, short := plain(argv)
	certain = begins(argv, entry, false) || begins(bare, entry, false) || begins(short, entry, false)
	return certain, begins(bare, entry, true) || begins(short, entry, true)
}

func begins(argv []shell.Word, entry string, unseen bool) bool {
	want := strings.Fields(entry)
	if strings.HasPrefix(entry, "mcp:") { // it is about no command, see policy/outside
		return false
	}
	return len(want) > 0 && len(want) <= len(argv) && slices.EqualFunc(want, argv[:len(want)], func(e string, w shell.Word) bool {
		return w.Dynamic && unseen || !w.Dynamic && w.Text == e
	})
}

// plain returns a command without its options, and also without the words
// behind them, which may be theirs: what stands between a program and its verb
// hides neither.
func plain(argv []shell.Word) (bare, short []shell.Word) {
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
