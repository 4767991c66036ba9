package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// toolFieldAliases are names of a tool's fields that agents know from elsewhere: for each field of
// ours, the others. Case, _ and - are ignored. An ambiguous name, such as timeout in seconds
// or milliseconds, is not included: it is refused, and the right ones are named.
type toolFieldAliases map[string][]string

// dropped, as a field, contains names that a tool does not need.
const dropped = ""

// aliasesOf returns the aliases of a tool, nil for one without.
func aliasesOf(tool string) toolFieldAliases {
	file := []string{"file_path", "file", "filename", "file_name", "target_file", "absolute_path", "relative_path"}
	dir := []string{"directory", "dir", "dir_path", "directory_path", "target_directory", "folder", "file_path", "relative_workspace_path", "search_path"}
	prose := []string{"description", "explanation", "rationale"}
	switch tool {
	case "read_file":
		return toolFieldAliases{
			"path": file, "offset": {"start_line", "start", "line_start", "from_line", "start_line_one_indexed"}, "limit": {"num_lines", "max_lines", "line_count"},
			"numbers": {"line_numbers", "show_line_numbers", "with_line_numbers"}, dropped: prose,
		}
	case "write_file":
		return toolFieldAliases{"path": file, "content": {"contents", "file_text", "file_content", "text", "data"}, dropped: prose}
	case "edit_file":
		return toolFieldAliases{
			"path": file, "edits": {"changes", "replacements"}, dropped: prose,
			"old": {"old_string", "old_str", "old_text", "search", "find"}, "new": {"new_string", "new_str", "new_text", "replace", "replacement", "replace_with"},
			"all": {"replace_all"},
		}
	case "search_code":
		return toolFieldAliases{
			"pattern": {"query", "regex", "regexp", "search", "search_term", "q"}, "path": append([]string{"file"}, dir...), "glob": {"include", "include_pattern", "includes", "file_pattern", "file_glob"},
			"literal": {"fixed_strings", "fixed_string", "is_literal"}, "ignore_case": {"case_insensitive", "i"}, dropped: prose,
		}
	case "list_files":
		return toolFieldAliases{"path": dir, "glob": {"pattern", "include", "file_pattern"}, "depth": {"max_depth"}, dropped: prose}
	case "shell":
		return toolFieldAliases{"command": {"cmd", "script", "command_line", "bash_command"}, "timeout_seconds": {"timeout_s", "timeout_sec", "timeout_secs"}, "background": {"run_in_background", "is_background"}, dropped: prose}
	case "job":
		return toolFieldAliases{"id": {"job_id", "task_id", "shell_id", "bash_id"}, "stop": {"kill"}}
	case "git":
		return toolFieldAliases{"args": {"arguments", "command", "cmd"}, dropped: prose}
	case "request_context":
		return toolFieldAliases{"query": {"name", "symbol", "pattern"}, "kind": {"type"}, "reason": {"why"}}
	case "ask":
		return toolFieldAliases{"question": {"prompt", "message", "query"}, "fallback": {"default", "assumption"}}
	case "scout":
		return toolFieldAliases{"question": {"prompt", "query"}}
	case "code":
		return toolFieldAliases{
			"op": {"operation", "action"}, "path": file, "line": {"line_number"}, "name": {"symbol", "symbol_name", "query", "pattern"},
			"to": {"new_name", "replacement", "rewrite"}, dropped: prose,
		}
	default:
		return nil
	}
}

// equivalentTool returns our tool for another program's tool name, or "". It is named and not
// called: a role's rights depend on the names of tools.
func equivalentTool(name string) string {
	for own, others := range map[string][]string{
		"read_file":   {"read", "view", "cat", "open_file", "view_file"},
		"write_file":  {"write", "create_file", "create", "write_to_file"},
		"edit_file":   {"edit", "multi_edit", "str_replace", "replace", "apply_patch", "apply_diff", "str_replace_editor", "str_replace_based_edit_tool", "replace_in_file", "search_replace"},
		"search_code": {"grep", "search", "rg", "grep_search", "search_files", "search_file_content", "codebase_search"},
		"list_files":  {"ls", "glob", "list_dir", "list_directory", "find", "file_search", "glob_file_search"},
		"shell":       {"bash", "run", "exec", "execute_command", "run_command", "run_shell_command", "run_terminal_cmd", "local_shell", "terminal"},
		"finish":      {"done", "submit", "attempt_completion", "complete", "exit"},
		"ask":         {"ask_user", "ask_followup_question", "question"},
	} {
		if slices.ContainsFunc(others, func(o string) bool { return normaliseName(o) == normaliseName(name) }) {
			return own
		}
	}
	return ""
}

