package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

func readFileTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name:        "read_file",
		Description: "Read a text file. Long ones are cut: continue with offset (line, from 1) and limit (lines). numbers: with line numbers.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},` +
			`"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1},"numbers":{"type":"boolean"}},` +
			`"required":["path"],"additionalProperties":false}`),
		ReadOnly: true,
		Run: func(_ context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[struct {
				Path          string
				Offset, Limit int
				Numbers       bool
			}](input)
			if err != nil {
				return CallOutput{}, err
			}
			lines := files.LineSelection{First: max(in.Offset, 1), Limit: in.Limit, Numbered: in.Numbers}
			if text, ok, err := e.textOfHandle(in.Path); ok {
				if err == nil {
					text, err = files.FormatPage("it", bufio.NewReader(strings.NewReader(text)), lines)
				}
				return CallOutput{Text: text}, err
			}
			tree := e.tree.TreeForPath(in.Path)
			name, err := tree.CleanPath(in.Path, false)
			if err != nil {
				return CallOutput{}, err
			}
			text, err := tree.Show(name, lines)
			return CallOutput{Text: text}, err
		},
	}
}

func writeFileTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name:        "write_file",
		Description: "Create a file or replace all of it; directories are created.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},` +
			`"required":["path","content"],"additionalProperties":false}`),
		Take: func(ctx context.Context, in map[string]any) (CallOutput, error) {
			where, _ := in["path"].(string)
			content, _ := in["content"].(string)
			name, err := e.tree.CleanPath(where, true)
			if err != nil {
				return CallOutput{}, err
			}
			text, err := e.tree.Write(name, content)
			return CallOutput{Text: text + e.gitIgnoredFileNote(ctx, name, err), Changed: err == nil}, err
		},
	}
}

func editFileTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name: "edit_file",
		Description: "Replace exact text. old must occur once (give enough lines around it), or set all. " +
			"Edits apply in order, all or none.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","minItems":1,"maxItems":100,` +
			`"items":{"type":"object","properties":{"old":{"type":"string","minLength":1},"new":{"type":"string"},"all":{"type":"boolean"}},` +
			`"required":["old","new"],"additionalProperties":false}}},"required":["path","edits"],"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[struct {
				Path  string
				Edits []files.TextReplacement
			}](input)
			if err != nil {
				return CallOutput{}, err
			}
			name, err := e.tree.CleanPath(in.Path, true)
			if err != nil {
				return CallOutput{}, err
			}
			text, err := e.tree.EditFile(name, in.Edits)
			return CallOutput{Text: text + e.gitIgnoredFileNote(ctx, name, err), Changed: err == nil}, err
		},
	}
}

// gitIgnoredFileNote returns a note for an agent about a file that it wrote and that git ignores:
// neither the gates nor any other session will see it. It is "" for any other file, and if the
// rules cannot be read: the file is written all the same.
func (e AgentToolEnvironment) gitIgnoredFileNote(ctx context.Context, name string, failed error) string {
	if failed != nil || e.Ignored == nil {
		return ""
	}
	rule, err := e.Ignored(ctx, name)
	if err != nil || rule == "" {
		return ""
	}
	return fmt.Sprintf("\nnote: %s ignores %s, so it is no part of your change, and the gates do not see it. If it is meant to be, choose another path or change the rule.", rule, name)
}

func listFilesTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name:        "list_files",
		Description: "List files below a directory, without what git ignores. glob, such as **/*_test.go, filters.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"glob":{"type":"string"},` +
			`"depth":{"type":"integer","minimum":1}},"additionalProperties":false}`),
		ReadOnly: true,
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[struct {
				Path, Glob string
				Depth      int
			}](input)
			if err != nil {
				return CallOutput{}, err
			}
			f := e.fileFinder(in.Path)
			name, err := f.Tree.CleanPath(in.Path, false)
			if err != nil {
				return CallOutput{}, err
			}
			text, err := f.List(ctx, name, in.Glob, in.Depth)
			return CallOutput{Text: text}, err
		},
	}
}

func searchCodeTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name:        "search_code",
		Description: "Search files by regular expression (or literal); gives path:line:text. glob filters names. Skips what git ignores.",
		Schema: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string","minLength":1,"maxLength":1000},"path":{"type":"string"},` +
			`"glob":{"type":"string"},"literal":{"type":"boolean"},"ignore_case":{"type":"boolean"}},` +
			`"required":["pattern"],"additionalProperties":false}`),
		ReadOnly: true,
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[files.SearchQuery](input)
			if err != nil {
				return CallOutput{}, err
			}
			if text, ok, err := e.textOfHandle(in.Path); ok {
				if err == nil {
					text, err = files.SearchText(text, in)
				}
				return CallOutput{Text: text}, err
			}
			text, err := e.fileFinder(in.Path).Search(ctx, in)
			return CallOutput{Text: text}, err
		},
	}
}

// fileFinder returns a finder for the tree, or for the cache that contains a path. With a box it
// uses ripgrep in the tree.
func (e AgentToolEnvironment) fileFinder(at string) files.TreeSearcher {
	f := files.TreeSearcher{Tree: e.tree.TreeForPath(at)}
	if e.Box != nil && !f.Tree.IsCache() {
		f.Run = func(ctx context.Context, args []string, limit time.Duration, most int64) ([]byte, error) {
			c := e.sandboxedCommand(args, limit)
			c.Readable = append([]string{e.Dir}, e.Readable...)
			c.Merge, c.Cap, c.Over = false, most, ""
			r, err := e.Box.Run(ctx, c)
			if err == nil && (r.Exit > 1 || r.Exit < 0 || r.Cut) {
				err = fmt.Errorf("%s: exit %d: %s", args[0], r.Exit, sanitize.TruncateText(string(r.Stderr), 200))
			}
			return r.Stdout, err
		}
	}
	return f
}
