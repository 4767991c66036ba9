package agentcli

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

const (
	geminiChats = ".gemini/tmp/*/chats/"
	geminiKept  = "session-kept-"
)

// KeepGemini makes Gemini CLI find a conversation again that it is about to load over
// the Agent Client Protocol. Before it looks for the conversation, it begins an empty one
// of the same identifier, in a file that is named after the minute: within the same minute
// that is the file of the conversation, of which nothing is left then. So the file gets
// another name, which the program finds as well. In homes without one it does nothing.
func KeepGemini(home, id string) error {
	short, _, ok := strings.Cut(id, "-")
	if home == "" || !ok || strings.ContainsAny(short, `*?[]\/`) {
		return nil
	}
	root, err := os.OpenRoot(home) // the program made what is in it
	if err != nil {
		return disk.WrapError("open the home of an agent", err)
	}
	defer root.Close() //nolint:errcheck // nothing was written through it
	kept, err := fs.Glob(root.FS(), geminiChats+geminiKept+short+".jsonl")
	if err != nil {
		return fmt.Errorf("look for conversations: %w", err)
	}
	named, err := fs.Glob(root.FS(), geminiChats+"session-[0-9]*-"+short+".jsonl")
	if err != nil {
		return fmt.Errorf("look for conversations: %w", err)
	}
	for _, name := range named {
		if len(kept) > 0 { // what loading it before left
			err = root.Remove(name)
		} else {
			dir := name[:strings.LastIndex(name, "/")+1]
			kept = []string{dir + geminiKept + short + ".jsonl"}
			err = root.Rename(name, kept[0])
		}
		if err != nil {
			return disk.WrapError("keep a conversation", err)
		}
	}
	return nil
}