// normaliseName returns a name in its form for comparisons.
func normaliseName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// NormalizeCall returns a call with the names and forms of its tool, as the tool itself and
// all code that judges calls read it; the unchanged call if it needs no change or is invalid,
// which the tool then reports.
func NormalizeCall(c llm.ToolCall) llm.ToolCall {
	if aliasesOf(c.Tool) == nil {
		return c
	}
	object, err := parseObject(c.Input)
	if err != nil {
		return c
	}
	var schema *jsonschema.Schema
	if mayMeanOtherType(object) {
		schema = schemaOfBuiltinTool(c.Tool)
	}
	if changed, err := translateInput(c.Tool, schema, object); err == nil && changed {
		if data, err := json.Marshal(object); err == nil {
			c.Input = data
		}
	}
	return c
}

// mayMeanOtherType reports whether a value may stand for another type.
func mayMeanOtherType(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		_, is := parseNumberText(v).(float64)
		return is || strings.EqualFold(v, "true") || strings.EqualFold(v, "false")
	case []any:
		return slices.ContainsFunc(v, mayMeanOtherType)
	case map[string]any:
		for _, one := range v {
			if mayMeanOtherType(one) {
				return true
			}
		}
	}
	return false
}

// schemaOfBuiltinTool returns the schema of a tool of ours, nil for others.
func schemaOfBuiltinTool(tool string) *jsonschema.Schema {
	for _, t := range builtinTools(AgentToolEnvironment{}) {
		if t.Name != tool {
			continue
		}
		if r, err := resolveSchema(t.Schema); err == nil {
			return r.Schema()
		}
	}
	return nil
}

// translateInput changes an input to the names and forms of its tool. It reports whether anything
// changed, or the ambiguity as an error. A nil schema has no types.
func translateInput(tool string, schema *jsonschema.Schema, in map[string]any) (changed bool, err error) {
	h := aliasesOf(tool)
	if h == nil {
		return false, nil
	}
	was := maps.Clone(in)
	for key, value := range in {
		// some agents write null for an unset field
		if value == nil && (schema == nil || !slices.Contains(schema.Required, key)) {
			delete(in, key)
		}
	}
	if err := mergeDuplicateSpellings(in); err != nil {
		return false, err
	}
	for _, form := range []func(string, map[string]any) error{translateForeignFields, h.renameFields, convertValueForms} {
		if err := form(tool, in); err != nil {
			return false, err
		}
	}
	if schema != nil {
		if err := coerceToSchema(tool, schema, in); err != nil {
			return false, err
		}
	}
	return !reflect.DeepEqual(was, in), nil
}

// mergeDuplicateSpellings refuses two spellings of one name with different values, and drops the second if the
// values are equal.
func mergeDuplicateSpellings(in map[string]any) error {
	first := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		other, both := first[normaliseName(key)]
		switch {
		case !both:
			first[normaliseName(key)] = key
		case !reflect.DeepEqual(in[key], in[other]):
			return fmt.Errorf("%s and %s mean the same but differ; give only one of them", other, key)
		default:
			delete(in, key)
		}
	}
	return nil
}

// renameFields changes fields to their names in the tool.
func (h toolFieldAliases) renameFields(tool string, in map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		field, known := h.canonicalField(key)
		if !known || field == key {
			continue
		}
		value := in[key]
		delete(in, key)
		if field == dropped {
			continue
		}
		if other, both := in[field]; both && !reflect.DeepEqual(other, value) {
			return fmt.Errorf("%s and another name for it differ; give only %s", field, field)
		}
		in[field] = value
	}
	return nil
}

