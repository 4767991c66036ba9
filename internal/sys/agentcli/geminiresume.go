package agentcli

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

const (
	geminiChats = ".gemini/tmp/*/chats/"
	geminiKept  = "session-kept-"
)

// PrepareGeminiResume renames the file of a conversation so that Gemini CLI can load it over the Agent
// Client Protocol. Before loading, Gemini CLI creates an empty conversation of the same
// identifier, in a file named after the current minute. Within the same minute, that is the file
// of the conversation itself, which would be overwritten. Gemini CLI also finds the file under its
// other name. In homes without such a file, PrepareGeminiResume does nothing.
func PrepareGeminiResume(home, id string) error {
	short, _, ok := strings.Cut(id, "-")
	if home == "" || !ok || strings.ContainsAny(short, `*?[]\/`) {
		return nil
	}
	root, err := os.OpenRoot(home) // the program created the files in it
	if err != nil {
		return filewrite.WrapError("open the home of an agent", err)
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
		if len(kept) > 0 { // the empty file of an earlier load
			err = root.Remove(name)
		} else {
			dir := name[:strings.LastIndex(name, "/")+1]
			kept = []string{dir + geminiKept + short + ".jsonl"}
			err = root.Rename(name, kept[0])
		}
		if err != nil {
			return filewrite.WrapError("keep a conversation", err)
		}
	}
	return nil
}
