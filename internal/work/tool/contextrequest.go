package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// Limits of the context that an agent may request, in bytes; four count as a token.
const (
	mostContext = 10_000 * 4 // most bytes of one call
	allContext  = 50_000 * 4 // most bytes of all calls of a session
	around      = 200        // lines of a definition that are shown
	places      = 20         // definitions that are shown
)

// contextRequestTool shows several things at once that an agent requests with a reason. The amount
// is limited per session.
func contextRequestTool(e AgentToolEnvironment) Tool {
	var mu sync.Mutex // guards given
	given := e.Given
	return Tool{
		Name:        "request_context",
		Description: "Get code in one call: kind definition, symbol or usages of a name, search for words, a file by its path.",
		Schema: json.RawMessage(`{"type":"object","properties":{"kind":{"enum":["definition","symbol","usages","search","file"]},` +
			`"query":{"type":"string","minLength":1,"maxLength":300},"reason":{"type":"string","minLength":1,"maxLength":500}},` +
			`"required":["kind","query","reason"],"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[struct{ Kind, Query, Reason string }](input)
			if err != nil {
				return CallOutput{}, err
			}
			mu.Lock()
			defer mu.Unlock()
			left := allContext - given
			if left <= 0 {
				return CallOutput{}, errors.New("no requests are left in this session: use read_file and search_code")
			}
			text, err := e.answerContextRequest(ctx, in.Kind, in.Query)
			if err != nil {
				return CallOutput{}, err
			}
			most := min(mostContext, left)
			if len(text) > most {
				text = strings.ToValidUTF8(text[:most], "") + "\n[the rest is left out: ask for less, or read_file]"
			}
			given += len(text)
			return CallOutput{Text: text, Most: mostContext + 200}, nil
		},
	}
}

// CountRequestedContextBytes counts the bytes of requested context in a conversation, so that a session that
// continues in another process has the same limit.
func CountRequestedContextBytes(messages []llm.Message) int {
	asked, n := map[string]bool{}, 0
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil && p.Call.Tool == "request_context":
				asked[p.Call.ID] = true
			case p.Result != nil && asked[p.Result.ID]:
				n += len(p.Result.Text)
			}
		}
	}
	return n
}

// answerContextRequest returns the result of a request.
func (e AgentToolEnvironment) answerContextRequest(ctx context.Context, kind, query string) (string, error) {
	switch kind {
	case "file":
		tree := e.tree.TreeForPath(query)
		name, err := tree.CleanPath(query, false)
		if err != nil {
			return "", err
		}
		return tree.Read(name, 1, 0)
	case "search":
		return e.fileFinder("").Search(ctx, files.SearchQuery{Pattern: query, Literal: true, IgnoreCase: true})
	case "usages":
		return e.fileFinder("").Search(ctx, files.SearchQuery{Pattern: `\b` + regexp.QuoteMeta(query) + `\b`})
	}
	const words = `(?:func|fn|def|class|type|struct|interface|enum|trait|impl|const|let|var|val|function|module|record|object|public|private|protected|static|export|async|abstract|final)`
	pattern := `^\s*(?:` + words + `\b.*)\b` + regexp.QuoteMeta(query) + `\b`
	hits, err := e.fileFinder("").Search(ctx, files.SearchQuery{Pattern: pattern})
	if err != nil {
		return "", err
	}
	text := e.showDefinitions(hits)
	for _, dir := range e.dependencyPaths() {
		if text != "" {
			break
		}
		if hits, err := e.fileFinder(dir).Search(ctx, files.SearchQuery{Pattern: pattern, Path: dir}); err == nil {
			text = e.showDefinitions(hits)
		}
	}
	if text == "" {
		return "no definition of " + query + " was found; try search", nil
	}
	return text, nil
}

// showDefinitions shows the lines from each hit of a search on.
func (e AgentToolEnvironment) showDefinitions(hits string) string {
	var b strings.Builder
	n := 0
	for hit := range strings.Lines(hits) {
		name, rest, ok := strings.Cut(hit, ":")
		number, _, ok2 := strings.Cut(rest, ":")
		line, err := strconv.Atoi(number)
		if !ok || !ok2 || err != nil || b.Len() > mostContext || n == places {
			continue
		}
		tree := e.tree.TreeForPath(name)
		at, err := tree.CleanPath(name, false)
		if err != nil {
			continue
		}
		text, err := declarationAt(tree, at, line)
		if err != nil {
			continue // missing or hidden
		}
		n++
		fmt.Fprintf(&b, "%s:%d\n%s\n", name, line, strings.TrimRight(text, "\n"))
	}
	return b.String()
}

// dependencyPaths returns the directories of the tree's direct dependencies, as paths for the
// file tools: some in a cache, others in the tree.
func (e AgentToolEnvironment) dependencyPaths() []string {
	var dirs []string
	text := func(file string) string {
		text, _ := e.tree.Text(file) // without it there are no dependencies
		return text
	}
	for _, need := range stack.PackageSourceDirs(text) {
		if !need.Cached {
			dirs = append(dirs, need.Dir)
			continue
		}
		for _, cache := range e.Caches {
			if tree := e.tree.TreeForPath(cache); tree.IsCache() {
				if info, err := tree.Root.Stat(need.Dir); tree.Dir == cache && err == nil && info.IsDir() {
					dirs = append(dirs, cache+"/"+need.Dir)
				}
			}
		}
	}
	return dirs[:min(len(dirs), places)]
}

// declarationAt returns the declaration at a line, with the comment above it, up to a limit that it
// mentions.
func declarationAt(tree *files.AgentTree, name string, line int) (string, error) {
	text, err := tree.Text(name)
	if err != nil {
		return "", err
	}
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return "", fmt.Errorf("%s has %d lines", name, len(lines))
	}
	from, to := files.DeclarationRange(lines, line-1, -1)
	end := min(to, from+around)
	text, err = tree.Read(name, from+1, end-from) // so that it counts as read
	if i := strings.LastIndex(text, "\n[lines "); i >= 0 {
		text = text[:i]
	}
	if end < to {
		text += fmt.Sprintf("\n[%d lines are shown, it ends at line %d; continue with read_file, offset %d]", around, to, end+1)
	}
	return text, err
}

// replanRequestTool ends a task whose plan is wrong, with a description of the problem.
func replanRequestTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name:        "request_replan",
		Description: "Return the task because its plan is wrong. Ends the session.",
		Schema: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string","minLength":1,"maxLength":2000},"suggestion":{"type":"string","maxLength":2000},` +
			`"blockers":{"type":"array","maxItems":10,"description":"what only a person can give","items":{"type":"string","minLength":1,"maxLength":500}},` +
			`"files":{"type":"array","maxItems":50,"items":{"type":"string","minLength":1,"maxLength":500}}},"required":["reason"],"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[struct {
				Reason, Suggestion string
				Blockers, Files    []string
			}](input)
			if err != nil {
				return CallOutput{}, err
			}
			if e.Replan == nil {
				return CallOutput{}, errors.New("there is no plan here: call finish with status blocked and say what is wrong")
			}
			if err := e.Replan(ctx, nexus.ReplanRequested{Reason: in.Reason, Suggestion: in.Suggestion, Blockers: in.Blockers, Files: in.Files}); err != nil {
				return CallOutput{}, err
			}
			return CallOutput{Text: "returned", Finished: blockedSubmission(in.Reason)}, nil
		},
	}
}

// blockedSubmission returns the submission that finish would make.
func blockedSubmission(reason string) json.RawMessage {
	data, err := json.Marshal(map[string]string{"summary": reason, "status": "blocked", "reason": "it asks for another plan: " + reason})
	if err != nil {
		return json.RawMessage(`{"status":"blocked"}`) // strings can always be encoded
	}
	return data
}

// SubmissionOfCall returns a call's submission if its tool accepts it, and whether the call
// submits at all.
func SubmissionOfCall(c llm.ToolCall) (json.RawMessage, bool) {
	switch c.Tool {
	case "finish":
		return c.Input, true
	case "request_replan":
		var in struct{ Reason string }
		_ = json.Unmarshal(c.Input, &in) // the tool refuses an invalid input
		return blockedSubmission(in.Reason), true
	default:
		return nil, false
	}
}