// canonicalField returns the field for a name.
func (h toolFieldAliases) canonicalField(name string) (string, bool) {
	for _, field := range slices.Sorted(maps.Keys(h)) {
		if field != dropped && normaliseName(field) == normaliseName(name) {
			return field, true
		}
	}
	for _, field := range slices.Sorted(maps.Keys(h)) {
		if slices.ContainsFunc(h[field], func(other string) bool { return normaliseName(other) == normaliseName(name) }) {
			return field, true
		}
	}
	return "", false
}

// translateForeignFields translates fields that express a field of ours in another way.
func translateForeignFields(tool string, in map[string]any) error {
	at := func(names ...string) (key string) {
		for _, k := range slices.Sorted(maps.Keys(in)) {
			if slices.ContainsFunc(names, func(n string) bool { return normaliseName(n) == normaliseName(k) }) {
				key = k
			}
		}
		return key
	}
	gone := func(key string, value any) { // equal to omitting it
		if key != "" && in[key] == value {
			delete(in, key)
		}
	}
	switch tool {
	case "read_file":
		gone(at("command"), "view")
		gone(at("should_read_entire_file"), true)
		gone(at("offset"), 0.0)
		return translateLineRange(in, at("view_range", "line_range"), at("end_line", "line_end", "to_line", "end_line_one_indexed_inclusive"), at("offset", "start_line", "line_start", "start", "from_line", "start_line_one_indexed"))
	case "write_file":
		gone(at("command"), "create")
	case "edit_file":
		gone(at("command"), "str_replace")
		gone(at("expected_replacements"), 1.0)
	case "search_code":
		gone(at("n"), true)
		gone(at("case_sensitive"), true)
		if key := at("case_sensitive"); key != "" && in[key] == false && at("ignore_case", "case_insensitive", "i") == "" {
			delete(in, key)
			in["ignore_case"] = true
		}
	case "list_files":
		gone(at("recursive"), true)
		if key := at("recursive"); key != "" && in[key] == false && at("depth", "max_depth") == "" {
			delete(in, key)
			in["depth"] = 1.0
		}
	case "shell":
		if key := at("timeout_ms"); key != "" {
			ms, ok := parseNumberText(in[key]).(float64)
			if !ok || at("timeout_seconds") != "" {
				return errors.New("give only timeout_seconds, a number")
			}
			delete(in, key)
			in["timeout_seconds"] = math.Ceil(ms / 1000)
		}
		for _, here := range []any{"", "."} {
			gone(at("cwd", "workdir", "working_directory"), here)
		}
	}
	return nil
}

// translateLineRange translates a range of lines, as a pair or as two fields.
func translateLineRange(in map[string]any, pair, end, start string) error {
	if pair != "" {
		list, _ := in[pair].([]any)
		if len(list) != 2 || end != "" || start != "" {
			return fmt.Errorf("%s must be the first and the last line only; give offset and limit", pair)
		}
		delete(in, pair)
		start, end = "offset", "end_line"
		in[start], in[end] = list[0], list[1]
	}
	if end == "" {
		return nil
	}
	last, ok := parseNumberText(in[end]).(float64)
	first := 1.0
	if start != "" {
		first, _ = parseNumberText(in[start]).(float64)
	}
	ok = ok && first >= 1
	_, also := in["limit"]
	switch {
	case ok && last == -1 && !also: // the end of the file
		delete(in, end)
	case !ok || also || last < first:
		return fmt.Errorf("%s does not say which lines; give offset, the first line from 1, and limit, how many", end)
	default:
		delete(in, end)
		in["limit"] = last - first + 1
	}
	return nil
}

// convertValueForms translates values in another form: one edit for a list of one, the words of a command
// for a command.
func convertValueForms(tool string, in map[string]any) error {
	switch tool {
	case "edit_file":
		return wrapSingleEdit(in)
	case "shell":
		if words, ok := in["command"].([]any); ok {
			in["command"] = joinCommandWords(words)
		}
	case "git":
		if text, ok := in["args"].(string); ok && !strings.ContainsAny(text, "\"'\\[") {
			in["args"] = toAnySlice(strings.Fields(text))
		}
		if list, ok := in["args"].([]any); ok && len(list) > 1 && list[0] == "git" {
			in["args"] = list[1:]
		}
	}
	return nil
}

// wrapSingleEdit moves a single edit into the list of edits.
func wrapSingleEdit(in map[string]any) error {
	h := aliasesOf("edit_file")
	list, listed := in["edits"].([]any)
	switch edits := in["edits"].(type) {
	case map[string]any:
		list, listed = []any{edits}, true
	case string: // a list that was written as a text
		if v, err := parseStrictJSON([]byte(edits)); err == nil {
			list, listed = v.([]any)
		}
	}
	if _, alone := in["old"]; !alone && in["all"] == false {
		delete(in, "all")
	}
	alone := map[string]any{}
	for _, key := range []string{"old", "new", "all"} {
		if v, ok := in[key]; ok {
			alone[key] = v
			delete(in, key)
		}
	}
	if len(alone) > 0 {
		if _, both := in["edits"]; both {
			return errors.New("give edits, a list, or old and new: not both")
		}
		list, listed = []any{alone}, true
	}
	if !listed {
		return nil
	}
	list = slices.Clone(list)
	for i, one := range list {
		if one, ok := one.(map[string]any); ok {
			one = maps.Clone(one) // the caller's value stays unchanged
			if err := h.renameFields("edit_file", one); err != nil {
				return err
			}
			list[i] = one
		}
	}
	in["edits"] = list
	return nil
}

// joinCommandWords returns a program and its arguments as one command of the shell.
func joinCommandWords(words []any) any {
	texts := make([]string, len(words))
	for i, w := range words {
		text, ok := w.(string)
		if !ok {
			return words // not a command, which the schema reports
		}
		texts[i] = text
	}
	if len(texts) == 3 && slices.Contains([]string{"bash", "sh"}, path.Base(texts[0])) && (texts[1] == "-c" || texts[1] == "-lc") {
		return texts[2]
	}
	for i, text := range texts {
		if text == "" || strings.ContainsFunc(text, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%", r)
		}) {
			texts[i] = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		}
	}
	return strings.Join(texts, " ")
}

func toAnySlice(texts []string) []any {
	all := make([]any, len(texts))
	for i, t := range texts {
		all[i] = t
	}
	return all
}

// parseNumberText returns a text's number, and any other value unchanged.
func parseNumberText(v any) any {
	if text, ok := v.(string); ok && len(text) < 30 {
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			return float64(n)
		}
	}
	return v
}

// coerceToSchema converts unambiguous values to the types of a schema, and lists the existing fields if
// one is unknown.
func coerceToSchema(what string, schema *jsonschema.Schema, in map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		p := schema.Properties[key]
		switch {
		case p == nil:
			return fmt.Errorf("there is no %q; %s", key, describeFields(what, schema))
		case p.Type == "integer":
			in[key] = parseNumberText(in[key])
		case p.Type == "boolean":
			if text, ok := in[key].(string); ok && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")) {
				in[key] = strings.EqualFold(text, "true")
			}
		case p.Type == "array" && p.Items != nil && p.Items.Type == "object":
			list, _ := in[key].([]any)
			for _, one := range list {
				if one, ok := one.(map[string]any); ok {
					if err := coerceToSchema("each of "+key, p.Items, one); err != nil {
						return err
					}
				}
			}
		}
	}
	for _, key := range schema.Required {
		if _, has := in[key]; !has {
			return fmt.Errorf("%s is missing; %s", key, describeFields(what, schema))
		}
	}
	return nil
}

// describeFields lists the fields of a tool.
func describeFields(what string, schema *jsonschema.Schema) string {
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(schema.Properties)), func(name string) bool { return slices.Contains(schema.Required, name) })
	text := what + " takes " + strings.Join(schema.Required, ", ")
	if len(rest) > 0 {
		text += " (optional: " + strings.Join(rest, ", ") + ")"
	}
	return text
}
